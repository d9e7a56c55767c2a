/* The token game. A marking is a term that follows the blocks of the net: each says where the
 * tokens within its block stand. Which of several alternatives a token went is seen when an event
 * takes it: until then it stands before the block and may run through it. */
#include "recognizer/game.h"

#include "recognizer/run.h"

#include <stdlib.h>
#include <string.h>

#define UNBOUND (-1)

struct token {
	UT_hash_handle hh;
	uint32_t refs;
	unsigned nevents, npending;
	const struct dpe_pred *events;         /* by number; in the key, as the following */
	const int64_t *counts;                 /* of the control variables */
	const struct dpe_stmt *const *pending; /* actions that it ran through */
	char key[];
};

/* What a token is made of. */
struct stuff {
	const struct dpe_pred *events;
	const int64_t *counts;
	const struct dpe_stmt *const *pending;
	unsigned nevents, npending;
};

enum place {
	BEFORE,    /* token: it stands before `block` */
	BEHIND,    /* token: what it was in is over */
	IN_LEFT,   /* SEQ: kids[0] */
	IN_ROUND,  /* STAR: kids[0], the rounds-th */
	IN_BOTH,   /* PAR: kids[0], kids[1] */
	IN_WHOLE,  /* WHOLE: kids[0] */
	IN_COPIES, /* CLOSURE: token, that each copy begins with; ended, of those that are over;
		      kids */
};

struct marking_key {
	const struct dpe_block *block;
	struct token *token, *ended;
	uint64_t place, rounds, nkids;
	struct dpe_marking *kids[];
};

struct dpe_marking {
	UT_hash_handle hh;
	uint32_t refs;
	uint64_t serial;
	struct marking_key key;
};

struct tokens {
	struct token **at;
	unsigned count, cap;
};

struct dpe_game {
	const struct dpe_rule *rule;
	struct dpe_blocks *blocks;
	struct token *tokens;
	struct dpe_marking *markings;
	uint64_t serial;
	/* The event at hand. */
	unsigned literal;
	struct dpe_occurrence *occurrence;
	struct dpe_arena *arena;
	struct dpe_play *plays;
	unsigned nplays, capplays;
	/* Sets of positions that one event took together: few, kept for good. */
	struct combination {
		uint16_t *at;
		unsigned count;
	} * combinations;
	unsigned ncombinations, capcombinations;
};

/* ---- tokens ------------------------------------------------------------------------------ */

static struct token *ref_token(struct token *token)
{
	if (token)
		token->refs++;
	return token;
}

static void unref_token(struct dpe_game *game, struct token *token)
{
	if (!token || --token->refs)
		return;
	HASH_DEL(game->tokens, token);
	for (unsigned i = 0; i < token->nevents; i++)
		dpe_occurrence_unref(token->events[i].occurrence);
	free(token);
}

/* One reference, the caller's. */
static struct token *make_token(struct dpe_game *game, const struct stuff *stuff)
{
	uint64_t npending = stuff->npending;
	size_t counts = game->blocks->ncontrols * sizeof(*stuff->counts);
	size_t pending = stuff->npending * sizeof(*stuff->pending);
	size_t events = stuff->nevents * sizeof(*stuff->events);
	size_t size = sizeof(npending) + counts + pending + events;
	struct token *new = dpe_xmalloc(sizeof(*new) + size), *old;
	char *at = mempcpy(new->key, &npending, sizeof(npending));

	new->counts = (const int64_t *)(const void *)at;
	at = counts ? mempcpy(at, stuff->counts, counts) : at;
	new->pending = (const struct dpe_stmt *const *)(const void *)at;
	at = pending ? mempcpy(at, stuff->pending, pending) : at;
	new->events = (const struct dpe_pred *)(const void *)at;
	if (events)
		memcpy(at, stuff->events, events);
	HASH_FIND(hh, game->tokens, new->key, size, old);
	if (old) {
		free(new);
		return ref_token(old);
	}
	new->refs = 1;
	new->nevents = stuff->nevents;
	new->npending = stuff->npending;
	for (unsigned i = 0; i < new->nevents; i++) {
		if (new->events[i].occurrence)
			dpe_occurrence_ref(new->events[i].occurrence);
	}
	HASH_ADD_KEYPTR(hh, game->tokens, new->key, size, new);
	return new;
}

