/* Markings: terms that follow the blocks of the net. */
#include "recognizer/engines/marking.h"

#include <stdlib.h>
#include <string.h>

/* ---- markings ---------------------------------------------------------------------------- */

/* Takes over the references; one reference, the caller's. */
static struct dpe_marking *intern(struct dpe_game *game, struct dpe_marking *new)
{
	size_t size = sizeof(struct marking_key) + new->key.nchildren * sizeof(new->key.children[0]);
	struct dpe_marking *old;

	for (;; new->key.rounds++) { /* copies with the hash of others get another one */
		HASH_FIND(hh, game->markings, &new->key, size, old);
		if (!old || dpe_copies_same(old->copies, new->copies))
			break;
	}
	if (!old) {
		new->serial = ++game->serial;
		HASH_ADD_KEYPTR(hh, game->markings, &new->key, size, new);
		return new;
	}
	dpe_marking_give(game, new);
	return dpe_marking_ref(old);
}

/* Takes over the references of the token and the children. */
static struct dpe_marking *make_marking(struct dpe_game *game, enum dpe_marking_place place,
	const struct dpe_block *block, struct dpe_game_token *token, uint64_t rounds,
	struct dpe_marking *const *children, uint64_t nchildren)
{
	struct dpe_marking *new = dpe_marking_new(game, nchildren);

	new->key.place = place;
	new->key.block = block;
	new->key.token = token;
	new->key.rounds = rounds;
	if (nchildren)
		memcpy(new->key.children, children, nchildren * sizeof(*children));
	return intern(game, new);
}

static struct dpe_marking *make_copies(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_game_token *token, struct dpe_game_token *ended, struct dpe_copies *copies)
{
	struct dpe_marking *new = dpe_marking_new(game, 0);

	new->key.place = IN_COPIES;
	new->key.block = block;
	new->key.token = token;
	new->key.ended = ended;
	new->key.rounds = copies ? copies->hash : 0;
	new->copies = copies;
	return intern(game, new);
}

/* Takes over the token. */
struct dpe_marking *dpe_marking_before(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_game_token *token)
{
	return make_marking(game, BEFORE, block, token, 0, NULL, 0);
}

struct dpe_marking *dpe_marking_after(struct dpe_game *game, struct dpe_game_token *token)
{
	return make_marking(game, AFTER, NULL, token, 0, NULL, 0);
}

/* The following take over the references of markings, and return NULL if tokens that would have
 * to join disagree. */
struct dpe_marking *dpe_marking_in_left(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_marking *left)
{
	struct dpe_marking *next;

	if (left->key.place != AFTER)
		return make_marking(game, IN_LEFT, block, NULL, 0, &left, 1);
	next = dpe_marking_before(game, block->right, dpe_token_ref(left->key.token));
	dpe_marking_unref(game, left);
	return next;
}

struct dpe_marking *dpe_marking_in_round(struct dpe_game *game, const struct dpe_block *block,
	uint64_t rounds, struct dpe_marking *round)
{
	if (block->control == DPE_NO_CONTROL)
		rounds = 0;
	return make_marking(game, IN_ROUND, block, NULL, rounds, &round, 1);
}

struct dpe_marking *dpe_marking_in_group(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_marking *inner)
{
	if (inner->key.place == AFTER)
		return inner;
	return make_marking(game, IN_GROUP, block, NULL, 0, &inner, 1);
}

struct dpe_marking *dpe_marking_in_both(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_marking *left, struct dpe_marking *right)
{
	struct dpe_marking *children[] = {left, right};
	struct dpe_game_token *merged;

	if (left->key.place != AFTER || right->key.place != AFTER)
		return make_marking(game, IN_BOTH, block, NULL, 0, children, 2);
	merged = dpe_token_merge(game, left->key.token, right->key.token);
	dpe_marking_unref(game, left);
	dpe_marking_unref(game, right);
	return merged ? dpe_marking_after(game, merged) : NULL;
}

/* What of an ended copy goes into one token for all: everything where its events may precede those
 * of other copies, else what is no event. */
static struct dpe_game_token *shared_part(struct dpe_game *game, struct dpe_game_token *token)
{
	return game->synchronises ? dpe_token_ref(token) : dpe_token_rest(game, token);
}

