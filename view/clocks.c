/* How far the clocks of hosts are apart, by what was sent and received: nothing arrives before it was sent. It is said, and
 * never used as order. */
#include "view/collection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <uthash.h>

/* What the second host's clock is ahead of the first one's, in ns: bounds. */
struct clock_offset {
	struct {
		dpe_name first, second;
	} hosts;
	int64_t least, max; /* INT64_MIN, INT64_MAX: unknown */
	UT_hash_handle hh;
};

static struct clock_offset *find_offset(struct clock_offset **offsets, dpe_name first, dpe_name second)
{
	struct clock_offset *offset, key = {.hosts = {first, second}};

	HASH_FIND(hh, *offsets, &key.hosts, sizeof(key.hosts), offset);
	if (!offset) {
		offset = dpe_xcalloc(1, sizeof(*offset));
		*offset = (struct clock_offset){.hosts = key.hosts, .least = INT64_MIN, .max = INT64_MAX};
		HASH_ADD(hh, *offsets, hosts, sizeof(offset->hosts), offset);
	}
	return offset;
}

/* An edge takes no negative time. */
static void take_edge(struct clock_offset **offsets, const struct dpe_view *view, uint32_t from, uint32_t to)
{
	const struct dpe_view_row *sent = &view->events[from], *received = &view->events[to];
	dpe_name sender = view->lanes[sent->lane].host, receiver = view->lanes[received->lane].host;
	int64_t passed = received->time - sent->time;
	struct clock_offset *offset;

	if (!sender || !receiver || sender == receiver || !sent->has_time || !received->has_time)
		return;
	offset = find_offset(offsets, sender < receiver ? sender : receiver, sender < receiver ? receiver : sender);
	if (sender < receiver && passed < offset->max)
		offset->max = passed;
	if (sender > receiver && -passed > offset->least)
		offset->least = -passed;
}

static void add_host(struct dpe_text *to, const struct dpe_view *view, dpe_name host)
{
	dpe_text_puts(to, dpe_name_text(view->texts, host));
}

static void add_time(struct dpe_text *to, int64_t ns)
{
	dpe_text_printf(to, "%" PRId64 ".%06" PRId64 " ms", ns / 1000000, ns % 1000000);
}

/* Only if some message would have arrived before it was sent; otherwise the clocks may agree. */
static void note_offset(struct dpe_view *view, const struct clock_offset *offset)
{
	bool behind = offset->max < 0, ahead = offset->least > 0;
	bool bounded = behind ? offset->least != INT64_MIN : offset->max != INT64_MAX;
	int64_t least = behind ? -offset->max : offset->least, max = behind && bounded ? -offset->least : offset->max;
	struct dpe_text text = {0};

	if (!behind && !ahead)
		return;
	dpe_text_puts(&text, "the clock of ");
	add_host(&text, view, offset->hosts.second);
	dpe_text_puts(&text, bounded ? " is between " : " is at least ");
	add_time(&text, least);
	if (bounded) {
		dpe_text_puts(&text, " and ");
		add_time(&text, max);
	}
	dpe_text_puts(&text, behind ? " behind that of " : " ahead of that of ");
	add_host(&text, view, offset->hosts.first);
	dpe_text_puts(&text, ", by what was sent and received");
	dpe_view_note(view, text.at);
	dpe_text_free(&text);
}

void dpe_view_note_clocks(struct dpe_view *view)
{
	struct clock_offset *offsets = NULL, *offset, *next;

	for (uint32_t i = 0, edge = 0; i < view->nrows; i++)
		for (; edge < view->events[i].edges; edge++)
			take_edge(&offsets, view, view->edges[edge], i);
	HASH_ITER (hh, offsets, offset, next) {
		note_offset(view, offset);
		HASH_DEL(offsets, offset);
		free(offset);
	}
}
