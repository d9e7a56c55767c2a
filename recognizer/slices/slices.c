/* Parametric slicing (Chen and Roşu, TACAS 2009): a rule is followed once for each combination of
 * values of its variables. An event belongs to every slice whose values include the values that it
 * binds; new combinations arise by joining its values with those of existing slices. See README.md. */
#include "recognizer/patterns/patterns.h"
#include "recognizer/slices/cells.h"
#include "recognizer/slices/slices.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

/* ---- masks ------------------------------------------------------------------------------- */

static void collect_masks(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;

	slices->pattern_masks =
		dpe_xcalloc(run->rule->npatterns + 1, sizeof(*slices->pattern_masks));
	for (unsigned i = 0; i < run->rule->npatterns; i++) {
		uint64_t mask = run->masks[i];

		slices->full |= mask;
		if (!dpe_mask_is_in(slices->pattern_masks, slices->npattern_masks, mask))
			slices->pattern_masks[slices->npattern_masks++] = mask;
	}
}

/* ---- slices ------------------------------------------------------------------------------ */

/* The cell with exactly these values that has not ended, or NULL. */
static struct dpe_cell *find_live(
	const struct dpe_slices *slices, uint64_t mask, const struct dpe_value *values)
{
	struct dpe_cell *cell = dpe_cell_find(slices, mask, values);

	return cell && !cell->retired ? cell : NULL;
}

/* A new combination starts from the largest existing slice whose values are a subset of its own.
 * That is unique, since the join of two subsets exists, too, unless it has ended: then from none. Slices
 * made by the current event do not count: some of their joins may be missing. */
static struct dpe_cell *largest_part(
	struct dpe_run *run, uint64_t mask, const struct dpe_value *values)
{
	struct dpe_slices *slices = run->slices;
	struct dpe_cell *best = NULL;
	uint64_t all = 0;

	for (unsigned i = 0; i < slices->nmasks; i++) {
		uint64_t part = slices->masks[i];
		struct dpe_cell *cell;

		if ((part & mask) != part || part == mask)
			continue;
		cell = find_live(slices, part, values);
		if (!cell)
			continue;
		dpe_cell_set_extended(slices, cell, true);
		if (cell->number >= slices->known)
			continue;
		all |= part;
		if (!best || __builtin_popcountll(part) > __builtin_popcountll(best->mask))
			best = cell;
	}
	return best && best->mask == all ? best : NULL;
}

static void begin_from_part(struct dpe_run *run, struct dpe_slice *slice, const struct dpe_slice *part)
{
	slice->done = part->done;
	slice->overflown = part->overflown;
	slice->searched = part->searched;
	slice->renewed &= part->renewed;
	if (part == run->shared)
		return;
	dpe_order_copy(&slice->order, &part->order);
	run->slice_engine->copy(run, slice, part);
	run->recognizer->kept += dpe_slice_size(slice);
	dpe_deferred_copy(run, slice->number, part->number);
}

/* Whether a slice with these values and more exists; `sub`: the variables of a pattern. */
static bool has_larger(
	struct dpe_run *run, uint64_t mask, uint64_t sub, const struct dpe_value *values)
{
	struct dpe_slices *slices = run->slices;

	for (unsigned i = 0; i < slices->nmasks; i++) {
		const struct dpe_bucket *bucket;

		if ((slices->masks[i] & mask) != mask || slices->masks[i] == mask)
			continue;
		bucket = dpe_bucket_find(slices, slices->masks[i], sub, values);
		for (unsigned j = 0; bucket && j < bucket->ncells; j++) {
			if (!bucket->cells[j]->retired &&
				dpe_values_agree(bucket->cells[j]->params, values, mask))
				return true;
		}
	}
	return false;
}

/* A slice that has ended begins as a new one does. */
static struct dpe_cell *begin_again(struct dpe_run *run, struct dpe_cell *cell, uint64_t sub)
{
	struct dpe_cell *part = largest_part(run, cell->mask, cell->params);
	struct dpe_slice *slice = dpe_slice_activate(run, cell);