static struct stuff stuff_of(const struct token *token)
{
	return (struct stuff){
		token->events, token->counts, token->pending, token->nevents, token->npending};
}

/* Two lists of actions as one, in the arena. */
static const struct dpe_stmt *const *add_actions(struct dpe_game *game,
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
static struct token *strip(struct dpe_game *game, struct token *token)
{
	struct stuff stuff = stuff_of(token);

	stuff.npending = 0;
	return make_token(game, &stuff);
}

/* The token with further actions, before or behind its own. */
static struct token *load(struct dpe_game *game, const struct token *token,
	const struct dpe_stmt *const *before, unsigned nbefore, const struct dpe_stmt *behind)
{
	struct stuff stuff = stuff_of(token);

	stuff.pending = add_actions(game, before, nbefore, stuff.pending, stuff.npending);
	stuff.npending += nbefore;
	if (behind)
		stuff.pending = add_actions(game, stuff.pending, stuff.npending++, &behind, 1);
	return make_token(game, &stuff);
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
static struct dpe_pred *merge_events(struct dpe_game *game, const struct dpe_pred *a, unsigned na,
	const struct dpe_pred *b, unsigned nb, unsigned *count)
{
	struct dpe_pred *merged = dpe_arena_alloc(game->arena, (na + nb + 1) * sizeof(*merged));

	*count = 0;
	for (unsigned i = 0; i < na; i++)
		add_maximal(merged, count, &a[i]);
	for (unsigned i = 0; i < nb; i++)
		add_maximal(merged, count, &b[i]);
	return merged;
}

/* What leaves a block that two tokens left; NULL where they disagree on a control variable. */
static struct token *merge_tokens(struct dpe_game *game, struct token *a, struct token *b)
{
	unsigned ncontrols = game->blocks->ncontrols;
	int64_t counts[ncontrols + 1];
	struct stuff stuff = {.counts = counts, .npending = a->npending + b->npending};

	for (unsigned i = 0; i < ncontrols; i++) {
		if (a->counts[i] != UNBOUND && b->counts[i] != UNBOUND &&
			a->counts[i] != b->counts[i])
			return NULL;
		counts[i] = a->counts[i] != UNBOUND ? a->counts[i] : b->counts[i];
	}
	stuff.events =
		merge_events(game, a->events, a->nevents, b->events, b->nevents, &stuff.nevents);
	stuff.pending = add_actions(game, a->pending, a->npending, b->pending, b->npending);
	return make_token(game, &stuff);
}

/* The token with `control` = rounds; NULL where it has another value already. */
static struct token *bind_control(
	struct dpe_game *game, struct token *token, unsigned control, uint64_t rounds)
{
	unsigned ncontrols = game->blocks->ncontrols;
	int64_t counts[ncontrols + 1];
	struct stuff stuff;

	if (control == DPE_NO_CONTROL)
		return ref_token(token);
	if (token->counts[control] != UNBOUND)
		return token->counts[control] == (int64_t)rounds ? ref_token(token) : NULL;
	memcpy(counts, token->counts, ncontrols * sizeof(*counts));
	counts[control] = (int64_t)rounds;
	stuff = stuff_of(token);
	stuff.counts = counts;
	return make_token(game, &stuff);
}

static void add_token(struct tokens *tokens, struct token *token)
{
	if (token)
		*DPE_GROW(tokens->at, tokens->count, tokens->cap) = token;
}

static void drop_tokens(struct dpe_game *game, struct tokens *tokens)
{
	for (unsigned i = 0; i < tokens->count; i++)
		unref_token(game, tokens->at[i]);
	free(tokens->at);
	*tokens = (struct tokens){0};
}

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
	unref_token(game, marking->key.token);
	unref_token(game, marking->key.ended);
	for (uint64_t i = 0; i < marking->key.nkids; i++)
		dpe_marking_unref(game, marking->key.kids[i]);
	free(marking);
}

/* Takes over the references of token, ended and kids; one reference, the caller's. */
static struct dpe_marking *make_marking(struct dpe_game *game, enum place place,
	const struct dpe_block *block, struct token *token, struct token *ended, uint64_t rounds,
	struct dpe_marking *const *kids, uint64_t nkids)
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
	unref_token(game, token);
	unref_token(game, ended);
	for (uint64_t i = 0; i < nkids; i++)
		dpe_marking_unref(game, kids[i]);
	free(new);
	return dpe_marking_ref(old);
}

