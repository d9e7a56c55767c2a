/* Tokens: the events that put them where they are, the counts of control variables, and the actions
 * that they ran through. */
#include "recognizer/engines/marking.h"

#include <stdlib.h>
#include <string.h>

struct dpe_game_token *dpe_token_ref(struct dpe_game_token *token)
{
	if (token)
		token->refs++;
	return token;
}

void dpe_token_unref(struct dpe_game *game, struct dpe_game_token *token)
{
	if (!token || --token->refs)
		return;
	HASH_DEL(game->tokens, token);
	for (unsigned i = 0; i < token->nevents; i++)
		dpe_occurrence_unref(token->events[i].occurrence);
	dpe_pool_give(game->pool, token, sizeof(*token) + token->hh.keylen);
}

/* One reference, the caller's. */
struct dpe_game_token *dpe_token_new(struct dpe_game *game, const struct dpe_token_content *content)
{
	uint64_t npending = content->npending;
	size_t counts = game->blocks->ncontrols * sizeof(*content->counts);
	size_t pending = content->npending * sizeof(*content->pending);
	size_t events = content->nevents * sizeof(*content->events);
	size_t size = sizeof(npending) + counts + pending + events;
	struct dpe_game_token *new = dpe_pool_take(game->pool, sizeof(*new) + size), *old;
	char *at = mempcpy(new->key, &npending, sizeof(npending));

	new->counts = (const int64_t *)(const void *)at;
	at = counts ? mempcpy(at, content->counts, counts) : at;
	new->pending = (const struct dpe_stmt *const *)(const void *)at;
	at = pending ? mempcpy(at, content->pending, pending) : at;
	new->events = (const struct dpe_pred *)(const void *)at;
	if (events)
		memcpy(at, content->events, events);
	HASH_FIND(hh, game->tokens, new->key, size, old);
	if (old) {
		dpe_pool_give(game->pool, new, sizeof(*new) + size);
		return dpe_token_ref(old);
	}
	new->refs = 1;
	new->nevents = content->nevents;
	new->npending = content->npending;
	for (unsigned i = 0; i < new->nevents; i++) {
		if (new->events[i].occurrence)
			dpe_occurrence_ref(new->events[i].occurrence);
	}
	HASH_ADD_KEYPTR(hh, game->tokens, new->key, size, new);
	return new;
}

struct dpe_game_token *dpe_token_nothing(struct dpe_game *game)
{
	int64_t counts[game->blocks->ncontrols + 1];
	const struct dpe_token_content content = {.counts = counts};

	for (unsigned i = 0; i < game->blocks->ncontrols; i++)
		counts[i] = UNBOUND;
	return dpe_token_new(game, &content);
}

static struct dpe_token_content content_of(const struct dpe_game_token *token)
{
	return (struct dpe_token_content){
		token->events, token->counts, token->pending, token->nevents, token->npending};
}

/* Two lists of actions as one, in the arena. */
const struct dpe_stmt *const *dpe_actions_join(struct dpe_game *game,
	const struct dpe_stmt *const *a, unsigned na, const struct dpe_stmt *const *b, unsigned nb)
{
	const struct dpe_stmt **all = dpe_arena_alloc(game->arena, (na + nb + 1) * sizeof(*all));

	for (unsigned i = 0; i < na; i++)
		all[i] = a[i];
	for (unsigned i = 0; i < nb; i++)
		all[na + i] = b[i];
	return all;
}

/* The token without its actions: where it becomes several, they must not. */
struct dpe_game_token *dpe_token_strip(struct dpe_game *game, struct dpe_game_token *token)
{
	struct dpe_token_content content = content_of(token);

	content.npending = 0;
	return dpe_token_new(game, &content);
}

struct dpe_game_token *dpe_token_rest(struct dpe_game *game, const struct dpe_game_token *token)
{
	struct dpe_token_content content = content_of(token);

	content.nevents = 0;
	return dpe_token_new(game, &content);
}

