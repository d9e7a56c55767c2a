/* The token game. A marking is a term that follows the blocks of the net: each says where the
 * tokens within its block are. Which of several alternatives a token went is seen when an event
 * takes it: until then it is before the block and may run through it. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/marking.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- playing ----------------------------------------------------------------------------- */

static void play_block(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_game_token *token);
static void play(struct dpe_game *game, const struct dpe_marking *marking);

static const uint16_t *combination(
	struct dpe_game *game, const struct dpe_config_step *a, const struct dpe_config_step *b)
{
	unsigned count = a->npositions + (b ? b->npositions : 0);
	uint16_t positions[count];
	struct combination *new;

	memcpy(positions, a->positions, a->npositions * sizeof(*positions));
	if (b)
		memcpy(positions + a->npositions, b->positions, b->npositions * sizeof(*positions));
	for (unsigned i = 0; i < game->ncombinations; i++) {
		if (game->combinations[i].count == count &&
			!memcmp(game->combinations[i].at, positions, sizeof(positions)))
			return game->combinations[i].at;
	}
	new = DPE_GROW(game->combinations, game->ncombinations, game->capcombinations);
	new->count = count;
	new->at = dpe_xmalloc(sizeof(positions));
	memcpy(new->at, positions, sizeof(positions));
	return new->at;
}

/* An event with the current predecessors may take the token. */
static bool may_take(const struct dpe_game *game, const struct dpe_game_token *token)
{
	if (token->nevents < game->min_preds || token->nevents > game->max_preds)
		return false;
	for (unsigned i = 0; game->preds && i < token->nevents; i++) {
		if (!dpe_preds_have(game->preds, token->events[i].occurrence))
			return false;
	}
	return true;
}

static void play_event(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_game_token *token)
{
	const struct dpe_pred event = {game->occurrence, block->literal};
	const struct dpe_token_content content = {
		.events = &event, .nevents = block->wanted, .counts = token->counts};
	uint16_t position = (uint16_t)block->position;
	struct dpe_config_step play = {.npreds = token->nevents, .npositions = 1};
	struct dpe_pred *preds;

	if (!may_take(game, token))
		return;
	preds = dpe_arena_alloc(game->arena, (token->nevents + 1) * sizeof(*preds));
	if (token->nevents)
		memcpy(preds, token->events, token->nevents * sizeof(*preds));
	play.preds = preds;
	play.positions = &position;
	play.positions = combination(game, &play, NULL);
	play.before = dpe_actions_join(game, token->pending, token->npending, NULL, 0);
	play.nbefore = token->npending;
	play.marking = dpe_marking_after(game, dpe_token_new(game, &content));
	*DPE_GROW(game->plays, game->nplays, game->capplays) = play;
}

/* Drops the plays from `from` on whose next marking is impossible. */
static void drop_dead_plays(struct dpe_game *game, unsigned from)
{
	unsigned kept = from;

	for (unsigned i = from; i < game->nplays; i++) {
		if (game->plays[i].marking)
			game->plays[kept++] = game->plays[i];
	}
	game->nplays = kept;
}

/* True if another round may begin. */
static bool may_repeat(
	const struct dpe_block *block, const struct dpe_game_token *token, uint64_t rounds)
{
	return block->control == DPE_NO_CONTROL || token->counts[block->control] == UNBOUND ||
	       token->counts[block->control] > (int64_t)rounds;
}

static void play_round(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_game_token *token, uint64_t rounds)
{
	unsigned from = game->nplays;

	if (!may_repeat(block, token, rounds))
		return;
	play_block(game, block->left, token);
	for (unsigned i = from; i < game->nplays; i++)
		game->plays[i].marking =
			dpe_marking_in_round(game, block, rounds + 1, game->plays[i].marking);
}

/* An event of both operands takes a token in each. `from` is where the plays of the left operand
 * begin, `middle` those of the right one. */
static void synchronise(
	struct dpe_game *game, const struct dpe_block *block, unsigned from, unsigned middle)
{
	unsigned nleft = middle - from, nright = game->nplays - middle;
	struct dpe_config_step *both;

