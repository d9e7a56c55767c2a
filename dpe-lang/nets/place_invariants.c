/* Semi-positive place invariants with minimal support, by Farkas' method: begin with a row for each
 * place; then, for each transition, replace the rows that it changes by the sums of one that it
 * increases and one that it decreases. */
#include "dpe-lang/nets/place_invariants.h"

#include "dpe-lang/nets/limits.h"

#include <stdlib.h>
#include <string.h>

struct weighted_places {
	int64_t *effect;  /* by transition: the change of the weighted sum */
	uint64_t *weight; /* by place */
};

struct farkas_rows {
	const struct net *net;
	struct weighted_places *at;
	unsigned count, cap;
	bool large;
};

static struct weighted_places new_row(const struct net *net)
{
	return (struct weighted_places){
		.effect = dpe_xcalloc(net->ntransitions + 1, sizeof(int64_t)),
		.weight = dpe_xcalloc(net->nplaces + 1, sizeof(uint64_t))};
}

static void free_row(struct weighted_places *row)
{
	free(row->effect);
	free(row->weight);
}

static void begin_with_places(struct farkas_rows *rows)
{
	const struct net *net = rows->net;

	for (unsigned p = 0; p < net->nplaces; p++) {
		struct weighted_places row = new_row(net);

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

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t remainder = a % b;

		a = b;
		b = remainder;
	}
	return a;
}

/* Divides by the greatest common divisor. False if that is too large. */
static bool normalise(const struct net *net, struct weighted_places *row)
{
	uint64_t divisor = 0;
	bool small = true;

	for (unsigned p = 0; p < net->nplaces; p++)
		divisor = gcd(divisor, row->weight[p]);
	for (unsigned p = 0; p < net->nplaces; p++) {
		row->weight[p] /= divisor;
		small &= row->weight[p] <= MAX_WEIGHT;
	}
	for (unsigned i = 0; i < net->ntransitions; i++) {
		row->effect[i] /= (int64_t)divisor;
		small &= llabs(row->effect[i]) <= MAX_WEIGHT * MAX_TOKENS;
	}
	return small;
}

/* Whether the support of `some` is within that of `all`. */
static bool is_within(const struct net *net, const struct weighted_places *some,
	const struct weighted_places *all)
{
	for (unsigned p = 0; p < net->nplaces; p++) {
		if (some->weight[p] && !all->weight[p])
			return false;
	}
	return true;
}

/* Adds the row, which it owns then, unless its support contains that of another one; drops those
 * whose support contains its own. */
static void add_smallest(struct farkas_rows *rows, struct weighted_places row)
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
	rows->large |= rows->count > MAX_INVARIANTS;
}

/* Adds the combination of the two rows that the transition does not change. */
static void combine(struct farkas_rows *to, const struct weighted_places *more,
	const struct weighted_places *less, unsigned transition)
{
	const struct net *net = to->net;
	int64_t a = -less->effect[transition], b = more->effect[transition];
	struct weighted_places row = new_row(net);

	for (unsigned p = 0; p < net->nplaces; p++)
		row.weight[p] = (uint64_t)a * more->weight[p] + (uint64_t)b * less->weight[p];
	for (unsigned i = 0; i < net->ntransitions; i++)
		row.effect[i] = a * more->effect[i] + b * less->effect[i];
	if (normalise(net, &row))
		add_smallest(to, row);
	else
		free_row(&row);
}

static void free_rows(struct farkas_rows *rows)
{
	for (unsigned i = 0; i < rows->count; i++)
		free_row(&rows->at[i]);
	free(rows->at);
}

/* Replaces the rows that the transition changes. */
static void settle(struct farkas_rows *rows, unsigned transition)
{
	struct farkas_rows new = {.net = rows->net};

	for (unsigned i = 0; i < rows->count; i++) {
		struct weighted_places *row = &rows->at[i], kept = new_row(rows->net);

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
				combine(&new, &rows->at[i], &rows->at[j], transition);
		}
	}
	free_rows(rows);
	*rows = new;
}

static struct invariants *keep(struct translation *tr, const struct farkas_rows *rows)
{
	struct invariants *invariants = dpe_arena_alloc(tr->arena, sizeof(*invariants));

	invariants->count = rows->count;
	invariants->weights =
		dpe_arena_alloc(tr->arena, (rows->count + 1) * sizeof(*invariants->weights));
	for (unsigned i = 0; i < rows->count; i++) {
		unsigned *weight =
			dpe_arena_alloc(tr->arena, (rows->net->nplaces + 1) * sizeof(*weight));

		for (unsigned p = 0; p < rows->net->nplaces; p++)
			weight[p] = (unsigned)rows->at[i].weight[p];
		invariants->weights[i] = weight;
	}
	return invariants;
}

struct invariants *dpe_nets_invariants(struct translation *tr, const struct net *net)
{
	struct farkas_rows rows = {.net = net};
	struct invariants *invariants;

	if (net->nplaces > MAX_PLACES || net->ntransitions > MAX_PLACES)
		return keep(tr, &rows);
	begin_with_places(&rows);
	for (unsigned i = 0; i < net->ntransitions && !rows.large; i++)
		settle(&rows, i);
	if (rows.large) {
		free_rows(&rows);
		rows = (struct farkas_rows){.net = net};
	}
	invariants = keep(tr, &rows);
	free_rows(&rows);
	return invariants;
}

unsigned dpe_nets_weight_of(const unsigned *weight, const struct net *net, const tokens *marking)
{
	uint64_t sum = 0;

	for (unsigned p = 0; p < net->nplaces; p++)
		sum += (uint64_t)weight[p] * marking[p];
	return sum < UINT32_MAX ? (unsigned)sum : UINT32_MAX;
}
