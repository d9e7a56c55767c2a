/* `detect a & b`: two independent events, the shape of all race rules, without partial matches; also
 * several such pairs, `a & (b + c) + d & e`.
 *
 * Of a slice those events are kept that a later one may be independent of while no other that lacks
 * the same and comes after them is: what is independent of an event and comes after all is
 * independent of whatever follows that event. So of those that lack the same the maximal events are
 * enough, one in each thread at most, and in a program that synchronises one alone; and the latest of
 * those that are independent of the event at hand is the latest of all. It is what detect.c comes to
 * in general, and FastTrack (Flanagan and Freund, PLDI 2009) with its epochs, though here each race
 * is told with both of its events. Events that are only observed cannot lie between two independent
 * ones. */
#include "recognizer/pair_table.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LITERALS 32

/* How an event may be read, one bit a literal each. */
struct reading {
	uint32_t literals; /* as these, … */
	uint32_t wanted;   /* … of which those that lack different ones; */
	uint32_t alike;    /* all that lack the same as one of them; */
	uint32_t meets;    /* those that lack one of them */
};

struct dpe_pairs {
	struct dpe_pair_table table; /* of the slices */
	unsigned *keys; /* the variables that all patterns bind; table.nkeys of them */
	struct reading *readings; /* by pattern */
	bool ends;             /* some pattern ends slices */
	struct literal {
		uint32_t alike;    /* literals that lack the same, this one among them */
		uint32_t partners; /* what each lacks */
		uint16_t first;    /* the position that it takes as the first event … */
		uint16_t second[MOST_LITERALS]; /* … and of each partner as the second */
	} * at;
	struct dpe_slice *mold; /* in which a slice is shown to others */
};

/* ---- which rules ------------------------------------------------------------------------- */

enum moves { NO_MOVE, ONE_MOVE, OTHERWISE };

/* The only move with this literal, if there is one that asks for no predecessors. */
static enum moves find_move(struct dpe_automaton *automaton, dpe_state state, unsigned literal,
	const struct dpe_move **move)
{
	unsigned count;

	*move = dpe_automaton_moves(automaton, state, literal, &count);
	if (!count)
		return NO_MOVE;
	return count == 1 && !(*move)->npreds && (*move)->npositions == 1 ? ONE_MOVE : OTHERWISE;
}

/* What a first event lacks: other literals, each of which completes it. */
static bool find_partners(struct dpe_run *run, dpe_state state, struct literal *to)
{
	struct dpe_automaton *automaton = run->automaton;

	for (unsigned i = 0; i < run->rule->nliterals; i++) {
		const struct dpe_move *move;
		enum moves moves = find_move(automaton, state, i, &move);

		if (moves == NO_MOVE)
			continue;
		if (moves == OTHERWISE || !dpe_automaton_complete(automaton, move->to))
			return false;
		to->partners |= UINT32_C(1) << i;
		to->second[i] = move->positions[0];
	}
	return to->partners && !dpe_automaton_final(automaton, state);
}

static bool find_literals(struct dpe_run *run, struct literal *at)
{
	unsigned count = run->rule->nliterals;
	dpe_state after[MOST_LITERALS];

	for (unsigned i = 0; i < count; i++) {
		const struct dpe_move *first;

		if (find_move(run->automaton, 0, i, &first) != ONE_MOVE)
			return false;
		at[i].first = first->positions[0];
		after[i] = first->to;
		if (!find_partners(run, after[i], &at[i]))
			return false;
	}
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < count; j++)
			at[i].alike |= (uint32_t)(after[i] == after[j]) << j;
	}
	return true;
}

/* Of those that lack the same the first. */
static uint32_t reduce(const struct literal *at, uint32_t literals)
{
	uint32_t reduced = 0;

	for (uint32_t left = literals; left;) {
		uint32_t first = left & -left;

		reduced |= first;
		left &= ~at[__builtin_ctz(first)].alike;
	}
	return reduced;
}

static struct reading *find_readings(const struct dpe_rule *rule, const struct literal *at)
{
	struct reading *readings = dpe_xcalloc(rule->npatterns, sizeof(*readings));