	if (game->nplays == from)
		return;
	both = dpe_xcalloc(nleft + nright, sizeof(*both));
	memcpy(both, game->plays + from, (nleft + nright) * sizeof(*both));
	game->nplays = from;
	for (unsigned i = 0; i < nleft; i++) {
		for (unsigned j = nleft; j < nleft + nright; j++) {
			struct dpe_config_step play = {
				.npositions = both[i].npositions + both[j].npositions,
				.positions = combination(game, &both[i], &both[j]),
			};

			play.preds = dpe_preds_merge(game, both[i].preds, both[i].npreds,
				both[j].preds, both[j].npreds, &play.npreds);
			play.before = dpe_actions_join(game, both[i].before, both[i].nbefore,
				both[j].before, both[j].nbefore);
			play.after = dpe_actions_join(
				game, both[i].after, both[i].nafter, both[j].after, both[j].nafter);
			play.nbefore = both[i].nbefore + both[j].nbefore;
			play.nafter = both[i].nafter + both[j].nafter;
			play.marking = dpe_marking_in_both(game, block, dpe_marking_ref(both[i].marking),
				dpe_marking_ref(both[j].marking));
			if (play.marking)
				*DPE_GROW(game->plays, game->nplays, game->capplays) = play;
		}
	}
	for (unsigned i = 0; i < nleft + nright; i++)
		dpe_marking_unref(game, both[i].marking);
	free(both);
}

static void play_both(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_marking *left, struct dpe_marking *right)
{
	bool of_left = block->left->literals[game->literal];
	bool of_right = block->right->literals[game->literal];
	unsigned from = game->nplays, middle;

	if (of_left)
		play(game, left);
	middle = game->nplays;
	if (of_right)
		play(game, right);
	if (of_left && of_right) {
		synchronise(game, block, from, middle);
		return;
	}
	for (unsigned i = from; i < game->nplays; i++) {
		struct dpe_marking *next = game->plays[i].marking;

		game->plays[i].marking =
			of_left ? dpe_marking_in_both(game, block, next, dpe_marking_ref(right))
				: dpe_marking_in_both(game, block, dpe_marking_ref(left), next);
	}
	drop_dead_plays(game, from);
}

/* The plays from `from` on run through the actions of `token` first. */
static void load_plays(struct dpe_game *game, unsigned from, const struct dpe_game_token *token)
{
	for (unsigned i = from; token->npending && i < game->nplays; i++) {
		struct dpe_config_step *play = &game->plays[i];

		play->before = dpe_actions_join(
			game, token->pending, token->npending, play->before, play->nbefore);
		play->nbefore += token->npending;
	}
}

/* The plays from `from` on are within `block`; a play that completes it has its action. */
static void play_group(struct dpe_game *game, const struct dpe_block *block, unsigned from)
{
	for (unsigned i = from; i < game->nplays; i++) {
		struct dpe_config_step *play = &game->plays[i];

		if (dpe_game_final(game, play->marking))
			play->after = dpe_actions_join(
				game, play->after, play->nafter++, &block->action, 1);
		play->marking = dpe_marking_in_group(game, block, play->marking);
	}
}

static void play_sequence(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_game_token *token)
{
	unsigned from = game->nplays;
	struct dpe_game_tokens left = {0};

	play_block(game, block->left, token);
	for (unsigned i = from; i < game->nplays; i++)
		game->plays[i].marking = dpe_marking_in_left(game, block, game->plays[i].marking);
	if (block->right->literals[game->literal])
		dpe_leave_block(game, block->left, token, &left);
	for (unsigned i = 0; i < left.count; i++)
		play_block(game, block->right, left.at[i]);
	dpe_tokens_drop(game, &left);
}

static void play_fork(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_game_token *token)
{
	unsigned from = game->nplays;
	struct dpe_marking *left = dpe_marking_before(game, block->left, dpe_token_strip(game, token));
	struct dpe_marking *right = dpe_marking_before(game, block->right, dpe_token_strip(game, token));

	play_both(game, block, left, right);
	load_plays(game, from, token);
	dpe_marking_unref(game, left);
	dpe_marking_unref(game, right);
}

/* A token before a block runs on until an event takes it. */
static void play_block(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_game_token *token)
{
	unsigned from = game->nplays;

	if (!block->literals[game->literal])
		return;
	switch (block->kind) {
	case DPE_NODE_EVENT:
		play_event(game, block, token);
		return;
	case DPE_NODE_SEQ:
		play_sequence(game, block, token);
		return;
	case DPE_NODE_ALT:
		play_block(game, block->left, token);
		play_block(game, block->right, token);
		return;
	case DPE_NODE_ACTION:
		return;
	case DPE_NODE_GROUP:
		play_block(game, block->left, token);
		play_group(game, block, from);
		return;
	case DPE_NODE_PAR:
		play_fork(game, block, token);
		return;
	case DPE_NODE_STAR:
		play_round(game, block, token, 0);
		return;
	case DPE_NODE_CLOSURE:
		play_block(game, block->left, token);
		for (unsigned i = from; i < game->nplays; i++)
			game->plays[i].marking = dpe_marking_in_copies(game, block,
				dpe_token_ref(token), NULL, NULL, game->plays[i].marking);
		return;
	}
}

