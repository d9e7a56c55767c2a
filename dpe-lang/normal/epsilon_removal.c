/* Repetitions with an event on every path through a round, exactly, as nets need it: more to write
 * than N(R), which marks a composition instead.
 * The equations: docs/internals/normal-form.md. */
#include "dpe-lang/normal/normal.h"

#include <stdlib.h>
#include <string.h>

struct remover {
	struct dpe_arena *arena;
	const struct dpe_rule *rule;
	unsigned nevents;
	bool foreign; /* met something that is not a safe DPE */
};

/* An expression without ε (full), and with ε if R accepts it (any). NULL is the empty language. */
struct part {
	const struct dpe_node *full, *any;
	bool nullable;
};

static struct dpe_node *new_node(
	struct remover *r, enum dpe_node_kind kind, const struct dpe_node *like)
{
	struct dpe_node *node = dpe_arena_alloc(r->arena, sizeof(*node));

	node->kind = kind;
	node->place = like->place;
	return node;
}

/* ε, as an action without statements. */
static const struct dpe_node *nothing(struct remover *r, const struct dpe_node *like)
{
	return new_node(r, DPE_NODE_ACTION, like);
}

static const struct dpe_node *binary(struct remover *r, enum dpe_node_kind kind,
	const struct dpe_node *left, const struct dpe_node *right)
{
	struct dpe_node *node = new_node(r, kind, left);

	node->left = left;
	node->right = right;
	return node;
}

static const struct dpe_node *both(
	struct remover *r, const struct dpe_node *left, const struct dpe_node *right)
{
	return left && right ? binary(r, DPE_NODE_SEQ, left, right) : NULL;
}

static const struct dpe_node *either(
	struct remover *r, const struct dpe_node *left, const struct dpe_node *right)
{
	if (!left || !right)
		return left ? left : right;
	return binary(r, DPE_NODE_ALT, left, right);
}

static struct part without(struct remover *r, const struct dpe_node *node, const bool *barred);

static struct part of_event(struct remover *r, const struct dpe_node *node, const bool *barred)
{
	if (barred[dpe_node_literal(r->rule, node)])
		return (struct part){0};
	r->nevents++;
	return (struct part){node, node, false};
}

static struct part of_alternatives(
	struct remover *r, const struct dpe_node *node, const bool *barred)
{
	struct part left = without(r, node->left, barred), right = without(r, node->right, barred);

	return (struct part){either(r, left.full, right.full), either(r, left.any, right.any),
		left.nullable || right.nullable};
}

static struct part of_sequence(struct remover *r, const struct dpe_node *node, const bool *barred)
{
	struct part left = without(r, node->left, barred), right = without(r, node->right, barred);
	struct part whole = {.nullable = left.nullable && right.nullable};

	whole.any = both(r, left.any, right.any);
	if (!left.nullable && !right.nullable)
		whole.full = whole.any;
	else if (!right.nullable)
		whole.full = both(r, left.any, right.full);
	else
		whole.full = both(r, left.full, right.any);
	if (whole.nullable)
		whole.full = either(r, whole.full, right.full);
	return whole;
}

static struct part of_repetition(struct remover *r, const struct dpe_node *node, const bool *barred)
{
	struct part round = without(r, node->left, barred);
	struct dpe_node *star;

	if (!round.full)
		return (struct part){NULL, nothing(r, node), true};
	star = new_node(r, DPE_NODE_STAR, node);
	star->left = round.full;
	return (struct part){both(r, round.full, star), star, true};
}

/* If one operand can no longer take a shared event, it is barred in the other, too. */
static const struct dpe_node *side_by_side(
	struct remover *r, const struct dpe_node *node, const bool *shared, const bool *barred)
{
	unsigned count = r->rule->nliterals;
	bool now[count + 1], left_has[count + 1], right_has[count + 1], changed = true;
	const struct dpe_node *left = NULL, *right = NULL;

	memcpy(now, barred, count * sizeof(*now));
	while (changed) {
		left = without(r, node->left, now).full;
		right = without(r, node->right, now).full;
		memset(left_has, 0, sizeof(left_has));
		memset(right_has, 0, sizeof(right_has));
		dpe_mark_literals(r->rule, left, left_has);
		dpe_mark_literals(r->rule, right, right_has);
		changed = false;
		for (unsigned i = 0; i < count; i++) {
			if (!shared[i] || now[i] || (left_has[i] && right_has[i]))
				continue;
			now[i] = changed = true;
		}
	}
	return left && right ? binary(r, DPE_NODE_PAR, left, right) : NULL;
}

static struct part of_parallel(struct remover *r, const struct dpe_node *node, const bool *barred)
{
	unsigned count = r->rule->nliterals;
	bool shared[count + 1], right_has[count + 1], alone[count + 1];
	struct part left, right, whole;

	memset(shared, 0, sizeof(shared));
	memset(right_has, 0, sizeof(right_has));
	dpe_mark_literals(r->rule, node->left, shared);
	dpe_mark_literals(r->rule, node->right, right_has);
	for (unsigned i = 0; i < count; i++) {
		shared[i] &= right_has[i];
		alone[i] = barred[i] || shared[i];
	}
	left = without(r, node->left, alone);
	right = without(r, node->right, alone);
	whole.nullable = left.nullable && right.nullable;
	whole.full = side_by_side(r, node, shared, barred);
	if (right.nullable)
		whole.full = either(r, whole.full, left.full);
	if (left.nullable)
		whole.full = either(r, whole.full, right.full);
	whole.any = whole.nullable ? either(r, whole.full, nothing(r, node)) : whole.full;
	return whole;
}

static struct part without(struct remover *r, const struct dpe_node *node, const bool *barred)
{
	if (r->foreign || r->nevents > DPE_MAX_EXPANDED_EVENTS || node->control || node->action) {
		r->foreign = true;
		return (struct part){0};
	}
	switch (node->kind) {
	case DPE_NODE_EVENT:
		return of_event(r, node, barred);
	case DPE_NODE_ALT:
		return of_alternatives(r, node, barred);
	case DPE_NODE_SEQ:
		return of_sequence(r, node, barred);
	case DPE_NODE_STAR:
		return of_repetition(r, node, barred);
	case DPE_NODE_PAR:
		return of_parallel(r, node, barred);
	case DPE_NODE_CLOSURE:
	case DPE_NODE_ACTION:
	case DPE_NODE_GROUP:
		break;
	}
	r->foreign = true;
	return (struct part){0};
}

static const struct dpe_node *repetition(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node)
{
	struct remover remover = {.arena = arena, .rule = rule};
	bool *barred = dpe_xcalloc(rule->nliterals + 1, sizeof(*barred));
	struct part whole = without(&remover, node, barred);

	free(barred);
	return remover.foreign ? NULL : whole.any;
}

const struct dpe_node *dpe_nonempty_rounds(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node)
{
	const struct dpe_node *better = NULL;
	struct dpe_node *new;

	if (node->kind == DPE_NODE_STAR && !node->control && !node->action)
		better = repetition(arena, rule, node);
	if (better || !node->left)
		return better ? better : node;
	new = dpe_arena_alloc(arena, sizeof(*new));
	*new = *node;
	new->left = dpe_nonempty_rounds(arena, rule, node->left);
	if (node->right)
		new->right = dpe_nonempty_rounds(arena, rule, node->right);
	return new;
}