	for (unsigned i = 0; i < rule->nliterals; i++) {
		struct reading *reading = &readings[rule->literals[i].pattern];

		reading->literals |= UINT32_C(1) << i;
		reading->alike |= at[i].alike;
		for (unsigned j = 0; j < rule->nliterals; j++)
			reading->meets |= (at[j].partners >> i & 1) << j;
	}
	for (unsigned i = 0; i < rule->npatterns; i++)
		readings[i].wanted = reduce(at, readings[i].literals);
	return readings;
}

/* Nobody looks at single events, and all bind the same variables. */
static bool is_plain(const struct dpe_run *run)
{
	if (run->rule->mode != DPE_DETECT || !run->automaton || run->acts ||
		run->recognizer->sink.trace || run->rule->nliterals > MOST_LITERALS)
		return false;
	for (unsigned i = 0; i < run->rule->npatterns; i++) {
		if (run->masks[i] != run->masks[0] || run->late[i] || run->placed[i])
			return false;
	}
	return true;
}

static struct dpe_pairs *new_pairs(const struct dpe_run *run, struct literal *at)
{
	const struct dpe_rule *rule = run->rule;
	struct dpe_pairs *pairs = dpe_xcalloc(1, sizeof(*pairs));
	unsigned nkeys = 0;

	pairs->at = at;
	pairs->keys = dpe_xcalloc(rule->nvariables + 1, sizeof(*pairs->keys));
	for (uint64_t left = run->masks[0]; left; left &= left - 1)
		pairs->keys[nkeys++] = (unsigned)__builtin_ctzll(left);
	dpe_pair_table_begin(&pairs->table, run->recognizer->pool, nkeys);
	pairs->readings = find_readings(rule, at);
	for (unsigned i = 0; i < rule->nobserving; i++)
		pairs->ends |= rule->ends[i];
	pairs->mold = dpe_xcalloc(
		1, sizeof(*pairs->mold) + rule->nvariables * sizeof(pairs->mold->params[0]));
	pairs->mold->mask = run->masks[0];
	return pairs;
}

bool dpe_pairs_new(struct dpe_run *run)
{
	struct literal *at;

	if (!is_plain(run))
		return false;
	at = dpe_xcalloc(run->rule->nliterals + 1, sizeof(*at));
	if (find_literals(run, at)) {
		run->pairs = new_pairs(run, at);
		return true;
	}
	free(at);
	return false;
}

/* ---- events ------------------------------------------------------------------------------ */

static unsigned count_literals(struct dpe_pair_slice *slice)
{
	const uint32_t *literals = dpe_pair_literals(slice);
	unsigned count = 0;

	for (unsigned i = 0; i < slice->nevents; i++)
		count += (unsigned)__builtin_popcount(literals[i]);
	return count;
}

/* Those of the literals that there is room for: an event kept as one counts as what elsewhere is a
 * partial match. */
static uint32_t fit(struct dpe_pair_slice *slice, uint32_t literals, unsigned most)
{
	unsigned count;
	uint32_t kept = 0;

	if (slice->nevents < most / (2 * MOST_LITERALS))
		return literals;
	count = count_literals(slice);
	for (uint32_t left = literals; left && count < most; left &= left - 1, count++)
		kept |= left & -left;
	return kept;
}

#define NONE_MET UINT32_MAX

/* Drops what the event makes redundant, but for the message of one, *dropped, which is the caller's.
 * Returns where the latest one stands that is independent of it and makes a pair with it, or
 * NONE_MET. */
static uint32_t meet(const struct dpe_pairs *pairs, struct dpe_pair_slice *slice,
	const struct dpe_event *event, const struct reading *reading, struct dpe_kept **dropped)
{
	struct dpe_pair_event *events = dpe_pair_events(slice);
	uint32_t *literals = dpe_pair_literals(slice), met = NONE_MET, kept = 0;

	for (uint32_t i = 0; i < slice->nevents; i++) {
		const struct dpe_pair_event at = events[i];
		bool before = at.chain == event->stamp.chain ||
			      dpe_stamp_reach(&event->stamp, at.chain) >= at.index;
		uint32_t left = before ? literals[i] & ~reading->alike : literals[i];

		if (!left) {
			if (*dropped)
				dpe_kept_drop(pairs->table.pool, *dropped);
			*dropped = at.message;
			continue;
		}
		events[kept] = at;
		literals[kept] = left;
		if (!before && left & reading->meets)
			met = kept;
		kept++;
	}
	slice->nevents = kept;
	return met;
}

