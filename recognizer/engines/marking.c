/* Markings: terms that follow the blocks of the net. */
#include "recognizer/engines/marking.h"

#include <stdlib.h>
#include <string.h>

/* ---- markings ---------------------------------------------------------------------------- */

struct dpe_marking *dpe_marking_ref(struct dpe_marking *marking)
{
	marking->refs++;
	return marking;
}

void dpe_marking_unref(struct dpe_game *game, struct dpe_marking *marking)
{
	if (!marking || --marking->refs)
		return;
	HASH_DEL(game->markings, marking);
	dpe_token_unref(game, marking->key.token);
	dpe_token_unref(game, marking->key.ended);
	for (uint64_t i = 0; i < marking->key.nkids; i++)
		dpe_marking_unref(game, marking->key.kids[i]);
	free(marking);
}

/* Takes over the references of token, ended and kids; one reference, the caller's. */
static struct dpe_marking *make_marking(struct dpe_game *game, enum dpe_marking_place place,
	const struct dpe_block *block, struct dpe_game_token *token, struct dpe_game_token *ended,
	uint64_t rounds, struct dpe_marking *const *kids, uint64_t nkids)
{
	size_t size = sizeof(struct marking_key) + nkids * sizeof(*kids);
	struct dpe_marking *new = dpe_xcalloc(1, sizeof(*new) + nkids * sizeof(*kids)), *old;

	new->refs = 1;
	new->key.place = place;
	new->key.block = block;
	new->key.token = token;
	new->key.ended = ended;
	new->key.rounds = rounds;
	new->key.nkids = nkids;
	if (nkids)
		memcpy(new->key.kids, kids, nkids * sizeof(*kids));
	HASH_FIND(hh, game->markings, &new->key, size, old);
	if (!old) {
		new->serial = ++game->serial;
		HASH_ADD_KEYPTR(hh, game->markings, &new->key, size, new);
		return new;
	}
	dpe_token_unref(game, token);
	dpe_token_unref(game, ended);
	for (uint64_t i = 0; i < nkids; i++)
		dpe_marking_unref(game, kids[i]);
	free(new);
	return dpe_marking_ref(old);
}

/* Takes over the token. */
struct dpe_marking *dpe_marking_before(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_game_token *token)
{
	return make_marking(game, BEFORE, block, token, NULL, 0, NULL, 0);
}

struct dpe_marking *dpe_marking_after(struct dpe_game *game, struct dpe_game_token *token)
{
	return make_marking(game, AFTER, NULL, token, NULL, 0, NULL, 0);
}

/* The following take over the references of markings, and return NULL where tokens that would have
 * to join disagree. */
struct dpe_marking *dpe_marking_in_left(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_marking *left)
{
	struct dpe_marking *next;

	if (left->key.place != AFTER)
		return make_marking(game, IN_LEFT, block, NULL, NULL, 0, &left, 1);
	next = dpe_marking_before(game, block->right, dpe_token_ref(left->key.token));
	dpe_marking_unref(game, left);
	return next;
}

struct dpe_marking *dpe_marking_in_round(struct dpe_game *game, const struct dpe_block *block,
	uint64_t rounds, struct dpe_marking *round)
{
	if (block->control == DPE_NO_CONTROL)
		rounds = 0;
	return make_marking(game, IN_ROUND, block, NULL, NULL, rounds, &round, 1);
}

struct dpe_marking *dpe_marking_in_group(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_marking *inner)
{
	if (inner->key.place == AFTER)
		return inner;
	return make_marking(game, IN_GROUP, block, NULL, NULL, 0, &inner, 1);
}

struct dpe_marking *dpe_marking_in_both(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_marking *left, struct dpe_marking *right)
{
	struct dpe_marking *kids[] = {left, right};
	struct dpe_game_token *merged;

	if (left->key.place != AFTER || right->key.place != AFTER)
		return make_marking(game, IN_BOTH, block, NULL, NULL, 0, kids, 2);
	merged = dpe_token_merge(game, left->key.token, right->key.token);
	dpe_marking_unref(game, left);
	dpe_marking_unref(game, right);
	return merged ? dpe_marking_after(game, merged) : NULL;
}

/* Copies that have ended are one token; the others are in the order of their making. */
struct dpe_marking *dpe_marking_in_copies(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_game_token *token, struct dpe_game_token *ended, struct dpe_marking **copies,
	unsigned count, struct dpe_marking *new)
{
	unsigned at;

	if (new->key.place != AFTER) {
		for (at = count; at && copies[at - 1]->serial > new->serial; at--)
			copies[at] = copies[at - 1];
		copies[at] = new;
		return make_marking(game, IN_COPIES, block, token, ended, 0, copies, count + 1);
	}
	if (!ended) {
		ended = dpe_token_ref(new->key.token);
	} else {
		struct dpe_game_token *merged = dpe_token_merge(game, ended, new->key.token);

		dpe_token_unref(game, ended);
		ended = merged;
	}
	dpe_marking_unref(game, new);
	if (ended)
		return make_marking(game, IN_COPIES, block, token, ended, 0, copies, count);
	dpe_token_unref(game, token);
	for (unsigned i = 0; i < count; i++)
		dpe_marking_unref(game, copies[i]);
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
			dpe_tokens_add(to, both);
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
		dpe_tokens_add(to, dpe_token_load(game, token, NULL, 0, block->action));
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
		dpe_tokens_add(to, dpe_token_bind(game, token, block->control, 0));
		break;
	case DPE_NODE_CLOSURE:
		dpe_tokens_add(to, dpe_token_ref(token));
		break;
	}
	dpe_tokens_drop(game, &left);
	dpe_tokens_drop(game, &right);
}

static void leave_copies(
	struct dpe_game *game, const struct dpe_marking *marking, struct dpe_game_tokens *to)
{
	struct dpe_game_tokens all = {0};

	if (marking->key.ended)
		dpe_tokens_add(&all, dpe_token_ref(marking->key.ended));
	for (uint64_t i = 0; i < marking->key.nkids; i++) {
		struct dpe_game_tokens one = {0}, joined = {0};

		dpe_leave(game, marking->key.kids[i], &one);
		if (!i && !marking->key.ended) {
			all = one;
			continue;
		}
		join(game, &all, &one, NULL, &joined);
		dpe_tokens_drop(game, &all);
		dpe_tokens_drop(game, &one);
		all = joined;
	}
	for (unsigned i = 0; i < all.count; i++)
		dpe_tokens_add(to, all.at[i]);
	free(all.at);
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
		dpe_tokens_add(to, dpe_token_ref(marking->key.token));
		return;
	case IN_GROUP:
		dpe_leave(game, marking->key.kids[0], to);
		return;
	case IN_LEFT:
		dpe_leave(game, marking->key.kids[0], &left);
		for (unsigned i = 0; i < left.count; i++)
			dpe_leave_block(game, block->right, left.at[i], to);
		break;
	case IN_ROUND:
		dpe_leave(game, marking->key.kids[0], &left);
		for (unsigned i = 0; i < left.count; i++)
			dpe_tokens_add(to, dpe_token_bind(game, left.at[i], block->control,
						   marking->key.rounds));
		break;
	case IN_BOTH:
		dpe_leave(game, marking->key.kids[0], &left);
		dpe_leave(game, marking->key.kids[1], &right);
		join(game, &left, &right, NULL, to);
		break;
	case IN_COPIES:
		leave_copies(game, marking, to);
		break;
	}
	dpe_tokens_drop(game, &left);
	dpe_tokens_drop(game, &right);
}
