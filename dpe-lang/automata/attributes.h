/* The attribute AUTO of figure 4-8: one lazily composed automaton for each node of a normal form.
 * Which function evaluates which rule of the figure: README.md. PRED is inherited, LAST and AUTO are
 * synthesised, state by state: docs/internals/automata.md. */
#ifndef DPE_LANG_AUTOMATON_H
#define DPE_LANG_AUTOMATON_H

#include "dpe-lang/automata/automata.h"
#include "dpe-lang/normal/normal.h"
#include <uthash.h>

/* The situation of a state in its node. */
enum dpe_form {
	DPE_FORM_START, /* nothing happened (leaf, +, *) */
	DPE_FORM_LEFT,  /* inside the left operand (; and +), or inside a round of * */
	DPE_FORM_RIGHT, /* inside the right operand */
	DPE_FORM_BOTH,  /* & */
	DPE_FORM_DONE,  /* at the end of the operand, and of a round of *; holds LAST alone */
};

/* The identity of a state within its node; a hash key, so it has no padding. The data are
 * labels[nregs] (the literal of each register's event), then for & places[nplaces] (where the
 * right operand's registers are among ours: an event of both operands has one register), then
 * where the operands synchronise the order among the registers, a row of bits for each. */
struct dpe_key {
	dpe_state left, right; /* states of the operands */
	uint16_t form, nregs, nbound, nplaces;
	uint16_t data[];
};

/* As struct dpe_move, but npreds == 0 means PRED, whatever the node inherits. PRED precedes every
 * event of the node, so it is never needed beside a register. */
struct dpe_node_state {
	UT_hash_handle hh;
	dpe_state number;
	const struct dpe_key *key;
	unsigned ndata; /* of the key */
	bool final, expanded;
	bool complete;   /* at the end, and nothing can follow within the node */
	bool needs_pred; /* some event to come may follow the inherited PRED immediately */
	dpe_state from;  /* the last state that got a move to here, … */
	bool has_from;   /* … where one did */
	unsigned distance;   /* events to an end at least, if operands did not wait for each other */
	dpe_state skeleton;  /* its dpe_auto_skeleton_state, … */
	uint32_t skeleton_generation; /* … for this generation; 0: none */
	uint16_t nlast;  /* of final states: LAST; 0: the inherited PRED */
	const uint16_t *last;
	unsigned nmoves, capmoves;
	struct dpe_move *moves;
};

/* Approximate memory of the states and moves of a tree. */
struct dpe_budget {
	size_t bytes, limit;
	bool exceeded; /* states that are expanded then may lack moves */
};

static inline void dpe_budget_take(struct dpe_budget *budget, size_t bytes)
{
	budget->bytes += bytes;
	budget->exceeded |= budget->bytes > budget->limit;
}

struct dpe_auto {
	struct dpe_arena *arena;
	const struct dpe_node *node;
	const struct dpe_position *positions; /* of the rule */
	struct dpe_auto *left, *right;
	bool last_wanted;  /* inherited: something is bound to this node's LAST */
	bool synchronises; /* & whose operands have a literal in common */
	bool sequential;   /* no & within */
	bool prunes;       /* &: covered registers are dropped, see register_pruning.c */
	bool *literals;    /* which of the rule's literals occur below */
	unsigned nliterals;
	unsigned nstates, capstates;
	struct dpe_node_state **states;
	struct dpe_node_state *by_key;
	unsigned shortest;     /* events of a behaviour at least, if operands did not share any */
	struct dpe_budget *budget; /* of the whole tree; borrowed */
};

/* Builds the tree of automata, each with its initial state 0 alone. */
struct dpe_auto *dpe_auto_new(struct dpe_arena *arena, const struct dpe_rule *rule,
	const struct dpe_node *node, bool last_wanted, struct dpe_budget *budget);
/* The same without registers, to search for final states. */
struct dpe_auto *dpe_auto_new_skeleton(struct dpe_arena *arena, const struct dpe_rule *rule,
	const struct dpe_node *node, struct dpe_budget *budget);
void dpe_auto_free(struct dpe_auto *automaton);

/* A state with its moves composed. */
const struct dpe_node_state *dpe_auto_expand(struct dpe_auto *automaton, dpe_state state);