/* Takes over the token. */
static struct dpe_marking *stand_before(
	struct dpe_game *game, const struct dpe_block *block, struct token *token)
{
	return make_marking(game, BEFORE, block, token, NULL, 0, NULL, 0);
}

static struct dpe_marking *stand_behind(struct dpe_game *game, struct token *token)
{
	return make_marking(game, BEHIND, NULL, token, NULL, 0, NULL, 0);
}

/* The following take over the references of markings, and return NULL where tokens that would have
 * to join disagree. */
static struct dpe_marking *in_left(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_marking *left)
{
	struct dpe_marking *next;

	if (left->key.place != BEHIND)
		return make_marking(game, IN_LEFT, block, NULL, NULL, 0, &left, 1);
	next = stand_before(game, block->right, ref_token(left->key.token));
	dpe_marking_unref(game, left);
	return next;
}

static struct dpe_marking *in_round(struct dpe_game *game, const struct dpe_block *block,
	uint64_t rounds, struct dpe_marking *round)
{
	if (block->control == DPE_NO_CONTROL)
		rounds = 0;
	return make_marking(game, IN_ROUND, block, NULL, NULL, rounds, &round, 1);
}

static struct dpe_marking *in_whole(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_marking *inner)
{
	if (inner->key.place == BEHIND)
		return inner;
	return make_marking(game, IN_WHOLE, block, NULL, NULL, 0, &inner, 1);
}

static struct dpe_marking *in_both(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_marking *left, struct dpe_marking *right)
{
	struct dpe_marking *kids[] = {left, right};
	struct token *merged;

	if (left->key.place != BEHIND || right->key.place != BEHIND)
		return make_marking(game, IN_BOTH, block, NULL, NULL, 0, kids, 2);
	merged = merge_tokens(game, left->key.token, right->key.token);
	dpe_marking_unref(game, left);
	dpe_marking_unref(game, right);
	return merged ? stand_behind(game, merged) : NULL;
}

/* Copies that are over are one token; the others stand in the order of their making. */
static struct dpe_marking *in_copies(struct dpe_game *game, const struct dpe_block *block,
	struct token *token, struct token *ended, struct dpe_marking **copies, unsigned count,
	struct dpe_marking *new)
{
	unsigned at;

	if (new->key.place != BEHIND) {
		for (at = count; at && copies[at - 1]->serial > new->serial; at--)
			copies[at] = copies[at - 1];
		copies[at] = new;
		return make_marking(game, IN_COPIES, block, token, ended, 0, copies, count + 1);
	}
	if (!ended) {
		ended = ref_token(new->key.token);
	} else {
		struct token *merged = merge_tokens(game, ended, new->key.token);

		unref_token(game, ended);
		ended = merged;
	}
	dpe_marking_unref(game, new);
	if (ended)
		return make_marking(game, IN_COPIES, block, token, ended, 0, copies, count);
	unref_token(game, token);
	for (unsigned i = 0; i < count; i++)
		dpe_marking_unref(game, copies[i]);
	return NULL;
}

/* ---- leaving ----------------------------------------------------------------------------- */

static void leave_block(struct dpe_game *game, const struct dpe_block *block, struct token *token,
	struct tokens *to);
static void leave(struct dpe_game *game, const struct dpe_marking *marking, struct tokens *to);

