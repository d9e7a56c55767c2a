/* The net of a rule in blocks: the expression with what the token game asks of each node. */
#include "dpe-lang/normal/normal.h"
#include "dpe-lang/rule_nets/rule_nets.h"

#include <stdlib.h>
#include <string.h>

struct block_builder {
	struct dpe_arena *arena;
	const struct dpe_rule *rule;
	const char **controls;
	unsigned ncontrols, capcontrols;
	const struct dpe_stmt **actions;
	unsigned nactions, capactions;
};

static unsigned control_of(struct block_builder *m, const char *name)
{
	if (!name)
		return DPE_NO_CONTROL;
	for (unsigned i = 0; i < m->ncontrols; i++) {
		if (!strcmp(m->controls[i], name))
			return i;
	}
	*DPE_GROW(m->controls, m->ncontrols, m->capcontrols) = name;
	return m->ncontrols - 1;
}

static void add_literals(struct block_builder *m, bool *to, const struct dpe_block *block)
{
	for (unsigned i = 0; block && i < m->rule->nliterals; i++)
		to[i] |= block->literals[i];
}

static const struct dpe_stmt *note_action(struct block_builder *m, const struct dpe_stmt *action)
{
	*DPE_GROW(m->actions, m->nactions, m->capactions) = action;
	return action;
}

static struct dpe_block *new_block(struct block_builder *m, enum dpe_node_kind kind, bool wanted)
{
	struct dpe_block *block = dpe_arena_alloc(m->arena, sizeof(*block));

	block->kind = kind;
	block->control = DPE_NO_CONTROL;
	block->wanted = wanted;
	return block;
}

static const struct dpe_block *make(struct block_builder *m, const struct dpe_node *node, bool wanted);

static const struct dpe_block *make_node(struct block_builder *m, const struct dpe_node *node, bool wanted)
{
	struct dpe_block *block = new_block(m, node->kind, wanted);
	bool *literals = dpe_arena_alloc(m->arena, (m->rule->nliterals + 1) * sizeof(*literals));

	block->control = control_of(m, node->control);
	block->literals = literals;
	block->alike = node->kind == DPE_NODE_CLOSURE && dpe_binds_alike(m->rule, node);
	if (node->kind == DPE_NODE_ACTION)
		block->action = note_action(m, node->action);
	if (node->kind == DPE_NODE_EVENT) {
		block->position = node->position;
		block->literal = dpe_node_literal(m->rule, node);
		literals[block->literal] = true;
		return block;
	}
	if (node->left)
		block->left = make(m, node->left,
			wanted || node->kind == DPE_NODE_SEQ || node->kind == DPE_NODE_STAR);
	if (node->right)
		block->right = make(m, node->right, wanted);
	add_literals(m, literals, block->left);
	add_literals(m, literals, block->right);
	return block;
}

/* (R@)@ = R@, without choosing which copy of R@ a copy of R belongs to. */
static bool is_closed_twice(const struct dpe_node *node)
{
	return node->kind == DPE_NODE_CLOSURE && !node->action &&
	       node->left->kind == DPE_NODE_CLOSURE && !node->left->action;
}

static const struct dpe_block *make(struct block_builder *m, const struct dpe_node *node, bool wanted)
{
	const struct dpe_block *inner;
	struct dpe_block *whole;

	while (is_closed_twice(node))
		node = node->left;
	inner = make_node(m, node, wanted);
	if (!node->action || node->kind == DPE_NODE_ACTION)
		return inner;
	whole = new_block(m, DPE_NODE_GROUP, wanted);
	whole->action = note_action(m, node->action);
	whole->literals = inner->literals;
	whole->left = inner;
	return whole;
}

/* Takes ownership of the arena, which the tree may lie in. */
static struct dpe_blocks *make_blocks(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *tree)
{
	struct dpe_blocks *blocks = dpe_xcalloc(1, sizeof(*blocks));
	struct block_builder maker = {.rule = rule, .arena = arena};
	const struct dpe_stmt **actions;

	blocks->arena = arena;
	blocks->root = make(&maker, dpe_balance(arena, rule, tree), false);
	blocks->synchronises = dpe_shares_events(rule, tree);
	blocks->ncontrols = maker.ncontrols;
	actions = dpe_arena_alloc(maker.arena, (maker.nactions + 1) * sizeof(*actions));
	for (unsigned i = 0; i < maker.nactions; i++)
		actions[i] = maker.actions[i];
	blocks->actions = actions;
	blocks->nactions = maker.nactions;
	free(maker.actions);
	free(maker.controls);
	return blocks;
}

struct dpe_blocks *dpe_blocks_new(const struct dpe_rule *rule)
{
	return make_blocks(dpe_arena_new(), rule, rule->tree);
}

struct dpe_blocks *dpe_blocks_new_for_net(const struct dpe_rule *rule)
{
	struct dpe_arena *arena = dpe_arena_new();

	return make_blocks(arena, rule, dpe_nonempty_rounds(arena, rule, rule->tree));
}

bool dpe_block_nullable(const struct dpe_block *block)
{
	switch (block->kind) {
	case DPE_NODE_EVENT:
		return false;
	case DPE_NODE_GROUP:
		return dpe_block_nullable(block->left);
	case DPE_NODE_SEQ:
	case DPE_NODE_PAR:
		return dpe_block_nullable(block->left) && dpe_block_nullable(block->right);
	case DPE_NODE_ALT:
		return dpe_block_nullable(block->left) || dpe_block_nullable(block->right);
	case DPE_NODE_ACTION:
	case DPE_NODE_STAR:
	case DPE_NODE_CLOSURE:
		break;
	}
	return true;
}

/* Where something of a match may precede the block; `wanted` says where something may follow. */
static void keep_one_copy(struct dpe_block *block, bool preceded)
{
	struct dpe_block *left = (struct dpe_block *)block->left,
			 *right = (struct dpe_block *)block->right;

	if (block->kind == DPE_NODE_CLOSURE)
		block->single = (!preceded || !block->wanted) && block->alike;
	if (left)
		keep_one_copy(left, preceded || block->kind == DPE_NODE_STAR);
	if (right)
		keep_one_copy(right, preceded || block->kind == DPE_NODE_SEQ);
}

void dpe_blocks_keep_one_copy(struct dpe_blocks *blocks)
{
	if (!blocks->nactions && !blocks->ncontrols && !blocks->synchronises)
		keep_one_copy((struct dpe_block *)blocks->root, false);
}

void dpe_blocks_free(struct dpe_blocks *blocks)
{
	if (!blocks)
		return;
	dpe_arena_free(blocks->arena);
	free(blocks);
}
