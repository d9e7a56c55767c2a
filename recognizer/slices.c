/* Parametric slicing (after Chen and Roşu): a rule with variables is followed once for each
 * combination of their values. An event belongs to every slice whose values include what the
 * event binds; new combinations arise where an event's values can be joined with a slice's.
 *
 * Slices are found by hash, never by scanning. Where the patterns of a rule bind different
 * variables, each slice also stands in buckets, under those of its values that some pattern can
 * share with it. */
#include "recognizer/braid.h"

#include <stdlib.h>
#include <string.h>

#define FEW_PARTIALS 32
#define OLD_HORIZON 1024 /* events: looking costs as much as a few hundred */
#define FEWEST_RETIRED 1024 /* before they are freed */

/* Slices with values for `mask` that have the same values for `sub`. */
struct bucket {
	UT_hash_handle hh;
	uint64_t hash;
	uint64_t mask, sub;
	struct dpe_value *values; /* one a variable, owned; those of `sub` */
	struct dpe_slice **slices;
	unsigned nslices, capslices;
	struct bucket *same_hash; /* others whose hash is equal */
};

/* The hash stands beside the slice, so that others need not be looked at. */
struct place {
	uint64_t hash;
	struct dpe_slice *slice; /* NULL: free */
};

struct dpe_slices {
	struct dpe_slice *first, **last; /* in the order of their beginning */
	uint64_t nslices, nretired;
	uint64_t sweep_from; /* so many that have ended */
	uint64_t full;       /* all variables that patterns bind */
	uint64_t known;      /* slices with lower numbers were there before the event at hand */
	struct place *table;      /* by all their values; open addressing */
	uint64_t size, ntable;    /* size: a power of two */
	struct bucket *buckets;   /* unless all patterns bind the same variables */
	uint64_t *pattern_masks;  /* each once */
	unsigned npattern_masks;
	uint64_t *masks; /* of the slices there are, each once */
	unsigned nmasks, capmasks;
	uint64_t events;
	/* Slices that the event at hand belongs to. */
	struct dpe_slice **touched;
	unsigned ntouched, captouched;
};

/* ---- values ------------------------------------------------------------------------------ */

struct dpe_value dpe_value_keep(struct dpe_value value)
{
	char *text;

	if (!dpe_value_has_own_text(value))
		return value;
	text = dpe_xmalloc(value.len + 1);
	memcpy(text, value.text, value.len);
	text[value.len] = '\0';
	value.text = text;
	return value;
}

void dpe_value_drop(struct dpe_value value)
{
	if (dpe_value_has_own_text(value))
		free((char *)value.text);
}

static void keep_values(struct dpe_value *to, const struct dpe_value *values, uint64_t mask)
{
	for (uint64_t left = mask; left; left &= left - 1) {
		unsigned at = (unsigned)__builtin_ctzll(left);

		to[at] = dpe_value_keep(values[at]);
	}
}

static void drop_values(struct dpe_value *values, uint64_t mask)
{
	for (uint64_t left = mask; left; left &= left - 1)
		dpe_value_drop(values[__builtin_ctzll(left)]);
}

static bool agree(const struct dpe_value *a, const struct dpe_value *b, uint64_t mask)
{
	for (uint64_t left = mask; left; left &= left - 1) {
		unsigned at = (unsigned)__builtin_ctzll(left);

		if (!dpe_value_equal(a[at], b[at]))
			return false;
	}
	return true;
}

