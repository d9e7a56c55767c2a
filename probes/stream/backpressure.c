/* backpressure: while all processors are busy with other threads, rings that are far from full are not read, and events
 * that were read are not yet delivered: the target keeps its cache lines and its processors. Only for a limited time,
 * and not for a target that makes few events or has become quiet. */
#include "probes/stream/backpressure.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MILLISECOND UINT64_C(1000000)
#define LONGEST_UNREAD (8 * MILLISECOND)
#define CROWDED_FOR (20 * MILLISECOND)
static const unsigned FULL_ENOUGH = 12; /* percent; unless there is */
#define ROOM_ENOUGH 250000              /* events, more than a thread writes in 4 ms */
/* Events that cost less than asking whether there is a processor for them. */
#define FEW 128

void dpe_pace_open(struct dpe_pace *pace, const char *path, const struct dpe_pace *limits)
{
	*pace = (struct dpe_pace){
		.load = open(path, O_RDONLY | O_CLOEXEC),
		.processors = limits->processors,
		.most = limits->most,
		.longest = limits->longest,
	};
}

void dpe_pace_close(struct dpe_pace *pace)
{
	if (pace->processors && pace->load >= 0)
		close(pace->load);
	*pace = (struct dpe_pace){0};
}

/* Threads that run or wait for a processor, the one that asks among them, are the first of two
 * numbers with a slash between them. 0: that cannot be told. */
static unsigned long count_running(const struct dpe_pace *pace)
{
	char text[128];
	ssize_t got = pace->load < 0 ? -1 : pread(pace->load, text, sizeof(text) - 1, 0);
	const char *number;

	if (got <= 0)
		return 0;
	text[got] = '\0';
	number = strchr(text, '/');
	while (number && number > text && number[-1] >= '0' && number[-1] <= '9')
		number--;
	return number ? strtoul(number, NULL, 10) : 0;
}

/* A thread that waits for another's lock wants no processor at the moment, and will in the next. */
static bool is_crowded(struct dpe_pace *pace, uint64_t now)
{
	if (count_running(pace) > pace->processors)
		pace->crowded = now;
	return pace->crowded && now < pace->crowded + CROWDED_FOR;
}

bool dpe_pace_leaves(struct dpe_pace *pace, uint64_t now, const struct dpe_backlog *backlog)
{
	return backlog->unread > FEW &&
	       (backlog->percent < FULL_ENOUGH || backlog->room > ROOM_ENOUGH) &&
	       now < pace->read + LONGEST_UNREAD && is_crowded(pace, now);
}

/* Two looks one right after the other say nothing of how much comes. */
void dpe_pace_read(struct dpe_pace *pace, uint64_t now, uint64_t brought)
{
	uint64_t since = now - pace->counted;

	pace->read = now;
	pace->sum += brought;
	if (since < MILLISECOND)
		return;
	pace->rate = pace->sum * MILLISECOND / since;
	pace->brought = pace->sum;
	pace->counted = now;
	pace->sum = 0;
}

uint64_t dpe_pace_due(struct dpe_pace *pace, uint64_t now, uint64_t held, size_t bytes)
{
	if (pace->brought <= FEW || held <= FEW || bytes >= pace->most || !is_crowded(pace, now))
		return UINT64_MAX;
	return now - pace->longest;
}