struct dpe_game_token *dpe_token_events(struct dpe_game *game, const struct dpe_game_token *token)
{
	struct dpe_game_token *nothing = dpe_token_nothing(game), *events;
	struct dpe_token_content content = content_of(nothing);

	content.events = token->events;
	content.nevents = token->nevents;
	events = dpe_token_new(game, &content);
	dpe_token_unref(game, nothing);
	return events;
}

/* The token with further actions, before or behind its own. */
struct dpe_game_token *dpe_token_load(struct dpe_game *game, const struct dpe_game_token *token,
	const struct dpe_stmt *const *before, unsigned nbefore, const struct dpe_stmt *behind)
{
	struct dpe_token_content content = content_of(token);

	content.pending =
		dpe_actions_join(game, before, nbefore, content.pending, content.npending);
	content.npending += nbefore;
	if (behind)
		content.pending =
			dpe_actions_join(game, content.pending, content.npending++, &behind, 1);
	return dpe_token_new(game, &content);
}

/* An event that is only looked at comes after all there are. */
static bool before(const struct dpe_pred *a, const struct dpe_pred *b)
{
	if (!a->occurrence || !b->occurrence)
		return a->occurrence && !b->occurrence;
	return dpe_precedes(&a->occurrence->stamp, &b->occurrence->stamp);
}

static uint64_t number_of(const struct dpe_pred *pred)
{
	return pred->occurrence ? pred->occurrence->number : UINT64_MAX;
}

static void add_maximal(struct dpe_pred *to, unsigned *count, const struct dpe_pred *event)
{
	unsigned kept = 0, at;

	for (unsigned i = 0; i < *count; i++) {
		if (to[i].occurrence == event->occurrence || before(event, &to[i]))
			return;
	}
	for (unsigned i = 0; i < *count; i++) {
		if (!before(&to[i], event))
			to[kept++] = to[i];
	}
	for (at = kept; at && number_of(&to[at - 1]) > number_of(event); at--)
		to[at] = to[at - 1];
	to[at] = *event;
	*count = kept + 1;
}

/* The latest events of both, in the arena. */
struct dpe_pred *dpe_preds_merge(struct dpe_game *game, const struct dpe_pred *a, unsigned na,
	const struct dpe_pred *b, unsigned nb, unsigned *count)
{
	struct dpe_pred *merged = dpe_arena_alloc(game->arena, (na + nb + 1) * sizeof(*merged));

	*count = 0;
	if (!na || !nb) {
		*count = na + nb;
		return *count ? memcpy(merged, na ? a : b, *count * sizeof(*merged)) : merged;
	}
	for (unsigned i = 0; i < na; i++)
		add_maximal(merged, count, &a[i]);
	for (unsigned i = 0; i < nb; i++)
		add_maximal(merged, count, &b[i]);
	return merged;
}

/* Adds the values of control variables; false if they disagree. */
static bool unify(const struct dpe_game *game, int64_t *counts, const int64_t *with)
{
	for (unsigned i = 0; i < game->blocks->ncontrols; i++) {
		if (counts[i] != UNBOUND && with[i] != UNBOUND && counts[i] != with[i])
			return false;
		if (counts[i] == UNBOUND)
			counts[i] = with[i];
	}
	return true;
}

struct dpe_game_token *dpe_token_merge(
	struct dpe_game *game, struct dpe_game_token *a, struct dpe_game_token *b)
{
	unsigned ncontrols = game->blocks->ncontrols;
	int64_t counts[ncontrols + 1];
	struct dpe_token_content content = {
		.counts = counts, .npending = a->npending + b->npending};

	memcpy(counts, a->counts, ncontrols * sizeof(*counts));
	if (!unify(game, counts, b->counts))
		return NULL;
	content.events = dpe_preds_merge(
		game, a->events, a->nevents, b->events, b->nevents, &content.nevents);
	content.pending = dpe_actions_join(game, a->pending, a->npending, b->pending, b->npending);
	return dpe_token_new(game, &content);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = number_of(a), y = number_of(b);

	return (x > y) - (x < y);
}