/* Each of the left ones with each of the right ones, with the actions of `origin`, if any. */
static void join(struct dpe_game *game, const struct tokens *left, const struct tokens *right,
	const struct token *origin, struct tokens *to)
{
	for (unsigned i = 0; i < left->count; i++) {
		for (unsigned j = 0; j < right->count; j++) {
			struct token *both = merge_tokens(game, left->at[i], right->at[j]), *loaded;

			if (both && origin && origin->npending) {
				loaded = load(game, both, origin->pending, origin->npending, NULL);
				unref_token(game, both);
				both = loaded;
			}
			add_token(to, both);
		}
	}
}

/* The tokens behind a block when one before it runs through without an event. */
static void leave_block(struct dpe_game *game, const struct dpe_block *block, struct token *token,
	struct tokens *to)
{
	struct tokens left = {0}, right = {0};
	struct token *bare;

	switch (block->kind) {
	case DPE_BLOCK_EVENT:
		return;
	case DPE_BLOCK_ACTION:
		add_token(to, load(game, token, NULL, 0, block->action));
		return;
	case DPE_BLOCK_WHOLE:
		leave_block(game, block->left, token, to);
		return;
	case DPE_BLOCK_SEQ:
		leave_block(game, block->left, token, &left);
		for (unsigned i = 0; i < left.count; i++)
			leave_block(game, block->right, left.at[i], to);
		break;
	case DPE_BLOCK_ALT:
		leave_block(game, block->left, token, to);
		leave_block(game, block->right, token, to);
		break;
	case DPE_BLOCK_PAR:
		bare = strip(game, token);
		leave_block(game, block->left, bare, &left);
		leave_block(game, block->right, bare, &right);
		unref_token(game, bare);
		join(game, &left, &right, token, to);
		break;
	case DPE_BLOCK_STAR:
		add_token(to, bind_control(game, token, block->control, 0));
		break;
	case DPE_BLOCK_CLOSURE:
		add_token(to, ref_token(token));
		break;
	}
	drop_tokens(game, &left);
	drop_tokens(game, &right);
}

static void leave_copies(
	struct dpe_game *game, const struct dpe_marking *marking, struct tokens *to)
{
	struct tokens all = {0};

	if (marking->key.ended)
		add_token(&all, ref_token(marking->key.ended));
	for (uint64_t i = 0; i < marking->key.nkids; i++) {
		struct tokens one = {0}, joined = {0};

		leave(game, marking->key.kids[i], &one);
		if (!i && !marking->key.ended) {
			all = one;
			continue;
		}
		join(game, &all, &one, NULL, &joined);
		drop_tokens(game, &all);
		drop_tokens(game, &one);
		all = joined;
	}
	for (unsigned i = 0; i < all.count; i++)
		add_token(to, all.at[i]);
	free(all.at);
}

/* The tokens that can stand behind what the marking is in. */
static void leave(struct dpe_game *game, const struct dpe_marking *marking, struct tokens *to)
{
	const struct dpe_block *block = marking->key.block;
	struct tokens left = {0}, right = {0};

	switch ((enum place)marking->key.place) {
	case BEFORE:
		leave_block(game, block, marking->key.token, to);
		return;
	case BEHIND:
		add_token(to, ref_token(marking->key.token));
		return;
	case IN_WHOLE:
		leave(game, marking->key.kids[0], to);
		return;
	case IN_LEFT:
		leave(game, marking->key.kids[0], &left);
		for (unsigned i = 0; i < left.count; i++)
			leave_block(game, block->right, left.at[i], to);
		break;
	case IN_ROUND:
		leave(game, marking->key.kids[0], &left);
		for (unsigned i = 0; i < left.count; i++)
			add_token(to, bind_control(game, left.at[i], block->control,
					      marking->key.rounds));
		break;
	case IN_BOTH:
		leave(game, marking->key.kids[0], &left);
		leave(game, marking->key.kids[1], &right);
		join(game, &left, &right, NULL, to);
		break;
	case IN_COPIES:
		leave_copies(game, marking, to);
		break;
	}
	drop_tokens(game, &left);
	drop_tokens(game, &right);
}

/* ---- playing ----------------------------------------------------------------------------- */

