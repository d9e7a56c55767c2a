/* The token game on the net of a rule. Private to the recognizer.
 *
 * A marking says where tokens are in the blocks of the net. A token carries the events that put
 * it where it is, so an event that takes it must have exactly those as its predecessors. Markings
 * and tokens are interned: equal ones are the same pointer, and counted. */
#ifndef DPE_RECOGNIZER_ENGINES_TOKEN_GAME_H
#define DPE_RECOGNIZER_ENGINES_TOKEN_GAME_H

#include "dpe-lang/rule_nets/rule_nets.h"
#include "recognizer/engines/configuration.h"
#include "recognizer/recognizer.h"

struct dpe_game;
struct dpe_marking;

/* The rule must outlive the game. */
struct dpe_game *dpe_game_new(const struct dpe_rule *rule, struct dpe_pool *pool);
void dpe_game_free(struct dpe_game *game); /* accepts NULL; markings must be gone */
/* The marking with one token in the initial place; the caller's reference. */
struct dpe_marking *dpe_game_begin(struct dpe_game *game);
struct dpe_marking *dpe_marking_ref(struct dpe_marking *marking);
void dpe_marking_unref(struct dpe_game *game, struct dpe_marking *marking);
/* The net that is played on. */
const struct dpe_blocks *dpe_game_blocks(const struct dpe_game *game);
/* True if tokens may wait for each other forever: some & synchronises, or control variables have
 * to agree. */
bool dpe_game_can_be_stuck(const struct dpe_game *game);
/* Prints the net as its blocks, {"net":BLOCK}: an event is a string, others are ["OPERATOR",BLOCK,...]. False if there are more
 * blocks. */
bool dpe_game_emit(const struct dpe_game *game, unsigned max_blocks, struct dpe_text *to);
/* The places that hold tokens, some of them several times: marked_places.c says how they are numbered. */
void dpe_game_places(const struct dpe_game *game, const struct dpe_marking *marking,
	void (*found)(void *context, unsigned place), void *context);
/* True if the tokens can leave the net. */
bool dpe_game_final(struct dpe_game *game, struct dpe_marking *marking);
/* The actions that they run through then; valid until the next call of dpe_game_plays. */
unsigned dpe_game_ending(
	struct dpe_game *game, struct dpe_marking *marking, const struct dpe_stmt *const **actions);
/* True if no token is left that an event could take. */
bool dpe_game_complete(const struct dpe_marking *marking);
/* True if some token has to be taken, and only after such an event: the tokens never leave. */
bool dpe_game_is_stuck(const struct dpe_marking *marking, dpe_barred_fn *barred, void *context);
/* All steps that take an event with these predecessors (NULL: any) as `literal`, and may take it
 * with fewer if the rule is searched for; valid until the next call. Without an occurrence the
 * steps can only be inspected. Their markings are the game's, too. */
unsigned dpe_game_plays(struct dpe_game *game, struct dpe_marking *marking, unsigned literal,
	struct dpe_occurrence *occurrence, const struct dpe_preds *preds,
	const struct dpe_config_step **plays);

#endif