/* The copies that an event with the current predecessors may belong to, each once. */
static void find_copies(
	const struct dpe_game *game, const struct dpe_marking *marking, struct dpe_copy_list *found)
{
	if (!game->preds) {
		dpe_copies_list(marking->copies, found);
		return;
	}
	dpe_copies_find(marking->copies, DPE_COPY_MANY, found);
	if (!game->min_preds)
		dpe_copies_find(marking->copies, DPE_COPY_NOTHING, found);
	for (unsigned i = 0; i < game->preds->count; i++)
		dpe_copies_find(marking->copies, game->preds->at[i]->number + DPE_COPY_EVENT, found);
}

static int by_marking(const void *a, const void *b)
{
	const struct dpe_copies *const *x = a, *const *y = b;

	return ((*x)->marking->serial > (*y)->marking->serial) -
	       ((*x)->marking->serial < (*y)->marking->serial);
}

static void play_copy(
	struct dpe_game *game, const struct dpe_marking *marking, struct dpe_marking *copy)
{
	unsigned from = game->nplays;
	struct dpe_copies *others;

	play(game, copy);
	if (game->nplays == from)
		return;
	others = dpe_copies_remove(game, dpe_copies_ref(marking->copies), copy);
	for (unsigned i = from; i < game->nplays; i++)
		game->plays[i].marking = dpe_marking_in_copies(game, marking->key.block,
			dpe_token_ref(marking->key.token), dpe_token_ref(marking->key.ended),
			dpe_copies_ref(others), game->plays[i].marking);
	dpe_copies_unref(game, others);
	drop_dead_plays(game, from);
}

static void play_new_copy(struct dpe_game *game, const struct dpe_marking *marking)
{
	unsigned from = game->nplays;

	play_block(game, marking->key.block->left, marking->key.token);
	for (unsigned i = from; i < game->nplays; i++)
		game->plays[i].marking = dpe_marking_in_copies(game, marking->key.block,
			dpe_token_ref(marking->key.token), dpe_token_ref(marking->key.ended),
			dpe_copies_ref(marking->copies), game->plays[i].marking);
	drop_dead_plays(game, from);
}

static void play_copies(struct dpe_game *game, const struct dpe_marking *marking)
{
	struct dpe_copy_list found = {0};

	find_copies(game, marking, &found);
	if (found.count)
		qsort(found.at, found.count, sizeof(struct dpe_copies *), by_marking);
	for (unsigned i = 0; i < found.count; i++) {
		if (!i || found.at[i]->marking != found.at[i - 1]->marking)
			play_copy(game, marking, found.at[i]->marking);
	}
	free(found.at);
	if (!marking->key.block->single)
		play_new_copy(game, marking);
}

static void play(struct dpe_game *game, const struct dpe_marking *marking)
{
	const struct dpe_block *block = marking->key.block;
	unsigned from = game->nplays;
	struct dpe_game_tokens left = {0};

	switch ((enum dpe_marking_place)marking->key.place) {
	case BEFORE:
		play_block(game, block, marking->key.token);
		return;
	case AFTER:
		return;
	case IN_GROUP:
		play(game, marking->key.children[0]);
		play_group(game, block, from);
		return;
	case IN_LEFT:
		play(game, marking->key.children[0]);
		for (unsigned i = from; i < game->nplays; i++)
			game->plays[i].marking = dpe_marking_in_left(game, block, game->plays[i].marking);
		if (block->right->literals[game->literal])
			dpe_leave(game, marking->key.children[0], &left);
		for (unsigned i = 0; i < left.count; i++)
			play_block(game, block->right, left.at[i]);
		break;
	case IN_ROUND:
		play(game, marking->key.children[0]);
		for (unsigned i = from; i < game->nplays; i++)
			game->plays[i].marking = dpe_marking_in_round(
				game, block, marking->key.rounds, game->plays[i].marking);
		dpe_leave(game, marking->key.children[0], &left);
		for (unsigned i = 0; i < left.count; i++)
			play_round(game, block, left.at[i], marking->key.rounds);
		break;
	case IN_BOTH:
		play_both(game, block, marking->key.children[0], marking->key.children[1]);
		return;
	case IN_COPIES:
		play_copies(game, marking);
		return;
	}
	dpe_tokens_drop(game, &left);
}

/* ---- what others see --------------------------------------------------------------------- */

struct dpe_game *dpe_game_new(const struct dpe_rule *rule, struct dpe_pool *pool)
{
	struct dpe_game *game = dpe_xcalloc(1, sizeof(*game));

