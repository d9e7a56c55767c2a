/* macrosteps: the execution tree of a stepped run. Private to explore. */
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
	bool is_switch;  /* if that was not the default choice: */
	struct dpe_sched_switch change;
	uint32_t steps;  /* number of the current thread's operation, which shows whether a replay came here
			  * again */
	uint16_t current, count; /* threads that can proceed; 0: not visited yet */
	char *end;       /* how the run ended; NULL: it did not end here */
	bool found;      /* that end is a finding */
	char *name;      /* a meta-breakpoint; or NULL */
};

struct dpe_macrostep_tree {
	struct dpe_macrostep **all;
	unsigned count, cap;
};
/* The child for a step of this thread; NULL if there are too many nodes. */
struct dpe_macrostep *dpe_macrostep_child(struct dpe_macrostep_tree *tree, struct dpe_macrostep *parent, unsigned thread);
struct dpe_macrostep *dpe_macrostep_named(const struct dpe_macrostep_tree *tree, const char *name);
/* Gives the name to this node only. */
void dpe_macrostep_name(const struct dpe_macrostep_tree *tree, struct dpe_macrostep *step, const char *name);
void dpe_macrostep_tree_free(struct dpe_macrostep_tree *tree);
/* The tree as text, a line for each macrostep, indented where paths branch. */
void dpe_macrostep_tree_print(const struct dpe_macrostep_tree *tree, const struct dpe_symbols *symbols,
	const struct dpe_macrostep *here, struct dpe_text *to);
/* For Graphviz. */
void dpe_macrostep_tree_draw(const struct dpe_macrostep_tree *tree, const struct dpe_symbols *symbols,
	const struct dpe_macrostep *here, struct dpe_text *to);

#endif
