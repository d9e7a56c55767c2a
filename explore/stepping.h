/* stepping: the state of a stepped run, and what its files share. Private to explore. */
#ifndef DPE_EXPLORE_STEPPING_H
#define DPE_EXPLORE_STEPPING_H

#include "explore/macrosteps.h"

struct dpe_stepping {
	const struct dpe_explore_options *options;
	struct dpe_diags *diags;
	struct dpe_server server;
	struct dpe_macrostep_tree tree;
	struct dpe_schedule schedule; /* followed unless something else is chosen */
	struct dpe_macrostep *here;
	struct dpe_macrostep **path;  /* from the first node to `here`, while the run comes there */
	unsigned at_step, npath;
	bool live; /* the run is here, and waits for a choice */
	unsigned going; /* macrosteps still to be made by the default choice */
	int first_status; /* the exit status that is no finding; -1: any */
	bool to_switch; /* … up to a switch of the schedule */
	bool again;     /* the run is being repeated up to `here` */
	bool quit, broken, found;
};

/* What a command leads to. */
enum dpe_after { DPE_STAY, DPE_GO, DPE_AGAIN, DPE_QUIT };

/* ---- step_show.c ------------------------------------------------------------------------- */

/* Whether the thread can proceed at this choice. */
bool dpe_step_is_possible(const struct dpe_sched_question *question, unsigned thread);
/* The choice of the schedule, or else the default; *is_switch: the former. */
unsigned dpe_step_default(const struct dpe_stepping *stepping, bool *is_switch);
/* Prints where the threads are. */
void dpe_step_show(const struct dpe_stepping *stepping);

/* ---- step_commands.c --------------------------------------------------------------------- */

/* Reads commands until one continues the run. */
enum dpe_after dpe_step_commands(struct dpe_stepping *stepping);
/* Makes the default choice, without a command. */
enum dpe_after dpe_step_continue(struct dpe_stepping *stepping);

#endif
