/* Petri nets of rules (paper, appendix I): as blocks, and as places and transitions. */
#ifndef DPE_LANG_RULE_NETS_H
#define DPE_LANG_RULE_NETS_H

#include "dpe-lang/dpe-lang.h"

/* ---- blocks ------------------------------------------------------------------------------- */

/* The net of a rule as it is composed: a block for each operator, with one entry and one exit. The
 * token game needs no more: a token is before or after an event, or passes through blocks. Unlike an
 * automaton a net does not grow with the number of operands of &, and has `@` and control variables. */

#define DPE_NO_CONTROL UINT32_MAX

struct dpe_block {
	/* EVENT: literal, position; an event of both operands of PAR is one transition. GROUP: action, at
	 * each event that completes left. ACTION: when the event after the token's passage takes it. */
	enum dpe_node_kind kind;
	unsigned literal, position; /* of events */
	unsigned control;           /* STAR: the control variable, or DPE_NO_CONTROL */
	bool wanted;                /* something can follow, so its last events matter */
	bool alike;                 /* CLOSURE: all copies bind the same variables */
	bool single;                /* CLOSURE: at most one copy, see dpe_blocks_keep_one_copy */
	const bool *literals;       /* by literal: it occurs within */
	const struct dpe_stmt *action;
	const struct dpe_block *left, *right;
};

struct dpe_blocks {
	struct dpe_arena *arena;
	const struct dpe_block *root;
	unsigned ncontrols, nactions;
	bool synchronises; /* operands of some & have an event in common */
	const struct dpe_stmt *const *actions; /* of all blocks */
};

/* The rule must outlive the blocks. */
struct dpe_blocks *dpe_blocks_new(const struct dpe_rule *rule);
/* The same, with an event on every path through a round of a repetition, as nets need it. */
struct dpe_blocks *dpe_blocks_new_for_net(const struct dpe_rule *rule);
/* For a search of convex sets that nobody asks about events at positions: of an @ that nothing of a
 * match precedes, or follows, one copy is enough if all bind the same variables. Without effect where
 * operands of & share events, or there are actions or control variables. */
void dpe_blocks_keep_one_copy(struct dpe_blocks *blocks);
/* ε ∈ ⟦block⟧ */
bool dpe_block_nullable(const struct dpe_block *block);
void dpe_blocks_free(struct dpe_blocks *blocks); /* accepts NULL */

/* ---- places and transitions ------------------------------------------------------------------ */

#define DPE_SILENT UINT32_MAX

struct dpe_transition {
	unsigned literal; /* or DPE_SILENT */
	unsigned ninputs, noutputs, ninhibitors;
	const unsigned *inputs, *outputs; /* places */
	const unsigned *inhibitors;       /* places that must be empty */
};

/* A behaviour takes one token from place `start` to place `end`, and leaves no other token. The net
 * is 1-safe unless it is unbounded or extended. */
struct dpe_net {
	struct dpe_arena *arena;
	unsigned nplaces, ntransitions, start, end;
	const struct dpe_transition *transitions;
	bool unbounded; /* copies of an `@` are tokens of the same places */
	bool extended;  /* some transition has inhibitors */
};

/* NULL and a diagnostic where the rule has control variables. */
struct dpe_net *dpe_net_new(const struct dpe_rule *rule, struct dpe_diags *diags);
void dpe_net_free(struct dpe_net *net); /* accepts NULL */
/* DPE_EMIT_NET, _NET_DOT or _PNML; of the latter the element of the document's net `number`. False and
 * a diagnostic where PNML's P/T nets cannot express it: they have no inhibitor arcs. */
bool dpe_net_emit(const struct dpe_net *net, const struct dpe_rule *rule, enum dpe_emit emit,
	unsigned number, struct dpe_text *to, struct dpe_diags *diags);

#endif
