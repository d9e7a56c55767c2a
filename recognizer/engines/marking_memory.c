/* The memory of markings and of their copies, which are counted and refer to each other. */
#include "recognizer/engines/marking.h"

#include <string.h>

static size_t marking_size(uint64_t nchildren)
{
	return sizeof(struct dpe_marking) + nchildren * sizeof(struct dpe_marking *);
}

struct dpe_marking *dpe_marking_new(struct dpe_game *game, uint64_t nchildren)
{
	struct dpe_marking *new = dpe_pool_take(game->pool, marking_size(nchildren));

	memset(new, 0, marking_size(nchildren));
	new->refs = 1;
	new->key.nchildren = nchildren;
	return new;
}

void dpe_marking_give(struct dpe_game *game, struct dpe_marking *marking)
{
	dpe_token_unref(game, marking->key.token);
	dpe_token_unref(game, marking->key.ended);
	for (uint64_t i = 0; i < marking->key.nchildren; i++)
		dpe_marking_unref(game, marking->key.children[i]);
	dpe_copies_unref(game, marking->copies);
	dpe_pool_give(game->pool, marking, marking_size(marking->key.nchildren));
}

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
	dpe_marking_give(game, marking);
}

struct dpe_copies *dpe_copies_ref(struct dpe_copies *copies)
{
	if (copies)
		copies->refs++;
	return copies;
}

void dpe_copies_unref(struct dpe_game *game, struct dpe_copies *copies)
{
	if (!copies || --copies->refs)
		return;
	dpe_marking_unref(game, copies->marking);
	dpe_copies_unref(game, copies->left);
	dpe_copies_unref(game, copies->right);
	dpe_pool_give(game->pool, copies, sizeof(*copies));
}
