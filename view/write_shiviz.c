/* A log for ShiViz: two lines an event, its label and its host with a vector clock. To be read with
 * (?<event>.*)\n(?<host>\S*) (?<clock>{.*}) */
#include "view/collection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A host is a thread; several threads that share a lane are several hosts. Returns how many events have one: of so many
 * the clocks have no more than DPE_VIEW_CLOCKS numbers. */
static uint32_t choose_hosts(const struct dpe_view *view, uint32_t *hosts, uint32_t *nhosts)
{
	uint32_t *last = dpe_xcalloc(view->nlanes + 1, sizeof(*last)), event = 0; /* last: plus one; 0: none */

	for (; event < view->nrows; event++) {
		uint32_t lane = view->events[event].lane;
		bool goes_on = last[lane] && dpe_view_are_ordered(view, last[lane] - 1, event);
		uint32_t count = *nhosts + !goes_on;

		if (((uint64_t)event + 1) * (count + 1) > DPE_VIEW_CLOCKS)
			break;
		hosts[event] = goes_on ? hosts[last[lane] - 1] : *nhosts;
		*nhosts = count;
		last[lane] = event + 1;
	}
	free(last);
	return event;
}

/* A name without blanks, which end it there. */
static char *name_host(const struct dpe_view *view, uint32_t lane, uint32_t host)
{
	struct dpe_text text = {0}, quoted = {0};

	dpe_view_print_lane(&text, view, lane);
	for (char *at = text.at; *at; at++)
		*at = strchr(" \t\r\n\v\f\"\\{}", *at) ? '-' : *at;
	dpe_text_printf(&text, "-%u", host + 1);
	dpe_json_string(&quoted, text.at, text.len);
	dpe_text_free(&text);
	return quoted.at;
}

static void join(uint32_t *clock, const uint32_t *with, uint32_t nhosts)
{
	for (uint32_t i = 0; i < nhosts; i++)
		clock[i] = with[i] > clock[i] ? with[i] : clock[i];
}

/* One line: what would break it becomes a blank. */
static void put_label(FILE *to, const char *label)
{
	for (; *label; label++)
		fputc((unsigned char)*label < ' ' ? ' ' : *label, to);
	fputc('\n', to);
}

static void put_clock(FILE *to, char **names, const uint32_t *clock, uint32_t host, uint32_t nhosts)
{
	const char *comma = "";

	fprintf(to, "%.*s {", (int)strlen(names[host]) - 2, names[host] + 1);
	for (uint32_t i = 0; i < nhosts; i++) {
		if (!clock[i])
			continue;
		fprintf(to, "%s%s:%" PRIu32, comma, names[i], clock[i]);
		comma = ",";
	}
	fputs("}\n", to);
}

static void put_events(const struct dpe_view *view, FILE *to, const uint32_t *hosts, uint32_t count, uint32_t nhosts)
{
	uint32_t *clocks = dpe_xcalloc((size_t)count * nhosts + 1, sizeof(*clocks));
	uint32_t *last = dpe_xcalloc(nhosts + 1, sizeof(*last)); /* plus one; 0: none */
	char **names = dpe_xcalloc(nhosts + 1, sizeof(*names));

	for (uint32_t i = 0, edge = 0; i < count; i++) {
		const struct dpe_view_row *row = &view->events[i];
		uint32_t *clock = clocks + (size_t)i * nhosts, host = hosts[i];

		if (last[host])
			join(clock, clocks + (size_t)(last[host] - 1) * nhosts, nhosts);
		else
			names[host] = name_host(view, row->lane, host);
		for (; edge < row->edges; edge++)
			join(clock, clocks + (size_t)view->edges[edge] * nhosts, nhosts);
		clock[host]++;
		last[host] = i + 1;
		put_label(to, dpe_name_text(view->keys, row->label));
		put_clock(to, names, clock, host, nhosts);
	}
	for (uint32_t host = 0; host < nhosts; host++)
		free(names[host]);
	free(names);
	free(clocks);
	free(last);
}

uint64_t dpe_view_write_shiviz(struct dpe_view *view, FILE *to)
{
	uint32_t *hosts = dpe_xcalloc(view->nrows + 1, sizeof(*hosts)), nhosts = 0;
	uint32_t count = choose_hosts(view, hosts, &nhosts);

	put_events(view, to, hosts, count, nhosts);
	free(hosts);
	return view->nrows - count;
}
