/* macrosteps: the execution tree of a run that goes on from one macrostep to the next. Private to explore. */
#ifndef DPE_EXPLORE_MACROSTEPS_H
#define DPE_EXPLORE_MACROSTEPS_H

#include "explore/runs.h"

/* A collective breakpoint: every thread stands at an operation, and one of them is chosen; or an end of
 * the run. The first node is that of the first choice. */
struct dpe_macrostep {
	struct dpe_macrostep *parent, *first, *last, *next; /* children, in the order in which they were visited */
	unsigned number; /* from 1 */
	unsigned depth;  /* choices before it */
	uint16_t chosen; /* the thread that led here … */
	struct dpe_sched_op op; /* … by this operation */
	bool is_switch;  /* which was not the usual choice: */
	struct dpe_sched_switch change;
	uint32_t steps;  /* of the current thread, which tell whether a replay came here again */
	uint16_t current, count; /* threads that can go on; 0: not visited yet */
	char *end;       /* what the run ended with; NULL: it is no end */
	bool found;      /* that is a finding */
	char *name;      /* a meta-breakpoint; or NULL */
};

struct dpe_macrostep_tree {
	struct dpe_macrostep **all;
	unsigned count, cap;
};
/* The child by this thread; NULL: there are too many nodes. */
struct dpe_macrostep *dpe_macrostep_child(struct dpe_macrostep_tree *tree, struct dpe_macrostep *parent, unsigned thread);
struct dpe_macrostep *dpe_macrostep_named(const struct dpe_macrostep_tree *tree, const char *name);
/* Gives the name to this node only. */
void dpe_macrostep_name(const struct dpe_macrostep_tree *tree, struct dpe_macrostep *step, const char *name);
void dpe_macrostep_tree_free(struct dpe_macrostep_tree *tree);
/* As text, a line a macrostep; where paths part they are indented. */
void dpe_macrostep_tree_print(const struct dpe_macrostep_tree *tree, const struct dpe_symbols *symbols,
	const struct dpe_macrostep *here, struct dpe_text *to);
/* For Graphviz. */
void dpe_macrostep_tree_draw(const struct dpe_macrostep_tree *tree, const struct dpe_symbols *symbols,
	const struct dpe_macrostep *here, struct dpe_text *to);

#endif
