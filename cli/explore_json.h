/* The report of an exploration as JSON Lines, described in docs/formats.md. Private to cli. */
#ifndef DPE_CLI_EXPLORE_JSON_H
#define DPE_CLI_EXPLORE_JSON_H

#include "cli/cli.h"
#include "explore/explore.h"

/* What the exploration calls; `to` is a FILE. */
struct dpe_explore_listener cli_explore_json(const struct dpe_explore_options *options);

#endif
