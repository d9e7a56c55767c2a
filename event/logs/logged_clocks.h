/* logged_clocks: vector clocks of a log, which order its events. Private to pattern_read.c. */
#ifndef DPE_EVENT_LOGS_LOGGED_CLOCKS_H
#define DPE_EVENT_LOGS_LOGGED_CLOCKS_H

#include "event/logs/import.h"

struct dpe_logged_clock;
struct dpe_logged_clocks {
	struct dpe_logged_clock *at;
	unsigned count, cap;
};

/* Keeps the clock of a message, a JSON object of `len` bytes. False if it has no number for the message's own host. */
bool dpe_clocks_note(struct dpe_logged_clocks *clocks, const char *host, const char *clock, size_t len, unsigned message);
/* Adds ids and predecessors to all messages that have clocks. Returns a host that clocks count events of, and the log has none
 * of, to free(); NULL: there is none. */
char *dpe_clocks_order(struct dpe_logged_clocks *clocks, struct dpe_import *import);
void dpe_clocks_free(struct dpe_logged_clocks *clocks);

#endif