/* Sorts, as in merged tokens, and drops what occurs twice. */
static unsigned sort_events(struct dpe_pred *events, unsigned count)
{
	unsigned kept = 0;

	if (count)
		qsort(events, count, sizeof(*events), by_number);
	for (unsigned i = 0; i < count; i++) {
		if (!kept || events[kept - 1].occurrence != events[i].occurrence)
			events[kept++] = events[i];
	}
	return kept;
}

struct dpe_game_token *dpe_tokens_unite(struct dpe_game *game, const struct dpe_game_tokens *tokens)
{
	unsigned ncontrols = game->blocks->ncontrols, nevents = 0, npending = 0;
	int64_t counts[ncontrols + 1];
	struct dpe_token_content content = {.counts = counts};
	const struct dpe_stmt **pending;
	struct dpe_pred *events;

	for (unsigned i = 0; i < tokens->count; i++) {
		nevents += tokens->at[i]->nevents;
		npending += tokens->at[i]->npending;
	}
	events = dpe_arena_alloc(game->arena, (nevents + 1) * sizeof(*events));
	pending = dpe_arena_alloc(game->arena, (npending + 1) * sizeof(*pending));
	for (unsigned i = 0; i < ncontrols; i++)
		counts[i] = UNBOUND;
	for (unsigned i = 0; i < tokens->count; i++) {
		const struct dpe_game_token *token = tokens->at[i];

		if (!unify(game, counts, token->counts))
			return NULL;
		for (unsigned j = 0; j < token->nevents; j++)
			events[content.nevents++] = token->events[j];
		for (unsigned j = 0; j < token->npending; j++)
			pending[content.npending++] = token->pending[j];
	}
	content.nevents = sort_events(events, content.nevents);
	content.events = events;
	content.pending = pending;
	return dpe_token_new(game, &content);
}

/* The token with `control` = rounds; NULL if it has another value already. */
struct dpe_game_token *dpe_token_bind(
	struct dpe_game *game, struct dpe_game_token *token, unsigned control, uint64_t rounds)
{
	unsigned ncontrols = game->blocks->ncontrols;
	int64_t counts[ncontrols + 1];
	struct dpe_token_content content;

	if (control == DPE_NO_CONTROL)
		return dpe_token_ref(token);
	if (token->counts[control] != UNBOUND)
		return token->counts[control] == (int64_t)rounds ? dpe_token_ref(token) : NULL;
	memcpy(counts, token->counts, ncontrols * sizeof(*counts));
	counts[control] = (int64_t)rounds;
	content = content_of(token);
	content.counts = counts;
	return dpe_token_new(game, &content);
}

void dpe_tokens_append(struct dpe_game *game, struct dpe_game_tokens *tokens, struct dpe_game_token *token)
{
	if (tokens->count == tokens->cap) {
		unsigned cap = tokens->cap ? tokens->cap * 2 : 4;
		struct dpe_game_token **at = dpe_pool_take(game->pool, cap * sizeof(*at));

		if (tokens->cap) {
			memcpy(at, tokens->at, tokens->count * sizeof(*at));
			dpe_pool_give(game->pool, tokens->at, tokens->cap * sizeof(*at));
		}
		tokens->at = at;
		tokens->cap = cap;
	}
	tokens->at[tokens->count++] = token;
}

void dpe_tokens_add(
	struct dpe_game *game, struct dpe_game_tokens *tokens, struct dpe_game_token *token)
{
	for (unsigned i = 0; i < tokens->count; i++) {
		if (tokens->at[i] != token)
			continue;
		dpe_token_unref(game, token);
		return;
	}
	if (token)
		dpe_tokens_append(game, tokens, token);
}

void dpe_tokens_drop(struct dpe_game *game, struct dpe_game_tokens *tokens)
{
	for (unsigned i = 0; i < tokens->count; i++)
		dpe_token_unref(game, tokens->at[i]);
	if (tokens->cap)
		dpe_pool_give(game->pool, tokens->at, tokens->cap * sizeof(struct dpe_game_token *));
	*tokens = (struct dpe_game_tokens){0};
}