static uint64_t hash_key(uint64_t mask, uint64_t sub, const struct dpe_value *values)
{
	uint64_t hash = mask * 0x9e3779b97f4a7c15ull ^ sub;

	for (uint64_t left = sub; left; left &= left - 1) {
		hash ^= dpe_value_hash(values[__builtin_ctzll(left)]);
		hash *= 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

/* ---- the table --------------------------------------------------------------------------- */

static uint64_t hash_slice(uint64_t mask, const struct dpe_value *values)
{
	return hash_key(mask, mask, values);
}

static struct dpe_slice *find_slice(
	const struct dpe_slices *slices, uint64_t mask, const struct dpe_value *values)
{
	uint64_t hash = hash_slice(mask, values);

	for (uint64_t at = hash & (slices->size - 1);; at = (at + 1) & (slices->size - 1)) {
		const struct place *place = &slices->table[at];

		if (!place->slice || (place->hash == hash && place->slice->mask == mask &&
					     agree(place->slice->params, values, mask)))
			return place->slice;
	}
}

static void place(struct dpe_slices *slices, struct dpe_slice *slice)
{
	uint64_t at = slice->hash & (slices->size - 1);

	while (slices->table[at].slice)
		at = (at + 1) & (slices->size - 1);
	slices->table[at] = (struct place){slice->hash, slice};
}

static void add_to_table(struct dpe_slices *slices, struct dpe_slice *slice)
{
	if (++slices->ntable * 4 > slices->size * 3) {
		free(slices->table);
		slices->size *= 2;
		slices->table = dpe_xcalloc(slices->size, sizeof(*slices->table));
		for (struct dpe_slice *old = slices->first; old; old = old->next_of_rule)
			place(slices, old);
	}
	place(slices, slice);
}

/* ---- buckets ----------------------------------------------------------------------------- */

static struct bucket *find_bucket(
	struct dpe_slices *slices, uint64_t mask, uint64_t sub, const struct dpe_value *values)
{
	uint64_t hash = hash_key(mask, sub, values);
	struct bucket *bucket;

	HASH_FIND(hh, slices->buckets, &hash, sizeof(hash), bucket);
	for (; bucket; bucket = bucket->same_hash) {
		if (bucket->mask == mask && bucket->sub == sub &&
			agree(bucket->values, values, sub))
			return bucket;
	}
	return NULL;
}

static void add_to_bucket(struct dpe_run *run, uint64_t sub, struct dpe_slice *slice)
{
	struct dpe_slices *slices = run->slices;
	struct bucket *bucket = find_bucket(slices, slice->mask, sub, slice->params), *head;

	if (!bucket) {
		bucket = dpe_xcalloc(1, sizeof(*bucket));
		bucket->mask = slice->mask;
		bucket->sub = sub;
		bucket->hash = hash_key(slice->mask, sub, slice->params);
		bucket->values = dpe_xcalloc(run->rule->nvariables + 1, sizeof(*bucket->values));
		keep_values(bucket->values, slice->params, sub);
		HASH_FIND(hh, slices->buckets, &bucket->hash, sizeof(bucket->hash), head);
		if (head) {
			bucket->same_hash = head->same_hash;
			head->same_hash = bucket;
		} else {
			HASH_ADD(hh, slices->buckets, hash, sizeof(bucket->hash), bucket);
		}
	}
	*DPE_GROW(bucket->slices, bucket->nslices, bucket->capslices) = slice;
}

/* Under all its values, and under what each pattern can share with it. */
static void index_slice(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_slices *slices = run->slices;

	add_to_table(slices, slice);
	if (slices->npattern_masks == 1)
		return;
	if (slice->mask != slices->full) /* else it is found in the table */
		add_to_bucket(run, slice->mask, slice);
	for (unsigned i = 0; i < slices->npattern_masks; i++) {
		uint64_t sub = slices->pattern_masks[i] & slice->mask;
		bool told = sub == slice->mask;

		for (unsigned j = 0; j < i && !told; j++)
			told = (slices->pattern_masks[j] & slice->mask) == sub;
		if (!told)
			add_to_bucket(run, sub, slice);
	}
}

/* ---- masks ------------------------------------------------------------------------------- */

static bool have_mask(const uint64_t *masks, unsigned count, uint64_t mask)
{
	for (unsigned i = 0; i < count; i++) {
		if (masks[i] == mask)
			return true;
	}
	return false;
}

static void add_mask(struct dpe_slices *slices, uint64_t mask)
{
	if (have_mask(slices->masks, slices->nmasks, mask))
		return;
	*DPE_GROW(slices->masks, slices->nmasks, slices->capmasks) = mask;
}

static void collect_masks(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;

	slices->pattern_masks =
		dpe_xcalloc(run->rule->npatterns + 1, sizeof(*slices->pattern_masks));
	for (unsigned i = 0; i < run->rule->npatterns; i++) {
		uint64_t mask = run->masks[i];

		slices->full |= mask;
		if (!have_mask(slices->pattern_masks, slices->npattern_masks, mask))
			slices->pattern_masks[slices->npattern_masks++] = mask;
	}
}

/* ---- slices ------------------------------------------------------------------------------ */

static struct dpe_slice *new_slice(
	struct dpe_run *run, uint64_t mask, const struct dpe_value *values)
{
	struct dpe_slice *slice =
		dpe_xcalloc(1, sizeof(*slice) + run->rule->nvariables * sizeof(slice->params[0]));

	slice->mask = mask;
	keep_values(slice->params, values, mask);
	slice->hash = hash_slice(mask, slice->params);
	slice->number = run->slices->nslices++;
	index_slice(run, slice);
	*run->slices->last = slice;
	run->slices->last = &slice->next_of_rule;
	return slice;
}

/* What a new combination of values has seen so far is what the largest known part of it saw. That
 * part is unique: of two parts, the join is a known part too. Those that the event at hand made are
 * none yet: some of their joins may still be missing. */
static struct dpe_slice *largest_part(
	struct dpe_run *run, uint64_t mask, const struct dpe_value *values)
{
	struct dpe_slices *slices = run->slices;
	struct dpe_slice *best = NULL;

	for (unsigned i = 0; i < slices->nmasks; i++) {
		uint64_t part = slices->masks[i];
		struct dpe_slice *slice;

		if ((part & mask) != part || part == mask)
			continue;
		slice = find_slice(slices, part, values);
		if (!slice)
			continue;
		slice->extended = true;
		if (slice->number >= slices->known)
			continue;
		if (!best || __builtin_popcountll(part) > __builtin_popcountll(best->mask))
			best = slice;
	}
	return best;
}

/* Events and partial matches that it keeps. */
static uint64_t size_of(const struct dpe_slice *slice)
{
	return dpe_order_size(&slice->order) + slice->npartials + dpe_weave_size(slice);
}

static struct dpe_slice *begin_slice(
	struct dpe_run *run, uint64_t mask, const struct dpe_value *values)
{
	struct dpe_slice *part = largest_part(run, mask, values);
	struct dpe_slice *slice = new_slice(run, mask, values);
	bool expect = run->rule->mode == DPE_EXPECT;

	dpe_trace_slice(run, slice, DPE_TRACE_BEGAN, NULL);
	add_mask(run->slices, mask);
	if (!part) {
		if (expect)
			dpe_expect_begin(run, slice);
		return slice;
	}
	slice->done = part->done;
	slice->overflown = part->overflown;
	slice->searched = part->searched;
	dpe_order_copy(&slice->order, &part->order);
	if (expect)
		dpe_expect_copy(run, slice, part);
	else
		dpe_detect_copy(run, slice, part);
	run->recognizer->kept += size_of(slice);
	return slice;
}

static void touch(struct dpe_slices *slices, struct dpe_slice *slice)
{
	if (slice->event == slices->events)
		return;
	slice->event = slices->events;
	*DPE_GROW(slices->touched, slices->ntouched, slices->captouched) = slice;
}

/* The binding binds all that any does: it has one slice. */
static struct dpe_slice *only_slice(struct dpe_run *run, const struct dpe_binding *binding)
{
	struct dpe_slice *slice;

	if (!run->rule->nvariables) /* it has been there from the beginning */
		return run->slices->first;
	slice = find_slice(run->slices, binding->mask, binding->values);
	return slice ? slice : begin_slice(run, binding->mask, binding->values);
}

/* The slices that have the values of the binding, and perhaps more. */
static void touch_larger(struct dpe_run *run, const struct dpe_binding *binding)
{
	struct dpe_slices *slices = run->slices;

	for (unsigned i = 0; i < slices->nmasks; i++) {
		struct dpe_slice *slice;
		struct bucket *bucket;

		if ((slices->masks[i] & binding->mask) != binding->mask)
			continue;
		if (binding->mask == slices->full) {
			slice = find_slice(slices, binding->mask, binding->values);
			if (slice)
				touch(slices, slice);
			continue;
		}
		bucket = find_bucket(slices, slices->masks[i], binding->mask, binding->values);
		for (unsigned j = 0; bucket && j < bucket->nslices; j++)
			touch(slices, bucket->slices[j]);
	}
}

/* Joins the binding with every slice that it is compatible with; the joins belong to the event. */
static void touch_compatible(struct dpe_run *run, const struct dpe_binding *binding)
{
	struct dpe_slices *slices = run->slices;
	unsigned nmasks = slices->nmasks; /* new slices have joined already */

	for (unsigned i = 0; i < nmasks; i++) {
		uint64_t mask = slices->masks[i], joined = mask | binding->mask;
		struct bucket *bucket =
			find_bucket(slices, mask, mask & binding->mask, binding->values);
		unsigned nslices = bucket ? bucket->nslices : 0;

		for (unsigned j = 0; j < nslices; j++) {
			struct dpe_value values[DPE_MAX_VARIABLES];
			struct dpe_slice *slice = bucket->slices[j];

			if (joined == mask) {
				touch(slices, slice);
				continue;
			}
			for (unsigned v = 0; v < run->rule->nvariables; v++)
				values[v] = binding->mask >> v & 1 ? binding->values[v]
								   : slice->params[v];
			slice = find_slice(slices, joined, values);
			touch(slices, slice ? slice : begin_slice(run, joined, values));
		}
	}
	if (!find_slice(slices, binding->mask, binding->values))
		touch(slices, begin_slice(run, binding->mask, binding->values));
}

static int smaller_first(const void *a, const void *b)
{
	const struct dpe_slice *x = *(struct dpe_slice *const *)a;
	const struct dpe_slice *y = *(struct dpe_slice *const *)b;
	int x_size = __builtin_popcountll(x->mask), y_size = __builtin_popcountll(y->mask);

	return x_size != y_size ? x_size - y_size : x->number < y->number ? -1 : 1;
}

/* ---- the event in a slice ---------------------------------------------------------------- */

static bool condition_holds(const struct dpe_run *run, const struct dpe_slice *slice,
	unsigned pattern, const struct dpe_message *message)
{
	struct dpe_env env = {
		.recognizer = run->recognizer,
		.run = run,
		.variables = slice->params,
		.event = message,
		.text = &run->recognizer->text,
	};

	return !run->late[pattern] ||
	       dpe_pattern_condition_holds(&env, &run->rule->patterns[pattern]);
}

static void find_reads(struct dpe_run *run)
{
	const struct dpe_rule *rule = run->rule;

	run->reads = dpe_xcalloc(rule->npatterns + 1, sizeof(*run->reads));
	for (unsigned i = 0; i < rule->npatterns; i++) {
		struct dpe_reads *reads = &run->reads[i];

		reads->literals = dpe_xcalloc(rule->nliterals + 1, sizeof(*reads->literals));
		reads->only = -1;
		for (unsigned l = 0; l < rule->nliterals; l++) {
			reads->literals[l] = rule->literals[l].pattern == i;
			if (reads->literals[l])
				reads->only = reads->as_literal ? -1 : (int)l;
			reads->as_literal |= reads->literals[l];
		}
		if (run->late[i] || run->placed[i])
			reads->only = -1;
	}
	for (unsigned i = 0; i < rule->nobserving; i++) {
		run->reads[rule->observing[i]].observed = true;
		run->reads[rule->observing[i]].ends |= rule->ends[i];
		run->reads[rule->observing[i]].only = -1;
	}
}

bool dpe_placed_condition_holds(const struct dpe_run *run, const struct dpe_slice *slice,
	unsigned pattern, const struct dpe_occurrence *occurrence,
	struct dpe_occurrence *const *positions)
{
	unsigned npositions = run->rule->npositions;
	const struct dpe_message *before[npositions + 1];
	struct dpe_env env = {
		.recognizer = run->recognizer,
		.run = run,
		.variables = slice->params,
		.event = occurrence->message,
		.positions = before,
		.text = &run->recognizer->text,
	};

	for (unsigned i = 0; i < npositions; i++) {
		const struct dpe_occurrence *at = positions[i];
		bool precedes = at && dpe_precedes(&at->stamp, &occurrence->stamp);

		before[i] = precedes ? at->message : NULL;
	}
	return dpe_pattern_condition_holds(&env, &run->rule->patterns[pattern]);
}

/* A condition that looks at other events holds in the slice where any reading has such events. */
static bool admits(const struct dpe_run *run, const struct dpe_slice *slice, unsigned pattern,
	const struct dpe_occurrence *occurrence)
{
	if (!run->placed[pattern])
		return condition_holds(run, slice, pattern, occurrence->message);
	if (run->rule->mode == DPE_EXPECT)
		return dpe_expect_admits(run, slice, pattern, occurrence);
	return dpe_detect_admits(run, slice, pattern, occurrence);
}

/* How the event may be read in this slice. False where it does not belong to it after all. */
static bool read_event(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence)
{
	const struct dpe_rule *rule = run->rule;
	bool belongs = false;

	run->ends = run->as_literal = false;
	run->literals = run->all_literals;
	memset(run->all_literals, 0, rule->nliterals * sizeof(*run->all_literals));
	for (unsigned i = 0; i < run->nbindings; i++) {
		const struct dpe_binding *binding = &run->bindings[i];
		const struct dpe_reads *reads = &run->reads[binding->pattern];

		if ((binding->mask & slice->mask) != binding->mask ||
			!agree(binding->values, slice->params, binding->mask) ||
			!admits(run, slice, binding->pattern, occurrence))
			continue;
		for (unsigned l = 0; l < rule->nliterals; l++)
			run->all_literals[l] |= reads->literals[l];
		run->as_literal |= reads->as_literal;
		run->ends |= reads->ends;
		belongs |= reads->observed || reads->as_literal;
	}
	return belongs;
}

/* The same where the event looks like one pattern alone, with the slice's values. */
static bool read_single(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence)
{
	unsigned pattern = run->bindings[0].pattern;
	const struct dpe_reads *reads = &run->reads[pattern];

	run->literals = reads->literals;
	run->as_literal = reads->as_literal;
	run->ends = reads->ends;
	if ((run->late[pattern] || run->placed[pattern]) &&
		!admits(run, slice, pattern, occurrence))
		return false;
	return reads->observed || reads->as_literal;
}

static void clear_order(struct dpe_run *run, struct dpe_slice *slice)
{
	run->recognizer->kept -= dpe_order_size(&slice->order);
	dpe_order_clear(&slice->order);
}

static void clear_partials(struct dpe_run *run, struct dpe_slice *slice)
{
	run->recognizer->kept -= slice->npartials + dpe_weave_size(slice);
	dpe_detect_clear(run, slice);
}

/* What the slice was about is over: it is judged as at the end of the run, and is as new. */
static void retire(struct dpe_run *run, struct dpe_slice *slice)
{
	bool expect = run->rule->mode == DPE_EXPECT;

	if (expect && !slice->done && !slice->extended && slice->order.nchains)
		dpe_expect_finish(run, slice);
	clear_order(run, slice);
	if (expect) {
		dpe_expect_clear(run, slice);
		dpe_expect_begin(run, slice);
	} else {
		clear_partials(run, slice);
	}
	slice->done = false;
	slice->renewed = true;
	run->slices->nretired += !slice->retired;
	slice->retired = true;
}

static bool is_needed(void *context, const struct dpe_occurrence *occurrence)
{
	return dpe_detect_needs(context, occurrence);
}

/* Each event is held against all partial matches of its slice: dead ones are dropped whenever these
 * have doubled. */
static void drop_dead(struct dpe_run *run, struct dpe_slice *slice)
{
	const struct dpe_horizon *horizon;

	if (slice->npartials <= (slice->many ? slice->many : FEW_PARTIALS))
		return;
	horizon = dpe_recognizer_horizon(run->recognizer, OLD_HORIZON);
	if (horizon)
		dpe_detect_forget(run, slice, horizon);
	slice->many = slice->npartials < FEW_PARTIALS / 2 ? FEW_PARTIALS : 2 * slice->npartials;
}

static void detect(struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	run->recognizer->kept -= size_of(slice);
	dpe_detect_take(run, slice, occurrence);
	if (run->shape) {
		dpe_weave_drop_some(run, slice);
	} else {
		drop_dead(run, slice);
		dpe_order_trim(&slice->order, is_needed, slice);
	}
	run->recognizer->kept += size_of(slice);
}

static void read_as_literal(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	run->slices->nretired -= slice->retired;
	slice->retired = false;
	dpe_order_preds(&slice->order, &occurrence->stamp, &run->preds);
	if (run->acts)
		memset(run->acted, 0, run->rule->npositions * sizeof(*run->acted));
	run->nran = 0;
	if (run->rule->mode == DPE_EXPECT)
		dpe_expect_take(run, slice, occurrence);
	else
		detect(run, slice, occurrence);
	if (run->one_thread && occurrence->message->host.kind == DPE_NONE) {
		clear_order(run, slice);
		run->preds.count = 0;
	}
	run->recognizer->kept += dpe_order_add(&slice->order, occurrence, &run->preds);
}

/* Whoever only ends the slice is no event of it; whoever is observed is. */
static void take(struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence,
	bool single)
{
	bool belongs;

	if (slice->done && !run->rule->nobserving)
		return;
	belongs = single ? read_single(run, slice, occurrence) : read_event(run, slice, occurrence);
	if (!belongs) {
		dpe_trace_slice(run, slice, DPE_TRACE_IGNORED, occurrence);
		return;
	}
	if (!slice->done && (run->as_literal || !run->ends))
		read_as_literal(run, slice, occurrence);
	if (!run->ends)
		return;
	dpe_trace_slice(run, slice, DPE_TRACE_ENDED, occurrence);
	retire(run, slice);
}

static void free_slice(struct dpe_run *run, struct dpe_slice *slice)
{
	if (run->rule->mode == DPE_EXPECT)
		dpe_expect_clear(run, slice);
	else
		dpe_detect_clear(run, slice);
	dpe_order_clear(&slice->order);
	drop_values(slice->params, slice->mask);
	free(slice);
}

/* Calls for each slice that is known and has some of the values of this one. */
static void each_part(struct dpe_slices *slices, struct dpe_slice *slice,
	void (*each)(struct dpe_slice *slice, struct dpe_slice *part))
{
	for (unsigned i = 0; i < slices->nmasks; i++) {
		uint64_t mask = slices->masks[i];
		struct dpe_slice *part = NULL;

		if ((mask & slice->mask) == mask && mask != slice->mask)
			part = find_slice(slices, mask, slice->params);
		if (part)
			each(slice, part);
	}
}

static void keep_beside_live(struct dpe_slice *slice, struct dpe_slice *part)
{
	slice->kept |= !part->retired;
}

static void keep_part(struct dpe_slice *slice, struct dpe_slice *part)
{
	part->kept |= slice->kept;
}

/* A slice that has ended is as new. It can go where it would be made anew as new: where no part of
 * it has anything to begin it with; and where it is no part of one that stays, which is to know
 * that it is not the largest. */
static void choose_kept(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;
	struct dpe_slice *slice;

	for (slice = slices->first; slice; slice = slice->next_of_rule)
		slice->kept = !slice->retired;
	if (slices->nmasks == 1)
		return;
	for (slice = slices->first; slice; slice = slice->next_of_rule) {
		if (slice->retired)
			each_part(slices, slice, keep_beside_live);
	}
	for (int size = __builtin_popcountll(slices->full); size > 0; size--) {
		for (slice = slices->first; slice; slice = slice->next_of_rule) {
			if (__builtin_popcountll(slice->mask) == size)
				each_part(slices, slice, keep_part);
		}
	}
}

static void free_buckets(struct dpe_slices *slices)
{
	struct bucket *bucket, *next, *same;

	HASH_ITER (hh, slices->buckets, bucket, next) {
		HASH_DEL(slices->buckets, bucket);
		for (; bucket; bucket = same) {
			same = bucket->same_hash;
			drop_values(bucket->values, bucket->sub);
			free(bucket->values);
			free(bucket->slices);
			free(bucket);
		}
	}
}

static void keep_some(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;
	struct dpe_slice *slice = slices->first, *next;

	free_buckets(slices);
	memset(slices->table, 0, slices->size * sizeof(*slices->table));
	slices->first = NULL;
	slices->last = &slices->first;
	slices->ntable = slices->nretired = 0;
	for (; slice; slice = next) {
		next = slice->next_of_rule;
		if (!slice->kept) {
			free_slice(run, slice);
			continue;
		}
		slice->next_of_rule = NULL;
		index_slice(run, slice);
		*slices->last = slice;
		slices->last = &slice->next_of_rule;
		slices->nretired += slice->retired;
	}
}

/* Frees slices that have ended once they are half of all, so that objects that come and go leave
 * nothing behind. */
static void sweep(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;

	if (slices->nretired * 2 < slices->ntable || !run->rule->nvariables)
		return;
	choose_kept(run);
	keep_some(run);
	slices->sweep_from = slices->nretired * 2 + FEWEST_RETIRED;
}

/* What only ends slices begins none. */
static void touch_slices(struct dpe_run *run, const struct dpe_binding *binding)
{
	const struct dpe_reads *reads = &run->reads[binding->pattern];

	if (reads->ends && !reads->as_literal)
		touch_larger(run, binding);
	else if (binding->mask == run->slices->full)
		touch(run->slices, only_slice(run, binding));
	else
		touch_compatible(run, binding);
}

static void take_all(struct dpe_run *run, struct dpe_occurrence *occurrence)
{
	struct dpe_slices *slices = run->slices;

	slices->ntouched = 0;
	for (unsigned i = 0; i < run->nbindings; i++)
		touch_slices(run, &run->bindings[i]);
	if (slices->ntouched > 1)
		qsort(slices->touched, slices->ntouched, sizeof(struct dpe_slice *), smaller_first);
	for (unsigned i = 0; i < slices->ntouched; i++)
		take(run, slices->touched[i], occurrence, false);
}

/* True where the event looks like one pattern alone, which binds all variables that any binds. */
static bool is_single(const struct dpe_run *run)
{
	const struct dpe_binding *binding = run->bindings;

	return run->nbindings == 1 && binding->mask == run->slices->full &&
	       run->reads[binding->pattern].as_literal;
}

bool dpe_slices_follow(struct dpe_run *run, const struct dpe_event *event)
{
	const struct dpe_binding *binding = run->bindings;
	struct dpe_slices *slices = run->slices;
	int literal = run->reads[binding->pattern].only;
	struct dpe_slice *slice;

	if (!run->sequel || run->nbindings != 1 || literal < 0 || binding->mask != slices->full)
		return false;
	slice = run->rule->nvariables ? find_slice(slices, binding->mask, binding->values)
				      : slices->first;
	return slice && !slice->retired &&
	       dpe_sequel_take(run, slice, (unsigned)literal, event);
}

void dpe_slices_take(struct dpe_run *run, struct dpe_occurrence *occurrence)
{
	struct dpe_slices *slices = run->slices;

	slices->events++;
	slices->known = slices->nslices;
	if (is_single(run))
		take(run, only_slice(run, run->bindings), occurrence, true);
	else
		take_all(run, occurrence);
	dpe_engine_tidy(run);
	if (slices->nretired >= slices->sweep_from)
		sweep(run);
}

/* Matches of this slice may have been missed. */
static void tell_overflow(struct dpe_run *run, const struct dpe_slice *slice)
{
	struct dpe_verdict verdict = {
		.kind = DPE_INCONCLUSIVE,
		.reason = dpe_slice_doubt(run, slice),
	};

	dpe_run_tell(run, slice, &verdict);
}

void dpe_slices_finish(struct dpe_run *run)
{
	bool expect = run->rule->mode == DPE_EXPECT;

	for (struct dpe_slice *slice = run->slices->first; slice; slice = slice->next_of_rule) {
		if (!expect && slice->overflown)
			tell_overflow(run, slice);
		if (expect && !slice->done && !slice->extended && !slice->retired)
			dpe_expect_finish(run, slice);
	}
}

void dpe_slices_adopt(struct dpe_run *run, const struct dpe_automaton *old)
{
	for (struct dpe_slice *slice = run->slices->first; slice; slice = slice->next_of_rule) {
		for (unsigned i = 0; i < slice->nreadings; i++) {
			struct dpe_config *config = &slice->readings[i].config;

			config->state = dpe_automaton_adopt(run->automaton, old, config->state);
		}
		for (unsigned i = 0; i < slice->npartials; i++) {
			struct dpe_config *config = &slice->partials[i].config;

			config->state = dpe_automaton_adopt(run->automaton, old, config->state);
		}
	}
}

const struct dpe_slice *dpe_slices_first(const struct dpe_run *run)
{
	return run->slices->first;
}

uint64_t dpe_slices_count(const struct dpe_run *run)
{
	return run->slices->ntable;
}

void dpe_slices_forget(struct dpe_run *run, const struct dpe_horizon *horizon)
{
	for (struct dpe_slice *slice = run->slices->first; slice; slice = slice->next_of_rule) {
		uint64_t before = size_of(slice), after;

		dpe_detect_forget(run, slice, horizon);
		dpe_order_forget(&slice->order, horizon);
		after = size_of(slice);
		run->recognizer->kept -= before - after;
		dpe_trace_forgot(run, slice, before - after);
	}
}

/* ---- the beginning and the end ----------------------------------------------------------- */

struct dpe_slices *dpe_slices_new(struct dpe_run *run)
{
	struct dpe_slices *slices = dpe_xcalloc(1, sizeof(*slices));
	const struct dpe_value none[1] = {{0}};

	slices->size = 64;
	slices->sweep_from = FEWEST_RETIRED;
	slices->table = dpe_xcalloc(slices->size, sizeof(*slices->table));
	slices->last = &slices->first;
	run->slices = slices;
	find_reads(run);
	collect_masks(run);
	if (!run->rule->nvariables)
		begin_slice(run, 0, none);
	return slices;
}

void dpe_slices_free(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;

	if (!slices)
		return;
	while (slices->first) {
		struct dpe_slice *slice = slices->first;

		slices->first = slice->next_of_rule;
		free_slice(run, slice);
	}
	free_buckets(slices);
	for (unsigned i = 0; i < run->rule->npatterns; i++)
		free(run->reads[i].literals);
	free(run->reads);
	free(slices->table);
	free(slices->pattern_masks);
	free(slices->masks);
	free(slices->touched);
	free(slices);
	run->slices = NULL;
}