/* Takes over `ended`; NULL if control variables disagree. */
static struct dpe_game_token *end_copy(struct dpe_game *game, struct dpe_game_token *ended,
	struct dpe_game_token *token)
{
	struct dpe_game_token *part = shared_part(game, token), *merged;

	if (!ended)
		return part;
	merged = dpe_token_merge(game, ended, part);
	dpe_token_unref(game, ended);
	dpe_token_unref(game, part);
	return merged;
}

static struct dpe_copies *keep_events(
	struct dpe_game *game, struct dpe_copies *copies, struct dpe_game_token *token)
{
	struct dpe_marking *events;

	if (game->synchronises || !token->nevents)
		return copies;
	events = dpe_marking_after(game, dpe_token_events(game, token));
	copies = dpe_copies_add(game, copies, events);
	dpe_marking_unref(game, events);
	return copies;
}

struct dpe_marking *dpe_marking_in_copies(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_game_token *token, struct dpe_game_token *ended, struct dpe_copies *copies,
	struct dpe_marking *new)
{
	bool ends = new->key.place == AFTER;

	if (ends) {
		ended = end_copy(game, ended, new->key.token);
		copies = keep_events(game, copies, new->key.token);
	} else {
		copies = dpe_copies_add(game, copies, new);
	}
	dpe_marking_unref(game, new);
	if (!ends || ended)
		return make_copies(game, block, token, ended, copies);
	dpe_token_unref(game, token);
	dpe_copies_unref(game, copies);
	return NULL;
}

/* ---- leaving ----------------------------------------------------------------------------- */

/* Each of the left ones with each of the right ones, with the actions of `origin`, if any. */
static void join(struct dpe_game *game, const struct dpe_game_tokens *left,
	const struct dpe_game_tokens *right, const struct dpe_game_token *origin,
	struct dpe_game_tokens *to)
{
	for (unsigned i = 0; i < left->count; i++) {
		for (unsigned j = 0; j < right->count; j++) {
			struct dpe_game_token *both = dpe_token_merge(
						      game, left->at[i], right->at[j]),
					      *loaded;

			if (both && origin && origin->npending) {
				loaded = dpe_token_load(
					game, both, origin->pending, origin->npending, NULL);
				dpe_token_unref(game, both);
				both = loaded;
			}
			dpe_tokens_add(game, to, both);
		}
	}
}

/* The tokens after a block when one before it runs through without an event. */
void dpe_leave_block(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_game_token *token, struct dpe_game_tokens *to)
{
	struct dpe_game_tokens left = {0}, right = {0};
	struct dpe_game_token *bare;

	switch (block->kind) {
	case DPE_NODE_EVENT:
		return;
	case DPE_NODE_ACTION:
		dpe_tokens_add(game, to, dpe_token_load(game, token, NULL, 0, block->action));
		return;
	case DPE_NODE_GROUP:
		dpe_leave_block(game, block->left, token, to);
		return;
	case DPE_NODE_SEQ:
		dpe_leave_block(game, block->left, token, &left);
		for (unsigned i = 0; i < left.count; i++)
			dpe_leave_block(game, block->right, left.at[i], to);
		break;
	case DPE_NODE_ALT:
		dpe_leave_block(game, block->left, token, to);
		dpe_leave_block(game, block->right, token, to);
		break;
	case DPE_NODE_PAR:
		bare = dpe_token_strip(game, token);
		dpe_leave_block(game, block->left, bare, &left);
		dpe_leave_block(game, block->right, bare, &right);
		dpe_token_unref(game, bare);
		join(game, &left, &right, token, to);
		break;
	case DPE_NODE_STAR:
		dpe_tokens_add(game, to, dpe_token_bind(game, token, block->control, 0));
		break;
	case DPE_NODE_CLOSURE:
		dpe_tokens_add(game, to, dpe_token_ref(token));
		break;
	}
	dpe_tokens_drop(game, &left);
	dpe_tokens_drop(game, &right);
}

/* Adds what leaves a copy: to `single` where that is one token, as mostly; else each joined with
 * each of `all`. False if nothing leaves. */
static bool leave_copy(struct dpe_game *game, const struct dpe_copies *copy,
	struct dpe_game_tokens *single, struct dpe_game_tokens *all)
{
	struct dpe_game_tokens one = {0};
	bool leaves;