	cell->retired = false;
	run->slices->nretired--;
	cell->number = slice->number = run->slices->nslices++;
	dpe_cell_set_extended(
		run->slices, cell, has_larger(run, cell->mask, sub, cell->params));
	dpe_trace_slice(run, slice, DPE_TRACE_BEGAN, NULL);
	if (!part)
		return cell;
	if (run->rule->mode == DPE_EXPECT)
		run->slice_engine->clear(run, slice);
	begin_from_part(run, slice, dpe_slice_activate(run, part));
	return cell;
}

/* `sub`: variables that the current event binds */
static struct dpe_cell *begin_slice(
	struct dpe_run *run, uint64_t mask, uint64_t sub, const struct dpe_value *values)
{
	struct dpe_cell *cell = run->slices->nretired ? dpe_cell_find(run->slices, mask, values) : NULL;
	struct dpe_cell *part;
	struct dpe_slice *slice;
	bool extended;

	if (cell)
		return begin_again(run, cell, sub);
	part = largest_part(run, mask, values);
	extended = has_larger(run, mask, sub, values);
	cell = dpe_slice_new_cell(run, mask, values);
	slice = part ? dpe_slice_activate_new(run, cell) : dpe_slice_activate(run, cell);
	dpe_cell_set_extended(run->slices, cell, extended);
	dpe_trace_slice(run, slice, DPE_TRACE_BEGAN, NULL);
	if (part)
		begin_from_part(run, slice, dpe_slice_activate(run, part));
	return cell;
}

static void touch(struct dpe_slices *slices, struct dpe_cell *cell)
{
	if (cell->touched)
		return;
	cell->touched = true;
	*DPE_GROW(slices->touched, slices->ntouched, slices->captouched) = cell;
}

/* The slice of a binding of all variables. */
static struct dpe_cell *only_slice(struct dpe_run *run, const struct dpe_binding *binding)
{
	struct dpe_cell *cell;

	if (!run->rule->nvariables) /* it exists from the beginning */
		return dpe_cell_at(run->slices, 0);
	cell = find_live(run->slices, binding->mask, binding->values);
	return cell ? cell : begin_slice(run, binding->mask, binding->mask, binding->values);
}

/* Existing slices whose values include the binding. */
static void touch_larger(struct dpe_run *run, const struct dpe_binding *binding)
{
	struct dpe_slices *slices = run->slices;

	for (unsigned i = 0; i < slices->nmasks; i++) {
		struct dpe_cell *cell;
		struct dpe_bucket *bucket;

		if ((slices->masks[i] & binding->mask) != binding->mask)
			continue;
		if (binding->mask == slices->full) {
			cell = find_live(slices, binding->mask, binding->values);
			if (cell)
				touch(slices, cell);
			continue;
		}
		bucket = dpe_bucket_find(slices, slices->masks[i], binding->mask, binding->values);
		for (unsigned j = 0; bucket && j < bucket->ncells; j++) {
			if (!bucket->cells[j]->retired)
				touch(slices, bucket->cells[j]);
		}
	}
}

/* False if there are too many slices whose values no event brought together. */
static bool may_join(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;

	if (slices->joins_refused || slices->njoined < DPE_MAX_JOINED)
		return !slices->joins_refused;
	slices->joins_refused = true;
	run->unjoined_from = slices->nslices + 1;
	for (uint32_t i = 0; i < slices->ncells; i++)
		dpe_cell_set_extended(slices, dpe_cell_at(slices, i), dpe_cell_at(slices, i)->extended);
	return false;
}

static struct dpe_cell *begin_joined(
	struct dpe_run *run, uint64_t mask, uint64_t sub, const struct dpe_value *values)
{
	struct dpe_cell *cell = begin_slice(run, mask, sub, values);

	run->slices->njoined += !cell->joined;
	cell->joined = true;
	return cell;
}

