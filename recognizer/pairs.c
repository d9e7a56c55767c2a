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
#include "recognizer/run.h"

#include <stdlib.h>
#include <string.h>

#define FEW 2
#define FIRST_SIZE 64
#define MOST_LITERALS 32

/* As small as it can be: with many objects, memory is what takes time. */
struct event {
	uint32_t chain, index;         /* its stamp, … */
	const struct dpe_clock *past;  /* … counted … */
	struct dpe_kept *message;      /* owned */
	uint32_t literals;             /* as which it is kept, one bit each */
};

struct objects {
	uint32_t nevents, overflown : 1, capevents : 31; /* overflown: an event was given up */
	union {
		struct event few[FEW];
		struct event *many; /* where there is room for more */
	}; /* the earlier first */
	struct dpe_value keys[]; /* owned */
};

struct slot {
	uint64_t hash;
	struct objects *objects; /* NULL: free */
};

struct dpe_pairs {
	struct dpe_pool *pool; /* the recognizer's */
	struct slot *slots; /* open addressing; the size is a power of two */
	uint64_t size, count;
	unsigned nkeys, *keys; /* the variables that all patterns bind */
	uint32_t *literals;    /* by pattern: which it stands for, one bit each */
	bool ends;             /* some pattern ends slices */
	struct literal {
		uint32_t alike;    /* literals that lack the same, this one among them */
		uint32_t partners; /* what each lacks */
		uint16_t first;    /* the position that it takes as the first event … */
		uint16_t second[MOST_LITERALS]; /* … and of each partner as the second */
	} * at;
	struct dpe_slice *mold; /* in which a slice is shown to others, … */
	struct dpe_value *shown; /* … and its values */
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

