/* Events of rules about pairs: each is compared with the kept events of its slice and replaces
 * events that it makes redundant. Why that is enough: docs/internals/pairs.md. */
#include "recognizer/actions/actions.h"
#include "recognizer/patterns/patterns.h"
#include "recognizer/races/pairs.h"
#include "recognizer/races/races.h"
#include "recognizer/verdicts/verdicts.h"

#include <string.h>

/* ---- bounds ------------------------------------------------------------------------------ */

static unsigned count_literals(struct dpe_pair_slice *slice, uint32_t of)
{
	const uint32_t *literals = dpe_pair_literals(slice);
	unsigned count = 0;

	for (unsigned i = 0; i < slice->nevents; i++)
		count += (unsigned)__builtin_popcount(literals[i] & of);
	return count;
}

/* Those literals of the rule as which one more event may be kept; each counts as a partial match.
 */
static uint32_t fit_rule(struct dpe_pair_slice *slice, uint32_t wanted, uint32_t of, unsigned max)
{
	uint32_t kept = 0;
	unsigned count;

	if ((uint64_t)(slice->nevents + 1) * (unsigned)__builtin_popcount(of) <= max)
		return wanted;
	count = count_literals(slice, of);

	for (uint32_t left = wanted; left && count < max; left &= left - 1, count++)
		kept |= left & -left;
	return kept;
}

static __attribute__((noinline)) uint32_t fit(
	const struct dpe_pairs *pairs, struct dpe_pair_slice *slice, uint32_t wanted)
{
	unsigned max = pairs->recognizer->options.max_instances;
	uint32_t kept = 0;

	for (unsigned i = 0; i < pairs->nrules; i++) {
		uint32_t of = pairs->rules[i].literals;

		kept |= fit_rule(slice, wanted & of, of, max);
	}
	return kept;
}

/* ---- meeting ----------------------------------------------------------------------------- */

/* For kept events and one that is later than all of them. */
static bool is_before(const struct dpe_pair_event *at, const struct dpe_stamp *stamp)
{
	return dpe_stamp_reach(stamp, at->chain) >= at->index;
}

/* Drops the events that the new one makes redundant, except for the message of one, *dropped, which
 * becomes the caller's. Returns the literals of independent events that it makes a pair with. */
static inline uint32_t meet(const struct dpe_pairs *pairs, struct dpe_pair_slice *slice,
	const struct dpe_event *event, const struct dpe_pair_reading *reading,
	struct dpe_retained **dropped)
{
	struct dpe_pair_event *events = dpe_pair_events(slice);
	const struct dpe_stamp stamp = event->stamp; /* what is written below does not change it */
	const uint32_t *reaches = dpe_stamp_reaches(&stamp);
	const uint32_t count = slice->nevents, alike = reading->alike;
	uint32_t *literals = dpe_pair_literals(slice), met = 0, kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct dpe_pair_event at = events[i];
		bool before = at.chain == stamp.chain ||
			      (reaches && at.chain < DPE_CLOCK_FAN ? reaches[at.chain] >= at.index : is_before(&at, &stamp));
		uint32_t left = before ? literals[i] & ~alike : literals[i];

		if (!left) {
			if (*dropped)
				dpe_retained_free(pairs->table.pool, *dropped);
			*dropped = at.message;
			continue;
		}
		if (kept != i) {
			events[kept] = at;
			literals[kept] = left;
		} else if (before) {
			literals[kept] = left;
		}
		if (!before)
			met |= left & reading->meets;
		kept++;
	}
	slice->nevents = kept;
	return met;
}

/* The latest event that is independent of the new one and kept as one of these literals. There is
 * one. */
static uint32_t find_met(
	struct dpe_pair_slice *slice, const struct dpe_event *event, uint32_t literals)
{
	const struct dpe_pair_event *events = dpe_pair_events(slice);
	uint32_t at = slice->nevents - 1;

	while (!(dpe_pair_literals(slice)[at] & literals) ||
		events[at].chain == event->stamp.chain || is_before(&events[at], &event->stamp))
		at--;
	return at;
}

/* ---- matches ----------------------------------------------------------------------------- */

static void run_rule_action(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_verdict *verdict)
{
	const struct dpe_message *positions[run->rule->npositions];

	memset(positions, 0, sizeof(positions));
	for (unsigned i = 0; i < 2; i++)
		positions[verdict->positions[i] - 1] = verdict->events[i];
	dpe_run_action(run, slice, run->rule->action, positions, verdict->event);
}