/* Joins the binding with every compatible slice; the event belongs to the joins. */
static void touch_compatible(struct dpe_run *run, const struct dpe_binding *binding)
{
	struct dpe_slices *slices = run->slices;
	unsigned nmasks = slices->nmasks; /* slices made meanwhile are joined already */

	for (unsigned i = 0; i < nmasks; i++) {
		uint64_t mask = slices->masks[i], joined = mask | binding->mask;
		struct dpe_bucket *bucket =
			dpe_bucket_find(slices, mask, mask & binding->mask, binding->values);
		unsigned ncells = bucket ? bucket->ncells : 0;

		for (unsigned j = 0; j < ncells; j++) {
			struct dpe_value values[DPE_RULE_VARIABLES];
			struct dpe_cell *cell = bucket->cells[j];

			if (cell->retired)
				continue;
			if (joined == mask) {
				touch(slices, cell);
				continue;
			}
			if (joined != binding->mask && !may_join(run))
				break;
			for (unsigned v = 0; v < run->rule->nvariables; v++)
				values[v] = binding->mask >> v & 1 ? binding->values[v]
								   : cell->params[v];
			cell = find_live(slices, joined, values);
			if (!cell && joined != binding->mask)
				cell = begin_joined(run, joined, binding->mask, values);
			else if (!cell)
				cell = begin_slice(run, joined, binding->mask, values);
			touch(slices, cell);
		}
	}
	if (!find_live(slices, binding->mask, binding->values))
		touch(slices, begin_slice(run, binding->mask, binding->mask, binding->values));
}

static int smaller_first(const void *a, const void *b)
{
	const struct dpe_cell *x = *(struct dpe_cell *const *)a;
	const struct dpe_cell *y = *(struct dpe_cell *const *)b;
	int difference = x->mask == y->mask ? 0 : __builtin_popcountll(x->mask) - __builtin_popcountll(y->mask);

	return difference ? difference : x->number < y->number ? -1 : 1;
}

/* Smaller ones first. They mostly are, as buckets have them in order of creation. */
static void sort_touched(struct dpe_slices *slices)
{
	unsigned sorted = 1;

	while (sorted < slices->ntouched &&
		smaller_first(&slices->touched[sorted - 1], &slices->touched[sorted]) < 0)
		sorted++;
	if (sorted < slices->ntouched)
		qsort(slices->touched, slices->ntouched, sizeof(struct dpe_cell *), smaller_first);
}

/* ---- the event in a slice ---------------------------------------------------------------- */

static void clear_order(struct dpe_run *run, struct dpe_slice *slice)
{
	run->recognizer->kept -= slice->order.size;
	dpe_order_clear(&slice->order);
}

/* Some event came since it began. The only slice of a rule without variables begins with the input. */
static bool has_begun(const struct dpe_run *run, const struct dpe_slice *slice)
{
	return slice->order.nchains || (!run->rule->nvariables && !slice->cell->retired);
}

/* The slice has ended: it is judged as at the end of the input, and does not exist until another event brings its
 * values together. */
static void retire(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_cell *cell = slice->cell;

	if (run->rule->mode == DPE_EXPECT && !slice->done && !cell->extended &&
		has_begun(run, slice))
		run->slice_engine->finish(run, slice);
	clear_order(run, slice);
	dpe_deferred_drop(run, cell->number);
	run->recognizer->kept -= dpe_matching_size(slice);
	run->slice_engine->clear(run, slice);
	run->slice_engine->begin(run, slice);
	slice->done = false;
	slice->renewed = true;
	run->slices->nretired += !cell->retired;
	cell->retired = true;
	run->slices->some_ended = true;
}

/* Sets run->preds and, where slices share events, own_preds: those among the events of the slice itself. */
static void find_preds(struct dpe_run *run, struct dpe_slice *slice, const struct dpe_stamp *stamp)
{
	struct dpe_preds *own = &run->slices->own_preds;

	dpe_order_preds(&slice->order, stamp, &run->preds);
	if (!run->slices->shares)
		return;
	own->count = 0;
	dpe_preds_join(own, &run->preds);
	dpe_shared_inherit(run, slice);
	dpe_shared_preds(run, slice, stamp);
}

static const struct dpe_preds *own_preds(const struct dpe_run *run)
{
	return run->slices->shares ? &run->slices->own_preds : &run->preds;
}