	pairs->pool = run->recognizer->pool;
	pairs->at = at;
	pairs->size = FIRST_SIZE;
	pairs->slots = dpe_xcalloc(pairs->size, sizeof(*pairs->slots));
	pairs->keys = dpe_xcalloc(rule->nvariables + 1, sizeof(*pairs->keys));
	for (uint64_t left = run->masks[0]; left; left &= left - 1)
		pairs->keys[pairs->nkeys++] = (unsigned)__builtin_ctzll(left);
	pairs->literals = dpe_xcalloc(rule->npatterns, sizeof(*pairs->literals));
	for (unsigned i = 0; i < rule->nliterals; i++)
		pairs->literals[rule->literals[i].pattern] |= UINT32_C(1) << i;
	for (unsigned i = 0; i < rule->nobserving; i++)
		pairs->ends |= rule->ends[i];
	pairs->shown = dpe_xcalloc(rule->nvariables + 1, sizeof(*pairs->shown));
	pairs->mold = dpe_xcalloc(1, sizeof(*pairs->mold));
	pairs->mold->params = pairs->shown;
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

static struct event *events_of(struct objects *objects)
{
	return objects->capevents > FEW ? objects->many : objects->few;
}

static struct dpe_stamp stamp_of(const struct event *event)
{
	return (struct dpe_stamp){
		.chain = event->chain, .index = event->index, .past = event->past};
}

static void drop_event(struct dpe_pool *pool, struct event *event)
{
	struct dpe_stamp stamp = stamp_of(event);

	dpe_kept_drop(pool, event->message);
	dpe_stamp_unref(&stamp);
}

static void grow(struct objects *objects)
{
	unsigned cap = objects->capevents * 2;
	struct event *few = objects->capevents > FEW ? NULL : objects->few;
	struct event *many = dpe_xrealloc(few ? NULL : objects->many, cap * sizeof(*many));

	if (few)
		memcpy(many, few, objects->nevents * sizeof(*many));
	objects->many = many;
	objects->capevents = cap & INT32_MAX;
}

static void add_event(struct dpe_pool *pool, struct objects *objects, const struct dpe_event *from,
	uint32_t literals)
{
	if (objects->nevents == objects->capevents)
		grow(objects);
	events_of(objects)[objects->nevents++] = (struct event){
		.chain = from->stamp.chain,
		.index = from->stamp.index,
		.past = from->stamp.past,
		.message = dpe_message_keep(pool, from->message),
		.literals = literals,
	};
	dpe_stamp_ref(&from->stamp);
}

static unsigned count_literals(struct objects *objects)
{
	const struct event *events = events_of(objects);
	unsigned count = 0;

	for (unsigned i = 0; i < objects->nevents; i++)
		count += (unsigned)__builtin_popcount(events[i].literals);
	return count;
}

/* Those of the literals that there is room for: an event kept as one counts as what elsewhere is a
 * partial match. */
static uint32_t fit(struct objects *objects, uint32_t literals, unsigned most)
{
	unsigned count;
	uint32_t kept = 0;

	if (objects->nevents < most / (2 * MOST_LITERALS))
		return literals;
	count = count_literals(objects);
	for (uint32_t left = literals; left && count < most; left &= left - 1, count++)
		kept |= left & -left;
	return kept;
}

/* Of those that lack the same the first. */
static uint32_t reduce(const struct dpe_pairs *pairs, uint32_t literals)
{
	uint32_t reduced = 0;

	for (uint32_t left = literals; left;) {
		uint32_t first = left & -left;

		reduced |= first;
		left &= ~pairs->at[__builtin_ctz(first)].alike;
	}
	return reduced;
}

static uint32_t alike(const struct dpe_pairs *pairs, uint32_t literals)
{
	uint32_t all = 0;

	for (uint32_t left = literals; left; left &= left - 1)
		all |= pairs->at[__builtin_ctz(left)].alike;
	return all;
}

static uint32_t partners(const struct dpe_pairs *pairs, uint32_t literals)
{
	uint32_t all = 0;

	for (uint32_t left = literals; left; left &= left - 1)
		all |= pairs->at[__builtin_ctz(left)].partners;
	return all;
}

/* Drops what the event makes redundant; the latest one independent of it that makes a pair with it
 * is returned, or NULL. */
static struct event *meet(const struct dpe_pairs *pairs, struct objects *objects,
	const struct dpe_event *event, uint32_t literals)
{
	struct event *events = events_of(objects), *met = NULL;
	uint32_t same = alike(pairs, literals);
	unsigned kept = 0;

	for (unsigned i = 0; i < objects->nevents; i++) {
		struct event *at = &events[i];
		bool before = dpe_stamp_reach(&event->stamp, at->chain) >= at->index;

		if (before)
			at->literals &= ~same;
		if (!at->literals) {
			drop_event(pairs->pool, at);
			continue;
		}
		if (kept != i)
			events[kept] = *at;
		if (!before && partners(pairs, at->literals) & literals)
			met = &events[kept];
		kept++;
	}
	objects->nevents = kept;
	return met;
}

/* ---- slices ------------------------------------------------------------------------------ */

static uint64_t hash_keys(const struct dpe_pairs *pairs, const struct dpe_value *values)
{
	uint64_t hash = pairs->nkeys;

	for (unsigned i = 0; i < pairs->nkeys; i++)
		hash = (hash ^ dpe_value_hash(values[pairs->keys[i]])) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

static bool have_keys(const struct dpe_pairs *pairs, const struct objects *objects,
	const struct dpe_value *values)
{
	for (unsigned i = 0; i < pairs->nkeys; i++) {
		if (!dpe_value_equal(objects->keys[i], values[pairs->keys[i]]))
			return false;
	}
	return true;
}

static struct slot *find_slot(
	const struct dpe_pairs *pairs, uint64_t hash, const struct dpe_value *values)
{
	for (uint64_t at = hash & (pairs->size - 1);; at = (at + 1) & (pairs->size - 1)) {
		struct slot *slot = &pairs->slots[at];

		if (!slot->objects ||
			(slot->hash == hash && have_keys(pairs, slot->objects, values)))
			return slot;
	}
}

static void enlarge(struct dpe_pairs *pairs)
{
	struct slot *old = pairs->slots;
	uint64_t size = pairs->size;

	pairs->size *= 2;
	pairs->slots = dpe_xcalloc(pairs->size, sizeof(*pairs->slots));
	for (uint64_t i = 0; i < size; i++) {
		uint64_t at = old[i].hash & (pairs->size - 1);

		if (!old[i].objects)
			continue;
		while (pairs->slots[at].objects)
			at = (at + 1) & (pairs->size - 1);
		pairs->slots[at] = old[i];
	}
	free(old);
}

static struct objects *add_objects(
	struct dpe_pairs *pairs, uint64_t hash, const struct dpe_value *values)
{
	struct objects *objects =
		dpe_xcalloc(1, sizeof(*objects) + pairs->nkeys * sizeof(objects->keys[0]));

	objects->capevents = FEW;
	for (unsigned i = 0; i < pairs->nkeys; i++)
		objects->keys[i] = dpe_value_keep(values[pairs->keys[i]]);
	if (++pairs->count * 2 > pairs->size)
		enlarge(pairs);
	*find_slot(pairs, hash, values) = (struct slot){hash, objects};
	return objects;
}

static struct objects *objects_of(struct dpe_pairs *pairs, const struct dpe_value *values)
{
	uint64_t hash = hash_keys(pairs, values);
	struct slot *slot = find_slot(pairs, hash, values);

	return slot->objects ? slot->objects : add_objects(pairs, hash, values);
}

static void drop_events(const struct dpe_pairs *pairs, struct objects *objects)
{
	for (unsigned i = 0; i < objects->nevents; i++)
		drop_event(pairs->pool, &events_of(objects)[i]);
	objects->nevents = 0;
}

static void free_objects(const struct dpe_pairs *pairs, struct objects *objects)
{
	drop_events(pairs, objects);
	for (unsigned i = 0; i < pairs->nkeys; i++)
		dpe_value_drop(objects->keys[i]);
	if (objects->capevents > FEW)
		free(objects->many);
	free(objects);
}

/* Empties the slot; whatever was probed past it moves up. */
static void close_hole(struct dpe_pairs *pairs, struct slot *slot)
{
	uint64_t mask = pairs->size - 1, hole = (uint64_t)(slot - pairs->slots);

	for (uint64_t at = (hole + 1) & mask; pairs->slots[at].objects; at = (at + 1) & mask) {
		uint64_t home = pairs->slots[at].hash & mask;

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		pairs->slots[hole] = pairs->slots[at];
		hole = at;
	}
	pairs->slots[hole] = (struct slot){0};
	pairs->count--;
}

/* What the slice was about is over. That something was given up in it stays to be told. */
static void end(struct dpe_run *run, const struct dpe_value *values)
{
	struct dpe_pairs *pairs = run->pairs;
	struct slot *slot = find_slot(pairs, hash_keys(pairs, values), values);
	struct objects *objects = slot->objects;

	if (!objects)
		return;
	run->recognizer->kept -= objects->nevents;
	if (!objects->overflown) {
		free_objects(pairs, objects);
		close_hole(pairs, slot);
		return;
	}
	drop_events(pairs, objects);
}

/* As others see it. */
static struct dpe_slice *show(const struct dpe_pairs *pairs, const struct objects *objects)
{
	pairs->mold->overflown = objects->overflown;
	for (unsigned i = 0; i < pairs->nkeys; i++)
		pairs->shown[pairs->keys[i]] = objects->keys[i];
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

static void tell(struct dpe_run *run, const struct objects *objects, const struct event *met,
	const struct dpe_event *event, uint32_t literals)
{
	struct dpe_slice *slice = show(run->pairs, objects);
	const char *doubt = dpe_slice_doubt(run, slice);
	struct dpe_message *message = dpe_kept_message(run->pairs->pool, met->message);
	const struct dpe_message *events[] = {message, event->message};
	const struct dpe_stamp stamp = stamp_of(met), *stamps[] = {&stamp, &event->stamp};
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

	find_positions(run->pairs, met->literals, literals, positions);
	dpe_run_tell(run, slice, &verdict);
	if (!doubt && run->rule->action)
		run_rule_action(run, slice, &verdict);
	run->recognizer->quiet = false;
	dpe_message_unref(message);
}

static void take(struct dpe_run *run, const struct dpe_event *event, const struct dpe_value *values,
	uint32_t literals)
{
	struct objects *objects = objects_of(run->pairs, values);
	unsigned before = objects->nevents;
	struct event *met = meet(run->pairs, objects, event, literals);
	ptrdiff_t at = met ? met - events_of(objects) : -1;
	uint32_t wanted = reduce(run->pairs, literals);
	uint32_t kept = fit(objects, wanted, run->recognizer->options.max_instances);

	objects->overflown |= kept != wanted;
	if (kept)
		add_event(run->pairs->pool, objects, event, kept);
	run->recognizer->kept += objects->nevents;
	run->recognizer->kept -= before;
	if (at >= 0)
		tell(run, objects, &events_of(objects)[at], event, literals);
}

static bool same_keys(const struct dpe_pairs *pairs, const struct dpe_binding *a,
	const struct dpe_binding *b)
{
	for (unsigned i = 0; i < pairs->nkeys; i++) {
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

/* All that the event can be in the slice of one binding, those before which had others. */
static void take_in_slice(struct dpe_run *run, const struct dpe_event *event, unsigned from)
{
	const struct dpe_pairs *pairs = run->pairs;
	const struct dpe_binding *binding = &run->bindings[from];
	uint32_t literals = 0;
	bool ends = false;

	for (unsigned i = from; i < run->nbindings; i++) {
		if (i != from && !same_keys(pairs, binding, &run->bindings[i]))
			continue;
		literals |= pairs->literals[run->bindings[i].pattern];
		ends |= pairs->ends && ends_slice(run, run->bindings[i].pattern);
	}
	if (literals)
		take(run, event, binding->values, literals);
	if (ends)
		end(run, binding->values);
}

void dpe_pairs_take(struct dpe_run *run, const struct dpe_event *event)
{
	for (unsigned i = 0; i < run->nbindings && !run->recognizer->ended; i++) {
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
	return run->pairs->count;
}

void dpe_pairs_finish(struct dpe_run *run)
{
	for (uint64_t i = 0; i < run->pairs->size; i++) {
		const struct objects *objects = run->pairs->slots[i].objects;
		struct dpe_verdict verdict = {.kind = DPE_INCONCLUSIVE};
		struct dpe_slice *slice;

		if (!objects || !objects->overflown)
			continue;
		slice = show(run->pairs, objects);
		verdict.reason = dpe_slice_doubt(run, slice);
		dpe_run_tell(run, slice, &verdict);
	}
}

void dpe_pairs_free(struct dpe_run *run)
{
	struct dpe_pairs *pairs = run->pairs;

	if (!pairs)
		return;
	for (uint64_t i = 0; i < pairs->size; i++) {
		if (pairs->slots[i].objects)
			free_objects(pairs, pairs->slots[i].objects);
	}
	free(pairs->slots);
	free(pairs->keys);
	free(pairs->literals);
	free(pairs->at);
	free(pairs->mold);
	free(pairs->shown);
	free(pairs);
	run->pairs = NULL;
}
