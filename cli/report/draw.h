/* draw: a few events and their causal order, as text. Private to cli. */
#ifndef DPE_CLI_DRAW_H
#define DPE_CLI_DRAW_H

#include "dpe/dpe.h"

struct cli_drawn {
	const char *label;     /* in the drawing */
	const char *name;      /* in the words below the drawing */
	const unsigned *preds; /* its immediate predecessors, which come earlier in the array */
	unsigned npreds;
	int row; /* its row; -1: any that its predecessors allow */
};

/* Draws events in rows, from left to right in causal order; edges that rows cannot show are
 * listed below. With `titles`, one before each row, independent pairs are listed as well. */
void cli_draw(struct dpe_text *to, const char *indent, const struct cli_drawn *events,
	unsigned count, const char *const *titles);

/* One character of a line, and the head of an arrow, in the locale's character set. */
const char *cli_draw_line(void);
const char *cli_draw_head(void);

#endif
