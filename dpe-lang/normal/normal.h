/* The expression of a resolved rule, and its rewriting to the forms that automata and nets are built
 * from. */
#ifndef DPE_LANG_TREE_H
#define DPE_LANG_TREE_H

#include "dpe-lang/dpe-lang.h"
#include "dpe-lang/limits.h"

struct dpe_node {
	enum dpe_node_kind kind;
	unsigned position;             /* of events, from 1 */
	bool nonempty;                 /* without ε: the mark of N(R), see normalise.c */
	const char *control;           /* of `E *n`: the control variable, or NULL */
	const struct dpe_stmt *action; /* of the group or of the lone action, or NULL */
	const char *text;              /* of the lone action, as written */
	const struct dpe_node *left, *right;
	struct dpe_place place;        /* of the operator, or of the event */
};

/* What automata are built from, and `--dump=normal` shows: balanced, then normalised. */
const struct dpe_node *dpe_normal_form(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node);
/* The same rule, with chains of operators as balanced trees. */
const struct dpe_node *dpe_balance(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node);
/* The same behaviours; every path through a round of a repetition passes an event. */
const struct dpe_node *dpe_nonempty_rounds(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node);
struct dpe_node *dpe_node_copy(struct dpe_arena *arena, const struct dpe_node *node);
/* The literal and the pattern of a leaf that is an event. */
unsigned dpe_node_literal(const struct dpe_rule *rule, const struct dpe_node *event);
const struct dpe_pattern *dpe_node_pattern(const struct dpe_rule *rule, const struct dpe_node *event);
/* Sets, by literal, which ones occur in the expression; `node` may be NULL. */
void dpe_mark_literals(const struct dpe_rule *rule, const struct dpe_node *node, bool *literals);

/* For free(at). */
struct dpe_operands {
	const struct dpe_node **at;
	unsigned count, cap;
};

/* Adds the operands of a chain of one operator, however it is parenthesised. `top`: `node` is taken
 * apart even if it is marked. */
void dpe_collect_operands(struct dpe_operands *operands, const struct dpe_node *node,
	enum dpe_node_kind kind, bool top);
/* True if the node is that operator without a mark, an action or a control variable. */
bool dpe_continues_chain(const struct dpe_node *node, enum dpe_node_kind kind);

/* ε ∈ ⟦node⟧ */
bool dpe_nullable(const struct dpe_node *node);
/* An action or a control variable inside, which has effects beyond its operand. Accepts NULL. */
bool dpe_has_side_effects(const struct dpe_node *node);
/* Operands of some & share an event. Accepts NULL. */
bool dpe_shares_events(const struct dpe_rule *rule, const struct dpe_node *node);
/* Each behaviour with an event binds the same variables. */
bool dpe_binds_alike(const struct dpe_rule *rule, const struct dpe_node *node);

/* For a `detect` rule: an expression with fewer matches, one for each event that completes one of the rule; the rule's
 * own if nothing can be left out. No condition and no action may name positions or be at one. */
const struct dpe_node *dpe_search_form(struct dpe_arena *arena, const struct dpe_rule *rule);

#endif