	dpe_leave(game, copy->marking, &one);
	leaves = one.count;
	for (uint32_t i = 0; i < copy->count && leaves; i++) {
		struct dpe_game_tokens joined = {0};

		if (one.count == 1) {
			dpe_tokens_append(game, single, dpe_token_ref(one.at[0]));
			continue;
		}
		join(game, all, &one, NULL, &joined);
		dpe_tokens_drop(game, all);
		*all = joined;
	}
	dpe_tokens_drop(game, &one);
	return leaves;
}

static bool leave_each(struct dpe_game *game, const struct dpe_copies *copies,
	struct dpe_game_tokens *single, struct dpe_game_tokens *all)
{
	if (!copies)
		return true;
	return leave_each(game, copies->left, single, all) &&
	       (!copies->first || leave_copy(game, copies, single, all)) &&
	       leave_each(game, copies->right, single, all);
}

static struct dpe_game_token *unite(struct dpe_game *game, const struct dpe_game_tokens *tokens)
{
	struct dpe_game_token *all;

	if (!game->synchronises)
		return dpe_tokens_unite(game, tokens);
	all = dpe_token_ref(tokens->at[0]);
	for (unsigned i = 1; all && i < tokens->count; i++) {
		struct dpe_game_token *merged = dpe_token_merge(game, all, tokens->at[i]);

		dpe_token_unref(game, all);
		all = merged;
	}
	return all;
}

/* Each copy has a last event of its own: more than can be taken together need not be looked at. */
static bool are_too_many(const struct dpe_game *game, const struct dpe_marking *marking)
{
	return marking->key.block->wanted && !game->synchronises && marking->copies &&
	       marking->copies->ncopies > game->max_preds;
}

/* `all` begins with a token without anything. */
static void leave_copies(
	struct dpe_game *game, const struct dpe_marking *marking, struct dpe_game_tokens *to)
{
	struct dpe_game_tokens single = {0}, all = {0}, united = {0};

	if (are_too_many(game, marking))
		return;
	dpe_tokens_add(game, &all, dpe_token_nothing(game));
	if (marking->key.ended)
		dpe_tokens_append(game, &single, dpe_token_ref(marking->key.ended));
	if (leave_each(game, marking->copies, &single, &all)) {
		if (single.count)
			dpe_tokens_add(game, &united, unite(game, &single));
		else
			dpe_tokens_add(game, &united, dpe_token_nothing(game));
		join(game, &all, &united, NULL, to);
	}
	dpe_tokens_drop(game, &single);
	dpe_tokens_drop(game, &all);
	dpe_tokens_drop(game, &united);
}

/* The tokens that can be after what the marking is in. */
void dpe_leave(struct dpe_game *game, const struct dpe_marking *marking, struct dpe_game_tokens *to)
{
	const struct dpe_block *block = marking->key.block;
	struct dpe_game_tokens left = {0}, right = {0};

	switch ((enum dpe_marking_place)marking->key.place) {
	case BEFORE:
		dpe_leave_block(game, block, marking->key.token, to);
		return;
	case AFTER:
		dpe_tokens_add(game, to, dpe_token_ref(marking->key.token));
		return;
	case IN_GROUP:
		dpe_leave(game, marking->key.children[0], to);
		return;
	case IN_LEFT:
		dpe_leave(game, marking->key.children[0], &left);
		for (unsigned i = 0; i < left.count; i++)
			dpe_leave_block(game, block->right, left.at[i], to);
		break;
	case IN_ROUND:
		dpe_leave(game, marking->key.children[0], &left);
		for (unsigned i = 0; i < left.count; i++)
			dpe_tokens_add(game, to, dpe_token_bind(game, left.at[i], block->control,
						   marking->key.rounds));
		break;
	case IN_BOTH:
		dpe_leave(game, marking->key.children[0], &left);
		dpe_leave(game, marking->key.children[1], &right);
		join(game, &left, &right, NULL, to);
		break;
	case IN_COPIES:
		leave_copies(game, marking, to);
		return;
	}
	dpe_tokens_drop(game, &left);
	dpe_tokens_drop(game, &right);
}
