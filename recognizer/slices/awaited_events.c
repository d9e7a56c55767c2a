/* An index of slices by the last events of their partial matches. An event that belongs to all slices is taken
 * only in those where it can directly follow such an event: docs/internals/shared-events.md. */
#include "recognizer/slices/cells.h"

#include <stdlib.h>
#include <string.h>

/* The index of an event in its chain, and that of the cell whose slice awaits a successor of it. */
struct awaited_event {
	uint32_t index, cell;
};

struct awaited_chain {
	uint32_t chain; /* first, see dpe_chain_place */
	unsigned count, cap;
	struct awaited_event *at; /* by index, as events come in the order of their chain */
};

struct dpe_awaited {
	struct awaited_chain *chains; /* by number */
	unsigned nchains, capchains;
	uint64_t count, clean_from; /* events; and how many may be there before some are dropped */
};

struct dpe_awaited *dpe_awaited_new(void)
{
	struct dpe_awaited *awaited = dpe_xcalloc(1, sizeof(*awaited));

	awaited->clean_from = DPE_FEWEST_AWAITED;
	return awaited;
}

void dpe_awaited_free(struct dpe_awaited *awaited)
{
	if (!awaited)
		return;
	for (unsigned i = 0; i < awaited->nchains; i++)
		free(awaited->chains[i].at);
	free(awaited->chains);
	free(awaited);
}

static unsigned place_of(const struct dpe_awaited *awaited, uint32_t number)
{
	return dpe_chain_place(awaited->chains, awaited->nchains, sizeof(*awaited->chains), number);
}

static struct awaited_chain *look_up(const struct dpe_awaited *awaited, uint32_t number)
{
	unsigned at = place_of(awaited, number);

	return at < awaited->nchains && awaited->chains[at].chain == number ? &awaited->chains[at] : NULL;
}

static struct awaited_chain *find_chain(struct dpe_awaited *awaited, uint32_t number)
{
	unsigned at = place_of(awaited, number);
	struct awaited_chain *chain;

	if (at < awaited->nchains && awaited->chains[at].chain == number)
		return &awaited->chains[at];
	(void)DPE_GROW(awaited->chains, awaited->nchains, awaited->capchains);
	chain = &awaited->chains[at];
	memmove(chain + 1, chain, (awaited->nchains - 1 - at) * sizeof(*chain));
	*chain = (struct awaited_chain){.chain = number};
	return chain;
}

/* Partial matches are sorted by age. */
static bool ends_with(const struct dpe_slice *slice, const struct dpe_occurrence *occurrence)
{
	unsigned count;
	struct dpe_partial *const *partials = dpe_detect_partials(slice, &count);

	while (count && !partials[count - 1])
		count--;
	return count && partials[count - 1]->trail->occurrence == occurrence;
}

void dpe_awaited_add(struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence)
{
	struct dpe_awaited *awaited = run->slices->awaited;
	struct awaited_chain *chain;

	if (!awaited || !slice->mask || !ends_with(slice, occurrence))
		return;
	chain = find_chain(awaited, occurrence->stamp.chain);
	*DPE_GROW(chain->at, chain->count, chain->cap) =
		(struct awaited_event){occurrence->stamp.index, slice->cell->index};
	awaited->count++;
}

/* ---- slices that an event belongs to ----------------------------------------------------------- */

struct awaited_search {
	struct dpe_run *run;
	const struct dpe_preds *preds; /* among the shared events */
	dpe_awaiting_fn *each;
};

/* The first event of the chain with a higher index. */
static unsigned first_after(const struct awaited_chain *chain, uint32_t index)
{
	return DPE_PARTITION_POINT(i, 0, chain->count, chain->at[i].index <= index);
}

