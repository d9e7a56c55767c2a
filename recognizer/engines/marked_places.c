/* The net of a rule as it is drawn beside a run, and the places in which a marking has tokens. Blocks are numbered from the root, each
 * before what is in it; a token before block n is in place 2n, one behind it in place 2n + 1. */
#include "recognizer/engines/marking.h"

#include <stdlib.h>
#include <string.h>

static unsigned count_blocks(const struct dpe_block *block)
{
	return block ? 1 + count_blocks(block->left) + count_blocks(block->right) : 0;
}

static void emit(const struct dpe_rule *rule, const struct dpe_block *block, struct dpe_text *to)
{
	const char *text = block->kind == DPE_NODE_EVENT ? rule->literals[block->literal].text : dpe_event_operator(block->kind)->text;

	dpe_text_puts(to, block->left ? "[" : "");
	dpe_json_string(to, text, strlen(text));
	for (unsigned i = 0; i < 2; i++) {
		const struct dpe_block *operand = i ? block->right : block->left;

		if (operand) {
			dpe_text_puts(to, ",");
			emit(rule, operand, to);
		}
	}
	dpe_text_puts(to, block->left ? "]" : "");
}

bool dpe_game_emit(const struct dpe_game *game, unsigned max_blocks, struct dpe_text *to)
{
	if (count_blocks(game->blocks->root) > max_blocks)
		return false;
	dpe_text_puts(to, "{\"net\":");
	emit(game->rule, game->blocks->root, to);
	dpe_text_puts(to, "}");
	return true;
}

/* Adds to `number` the blocks before this one, from `at` on; false: it is not among them. */
static bool find_block(const struct dpe_block *at, const struct dpe_block *block, unsigned *number)
{
	if (!at || at == block)
		return at;
	++*number;
	return find_block(at->left, block, number) || find_block(at->right, block, number);
}

struct looking {
	const struct dpe_block *root;
	void (*found)(void *context, unsigned place);
	void *context;
};

static void add_place(const struct looking *looking, const struct dpe_block *block, bool behind)
{
	unsigned number = 0;

	if (find_block(looking->root, block, &number))
		looking->found(looking->context, 2 * number + behind);
}

static void look(const struct looking *looking, const struct dpe_marking *marking, const struct dpe_block *within);

static void look_at_copies(const struct looking *looking, const struct dpe_marking *marking)
{
	const struct dpe_block *copied = marking->key.block->left;
	struct dpe_copy_list list = {0};

	if (marking->key.token)
		add_place(looking, marking->key.block, false);
	if (marking->key.ended)
		add_place(looking, copied, true);
	dpe_copies_list(marking->copies, &list);
	for (unsigned i = 0; i < list.count; i++)
		look(looking, list.at[i]->marking, copied);
	free(list.at);
}

/* `within`: the block that the marking is of. */
static void look(const struct looking *looking, const struct dpe_marking *marking, const struct dpe_block *within)
{
	const struct marking_key *key = &marking->key;

	switch ((enum dpe_marking_place)key->place) {
	case BEFORE:
		add_place(looking, key->block, false);
		return;
	case AFTER:
		add_place(looking, within, true);
		return;
	case IN_COPIES:
		look_at_copies(looking, marking);
		return;
	case IN_LEFT:
	case IN_ROUND:
	case IN_GROUP:
	case IN_BOTH:
		for (uint64_t i = 0; i < key->nchildren; i++)
			look(looking, key->children[i], i ? key->block->right : key->block->left);
	}
}

void dpe_game_places(const struct dpe_game *game, const struct dpe_marking *marking,
	void (*found)(void *context, unsigned place), void *context)
{
	const struct looking looking = {.root = game->blocks->root, .found = found, .context = context};

	look(&looking, marking, looking.root);
}
