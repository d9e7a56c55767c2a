/* `detect a & b`: two independent events, the shape of all race rules, without partial matches.
 *
 * Of a slice those events are kept that a later one may be independent of while no other of the
 * same kind that comes after them is: what is independent of an event and comes after all is
 * independent of whatever follows that event. So for each of the two literals the maximal events
 * are enough, one in each thread at most, and in a program that synchronises one alone; and the
 * latest of those that are independent of the event at hand is the latest of all. It is what
 * detect.c comes to in general, and FastTrack (Flanagan and Freund, PLDI 2009) with its epochs,
 * though here each race is told with both of its events. */
#include "recognizer/run.h"

#include <stdlib.h>
#include <string.h>

#define FEW 2
#define FIRST_SIZE 64

struct event {
	struct dpe_stamp stamp;
	uint64_t number;
	struct dpe_message *message; /* counted, as is the stamp */
	unsigned literals;           /* as which it is kept, one bit each */
};

struct objects {
	unsigned nevents, capevents;
	bool overflown; /* an event was given up */
	struct event *events; /* the earlier first; `few`, or allocated */
	struct event few[FEW];
	struct dpe_value keys[]; /* owned */
};

struct slot {
	uint64_t hash;
	struct objects *objects; /* NULL: free */
};

struct dpe_pairs {
	struct slot *slots; /* open addressing; the size is a power of two */
	uint64_t size, count;
	unsigned nkeys, *keys; /* the variables that all patterns bind */
	unsigned *literals;    /* by pattern: which it stands for, one bit each */
	uint16_t positions[2];
	struct dpe_slice *mold; /* in which a slice is shown to others */
};

/* ---- which rules ------------------------------------------------------------------------- */

/* The only move with this literal, if it asks for no predecessors. */
static const struct dpe_move *free_move(
	struct dpe_automaton *automaton, dpe_state state, unsigned literal)
{
	unsigned count;
	const struct dpe_move *moves = dpe_automaton_moves(automaton, state, literal, &count);

	return count == 1 && !moves->npreds && moves->npositions == 1 ? moves : NULL;
}

/* After `first`, only the other literal is left, and then nothing. */
static bool leads_to_other(
	struct dpe_automaton *automaton, const struct dpe_move *first, unsigned literal)
{
	const struct dpe_move *second = free_move(automaton, first->to, 1 - literal);
	unsigned again;

	dpe_automaton_moves(automaton, first->to, literal, &again);
	return second && !again && !dpe_automaton_final(automaton, first->to) &&
	       dpe_automaton_complete(automaton, second->to);
}

static bool are_two(struct dpe_run *run, uint16_t *positions)
{
	if (!run->automaton || run->rule->nliterals != 2 || run->rule->npositions != 2)
		return false;
	for (unsigned literal = 0; literal < 2; literal++) {
		const struct dpe_move *first = free_move(run->automaton, 0, literal);

		if (!first || !leads_to_other(run->automaton, first, literal))
			return false;
		positions[literal] = first->positions[0];
	}
	return true;
}

/* Nobody looks at single events, and all bind the same variables. */
static bool is_plain(const struct dpe_run *run)
{
	if (run->rule->mode != DPE_DETECT || run->rule->nobserving || run->acts ||
		run->recognizer->sink.trace)
		return false;
	for (unsigned i = 0; i < run->rule->npatterns; i++) {
		if (run->masks[i] != run->masks[0] || run->late[i] || run->placed[i])
			return false;
	}
	return true;
}

bool dpe_pairs_new(struct dpe_run *run)
{
	const struct dpe_rule *rule = run->rule;
	uint16_t positions[2];
	struct dpe_pairs *pairs;

	if (!is_plain(run) || !are_two(run, positions))
		return false;
	run->pairs = pairs = dpe_xcalloc(1, sizeof(*pairs));
	pairs->size = FIRST_SIZE;
	pairs->slots = dpe_xcalloc(pairs->size, sizeof(*pairs->slots));
	pairs->keys = dpe_xcalloc(rule->nvariables + 1, sizeof(*pairs->keys));
	for (uint64_t left = run->masks[0]; left; left &= left - 1)
		pairs->keys[pairs->nkeys++] = (unsigned)__builtin_ctzll(left);
	pairs->literals = dpe_xcalloc(rule->npatterns, sizeof(*pairs->literals));
	for (unsigned i = 0; i < 2; i++)
		pairs->literals[rule->literals[i].pattern] |= 1u << i;
	memcpy(pairs->positions, positions, sizeof(positions));
	pairs->mold = dpe_xcalloc(
		1, sizeof(*pairs->mold) + rule->nvariables * sizeof(pairs->mold->params[0]));
	pairs->mold->mask = run->masks[0];
	return true;
}

/* ---- events ------------------------------------------------------------------------------ */

static void drop_event(struct event *event)
{
	dpe_message_unref(event->message);
	dpe_stamp_unref(&event->stamp);
}

static void grow(struct objects *objects)
{
	unsigned cap = objects->capevents * 2;

	if (objects->events == objects->few) {
		objects->events = dpe_xmalloc(cap * sizeof(*objects->events));
		memcpy(objects->events, objects->few, sizeof(objects->few));
	} else {
		objects->events =
			dpe_xrealloc(objects->events, cap * sizeof(*objects->events));
	}
	objects->capevents = cap;
}