static void read_as_literal(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	run->slices->nretired -= slice->cell->retired;
	slice->cell->retired = false;
	find_preds(run, slice, &occurrence->stamp);
	if (run->acts)
		memset(run->acted, 0, run->rule->npositions * sizeof(*run->acted));
	run->nran = 0;
	dpe_unordered_take(run, slice, occurrence);
	run->slice_engine->take(run, slice, occurrence);
	dpe_awaited_add(run, slice, occurrence);
	if (run->only_shared)
		return;
	if (run->one_thread && occurrence->message->host.kind == DPE_NONE) {
		clear_order(run, slice);
		run->preds.count = 0;
	}
	run->recognizer->kept += dpe_order_add(&slice->order, occurrence, own_preds(run));
}

/* All slices of which it was a part may have ended: then it is judged by itself, as no other has the current event. */
static void judge_separately(struct dpe_run *run, struct dpe_cell *cell)
{
	for (unsigned i = 0; i < run->nbindings; i++) {
		const struct dpe_binding *binding = &run->bindings[i];

		if ((binding->mask & cell->mask) == binding->mask &&
			dpe_values_agree(binding->values, cell->params, binding->mask) &&
			has_larger(run, cell->mask, binding->mask, cell->params))
			return;
	}
	dpe_cell_set_extended(run->slices, cell, false);
}