static void play_block(struct dpe_game *game, const struct dpe_block *block, struct token *token);
static void play(struct dpe_game *game, const struct dpe_marking *marking);

static const uint16_t *combination(
	struct dpe_game *game, const struct dpe_play *a, const struct dpe_play *b)
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

static void play_event(struct dpe_game *game, const struct dpe_block *block, struct token *token)
{
	const struct dpe_pred event = {game->occurrence, block->literal};
	const struct stuff stuff = {
		.events = &event, .nevents = block->wanted, .counts = token->counts};
	uint16_t position = (uint16_t)block->position;
	struct dpe_play play = {.npreds = (uint16_t)token->nevents, .npositions = 1};
	struct dpe_pred *preds;

	preds = dpe_arena_alloc(game->arena, (token->nevents + 1) * sizeof(*preds));
	if (token->nevents)
		memcpy(preds, token->events, token->nevents * sizeof(*preds));
	play.preds = preds;
	play.positions = &position;
	play.positions = combination(game, &play, NULL);
	play.before = add_actions(game, token->pending, token->npending, NULL, 0);
	play.nbefore = (uint16_t)token->npending;
	play.next = stand_behind(game, make_token(game, &stuff));
	*DPE_GROW(game->plays, game->nplays, game->capplays) = play;
}

/* Drops the plays from `from` on whose next marking came to nothing. */
static void drop_dead_plays(struct dpe_game *game, unsigned from)
{
	unsigned kept = from;

	for (unsigned i = from; i < game->nplays; i++) {
		if (game->plays[i].next)
			game->plays[kept++] = game->plays[i];
	}
	game->nplays = kept;
}

/* True where another round may begin. */
static bool may_go_round(const struct dpe_block *block, const struct token *token, uint64_t rounds)
{
	return block->control == DPE_NO_CONTROL || token->counts[block->control] == UNBOUND ||
	       token->counts[block->control] > (int64_t)rounds;
}

static void play_round(
	struct dpe_game *game, const struct dpe_block *block, struct token *token, uint64_t rounds)
{
	unsigned from = game->nplays;

	if (!may_go_round(block, token, rounds))
		return;
	play_block(game, block->left, token);
	for (unsigned i = from; i < game->nplays; i++)
		game->plays[i].next = in_round(game, block, rounds + 1, game->plays[i].next);
}

/* An event of both operands takes a token in each. `from` is where the plays of the left operand
 * begin, `middle` those of the right one. */
static void synchronise(
	struct dpe_game *game, const struct dpe_block *block, unsigned from, unsigned middle)
{
	unsigned nleft = middle - from, nright = game->nplays - middle;
	struct dpe_play *both;

	if (game->nplays == from)
		return;
	both = dpe_xcalloc(nleft + nright, sizeof(*both));
	memcpy(both, game->plays + from, (nleft + nright) * sizeof(*both));
	game->nplays = from;
	for (unsigned i = 0; i < nleft; i++) {
		for (unsigned j = nleft; j < nleft + nright; j++) {
			struct dpe_play play = {
				.npositions = both[i].npositions + both[j].npositions,
				.positions = combination(game, &both[i], &both[j]),
			};
			unsigned npreds;

			play.preds = merge_events(game, both[i].preds, both[i].npreds,
				both[j].preds, both[j].npreds, &npreds);
			play.npreds = (uint16_t)npreds;
			play.before = add_actions(game, both[i].before, both[i].nbefore,
				both[j].before, both[j].nbefore);
			play.after = add_actions(
				game, both[i].after, both[i].nafter, both[j].after, both[j].nafter);
			play.nbefore = both[i].nbefore + both[j].nbefore;
			play.nafter = both[i].nafter + both[j].nafter;
			play.next = in_both(game, block, dpe_marking_ref(both[i].next),
				dpe_marking_ref(both[j].next));
			if (play.next)
				*DPE_GROW(game->plays, game->nplays, game->capplays) = play;
		}
	}
	for (unsigned i = 0; i < nleft + nright; i++)
		dpe_marking_unref(game, both[i].next);
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
		struct dpe_marking *next = game->plays[i].next;

