/* A safe rule that approximates one with `@` or control variables, to find examples in: R@ becomes
 * ε + R + R & R' + …, the copies with literals of their own; a repetition with a control variable
 * becomes so many rounds, in an alternative for each value of the variables. */
#include "dpe-lang/automata/examples.h"
#include "dpe-lang/normal/normal.h"

#include <stdlib.h>
#include <string.h>

struct bounder {
	struct dpe_arena *arena;
	const struct dpe_rule *rule;
	unsigned copies, nnodes;
	struct dpe_literal *literals;
	unsigned *origin;
	unsigned nliterals, capliterals, caporigin;
	struct dpe_position *positions;
	unsigned npositions, cappositions;
	const char *controls[DPE_MAX_COUNTED_CONTROLS];
	unsigned rounds[DPE_MAX_COUNTED_CONTROLS];
	unsigned ncontrols;
	bool failed;
};

static struct dpe_node *new_node(struct bounder *b, enum dpe_node_kind kind,
	const struct dpe_node *left, const struct dpe_node *right)
{
	struct dpe_node *node = dpe_arena_alloc(b->arena, sizeof(*node));

	b->failed |= b->nnodes++ > DPE_MAX_COPIED_NODES;
	node->kind = kind;
	node->left = left;
	node->right = right;
	return node;
}

static const struct dpe_node *nothing(struct bounder *b)
{
	return new_node(b, DPE_NODE_ACTION, NULL, NULL);
}

/* By literal of the rule: the literal in the current copy. Where an `@` shares the literal, also any
 * copy of it from `from` to `to`. */
struct names {
	unsigned *literal, *from, *to;
	bool copied; /* within an `@` */
};

static struct names own_names(struct bounder *b)
{
	struct names names;

	names.literal =
		dpe_arena_alloc(b->arena, (b->rule->nliterals + 1) * sizeof(*names.literal));
	names.from = dpe_arena_alloc(b->arena, (b->rule->nliterals + 1) * sizeof(*names.from));
	names.to = dpe_arena_alloc(b->arena, (b->rule->nliterals + 1) * sizeof(*names.to));
	names.copied = false;
	for (unsigned i = 0; i < b->rule->nliterals; i++)
		names.literal[i] = i;
	return names;
}

static unsigned add_literal(struct bounder *b, unsigned like)
{
	const struct dpe_literal literal = b->literals[like];
	unsigned count = b->nliterals, origin = b->origin[like];

	b->failed |= count > DPE_MAX_COPIED_LITERALS;
	*DPE_GROW(b->literals, count, b->capliterals) = literal;
	*DPE_GROW(b->origin, b->nliterals, b->caporigin) = origin;
	return b->nliterals - 1;
}

static struct names new_names(struct bounder *b, const struct dpe_node *node, struct names old)
{
	bool *found = dpe_xcalloc(b->rule->nliterals + 1, sizeof(*found));
	struct names new = own_names(b);

	dpe_mark_literals(b->rule, node, found);
	for (unsigned i = 0; i < b->rule->nliterals; i++)
		new.literal[i] = found[i] ? add_literal(b, i) : old.literal[i];
	free(found);
	new.copied = true;
	return new;
}

static const struct dpe_node *bound(
	struct bounder *b, const struct dpe_node *node, struct names names);

static const struct dpe_node *add_event(
	struct bounder *b, const struct dpe_node *node, unsigned literal)
{
	struct dpe_node *new = new_node(b, DPE_NODE_EVENT, NULL, NULL);
	struct dpe_position *position = DPE_GROW(b->positions, b->npositions, b->cappositions);

	*position = (struct dpe_position){.literal = literal, .place = node->place};
	new->position = b->npositions;
	new->place = node->place;
	return new;
}

static const struct dpe_node *bound_event(
	struct bounder *b, const struct dpe_node *node, struct names names)
{
	unsigned literal = b->rule->positions[node->position - 1].literal;
	const struct dpe_node *any = add_event(b, node, names.literal[literal]);