/* Finds those of the first `reach` events of the chain that precede no shared predecessor. */
static void find_in_chain(void *context, uint32_t number, uint32_t reach)
{
	struct awaited_search *search = context;
	struct dpe_slices *slices = search->run->slices;
	const struct awaited_chain *chain = look_up(slices->awaited, number);
	uint32_t passed = 0;

	if (!chain)
		return;
	for (unsigned i = 0; i < search->preds->count; i++) {
		uint32_t before = dpe_stamp_reach(&search->preds->at[i]->stamp, number);

		if (before > passed)
			passed = before;
	}
	for (unsigned i = first_after(chain, passed); i < chain->count && chain->at[i].index <= reach; i++) {
		struct dpe_cell *cell = dpe_cell_at(slices, chain->at[i].cell);

		if (!cell->retired)
			search->each(slices, cell);
	}
}

void dpe_awaited_find(struct dpe_run *run, const struct dpe_stamp *stamp, dpe_awaiting_fn *each)
{
	struct dpe_preds *preds = &run->slices->shared_preds;
	struct awaited_search search = {run, preds, each};

	if (!run->slices->awaited)
		return;
	preds->count = 0;
	if (run->shared)
		dpe_order_preds(&run->shared->order, stamp, preds);
	find_in_chain(&search, stamp->chain, dpe_stamp_reach(stamp, stamp->chain));
	dpe_stamp_each_since(stamp, preds->count ? preds->at[0]->stamp.past : NULL, find_in_chain, &search);
}

/* ---- forgetting ---------------------------------------------------------------------------------- */

static bool has_register(const struct dpe_run *run, const struct dpe_config *config, uint32_t chain, uint32_t index)
{
	unsigned count = dpe_automaton_registers(run->automaton, config->state);

	for (unsigned i = 0; i < count; i++) {
		const struct dpe_occurrence *at = config->registers[i];

		if (at && at->stamp.chain == chain && at->stamp.index == index)
			return true;
	}
	return false;
}

static bool is_awaited(struct dpe_run *run, uint32_t chain, struct awaited_event event)
{
	struct dpe_cell *cell = dpe_cell_at(run->slices, event.cell);
	struct dpe_partial *const *partials;
	unsigned count;

	if (cell->retired)
		return false;
	partials = dpe_detect_partials(dpe_slice_activate(run, cell), &count);
	for (unsigned i = 0; i < count; i++) {
		if (partials[i] && has_register(run, &partials[i]->config, chain, event.index))
			return true;
	}
	return false;
}

static void clean_chain(struct dpe_run *run, struct awaited_chain *chain)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < chain->count; i++) {
		if (is_awaited(run, chain->chain, chain->at[i]))
			chain->at[kept++] = chain->at[i];
		dpe_slices_compact(run);
	}
	chain->count = kept;
}

static void drop_empty_chains(struct dpe_awaited *awaited)
{
	unsigned kept = 0;

	awaited->count = 0;
	for (unsigned i = 0; i < awaited->nchains; i++) {
		struct awaited_chain *chain = &awaited->chains[i];

		awaited->count += chain->count;
		if (chain->count)
			awaited->chains[kept++] = *chain;
		else
			free(chain->at);
	}
	awaited->nchains = kept;
}

void dpe_awaited_clean(struct dpe_run *run)
{
	struct dpe_awaited *awaited = run->slices->awaited;

	if (!awaited || awaited->count < awaited->clean_from)
		return;
	for (unsigned i = 0; i < awaited->nchains; i++)
		clean_chain(run, &awaited->chains[i]);
	drop_empty_chains(awaited);
	awaited->clean_from = 2 * awaited->count + DPE_FEWEST_AWAITED;
}

void dpe_awaited_move(struct dpe_slices *slices, const uint32_t *to)
{
	struct dpe_awaited *awaited = slices->awaited;

	for (unsigned i = 0; awaited && i < awaited->nchains; i++) {
		struct awaited_chain *chain = &awaited->chains[i];
		unsigned kept = 0;

		for (unsigned j = 0; j < chain->count; j++) {
			uint32_t cell = to[chain->at[j].cell];

			if (cell != UINT32_MAX)
				chain->at[kept++] = (struct awaited_event){chain->at[j].index, cell};
		}
		chain->count = kept;
	}
	if (awaited)
		drop_empty_chains(awaited);
}
