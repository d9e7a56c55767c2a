/* What a net keeps: weights of places such that no firing changes the sum of what is marked (its
 * semi-positive place invariants). Tokens flow through the places of such a set, and are joined and
 * parted there, but none is made or lost: one of weight three is as good as three of weight one.
 *
 * The smallest sets are found by Farkas' method: beginning with each place by itself, transition by
 * transition, sets that it fills are put together with sets that it empties. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

#define MANY_ROWS 1000
#define MANY_CELLS 4000000 /* of all rows: places and transitions */
#define MANY_WEIGHTS 1000

struct row {
	int *effect;      /* by transition: what it adds */
	unsigned *weight; /* by place */
};

struct rows {
	const struct net *net;
	struct row *at;
	unsigned count, cap;
	bool large;
};

static struct row new_row(const struct net *net)
{
	return (struct row){.effect = dpe_xcalloc(net->ntransitions + 1, sizeof(int)),
		.weight = dpe_xcalloc(net->nplaces + 1, sizeof(unsigned))};
}

static void free_row(struct row *row)
{
	free(row->effect);
	free(row->weight);
}

static void begin_with_places(struct rows *rows)
{
	const struct net *net = rows->net;

	for (unsigned p = 0; p < net->nplaces; p++) {
		struct row row = new_row(net);

		row.weight[p] = 1;
		for (unsigned i = 0; i < net->ntransitions; i++) {
			const struct transition *t = &net->transitions[i];

			for (unsigned j = 0; j < t->nin; j++)
				row.effect[i] -= t->in[j] == p;
			for (unsigned j = 0; j < t->nout; j++)
				row.effect[i] += t->out[j] == p;
		}
		*DPE_GROW(rows->at, rows->count, rows->cap) = row;
	}
}

static unsigned greatest_divisor(unsigned a, unsigned b)
{
	while (b) {
		unsigned rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* False where weights become too large. */
static bool make_small(const struct net *net, struct row *row)
{
	unsigned divisor = 0, most = 0;

	for (unsigned p = 0; p < net->nplaces; p++)
		divisor = greatest_divisor(divisor, row->weight[p]);
	for (unsigned p = 0; p < net->nplaces; p++) {
		row->weight[p] /= divisor;
		most = row->weight[p] > most ? row->weight[p] : most;
	}
	for (unsigned i = 0; i < net->ntransitions; i++)
		row->effect[i] /= (int)divisor;
	return most <= MANY_WEIGHTS;
}

/* Whether all places of `some` are in `all`. */
static bool is_within(const struct net *net, const struct row *some, const struct row *all)
{
	for (unsigned p = 0; p < net->nplaces; p++) {
		if (some->weight[p] && !all->weight[p])
			return false;
	}
	return true;
}

/* Unless it has all places of another; without those that have all of its. The row is kept, or
 * freed. */
static void add_smallest(struct rows *rows, struct row row)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < rows->count; i++) {
		if (!is_within(rows->net, &rows->at[i], &row))
			continue;
		free_row(&row);
		return;
	}
	for (unsigned i = 0; i < rows->count; i++) {
		if (is_within(rows->net, &row, &rows->at[i]))
			free_row(&rows->at[i]);
		else
			rows->at[kept++] = rows->at[i];
	}
	rows->count = kept;
	*DPE_GROW(rows->at, rows->count, rows->cap) = row;
	rows->large |= rows->count > MANY_ROWS;
}

/* Together the transition changes nothing. */
static void put_together(
	struct rows *to, const struct row *more, const struct row *less, unsigned transition)
{
	const struct net *net = to->net;
	unsigned a = (unsigned)-less->effect[transition], b = (unsigned)more->effect[transition];
	struct row row = new_row(net);

	for (unsigned p = 0; p < net->nplaces; p++)
		row.weight[p] = a * more->weight[p] + b * less->weight[p];
	for (unsigned i = 0; i < net->ntransitions; i++)
		row.effect[i] = (int)a * more->effect[i] + (int)b * less->effect[i];
	if (make_small(net, &row))
		add_smallest(to, row);
	else
		free_row(&row);
}

static void free_rows(struct rows *rows)
{
	for (unsigned i = 0; i < rows->count; i++)
		free_row(&rows->at[i]);
	free(rows->at);
}

/* Those that the transition changes are put together until it does not. */
static void settle(struct rows *rows, unsigned transition)
{
	struct rows new = {.net = rows->net};

	for (unsigned i = 0; i < rows->count; i++) {
		struct row *row = &rows->at[i], kept = new_row(rows->net);

		memcpy(kept.effect, row->effect, rows->net->ntransitions * sizeof(*kept.effect));
		memcpy(kept.weight, row->weight, rows->net->nplaces * sizeof(*kept.weight));
		if (row->effect[transition])
			free_row(&kept);
		else
			add_smallest(&new, kept);
	}
	for (unsigned i = 0; i < rows->count && !new.large; i++) {
		for (unsigned j = 0; j < rows->count && !new.large; j++) {
			if (rows->at[i].effect[transition] > 0 &&
				rows->at[j].effect[transition] < 0)
				put_together(&new, &rows->at[i], &rows->at[j], transition);
		}
	}
	free_rows(rows);
	*rows = new;
}

static struct flows *keep(struct work *work, const struct rows *rows)
{
	struct flows *flows = dpe_arena_alloc(work->arena, sizeof(*flows));
	size_t size = rows->net->nplaces * sizeof(unsigned);

	flows->count = rows->count;
	flows->weights = dpe_arena_alloc(work->arena, (rows->count + 1) * sizeof(*flows->weights));
	for (unsigned i = 0; i < rows->count; i++)
		flows->weights[i] = memcpy(dpe_arena_alloc(work->arena, size + sizeof(unsigned)),
			rows->at[i].weight, size);
	return flows;
}

struct flows *dpe_nets_flows(struct work *work, const struct net *net)
{
	struct rows rows = {.net = net};
	struct flows *flows;

	if ((uint64_t)net->nplaces * (net->nplaces + net->ntransitions) > MANY_CELLS)
		return keep(work, &rows);
	begin_with_places(&rows);
	for (unsigned i = 0; i < net->ntransitions && !rows.large; i++)
		settle(&rows, i);
	if (rows.large) {
		free_rows(&rows);
		rows = (struct rows){.net = net};
	}
	flows = keep(work, &rows);
	free_rows(&rows);
	return flows;
}

bool dpe_nets_has_flow(const struct flows *flows, unsigned place)
{
	for (unsigned f = 0; f < flows->count; f++) {
		if (flows->weights[f][place])
			return true;
	}
	return false;
}

unsigned dpe_nets_weight_of(const unsigned *weight, const struct net *net, const tokens *marking)
{
	uint64_t sum = 0;

	for (unsigned p = 0; p < net->nplaces; p++)
		sum += (uint64_t)weight[p] * marking[p];
	return sum < UINT32_MAX ? (unsigned)sum : UINT32_MAX;
}