/* ---- slices ------------------------------------------------------------------------------ */

/* The values by which slices are told apart. */
static inline const struct dpe_value *find_key(const struct dpe_pairs *pairs,
	const struct dpe_value *values, struct dpe_value *room)
{
	if (pairs->table.nkeys == 1)
		return &values[pairs->keys[0]];
	for (unsigned i = 0; i < pairs->table.nkeys; i++)
		room[i] = values[pairs->keys[i]];
	return room;
}

/* What the slice was about is over. That something was given up in it stays to be told. */
static void end(struct dpe_run *run, const struct dpe_value *values)
{
	struct dpe_value room[DPE_MAX_VARIABLES];
	struct dpe_pair_table *table = &run->pairs->table;
	struct dpe_pair_slice *slice =
		dpe_pair_find(table, find_key(run->pairs, values, room));

	if (!slice)
		return;
	run->recognizer->kept -= slice->nevents;
	if (slice->overflown)
		dpe_pair_clear(table, slice);
	else
		dpe_pair_remove(table, slice);
}

/* As others see it. */
static struct dpe_slice *show(const struct dpe_pairs *pairs, const struct dpe_pair_slice *slice)
{
	const struct dpe_value *key = dpe_pair_key(&pairs->table, slice);

	pairs->mold->overflown = slice->overflown;
	for (unsigned i = 0; i < pairs->table.nkeys; i++)
		pairs->mold->params[pairs->keys[i]] = key[i];
	return pairs->mold;
}

/* ---- matches ----------------------------------------------------------------------------- */

static void run_rule_action(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_verdict *verdict)
{
	const struct dpe_message *positions[2];

	for (unsigned i = 0; i < 2; i++)
		positions[verdict->positions[i] - 1] = verdict->events[i];
	dpe_run_action(run, slice, run->rule->action, positions, verdict->event);
}

static unsigned last_literal(uint32_t literals)
{
	return 31 - (unsigned)__builtin_clz(literals);
}

/* Of several ways to read the two the last, as in detect.c. */
static void find_positions(const struct dpe_pairs *pairs, uint32_t met, uint32_t literals,
	uint16_t *positions)
{
	for (uint32_t left = met;; left &= ~(UINT32_C(1) << last_literal(left))) {
		const struct literal *first = &pairs->at[last_literal(left)];

		if (!(first->partners & literals))
			continue;
		positions[0] = first->first;
		positions[1] = first->second[last_literal(first->partners & literals)];
		return;
	}
}

static void tell(struct dpe_run *run, struct dpe_pair_slice *of, uint32_t met,
	const struct dpe_event *event, uint32_t literals)
{
	const struct dpe_pair_event *first = &dpe_pair_events(of)[met];
	struct dpe_slice *slice = show(run->pairs, of);
	const char *doubt = dpe_slice_doubt(run, slice);
	struct dpe_message *message = dpe_kept_message(run->pairs->table.pool, first->message);
	const struct dpe_message *events[] = {message, event->message};
	/* Its past is not needed: what came first does not follow the other. */
	const struct dpe_stamp stamp = {.chain = first->chain, .index = first->index};
	const struct dpe_stamp *stamps[] = {&stamp, &event->stamp};
	uint16_t positions[2];
	struct dpe_verdict verdict = {
		.kind = doubt ? DPE_INCONCLUSIVE : DPE_MATCH,
		.event = event->message,
		.events = events,
		.positions = positions,
		.nevents = 2,
		.around = events,
		.stamps = stamps,
		.naround = 2,
		.reason = doubt,
	};

	find_positions(run->pairs, dpe_pair_literals(of)[met], literals, positions);
	dpe_run_tell(run, slice, &verdict);
	if (!doubt && run->rule->action)
		run_rule_action(run, slice, &verdict);
	run->recognizer->quiet = false;
	dpe_message_unref(message);
}