/* An event that only ends the slice does not become part of it; an observed one does. */
static void take_in_cell(struct dpe_run *run, struct dpe_cell *cell, struct dpe_occurrence *occurrence,
	bool single)
{
	struct dpe_slice *slice;
	bool belongs;

	if (run->slices->some_ended && cell->extended)
		judge_separately(run, cell);
	if (!cell->extended && dpe_deferred_has(run, cell->number))
		dpe_deferred_report(run, dpe_slice_activate(run, cell));
	if (dpe_cell_is_done(run->slices, cell) && !run->rule->nobserving)
		return;
	slice = dpe_slice_activate(run, cell);
	belongs = single ? dpe_slice_reads_single(run, slice, occurrence)
			 : dpe_slice_reads_event(run, slice, occurrence);
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

/* It begins with the first event that all slices have. */
static struct dpe_cell *shared_cell(struct dpe_run *run, const struct dpe_binding *binding)
{
	if (!run->shared)
		run->shared = dpe_slice_activate(run, begin_slice(run, 0, 0, binding->values));
	return run->shared->cell;
}

/* An event of another slice: only the slices that it can change are touched. */
static void touch_sharing(struct dpe_run *run, const struct dpe_binding *binding, const struct dpe_stamp *stamp)
{
	if (run->reads[binding->pattern].as_literal)
		dpe_awaited_find(run, stamp, touch);
	touch(run->slices, shared_cell(run, binding));
}

/* An event that only ends slices creates none. */
static void touch_slices(struct dpe_run *run, const struct dpe_binding *binding, const struct dpe_stamp *stamp)
{
	const struct dpe_reads *reads = &run->reads[binding->pattern];

	if (run->slices->shares && !binding->mask)
		touch_sharing(run, binding, stamp);
	else if (reads->ends && !reads->as_literal)
		touch_larger(run, binding);
	else if (binding->mask == run->slices->full)
		touch(run->slices, only_slice(run, binding));
	else
		touch_compatible(run, binding);
}

static void take_in_touched(struct dpe_run *run, struct dpe_cell *cell, const struct dpe_event *event,
	struct dpe_occurrence *occurrence)
{
	cell->touched = false;
	if (!dpe_fast_path_take_shared(run, cell, event))
		take_in_cell(run, cell, occurrence, false);
}

static void take_all(struct dpe_run *run, const struct dpe_event *event, struct dpe_occurrence *occurrence)
{
	struct dpe_slices *slices = run->slices;
	bool shared;

	slices->ntouched = 0;
	for (unsigned i = 0; i < run->nbindings; i++)
		touch_slices(run, &run->bindings[i], &occurrence->stamp);
	sort_touched(slices);
	shared = run->shared && slices->ntouched && slices->touched[0] == run->shared->cell;
	for (unsigned i = shared; i < slices->ntouched; i++)
		take_in_touched(run, slices->touched[i], event, occurrence);
	if (shared) /* the event must not come before itself */
		take_in_touched(run, slices->touched[0], event, occurrence);
}

/* True if the event matches one pattern, and that binds all variables. */
static bool is_single(const struct dpe_run *run)
{
	const struct dpe_binding *binding = run->bindings;

	return run->nbindings == 1 && binding->mask == run->slices->full &&
	       run->reads[binding->pattern].as_literal;
}

static void prefetch(
	const struct dpe_run *run, unsigned pattern, struct dpe_value value, bool soon)
{
	const struct dpe_slices *slices = run->slices;
	uint64_t mask = run->masks[pattern];
	struct dpe_value values[DPE_RULE_VARIABLES];

	if (slices->ncells < DPE_MANY_SLICES || mask != slices->full)
		return;
	values[__builtin_ctzll(mask)] = value;
	dpe_cell_prefetch(slices, mask, values, soon);
}

/* Starts an automaton afresh that has become too large. */
static void renew_automaton(struct dpe_run *run)
{
	struct dpe_automaton *old = dpe_engine_renew(run);

	if (!old)
		return;
	dpe_slices_adopt(run, old);
	dpe_fast_path_forget(run);
	dpe_engine_renewed(run, old);
}

/* Gives the event, which matched run->bindings, to each slice that it belongs to. */
static void take_occurrence(struct dpe_run *run, const struct dpe_event *event, struct dpe_occurrence *occurrence)
{
	struct dpe_slices *slices = run->slices;

	slices->known = slices->nslices;
	if (is_single(run))
		take_in_cell(run, only_slice(run, run->bindings), occurrence, true);
	else
		take_all(run, event, occurrence);
	renew_automaton(run);
	dpe_awaited_clean(run);
	dpe_slices_compact(run);
	if (slices->nretired >= slices->sweep_from)
		dpe_slices_sweep(run);
}

static uint64_t count_slices(const struct dpe_run *run)
{
	return run->slices->ncells;
}

/* ---- the beginning and the end ----------------------------------------------------------- */

static void free_slices(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;

	run->shared = NULL;
	for (uint32_t i = 0; i < slices->ncells; i++) {
		struct dpe_cell *cell = dpe_cell_at(slices, i);

		dpe_cell_clear(run, cell);
		dpe_values_drop(cell->params, cell->mask);
	}
	dpe_deferred_free(run);
	dpe_fast_path_free(run);
	dpe_awaited_free(slices->awaited);
	dpe_compact_end(run);
	dpe_buckets_free(slices);
	dpe_cells_end(slices);
	dpe_slice_reads_free(run);
	free(slices->pattern_masks);
	free(slices->masks);
	free(slices->touched);
	free(slices->own_preds.at);
	free(slices->shared_preds.at);
	free(run->shared_literals);
	free(slices);
	run->slices = NULL;
}

static void take(
	struct dpe_run *run, const struct dpe_event *event, struct dpe_occurrence **occurrence)
{
	if (dpe_fast_path_take(run, event))
		return;
	if (!*occurrence)
		*occurrence = dpe_occurrence_new(run->recognizer->pool, event);
	take_occurrence(run, event, *occurrence);
}

static const struct dpe_rule_engine in_slices = {
	.take = take,
	.finish = dpe_slices_finish,
	.free = free_slices,
	.count = count_slices,
	.forget = dpe_slices_forget,
	.prefetch = prefetch,
	.live = dpe_slices_live,
	.states = dpe_slices_states,
};

void dpe_slices_new(struct dpe_run *run)
{
	struct dpe_slices *slices = dpe_xcalloc(1, sizeof(*slices));
	const struct dpe_value none[1] = {{0}};

	slices->sweep_from = DPE_FEWEST_RETIRED;
	slices->max_active = run->recognizer->options.forget_from == 1 ? 0 : DPE_MAX_ACTIVE;
	slices->compacts = run->automaton && run->rule->nvariables &&
			   (!run->conjunction || dpe_conjunction_is_whole(run->conjunction));
	if (slices->compacts)
		slices->scratch = dpe_xmalloc(DPE_SLICE_BYTES);
	run->slices = slices;
	dpe_fast_path_new(run);
	dpe_cells_begin(run);
	dpe_slice_reads_find(run);
	collect_masks(run);
	dpe_slices_share(run);
	if (!run->rule->nvariables)
		begin_slice(run, 0, 0, none);
	run->rule_engine = &in_slices;
}