static unsigned last_literal(uint32_t literals)
{
	return 31 - (unsigned)__builtin_clz(literals);
}

/* The positions of a match; if it can be read in several ways, of the last one, as in detect.c. */
static void find_positions(
	const struct dpe_pairs *pairs, uint32_t met, uint32_t literals, uint16_t *positions)
{
	for (uint32_t left = met;; left &= ~(UINT32_C(1) << last_literal(left))) {
		const struct dpe_pair_literal *first = &pairs->at[last_literal(left)];

		if (!(first->partners & literals))
			continue;
		positions[0] = first->first;
		positions[1] = first->second[last_literal(first->partners & literals)];
		return;
	}
}

static void report(const struct dpe_pairs *pairs, const struct dpe_pair_rule *rule,
	struct dpe_pair_slice *of, const struct dpe_event *event,
	const struct dpe_pair_reading *reading)
{
	struct dpe_run *run = rule->run;
	uint32_t met = find_met(of, event, reading->meets & rule->literals);
	const struct dpe_pair_event *first = &dpe_pair_events(of)[met];
	struct dpe_slice *slice = dpe_pairs_view(pairs, rule, of);
	const char *doubt = dpe_slice_doubt(run, slice);
	struct dpe_message *message = dpe_retained_message(pairs->table.pool, first->message);
	const struct dpe_message *events[] = {message, event->message};
	/* Its past is not needed: the earlier event does not follow the later one. */
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

	find_positions(pairs, dpe_pair_literals(of)[met] & rule->literals,
		reading->literals & rule->literals, positions);
	dpe_match_sort(2, events, stamps, positions);
	dpe_verdict_report(run, slice, &verdict);
	if (verdict.kind == DPE_MATCH && run->rule->action)
		run_rule_action(run, slice, &verdict);
	run->recognizer->suppressing = false;
	dpe_message_unref(message);
}

/* The rare part: matches, and events that did not fit. Rule by rule, as if each had its own slice,
 * until one ends the run. Returns the rules that took the event. */
static __attribute__((noinline)) uint8_t report_rules(struct dpe_pairs *pairs,
	struct dpe_pair_slice *slice, const struct dpe_event *event,
	const struct dpe_pair_reading *reading, uint32_t met, uint32_t missed)
{
	uint8_t looked = 0;

	for (unsigned i = 0; i < pairs->nrules && !pairs->recognizer->ended; i++) {
		const struct dpe_pair_rule *rule = &pairs->rules[i];

		looked |= (uint8_t)(1 << i);
		if (missed & rule->literals)
			slice->overflown |= (uint8_t)(1 << i);
		if (met & rule->literals)
			report(pairs, rule, slice, event, reading);
	}
	return looked;
}

/* ---- slices ------------------------------------------------------------------------------ */

static void count_rules(struct dpe_pairs *pairs, uint8_t rules, int by)
{
	for (unsigned i = 0; i < pairs->nrules; i++)
		pairs->rules[i].count += (uint64_t)((int)(rules >> i & 1) * by);
}

/* These rules no longer use the slice. */
static void leave(struct dpe_pairs *pairs, struct dpe_pair_slice *slice, uint8_t rules)
{
	rules &= slice->rules;
	slice->rules &= (uint8_t)~rules;
	count_rules(pairs, rules, -1);
}

static void drop_literals(
	const struct dpe_pairs *pairs, struct dpe_pair_slice *slice, uint32_t drop)
{
	struct dpe_pair_event *events = dpe_pair_events(slice);
	uint32_t *literals = dpe_pair_literals(slice), kept = 0;

	for (uint32_t i = 0; i < slice->nevents; i++) {
		if (!(literals[i] & ~drop)) {
			dpe_retained_free(pairs->table.pool, events[i].message);
			continue;
		}
		events[kept] = events[i];
		literals[kept++] = literals[i] & ~drop;
	}
	slice->nevents = kept;
}

/* The slice ends for these rules. That events were dropped in it is still reported. */
static __attribute__((noinline)) void end(struct dpe_pairs *pairs, const struct dpe_value *key, uint8_t rules)
{
	struct dpe_pair_slice *slice = dpe_pair_find(&pairs->table, key);
	uint32_t drop = 0;

	if (!slice)
		return;
	for (unsigned i = 0; i < pairs->nrules; i++) {
		if (rules >> i & 1)
			drop |= pairs->rules[i].literals;
	}
	pairs->recognizer->kept -= slice->nevents;
	drop_literals(pairs, slice, drop);
	pairs->recognizer->kept += slice->nevents;
	leave(pairs, slice, rules & (uint8_t)~slice->overflown);
	if (!slice->rules)
		dpe_pair_remove(&pairs->table, slice);
}