static void take(struct dpe_run *run, const struct dpe_event *event, const struct dpe_value *values,
	const struct reading *reading)
{
	struct dpe_value room[DPE_MAX_VARIABLES];
	struct dpe_pair_table *table = &run->pairs->table;
	struct dpe_pair_slice *slice =
		dpe_pair_take(table, find_key(run->pairs, values, room));
	uint32_t before = slice->nevents, kept;
	struct dpe_kept *dropped = NULL;
	uint32_t met = meet(run->pairs, slice, event, reading, &dropped);

	kept = fit(slice, reading->wanted, run->recognizer->options.max_instances);
	if (kept != reading->wanted)
		slice->overflown = true;
	if (kept)
		dpe_pair_add(table, slice, event, kept, dropped);
	else if (dropped)
		dpe_kept_drop(table->pool, dropped);
	run->recognizer->kept += slice->nevents;
	run->recognizer->kept -= before;
	if (met != NONE_MET)
		tell(run, slice, met, event, reading->literals);
}

static bool same_keys(const struct dpe_pairs *pairs, const struct dpe_binding *a,
	const struct dpe_binding *b)
{
	for (unsigned i = 0; i < pairs->table.nkeys; i++) {
		if (!dpe_value_equal(a->values[pairs->keys[i]], b->values[pairs->keys[i]]))
			return false;
	}
	return true;
}

static bool ends_slice(const struct dpe_run *run, unsigned pattern)
{
	for (unsigned i = 0; i < run->rule->nobserving; i++) {
		if (run->rule->observing[i] == pattern && run->rule->ends[i])
			return true;
	}
	return false;
}

static void add_reading(struct reading *to, const struct reading *reading)
{
	to->literals |= reading->literals;
	to->alike |= reading->alike;
	to->meets |= reading->meets;
}

/* All that the event can be in the slice of one binding, those before which had others. */
static void take_in_slice(struct dpe_run *run, const struct dpe_event *event, unsigned from)
{
	const struct dpe_pairs *pairs = run->pairs;
	const struct dpe_binding *binding = &run->bindings[from];
	struct reading reading = pairs->readings[binding->pattern];
	bool ends = pairs->ends && ends_slice(run, binding->pattern);

	for (unsigned i = from + 1; i < run->nbindings; i++) {
		if (!same_keys(pairs, binding, &run->bindings[i]))
			continue;
		add_reading(&reading, &pairs->readings[run->bindings[i].pattern]);
		reading.wanted = reduce(pairs->at, reading.literals);
		ends |= pairs->ends && ends_slice(run, run->bindings[i].pattern);
	}
	if (reading.literals)
		take(run, event, binding->values, &reading);
	if (ends)
		end(run, binding->values);
}

void dpe_pairs_take(struct dpe_run *run, const struct dpe_event *event)
{
	take_in_slice(run, event, 0);
	for (unsigned i = 1; i < run->nbindings && !run->recognizer->ended; i++) {
		unsigned j = 0;

		while (j < i && !same_keys(run->pairs, &run->bindings[i], &run->bindings[j]))
			j++;
		if (j == i)
			take_in_slice(run, event, i);
	}
}

/* ---- the end ----------------------------------------------------------------------------- */

uint64_t dpe_pairs_count(const struct dpe_run *run)
{
	return run->pairs->table.count;
}

static void finish(void *context, struct dpe_pair_slice *of)
{
	struct dpe_run *run = context;
	struct dpe_verdict verdict = {.kind = DPE_INCONCLUSIVE};
	struct dpe_slice *slice;

	if (!of->overflown)
		return;
	slice = show(run->pairs, of);
	verdict.reason = dpe_slice_doubt(run, slice);
	dpe_run_tell(run, slice, &verdict);
}

void dpe_pairs_finish(struct dpe_run *run)
{
	dpe_pair_each(&run->pairs->table, finish, run);
}

void dpe_pairs_free(struct dpe_run *run)
{
	struct dpe_pairs *pairs = run->pairs;

	if (!pairs)
		return;
	dpe_pair_table_end(&pairs->table);
	free(pairs->keys);
	free(pairs->readings);
	free(pairs->at);
	free(pairs->mold);
	free(pairs);
	run->pairs = NULL;
}
