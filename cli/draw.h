/* draw: a few events and how they follow each other, as text. Private to cli. */
#ifndef DPE_CLI_DRAW_H
#define DPE_CLI_DRAW_H

#include "dpe/dpe.h"

struct cli_drawn {
	const char *label;     /* in the drawing */
	const char *name;      /* in the words under it */
	const unsigned *preds; /* its immediate predecessors, which stand before it */
	unsigned npreds;
	int row; /* the row that it belongs to; -1: any that its predecessors allow */
};

/* Events stand in rows, from left to right as they follow each other; what the rows do not say is
 * told in words under them. With `titles` there is one at the beginning of each row, and events
 * that are independent of each other are told as well. */
void cli_draw(struct dpe_text *to, const char *indent, const struct cli_drawn *events,
	unsigned count, const char *const *titles);

/* What lines are made of, one character, and the head of an arrow, as the locale's characters have
 * it. */
const char *cli_draw_line(void);
const char *cli_draw_head(void);

#endif