/* Returns the rules that took the event. */
static uint8_t take(struct dpe_pairs *pairs, const struct dpe_event *event,
	const struct dpe_value *key, const struct dpe_pair_reading *reading)
{
	struct dpe_recognizer *recognizer = pairs->recognizer;
	struct dpe_pair_slice *slice = dpe_pair_take(&pairs->table, key);
	uint8_t fresh = reading->rules & (uint8_t)~slice->rules, looked = UINT8_MAX;
	uint32_t before = slice->nevents, kept, met;
	struct dpe_retained *dropped = NULL;

	if (fresh) {
		slice->rules |= fresh;
		count_rules(pairs, fresh, 1);
	}
	met = meet(pairs, slice, event, reading, &dropped);
	kept = slice->nevents < pairs->few ? reading->wanted : fit(pairs, slice, reading->wanted);
	if (kept)
		dpe_pair_add(&pairs->table, slice, event, kept, dropped);
	else if (dropped)
		dpe_retained_free(pairs->table.pool, dropped);
	recognizer->kept += (uint64_t)slice->nevents - before;
	if (met || kept != reading->wanted) {
		looked = report_rules(pairs, slice, event, reading, met, reading->wanted & ~kept);
		leave(pairs, slice, fresh & (uint8_t)~looked);
	}
	return looked;
}

static __attribute__((noinline)) void take_and_end(struct dpe_pairs *pairs,
	const struct dpe_event *event, const struct dpe_value *key,
	const struct dpe_pair_reading *reading)
{
	uint8_t looked = UINT8_MAX;

	if (reading->literals)
		looked = take(pairs, event, key, reading);
	if (reading->ends & looked)
		end(pairs, key, reading->ends & looked);
}

/* ---- events ------------------------------------------------------------------------------ */

void dpe_pairs_access(const struct dpe_pair_access *access, const struct dpe_event *event)
{
	const struct dpe_message *message = event->message;

	if (message->nargs && message->args[0].kind != DPE_NONE)
		take_and_end(
			access->pairs, event, &message->args[0], &access->by_phase[message->phase]);
}

/* The values that identify a slice. */
static const struct dpe_value *find_key(
	const struct dpe_pairs *pairs, const struct dpe_value *values, struct dpe_value *room)
{
	const unsigned *keys = pairs->rules[0].keys;

	if (pairs->table.nkeys == 1)
		return &values[keys[0]];
	for (unsigned i = 0; i < pairs->table.nkeys; i++)
		room[i] = values[keys[i]];
	return room;
}

static bool same_keys(
	const struct dpe_pairs *pairs, const struct dpe_binding *a, const struct dpe_binding *b)
{
	const unsigned *keys = pairs->rules[0].keys;

	for (unsigned i = 0; i < pairs->table.nkeys; i++) {
		if (!dpe_value_equal(a->values[keys[i]], b->values[keys[i]]))
			return false;
	}
	return true;
}

/* Merges the readings of all bindings with the same values as this one. */
static void take_in_slice(struct dpe_run *run, const struct dpe_event *event, unsigned from)
{
	struct dpe_pairs *pairs = run->pairs;
	const struct dpe_pair_reading *readings = pairs->rules[0].readings;
	const struct dpe_binding *binding = &run->bindings[from];
	struct dpe_pair_reading reading = readings[binding->pattern];
	struct dpe_value room[DPE_RULE_VARIABLES];

	for (unsigned i = from + 1; i < run->nbindings; i++) {
		if (!same_keys(pairs, binding, &run->bindings[i]))
			continue;
		dpe_pair_reading_add(&reading, &readings[run->bindings[i].pattern]);
		reading.wanted = dpe_pairs_reduce(pairs, reading.literals);
	}
	take_and_end(pairs, event, find_key(pairs, binding->values, room), &reading);
}

void dpe_pairs_take(
	struct dpe_run *run, const struct dpe_event *event, struct dpe_occurrence **occurrence)
{
	(void)occurrence;
	take_in_slice(run, event, 0);
	for (unsigned i = 1; i < run->nbindings && !run->recognizer->ended; i++) {
		unsigned j = 0;

		while (j < i && !same_keys(run->pairs, &run->bindings[i], &run->bindings[j]))
			j++;
		if (j == i)
			take_in_slice(run, event, i);
	}
}