static void add_event(struct objects *objects, const struct dpe_event *from, unsigned literals)
{
	struct event *event;

	if (objects->nevents == objects->capevents)
		grow(objects);
	event = &objects->events[objects->nevents++];
	event->stamp = from->stamp;
	event->number = from->number;
	event->message = dpe_message_ref(from->message);
	event->literals = literals;
	dpe_stamp_ref(&event->stamp);
}

/* Those of the literals that there is room for. Each event kept as one counts as what elsewhere is a
 * partial match: it comes first as the one literal, while those that it makes redundant as the other,
 * `second` of them, are still there. */
static unsigned fit(
	const struct objects *objects, unsigned literals, unsigned second, unsigned most)
{
	unsigned count = 0, kept = 0;

	if (objects->nevents < most / 4)
		return literals;
	for (unsigned i = 0; i < objects->nevents; i++)
		count += (unsigned)__builtin_popcount(objects->events[i].literals);
	if (literals & 1 && count + second < most) {
		kept |= 1;
		count++;
	}
	return literals & 2 && count < most ? kept | 2 : kept;
}

static unsigned others(unsigned literals)
{
	return (literals & 1) << 1 | literals >> 1;
}

/* Drops what the event makes redundant, `*second` times as the second literal; the latest one
 * independent of it that makes a pair with it is returned, or NULL. */
static struct event *meet(struct objects *objects, const struct dpe_event *event, unsigned literals,
	unsigned *second)
{
	struct event *met = NULL;
	unsigned kept = 0;

	for (unsigned i = 0; i < objects->nevents; i++) {
		struct event *at = &objects->events[i];
		bool before = dpe_precedes(&at->stamp, &event->stamp);

		if (before) {
			*second += at->literals >> 1 & literals >> 1;
			at->literals &= ~literals;
		}
		if (!at->literals) {
			drop_event(at);
			continue;
		}
		if (kept != i)
			objects->events[kept] = *at;
		if (!before && at->literals & others(literals))
			met = &objects->events[kept];
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

	objects->events = objects->few;
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

/* As others see it. */
static struct dpe_slice *show(const struct dpe_pairs *pairs, const struct objects *objects)
{
	pairs->mold->overflown = objects->overflown;
	for (unsigned i = 0; i < pairs->nkeys; i++)
		pairs->mold->params[pairs->keys[i]] = objects->keys[i];
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

/* Where both could be either, the later one is the first of the pair. */
static void tell(struct dpe_run *run, const struct objects *objects, const struct event *met,
	const struct dpe_event *event, unsigned literals)
{
	struct dpe_slice *slice = show(run->pairs, objects);
	const char *doubt = dpe_slice_doubt(run, slice);
	unsigned literal = met->literals & 2 && literals & 1;
	const struct dpe_message *events[] = {met->message, event->message};
	const struct dpe_stamp *stamps[] = {&met->stamp, &event->stamp};
	const uint16_t positions[] = {
		run->pairs->positions[literal], run->pairs->positions[1 - literal]};
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

	dpe_run_tell(run, slice, &verdict);
	if (!doubt && run->rule->action)
		run_rule_action(run, slice, &verdict);
	run->recognizer->quiet = false;
}

static void take(struct dpe_run *run, const struct dpe_event *event, const struct dpe_value *values,
	unsigned literals)
{
	struct objects *objects = objects_of(run->pairs, values);
	unsigned before = objects->nevents, second = 0;
	struct event *met = meet(objects, event, literals, &second);
	ptrdiff_t at = met ? met - objects->events : -1;
	unsigned kept = fit(objects, literals, second, run->recognizer->options.max_instances);

	objects->overflown |= kept != literals;
	if (kept)
		add_event(objects, event, kept);
	run->recognizer->kept += objects->nevents;
	run->recognizer->kept -= before;
	if (at >= 0)
		tell(run, objects, &objects->events[at], event, literals);
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

void dpe_pairs_take(struct dpe_run *run, const struct dpe_event *event)
{
	const struct dpe_pairs *pairs = run->pairs;

	for (unsigned i = 0; i < run->nbindings; i++) {
		const struct dpe_binding *binding = &run->bindings[i];
		unsigned literals = pairs->literals[binding->pattern], j = 0;

		while (j < i && !same_keys(pairs, binding, &run->bindings[j]))
			j++;
		if (j < i)
			continue; /* was taken with that one */
		for (j = i + 1; j < run->nbindings; j++) {
			if (same_keys(pairs, binding, &run->bindings[j]))
				literals |= pairs->literals[run->bindings[j].pattern];
		}
		take(run, event, binding->values, literals);
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

static void free_objects(const struct dpe_pairs *pairs, struct objects *objects)
{
	for (unsigned i = 0; i < objects->nevents; i++)
		drop_event(&objects->events[i]);
	for (unsigned i = 0; i < pairs->nkeys; i++)
		dpe_value_drop(objects->keys[i]);
	if (objects->events != objects->few)
		free(objects->events);
	free(objects);
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
	free(pairs->mold);
	free(pairs);
	run->pairs = NULL;
}
