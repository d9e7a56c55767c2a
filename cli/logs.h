/* Reads logs into a recognizer, for replay and convert. Private to cli. */
#ifndef DPE_CLI_LOGS_H
#define DPE_CLI_LOGS_H

#include "cli/progress.h"

/* Opens a log; NULL after a diagnostic. */
struct dpe_log_reader *cli_open_log(struct cli *cli, const char *path, unsigned index);
/* Feeds all messages, until the end or a break; false if a line was invalid. `progress` may be
 * NULL. */
bool cli_feed_log(struct cli *cli, struct dpe_log_reader *reader, const char *path,
	struct dpe_recognizer *recognizer, struct cli_progress *progress);

#endif
