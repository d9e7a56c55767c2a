/* The rule as leaves, and which of them can follow which: the positions of Glushkov's automaton, with an
 * automaton or a & at each. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/conjunction.h"
#include "recognizer/engines/engines.h"
#include "recognizer/engines/token_game.h"

#include <stdlib.h>

/* The leaves that a part can begin and end with. */
struct edges {
	struct dpe_leaf **first, **last;
	unsigned nfirst, nlast, capfirst, caplast;
};

static void add_once(
	struct dpe_leaf ***at, unsigned *count, unsigned *cap, struct dpe_leaf *const *more,
	unsigned nmore)
{
	for (unsigned i = 0; i < nmore; i++) {
		unsigned j = 0;

		while (j < *count && (*at)[j] != more[i])
			j++;
		if (j == *count)
			*DPE_GROW(*at, *count, *cap) = more[i];
	}
}

static void join(struct dpe_leaf *const *last, unsigned nlast, struct dpe_leaf *const *first,
	unsigned nfirst)
{
	for (unsigned i = 0; i < nlast; i++)
		add_once(&last[i]->next, &last[i]->nnext, &last[i]->capnext, first, nfirst);
}

static void free_edges(struct edges *edges)
{
	free(edges->first);
	free(edges->last);
}

static void make_segment(struct dpe_run *run, struct dpe_shape *shape,
	const struct dpe_factor *part, struct dpe_segment *segment);

static struct dpe_leaf *make_leaf(
	struct dpe_run *run, struct dpe_shape *shape, const struct dpe_factor *part)
{
	struct dpe_leaf *leaf = dpe_xcalloc(1, sizeof(*leaf));

	*DPE_GROW(shape->leaves, shape->nleaves, shape->capleaves) = leaf;
	leaf->part = part;
	if (part->kind == DPE_FACTOR_PAR) {
		leaf->noperands = part->nkids;
		leaf->operands = dpe_xcalloc(part->nkids + 1, sizeof(*leaf->operands));
		for (unsigned i = 0; i < part->nkids; i++)
			make_segment(run, shape, part->kids[i], &leaf->operands[i]);
		return leaf;
	}
	if (shape->whole) {
		leaf->run = run;
		return leaf;
	}
	leaf->rule = *run->rule;
	leaf->rule.tree = part->node;
	leaf->run = &leaf->own;
	leaf->own.recognizer = run->recognizer;
	leaf->own.rule = &leaf->rule;
	leaf->own.automaton = part->automaton;
	if (!part->automaton)
		leaf->own.game = dpe_game_new(&leaf->rule);
	return leaf;
}

static struct edges find_edges(
	struct dpe_run *run, struct dpe_shape *shape, const struct dpe_factor *part)
{
	struct edges all = {0};
	bool open = true; /* nothing before has to happen */

	if (part->kind == DPE_FACTOR_AUTOMATON || part->kind == DPE_FACTOR_PAR) {
		struct dpe_leaf *leaf = make_leaf(run, shape, part);

		*DPE_GROW(all.first, all.nfirst, all.capfirst) = leaf;
		*DPE_GROW(all.last, all.nlast, all.caplast) = leaf;
		return all;
	}
	for (unsigned i = 0; i < part->nkids; i++) {
		const struct dpe_factor *kid = part->kids[i];
		struct edges edges = find_edges(run, shape, kid);

		if (part->kind == DPE_FACTOR_SEQ) {
			join(all.last, all.nlast, edges.first, edges.nfirst);
			if (!kid->nullable)
				all.nlast = 0;
		}
		if (open || part->kind != DPE_FACTOR_SEQ)
			add_once(&all.first, &all.nfirst, &all.capfirst, edges.first, edges.nfirst);
		add_once(&all.last, &all.nlast, &all.caplast, edges.last, edges.nlast);
		open &= kid->nullable;
		free_edges(&edges);
	}
	if (part->kind == DPE_FACTOR_STAR)
		join(all.last, all.nlast, all.first, all.nfirst);
	return all;
}

static void make_segment(struct dpe_run *run, struct dpe_shape *shape,
	const struct dpe_factor *part, struct dpe_segment *segment)
{
	struct edges edges = find_edges(run, shape, part);

	segment->part = part;
	segment->first = edges.first;
	segment->nfirst = edges.nfirst;
	for (unsigned i = 0; i < edges.nlast; i++)
		edges.last[i]->ends = true;
	free(edges.last);
}

/* Which ends matter to what is around. */
static void find_wants(struct dpe_leaf *leaf, bool wanted, bool ends_all)
{
	for (unsigned i = 0; i < leaf->noperands; i++) {
		struct dpe_segment *segment = &leaf->operands[i];
		struct dpe_leaf **seen = NULL;
		unsigned nseen = 0, capseen = 0;

		segment->wanted = wanted;
		segment->ends_all = ends_all;
		add_once(&seen, &nseen, &capseen, segment->first, segment->nfirst);
		for (unsigned at = 0; at < nseen; at++) {
			struct dpe_leaf *within = seen[at];

			add_once(&seen, &nseen, &capseen, within->next, within->nnext);
			find_wants(within, within->nnext || (within->ends && wanted),
				within->ends && ends_all);
		}
		free(seen);
	}
}

uint32_t dpe_leaf_operand(const struct dpe_leaf *leaf, unsigned literal)
{
	if (leaf->part->kind == DPE_FACTOR_PAR)
		return leaf->part->kid_of[literal];
	return leaf->operands[0].part->literals[literal] ? 0 : DPE_NO_KID;
}

/* A rule that is no & as one with a single operand. */
static struct dpe_leaf *make_top(
	struct dpe_run *run, struct dpe_shape *shape, const struct dpe_factor *root)
{
	struct dpe_leaf *leaf;

	if (root->kind == DPE_FACTOR_PAR)
		return make_leaf(run, shape, root);
	leaf = dpe_xcalloc(1, sizeof(*leaf));
	*DPE_GROW(shape->leaves, shape->nleaves, shape->capleaves) = leaf;
	leaf->part = root;
	leaf->noperands = 1;
	leaf->operands = dpe_xcalloc(1, sizeof(*leaf->operands));
	make_segment(run, shape, root, &leaf->operands[0]);
	return leaf;
}

struct dpe_shape *dpe_shape_new(struct dpe_run *run)
{
	struct dpe_shape *shape = dpe_xcalloc(1, sizeof(*shape));

	shape->parts = run->operands;
	run->operands = NULL;
	if (!shape->parts) {
		shape->parts = dpe_factors_whole(run->rule);
		shape->whole = true;
		shape->compact = run->rule->nvariables;
	}
	shape->top = make_top(run, shape, shape->parts->root);
	find_wants(shape->top, false, true);
	return shape;
}

bool dpe_shape_is_whole(const struct dpe_shape *shape)
{
	return shape->whole;
}

void dpe_shape_free(struct dpe_shape *shape)
{
	if (!shape)
		return;
	for (unsigned i = 0; i < shape->nleaves; i++) {
		struct dpe_leaf *leaf = shape->leaves[i];

		for (unsigned j = 0; j < leaf->noperands; j++)
			free(leaf->operands[j].first);
		dpe_game_free(leaf->own.game);
		free(leaf->own.steps);
		free(leaf->own.step_preds);
		free(leaf->operands);
		free(leaf->next);
		free(leaf);
	}
	dpe_factors_free(shape->parts);
	free(shape->wants);
	free(shape->candidates);
	free(shape->choices);
	free(shape->peers);
	free(shape->apart);
	free(shape->entries);
	free(shape->leaves);
	free(shape);
}