		game->plays[i].next = of_left ? in_both(game, block, next, dpe_marking_ref(right))
					      : in_both(game, block, dpe_marking_ref(left), next);
	}
	drop_dead_plays(game, from);
}

/* The plays from `from` on run through the actions of `token` first. */
static void load_plays(struct dpe_game *game, unsigned from, const struct token *token)
{
	for (unsigned i = from; token->npending && i < game->nplays; i++) {
		struct dpe_play *play = &game->plays[i];

		play->before = add_actions(
			game, token->pending, token->npending, play->before, play->nbefore);
		play->nbefore += token->npending;
	}
}

/* The plays from `from` on are within `block`; those that make a whole of it have its action. */
static void play_whole(struct dpe_game *game, const struct dpe_block *block, unsigned from)
{
	for (unsigned i = from; i < game->nplays; i++) {
		struct dpe_play *play = &game->plays[i];

		if (dpe_game_final(game, play->next))
			play->after =
				add_actions(game, play->after, play->nafter++, &block->action, 1);
		play->next = in_whole(game, block, play->next);
	}
}

/* A token before a block runs on until an event takes it. */
static void play_block(struct dpe_game *game, const struct dpe_block *block, struct token *token)
{
	unsigned from = game->nplays;
	struct tokens left = {0};
	struct dpe_marking *kids[2];

	if (!block->literals[game->literal])
		return;
	switch (block->kind) {
	case DPE_BLOCK_EVENT:
		play_event(game, block, token);
		return;
	case DPE_BLOCK_SEQ:
		play_block(game, block->left, token);
		for (unsigned i = from; i < game->nplays; i++)
			game->plays[i].next = in_left(game, block, game->plays[i].next);
		leave_block(game, block->left, token, &left);
		for (unsigned i = 0; i < left.count; i++)
			play_block(game, block->right, left.at[i]);
		drop_tokens(game, &left);
		return;
	case DPE_BLOCK_ALT:
		play_block(game, block->left, token);
		play_block(game, block->right, token);
		return;
	case DPE_BLOCK_ACTION:
		return;
	case DPE_BLOCK_WHOLE:
		play_block(game, block->left, token);
		play_whole(game, block, from);
		return;
	case DPE_BLOCK_PAR:
		kids[0] = stand_before(game, block->left, strip(game, token));
		kids[1] = stand_before(game, block->right, strip(game, token));
		play_both(game, block, kids[0], kids[1]);
		load_plays(game, from, token);
		dpe_marking_unref(game, kids[0]);
		dpe_marking_unref(game, kids[1]);
		return;
	case DPE_BLOCK_STAR:
		play_round(game, block, token, 0);
		return;
	case DPE_BLOCK_CLOSURE:
		play_block(game, block->left, token);
		for (unsigned i = from; i < game->nplays; i++)
			game->plays[i].next = in_copies(
				game, block, ref_token(token), NULL, kids, 0, game->plays[i].next);
		return;
	}
}

/* The copies without the one at `left_out`, with room for one more. */
static struct dpe_marking **other_copies(struct dpe_game *game, const struct dpe_marking *marking,
	uint64_t left_out, unsigned *count)
{
	struct dpe_marking **others = dpe_arena_alloc(
		game->arena, (marking->key.nkids + 1) * sizeof(struct dpe_marking *));

	*count = 0;
	for (uint64_t i = 0; i < marking->key.nkids; i++) {
		if (i != left_out)
			others[(*count)++] = dpe_marking_ref(marking->key.kids[i]);
	}
	return others;
}

static void play_copies(struct dpe_game *game, const struct dpe_marking *marking)
{
	const struct dpe_block *block = marking->key.block;
	uint64_t ncopies = marking->key.nkids;

	for (uint64_t copy = 0; copy <= ncopies; copy++) {
		unsigned from = game->nplays;

		if (copy && copy < ncopies &&
			marking->key.kids[copy] == marking->key.kids[copy - 1])
			continue;
		if (copy < ncopies)
			play(game, marking->key.kids[copy]);
		else
			play_block(game, block->left, marking->key.token);
		for (unsigned i = from; i < game->nplays; i++) {
			unsigned count;
			struct dpe_marking **others = other_copies(game, marking, copy, &count);

			game->plays[i].next = in_copies(game, block, ref_token(marking->key.token),
				ref_token(marking->key.ended), others, count, game->plays[i].next);
		}
		drop_dead_plays(game, from);
	}
}