void dpe_expand_leaf(struct dpe_auto *a, struct dpe_node_state *s);
void dpe_expand_concat(struct dpe_auto *a, struct dpe_node_state *s);
void dpe_expand_union(struct dpe_auto *a, struct dpe_node_state *s);
void dpe_expand_repeat(struct dpe_auto *a, struct dpe_node_state *s);
void dpe_expand_compose(struct dpe_auto *a, struct dpe_node_state *s);

/* For these functions: a zeroed key of this size, for free(). */
struct dpe_key *dpe_key_new(unsigned ndata);
/* The state with this key, made if there was none. */
dpe_state dpe_auto_intern(struct dpe_auto *a, const struct dpe_key *key, unsigned ndata);
/* The state that corresponds to one of another automaton for the same node. */
dpe_state dpe_auto_adopt(struct dpe_auto *a, const struct dpe_auto *from, dpe_state state);
/* The same in a skeleton; `generation` numbers skeletons from 1. */
dpe_state dpe_auto_skeleton_state(
	struct dpe_auto *skeleton, const struct dpe_auto *from, dpe_state state, uint32_t generation);
/* Adds a move to a state unless it has the same already. Takes copies. */
void dpe_auto_add_move(struct dpe_auto *a, struct dpe_node_state *s, const struct dpe_move *move);

/* automaton.c: the automaton of a part of the rule's tree, which must outlive it; NULL if its language is
 * empty. */
struct dpe_automaton *dpe_automaton_of(const struct dpe_rule *rule, const struct dpe_node *tree);

/* pair_keys.c. Of a & whose operands synchronise: register i's event precedes register j's. */
bool dpe_key_precedes(const struct dpe_key *key, unsigned i, unsigned j);
void dpe_key_set_precedes(struct dpe_key *key, unsigned i, unsigned j);
struct dpe_key_operand {
	dpe_state state;
	unsigned nregs;
	const uint16_t *sources; /* by register; two registers with the same source have the same event */
};
/* The key of a & in these states of its operands, without labels and order. `sources` has room for the registers of both,
 * and gets those of the key's registers. */
struct dpe_key *dpe_key_pair(const struct dpe_key_operand *left, const struct dpe_key_operand *right, bool synchronises,
	uint16_t *sources, unsigned *ndata);

/* register_pruning.c: lets all & below that synchronise, and are not operands of one, drop registers. */
void dpe_enable_register_pruning(struct dpe_auto *a);
/* The same of the key of such a &, which is the caller's to free(), as the result is. `source`, by
 * register, is adapted; there are key->nregs of them then. */
struct dpe_key *dpe_prune_registers(
	struct dpe_auto *a, struct dpe_key *key, unsigned *ndata, uint16_t *source);
/* compose.c: fills in final, complete, needs_pred and LAST of a state of a &. */
void dpe_compose_derive(struct dpe_auto *a, struct dpe_node_state *s);

/* liveness.c: which states of an automaton can be completed, of one for the normalised tree, which must
 * outlive this. A search may take DPE_SEARCH_BYTES of memory; all of a step, DPE_SEARCH_WORK. */
struct dpe_liveness;
struct dpe_liveness *dpe_liveness_new(const struct dpe_rule *rule, const struct dpe_node *tree);
void dpe_liveness_free(struct dpe_liveness *liveness); /* accepts NULL */
/* True if no end can be reached from the state; false for all once a search was given up. */
bool dpe_liveness_is_dead(struct dpe_liveness *liveness, const struct dpe_auto *a, dpe_state state);
bool dpe_liveness_given_up(const struct dpe_liveness *liveness);
/* Another step begins. Accepts NULL. */
void dpe_liveness_begin_step(struct dpe_liveness *liveness);

/* symmetry.c: which literals of the rule could be swapped, so that the tree says the same; NULL: none.
 * For dpe_symmetries_free; the rule must outlive them, not the tree. */
struct dpe_symmetries;
struct dpe_symmetries *dpe_symmetries_new(const struct dpe_rule *rule, const struct dpe_node *tree);
void dpe_symmetries_free(struct dpe_symmetries *symmetries); /* accepts NULL */
/* Marks, by literal, the moves of an expanded state that are redundant. False if there are none. */
bool dpe_symmetries_find_redundant(const struct dpe_symmetries *symmetries, const struct dpe_auto *a, dpe_state state,
	bool *redundant);

#endif
