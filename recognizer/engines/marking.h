/* Tokens (token.c) and markings (marking.c), which the token game (token_game.c) moves.
 * Private to these. */
#ifndef DPE_RECOGNIZER_ENGINES_MARKING_H
#define DPE_RECOGNIZER_ENGINES_MARKING_H

#include "recognizer/engines/configuration.h"
#include "recognizer/engines/copies.h"
#include "recognizer/engines/token_game.h"
#include "recognizer/recognizer.h"

#define UNBOUND (-1)

struct dpe_game_token {
	UT_hash_handle hh;
	uint32_t refs;
	unsigned nevents, npending;
	const struct dpe_pred *events;         /* by number; in the key, as the following */
	const int64_t *counts;                 /* of the control variables */
	const struct dpe_stmt *const *pending; /* actions that it ran through */
	char key[];
};

/* The content of a token. */
struct dpe_token_content {
	const struct dpe_pred *events;
	const int64_t *counts;
	const struct dpe_stmt *const *pending;
	unsigned nevents, npending;
};

enum dpe_marking_place {
	BEFORE,    /* token: it is before `block` */
	AFTER,     /* token: the block that it was in has ended */
	IN_LEFT,   /* SEQ: children[0] */
	IN_ROUND,  /* STAR: children[0], the rounds-th */
	IN_BOTH,   /* PAR: children[0], children[1] */
	IN_GROUP,  /* GROUP: children[0] */
	IN_COPIES, /* CLOSURE: token, for each copy; ended, of copies that have ended; copies */
};

struct marking_key {
	const struct dpe_block *block;
	struct dpe_game_token *token, *ended;
	uint64_t place, rounds, nchildren; /* IN_COPIES: rounds is a hash of the copies */
	struct dpe_marking *children[];
};

struct dpe_marking {
	UT_hash_handle hh;
	uint32_t refs;
	uint64_t serial;
	struct dpe_copies *copies;
	struct marking_key key;
};

struct dpe_game_tokens {
	struct dpe_game_token **at;
	unsigned count, cap;
};

struct dpe_game {
	const struct dpe_rule *rule;
	struct dpe_blocks *blocks;
	struct dpe_pool *pool;
	bool synchronises; /* operands of some & share events */
	struct dpe_game_token *tokens;
	struct dpe_marking *markings;
	uint64_t serial;
	/* The current event. */
	unsigned literal;
	struct dpe_occurrence *occurrence;
	const struct dpe_preds *preds; /* its predecessors; NULL: any */
	unsigned min_preds, max_preds; /* of a token that can be taken, or leave */
	struct dpe_arena *arena;
	struct dpe_config_step *plays;
	unsigned nplays, capplays;
	/* Sets of positions that one event took together: few, kept as long as the game. */
	struct combination {
		uint16_t *at;
		unsigned count;
	} * combinations;
	unsigned ncombinations, capcombinations;
};

/* ---- marking_memory.c -------------------------------------------------------------------- */

/* With one reference, and nothing else; drops what the marking refers to, and itself. */
struct dpe_marking *dpe_marking_new(struct dpe_game *game, uint64_t nchildren);
void dpe_marking_give(struct dpe_game *game, struct dpe_marking *marking);

/* ---- token.c ----------------------------------------------------------------------------- */

/* Both accept NULL. */
struct dpe_game_token *dpe_token_ref(struct dpe_game_token *token);
void dpe_token_unref(struct dpe_game *game, struct dpe_game_token *token);
/* One reference, the caller's. */
struct dpe_game_token *dpe_token_new(
	struct dpe_game *game, const struct dpe_token_content *content);
/* The token without anything. */
struct dpe_game_token *dpe_token_nothing(struct dpe_game *game);
/* Two lists of actions as one, in the arena. */
const struct dpe_stmt *const *dpe_actions_join(struct dpe_game *game,
	const struct dpe_stmt *const *a, unsigned na, const struct dpe_stmt *const *b, unsigned nb);
/* The token without its actions, which must not be multiplied where it becomes several tokens. */
struct dpe_game_token *dpe_token_strip(struct dpe_game *game, struct dpe_game_token *token);
/* The token with further actions, before or behind its own. */
struct dpe_game_token *dpe_token_load(struct dpe_game *game, const struct dpe_game_token *token,
	const struct dpe_stmt *const *before, unsigned nbefore, const struct dpe_stmt *behind);
/* The latest events of both, in the arena. */
struct dpe_pred *dpe_preds_merge(struct dpe_game *game, const struct dpe_pred *a, unsigned na,
	const struct dpe_pred *b, unsigned nb, unsigned *count);
/* A token's events alone, and the rest of it. */
struct dpe_game_token *dpe_token_events(struct dpe_game *game, const struct dpe_game_token *token);
struct dpe_game_token *dpe_token_rest(struct dpe_game *game, const struct dpe_game_token *token);
/* The token that leaves a block after several tokens whose events are independent of each other; NULL if they disagree on
 * a control variable. */
struct dpe_game_token *dpe_tokens_unite(
	struct dpe_game *game, const struct dpe_game_tokens *tokens);
/* The same for two tokens, whose events may be ordered. */
struct dpe_game_token *dpe_token_merge(
	struct dpe_game *game, struct dpe_game_token *a, struct dpe_game_token *b);
/* The token with `control` = rounds; NULL if it has another value already. */
struct dpe_game_token *dpe_token_bind(
	struct dpe_game *game, struct dpe_game_token *token, unsigned control, uint64_t rounds);
/* Takes over the reference. */
void dpe_tokens_append(struct dpe_game *game, struct dpe_game_tokens *tokens, struct dpe_game_token *token);
/* The same, but NULL and a token of the list are not added. */
void dpe_tokens_add(
	struct dpe_game *game, struct dpe_game_tokens *tokens, struct dpe_game_token *token);
/* Ends a list with its references. */
void dpe_tokens_drop(struct dpe_game *game, struct dpe_game_tokens *tokens);

/* ---- marking.c --------------------------------------------------------------------------- */

/* Takes over the token. */
struct dpe_marking *dpe_marking_before(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_game_token *token);
struct dpe_marking *dpe_marking_after(struct dpe_game *game, struct dpe_game_token *token);
/* The following take over the references of markings, and return NULL if tokens that would have
 * to join disagree. */
struct dpe_marking *dpe_marking_in_left(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_marking *left);
struct dpe_marking *dpe_marking_in_round(struct dpe_game *game, const struct dpe_block *block,
	uint64_t rounds, struct dpe_marking *round);
struct dpe_marking *dpe_marking_in_group(
	struct dpe_game *game, const struct dpe_block *block, struct dpe_marking *inner);
struct dpe_marking *dpe_marking_in_both(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_marking *left, struct dpe_marking *right);
/* Copies with one more, which may have ended: of these the events are kept, where they matter. */
struct dpe_marking *dpe_marking_in_copies(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_game_token *token, struct dpe_game_token *ended, struct dpe_copies *copies,
	struct dpe_marking *new);
/* The tokens after a block when one before it runs through without an event. */
void dpe_leave_block(struct dpe_game *game, const struct dpe_block *block,
	struct dpe_game_token *token, struct dpe_game_tokens *to);
/* The tokens that can be after what the marking is in. */
void dpe_leave(
	struct dpe_game *game, const struct dpe_marking *marking, struct dpe_game_tokens *to);

#endif