	game->rule = rule;
	game->pool = pool;
	game->blocks = dpe_blocks_new(rule);
	if (rule->mode == DPE_DETECT && !dpe_rule_looks_at_events(rule))
		dpe_blocks_keep_one_copy(game->blocks);
	game->synchronises = game->blocks->synchronises;
	game->max_preds = UINT_MAX;
	game->arena = dpe_arena_new();
	return game;
}

const struct dpe_blocks *dpe_game_blocks(const struct dpe_game *game)
{
	return game->blocks;
}

bool dpe_game_can_be_stuck(const struct dpe_game *game)
{
	return game->synchronises || game->blocks->ncontrols;
}

static void drop_plays(struct dpe_game *game)
{
	for (unsigned i = 0; i < game->nplays; i++)
		dpe_marking_unref(game, game->plays[i].marking);
	game->nplays = 0;
}

void dpe_game_free(struct dpe_game *game)
{
	if (!game)
		return;
	drop_plays(game);
	for (unsigned i = 0; i < game->ncombinations; i++)
		free(game->combinations[i].at);
	free(game->combinations);
	free(game->plays);
	dpe_arena_free(game->arena);
	dpe_blocks_free(game->blocks);
	free(game);
}

struct dpe_marking *dpe_game_begin(struct dpe_game *game)
{
	return dpe_marking_before(game, game->blocks->root, dpe_token_nothing(game));
}

bool dpe_game_final(struct dpe_game *game, struct dpe_marking *marking)
{
	struct dpe_game_tokens ends = {0};
	unsigned max_preds = game->max_preds;
	bool final;

	game->max_preds = UINT_MAX; /* no event takes it */
	dpe_leave(game, marking, &ends);
	game->max_preds = max_preds;
	final = ends.count > 0;
	dpe_tokens_drop(game, &ends);
	return final;
}

static bool token_is_stuck(const struct dpe_game_token *token, dpe_barred_fn *barred, void *context)
{
	for (unsigned i = 0; i < token->nevents; i++) {
		if (barred(context, token->events[i].occurrence))
			return true;
	}
	return false;
}

static bool copy_is_stuck(const struct dpe_copies *copies, dpe_barred_fn *barred, void *context)
{
	return copies && (copy_is_stuck(copies->left, barred, context) ||
				 (copies->first &&
					 dpe_game_is_stuck(copies->marking, barred, context)) ||
				 copy_is_stuck(copies->right, barred, context));
}

/* A token before a block that cannot run through it is taken within, after all of its events. */
bool dpe_game_is_stuck(const struct dpe_marking *marking, dpe_barred_fn *barred, void *context)
{
	const struct marking_key *key = &marking->key;

	if (key->place == BEFORE)
		return !dpe_block_nullable(key->block) && token_is_stuck(key->token, barred, context);
	for (uint64_t i = 0; i < key->nchildren; i++) {
		if (dpe_game_is_stuck(key->children[i], barred, context))
			return true;
	}
	return copy_is_stuck(marking->copies, barred, context);
}

unsigned dpe_game_ending(
	struct dpe_game *game, struct dpe_marking *marking, const struct dpe_stmt *const **actions)
{
	struct dpe_game_tokens ends = {0};
	unsigned count = 0;

	dpe_leave(game, marking, &ends);
	if (ends.count) {
		count = ends.at[0]->npending;
		*actions = dpe_actions_join(game, ends.at[0]->pending, count, NULL, 0);
	}
	dpe_tokens_drop(game, &ends);
	return count;
}

static bool copies_are_complete(const struct dpe_copies *copies)
{
	return !copies || (dpe_game_complete(copies->marking) && copies_are_complete(copies->left) &&
				  copies_are_complete(copies->right));
}

bool dpe_game_complete(const struct dpe_marking *marking)
{
	if (marking->key.place == AFTER)
		return true;
	return marking->key.place == IN_COPIES && marking->key.block->single &&
	       copies_are_complete(marking->copies);
}

/* Where operands share events, one may ask for predecessors that precede those of the other. */
static void set_preds(struct dpe_game *game, const struct dpe_preds *preds)
{
	if (game->synchronises)
		preds = NULL;
	game->preds = preds;
	game->min_preds = preds && game->rule->mode == DPE_EXPECT ? preds->count : 0;
	game->max_preds = preds ? preds->count : UINT_MAX;
}

unsigned dpe_game_plays(struct dpe_game *game, struct dpe_marking *marking, unsigned literal,
	struct dpe_occurrence *occurrence, const struct dpe_preds *preds,
	const struct dpe_config_step **plays)
{
	drop_plays(game);
	dpe_arena_reset(game->arena);
	game->literal = literal;
	game->occurrence = occurrence;
	set_preds(game, preds);
	play(game, marking);
	set_preds(game, NULL);
	*plays = game->plays;
	return game->nplays;
}
