/* The terminal of `dpe top`, by ncurses: draws a model, and makes commands of keys. */
#ifndef DPE_CLI_TOP_SCREEN_H
#define DPE_CLI_TOP_SCREEN_H

#include "dpe/dpe-recognizer.h"

#include <stdio.h>
#include <sys/types.h>

struct cli_screen_event {
	dpe_name name;
	enum dpe_phase phase;
	char *text; /* owned */
	uint64_t count, before; /* now, and when it was drawn last */
	uint64_t lost;
};

/* What the screen shows. */
struct cli_screen_model {
	const char *target;
	pid_t pid;
	bool target_ended; /* the target has ended */
	uint64_t seconds, lost, found;
	uint64_t time, passed; /* ms: of the counts, and since those before */
	struct cli_screen_event *events;
	struct dpe_rule_state *rules;
	char **waits;
	struct dpe_text *findings; /* each as it was reported */
	unsigned nevents, capevents, nrules, caprules, nwaits, capwaits, nfindings, capfindings;
	unsigned selected; /* finding */
	char *pane;        /* a text that covers the rest; NULL: none */
	unsigned first;    /* line of the pane that is shown */
};

enum cli_screen_command {
	CLI_SCREEN_NOTHING,
	CLI_SCREEN_LEAVE,
	CLI_SCREEN_OPEN,   /* the selected finding */
	CLI_SCREEN_WAITS,
	CLI_SCREEN_STATES, /* of slices */
	CLI_SCREEN_OUTPUT,
	CLI_SCREEN_CLOSE,  /* the pane */
};

struct cli_screen;
/* NULL: the terminal is of no known kind. Borrows the streams. */
struct cli_screen *cli_screen_open(FILE *to, FILE *from);
void cli_screen_close(struct cli_screen *screen); /* restores the terminal; accepts NULL */
void cli_screen_draw(struct cli_screen *screen, struct cli_screen_model *model);
/* Takes a key if there is one, which `*taken` says; moves what is selected or shown. */
enum cli_screen_command cli_screen_key(struct cli_screen *screen, struct cli_screen_model *model, bool *taken);

#endif