static void play(struct dpe_game *game, const struct dpe_marking *marking)
{
	const struct dpe_block *block = marking->key.block;
	unsigned from = game->nplays;
	struct tokens left = {0};

	switch ((enum place)marking->key.place) {
	case BEFORE:
		play_block(game, block, marking->key.token);
		return;
	case BEHIND:
		return;
	case IN_WHOLE:
		play(game, marking->key.kids[0]);
		play_whole(game, block, from);
		return;
	case IN_LEFT:
		play(game, marking->key.kids[0]);
		for (unsigned i = from; i < game->nplays; i++)
			game->plays[i].next = in_left(game, block, game->plays[i].next);
		leave(game, marking->key.kids[0], &left);
		for (unsigned i = 0; i < left.count; i++)
			play_block(game, block->right, left.at[i]);
		break;
	case IN_ROUND:
		play(game, marking->key.kids[0]);
		for (unsigned i = from; i < game->nplays; i++)
			game->plays[i].next =
				in_round(game, block, marking->key.rounds, game->plays[i].next);
		leave(game, marking->key.kids[0], &left);
		for (unsigned i = 0; i < left.count; i++)
			play_round(game, block, left.at[i], marking->key.rounds);
		break;
	case IN_BOTH:
		play_both(game, block, marking->key.kids[0], marking->key.kids[1]);
		return;
	case IN_COPIES:
		play_copies(game, marking);
		return;
	}
	drop_tokens(game, &left);
}

/* ---- what others see --------------------------------------------------------------------- */

struct dpe_game *dpe_game_new(const struct dpe_rule *rule)
{
	struct dpe_game *game = dpe_xcalloc(1, sizeof(*game));

	game->rule = rule;
	game->blocks = dpe_blocks_new(rule);
	game->arena = dpe_arena_new();
	return game;
}

const struct dpe_blocks *dpe_game_blocks(const struct dpe_game *game)
{
	return game->blocks;
}

static void drop_plays(struct dpe_game *game)
{
	for (unsigned i = 0; i < game->nplays; i++)
		dpe_marking_unref(game, game->plays[i].next);
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
	int64_t counts[game->blocks->ncontrols + 1];
	const struct stuff stuff = {.counts = counts};

	for (unsigned i = 0; i < game->blocks->ncontrols; i++)
		counts[i] = UNBOUND;
	return stand_before(game, game->blocks->root, make_token(game, &stuff));
}

bool dpe_game_final(struct dpe_game *game, struct dpe_marking *marking)
{
	struct tokens ends = {0};
	bool final;

	leave(game, marking, &ends);
	final = ends.count > 0;
	drop_tokens(game, &ends);
	return final;
}

unsigned dpe_game_ending(
	struct dpe_game *game, struct dpe_marking *marking, const struct dpe_stmt *const **actions)
{
	struct tokens ends = {0};
	unsigned count = 0;

	leave(game, marking, &ends);
	if (ends.count) {
		count = ends.at[0]->npending;
		*actions = add_actions(game, ends.at[0]->pending, count, NULL, 0);
	}
	drop_tokens(game, &ends);
	return count;
}

bool dpe_game_complete(const struct dpe_marking *marking)
{
	return marking->key.place == BEHIND;
}

unsigned dpe_game_plays(struct dpe_game *game, struct dpe_marking *marking, unsigned literal,
	struct dpe_occurrence *occurrence, const struct dpe_play **plays)
{
	drop_plays(game);
	dpe_arena_reset(game->arena);
	game->literal = literal;
	game->occurrence = occurrence;
	play(game, marking);
	*plays = game->plays;
	return game->nplays;
}