	for (unsigned i = names.from[literal]; i < names.to[literal]; i++) {
		if (b->origin[i] == literal)
			any = new_node(b, DPE_NODE_ALT, any, add_event(b, node, i));
	}
	return any;
}

static const struct dpe_node *bound_closure(
	struct bounder *b, const struct dpe_node *node, struct names names)
{
	const struct dpe_node *all = nothing(b), *beside = NULL;

	names.copied = true;
	for (unsigned i = 0; i < b->copies && !b->failed; i++) {
		const struct dpe_node *copy =
			bound(b, node->left, i ? new_names(b, node->left, names) : names);

		beside = beside ? new_node(b, DPE_NODE_PAR, beside, copy) : copy;
		all = new_node(b, DPE_NODE_ALT, all, beside);
	}
	return all;
}

static unsigned control_of(struct bounder *b, const char *name)
{
	for (unsigned i = 0; i < b->ncontrols; i++) {
		if (!strcmp(b->controls[i], name))
			return i;
	}
	return 0;
}

static const struct dpe_node *bound_counted(
	struct bounder *b, const struct dpe_node *node, struct names names)
{
	unsigned rounds = b->rounds[control_of(b, node->control)];
	const struct dpe_node *all = rounds ? NULL : nothing(b);

	for (unsigned i = 0; i < rounds && !b->failed; i++) {
		const struct dpe_node *round = bound(b, node->left, names);

		all = all ? new_node(b, DPE_NODE_SEQ, all, round) : round;
	}
	return all;
}

static bool has_closure(const struct dpe_node *node, const struct dpe_rule *rule, unsigned literal)
{
	bool *found;
	bool within;

	if (!node)
		return false;
	if (node->kind != DPE_NODE_CLOSURE)
		return has_closure(node->left, rule, literal) ||
		       has_closure(node->right, rule, literal);
	found = dpe_xcalloc(rule->nliterals + 1, sizeof(*found));
	dpe_mark_literals(rule, node, found);
	within = found[literal];
	free(found);
	return within;
}

/* An event of both an `@` and the other operand: any of the copies may be the shared one. */
static const struct dpe_node *bound_parallel(
	struct bounder *b, const struct dpe_node *node, struct names names)
{
	unsigned count = b->rule->nliterals, before = b->nliterals;
	const struct dpe_node *closing = node->left, *other = node->right, *bounded;
	bool left[count + 1], right[count + 1], shares = false;
	struct names any = own_names(b);

	memset(left, 0, sizeof(left));
	memset(right, 0, sizeof(right));
	dpe_mark_literals(b->rule, node->left, left);
	dpe_mark_literals(b->rule, node->right, right);
	for (unsigned i = 0; i < count; i++) {
		bool in_left = has_closure(node->left, b->rule, i);
		bool in_right = has_closure(node->right, b->rule, i);

		if (!left[i] || !right[i] || (!in_left && !in_right))
			continue;
		b->failed |= names.copied || (in_left && in_right) || names.to[i] ||
			     (shares && (closing == node->left) != in_left);
		closing = in_left ? node->left : node->right;
		other = in_left ? node->right : node->left;
		shares = true;
	}
	bounded = bound(b, closing, names);
	for (unsigned i = 0; i < count; i++) {
		any.literal[i] = names.literal[i];
		any.from[i] = names.to[i] ? names.from[i] : before;
		any.to[i] = names.to[i] ? names.to[i] : left[i] && right[i] ? b->nliterals : 0;
	}
	any.copied = names.copied;
	return new_node(b, DPE_NODE_PAR, bounded, bound(b, other, shares ? any : names));
}

