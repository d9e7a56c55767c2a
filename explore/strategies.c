/* strategies: their names, and which one each run of the portfolio uses. */
#include "explore/runs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Each finds bugs that the others rarely find; surw finds most. What `random` finds, surw and pos find
 * sooner. */
static const struct dpe_strategy PORTFOLIO[] = {
	{DPE_SCHED_DELAY, .depth = 0},
	{DPE_SCHED_SURW, .depth = 0},
	{DPE_SCHED_POS, .depth = 0},
	{DPE_SCHED_SURW, .depth = 0},
	{DPE_SCHED_DELAY, .depth = 0},
	{DPE_SCHED_DFS, .depth = 0},
	{DPE_SCHED_ROUNDS, .depth = 0},
	{DPE_SCHED_PLACES, .depth = 0}, /* surw and places not behind dfs, whose runs may end early and say little of the next one */
	{DPE_SCHED_DELAY, .depth = 0},
	{DPE_SCHED_SURW, .depth = 0},
	{DPE_SCHED_POS, .depth = 0},
	{DPE_SCHED_SURW, .depth = 0},
	{DPE_SCHED_PLACES, .depth = 0},
	{DPE_SCHED_DFS, .depth = 0},
	{DPE_SCHED_ROUNDS, .depth = 0},
	{DPE_SCHED_SURW, .depth = 0},
};

static bool find_simple(const char *name, struct dpe_strategy *found)
{
	static const struct {
		const char *name;
		struct dpe_strategy strategy;
	} NAMES[] = {
		{"random", {DPE_SCHED_RANDOM, .depth = 0}},
		{"pos", {DPE_SCHED_POS, .depth = 0}},
		{"surw", {DPE_SCHED_SURW, .depth = 0}},
		{"places", {DPE_SCHED_PLACES, .depth = 0}},
		{"delay", {DPE_SCHED_DELAY, .depth = 0}},
		{"rounds", {DPE_SCHED_ROUNDS, .depth = 0}},
		{"dfs", {DPE_SCHED_DFS, .bound = UINT_MAX}},
		{"dfs-full", {DPE_SCHED_DFS, .bound = UINT_MAX, .full = true}},
	};

	for (unsigned i = 0; i < DPE_COUNT(NAMES); i++)
		if (!strcmp(name, NAMES[i].name)) {
			*found = NAMES[i].strategy;
			return true;
		}
	return false;
}

/* The number after "name:", and nothing else. */
static bool has_number(const char *text, const char *name, unsigned *number)
{
	size_t len = strlen(name);
	int end = 0;

	return !strncmp(text, name, len) && text[len] >= '0' && text[len] <= '9' &&
	       sscanf(text + len, "%6u%n", number, &end) == 1 && !text[len + (size_t)end];
}

bool dpe_strategy_find(const char *name, unsigned run, struct dpe_strategy *found)
{
	unsigned number;

	*found = PORTFOLIO[run % DPE_COUNT(PORTFOLIO)];
	if (!strcmp(name, "portfolio") || find_simple(name, found))
		return true;
	if (has_number(name, "pct:", &number)) {
		*found = (struct dpe_strategy){DPE_SCHED_PCT, .depth = number};
		return number >= 1 && number <= DPE_SCHED_DEPTH;
	}
	*found = (struct dpe_strategy){DPE_SCHED_DFS, .full = !strncmp(name, "dfs-full:", 9)};
	return has_number(name, "dfs:", &found->bound) || has_number(name, "dfs-full:", &found->bound);
}