static const struct dpe_node *bound(
	struct bounder *b, const struct dpe_node *node, struct names names)
{
	if (b->failed)
		return nothing(b);
	switch (node->kind) {
	case DPE_NODE_EVENT:
		return bound_event(b, node, names);
	case DPE_NODE_ACTION:
		return nothing(b);
	case DPE_NODE_CLOSURE:
		return bound_closure(b, node, names);
	case DPE_NODE_STAR:
		if (node->control)
			return bound_counted(b, node, names);
		return new_node(b, DPE_NODE_STAR, bound(b, node->left, names), NULL);
	case DPE_NODE_PAR:
		return bound_parallel(b, node, names);
	case DPE_NODE_SEQ:
	case DPE_NODE_ALT:
	case DPE_NODE_GROUP:
		break;
	}
	return new_node(b, node->kind, bound(b, node->left, names), bound(b, node->right, names));
}

/* ---- control variables --------------------------------------------------------------------------
 */

static void find_controls(struct bounder *b, const struct dpe_node *node)
{
	if (!node || b->failed)
		return;
	if (node->control && (!b->ncontrols || strcmp(b->controls[control_of(b, node->control)],
						       node->control))) {
		b->failed |= b->ncontrols == DPE_MAX_COUNTED_CONTROLS;
		if (!b->failed)
			b->controls[b->ncontrols++] = node->control;
	}
	find_controls(b, node->left);
	find_controls(b, node->right);
}

/* The next values of the control variables; false where all were there. */
static bool next_rounds(struct bounder *b)
{
	for (unsigned i = 0; i < b->ncontrols; i++) {
		if (b->rounds[i]++ < b->copies)
			return true;
		b->rounds[i] = 0;
	}
	return false;
}

static const struct dpe_node *bound_all(struct bounder *b)
{
	const struct dpe_node *all = NULL;

	find_controls(b, b->rule->tree);
	do {
		const struct dpe_node *one = bound(b, b->rule->tree, own_names(b));

		all = all ? new_node(b, DPE_NODE_ALT, all, one) : one;
	} while (!b->failed && next_rounds(b));
	return all;
}

/* ---- the rule
 * ------------------------------------------------------------------------------------ */

static void *keep(struct dpe_arena *arena, const void *array, size_t size)
{
	return memcpy(dpe_arena_alloc(arena, size + 1), array, size);
}

static struct dpe_bounded *finish(struct bounder *b, const struct dpe_node *tree)
{
	struct dpe_bounded *bounded;

	if (b->failed || !tree)
		return NULL;
	bounded = dpe_xcalloc(1, sizeof(*bounded));
	bounded->arena = b->arena;
	bounded->rule = *b->rule;
	bounded->rule.action = bounded->rule.otherwise = NULL;
	bounded->rule.nliterals = b->nliterals;
	bounded->rule.literals = keep(b->arena, b->literals, b->nliterals * sizeof(*b->literals));
	bounded->rule.npositions = b->npositions;
	bounded->rule.positions =
		keep(b->arena, b->positions, b->npositions * sizeof(*b->positions));
	bounded->origin = keep(b->arena, b->origin, b->nliterals * sizeof(*b->origin));
	bounded->rule.tree = tree;
	return bounded;
}

struct dpe_bounded *dpe_bounded_new(const struct dpe_rule *rule, unsigned copies)
{
	struct bounder b = {.arena = dpe_arena_new(), .rule = rule, .copies = copies};
	struct dpe_bounded *bounded = NULL;
	const struct dpe_node *tree;
	struct dpe_rule with;

	for (unsigned i = 0; i < rule->nliterals; i++) {
		unsigned count = i;

		*DPE_GROW(b.literals, b.nliterals, b.capliterals) = rule->literals[i];
		*DPE_GROW(b.origin, count, b.caporigin) = i;
	}
	tree = bound_all(&b);
	if (!b.failed) {
		with = *rule;
		with.nliterals = b.nliterals;
		with.positions = b.positions;
		bounded = finish(&b, dpe_without_empty(b.arena, &with, tree));
	}
	free(b.literals);
	free(b.origin);
	free(b.positions);
	if (!bounded)
		dpe_arena_free(b.arena);
	return bounded;
}

void dpe_bounded_free(struct dpe_bounded *bounded)
{
	if (!bounded)
		return;
	dpe_arena_free(bounded->arena);
	free(bounded);
}
