/* A log for ShiViz: two lines an event, its label and its host with a vector clock. A thread is a host. To be read with
 * (?<event>.*)\n(?<host>\S*) (?<clock>{.*}) */
#include "view/collection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Names without blanks, which end a host's name there. */
static char **name_lanes(const struct dpe_view *view)
{
	char **names = dpe_xcalloc(view->nlanes + 1, sizeof(*names));

	for (uint32_t lane = 0; lane < view->nlanes; lane++) {
		struct dpe_text text = {0}, quoted = {0};

		dpe_view_print_lane(&text, view, lane);
		for (char *at = text.at; *at; at++)
			*at = strchr(" \t\r\n\v\f\"\\{}", *at) ? '-' : *at;
		dpe_text_printf(&text, "-%u", lane + 1);
		dpe_json_string(&quoted, text.at, text.len);
		names[lane] = quoted.at;
		dpe_text_free(&text);
	}
	return names;
}

static void join(uint32_t *clock, const uint32_t *with, uint32_t nlanes)
{
	for (uint32_t i = 0; i < nlanes; i++)
		clock[i] = with[i] > clock[i] ? with[i] : clock[i];
}

/* One line: what would break it becomes a blank. */
static void put_label(FILE *to, const char *label)
{
	for (; *label; label++)
		fputc((unsigned char)*label < ' ' ? ' ' : *label, to);
	fputc('\n', to);
}

static void put_clock(FILE *to, char **names, const uint32_t *clock, uint32_t lane, uint32_t nlanes)
{
	const char *comma = "";

	fprintf(to, "%.*s {", (int)strlen(names[lane]) - 2, names[lane] + 1);
	for (uint32_t i = 0; i < nlanes; i++) {
		if (!clock[i])
			continue;
		fprintf(to, "%s%s:%" PRIu32, comma, names[i], clock[i]);
		comma = ",";
	}
	fputs("}\n", to);
}

uint64_t dpe_view_write_shiviz(struct dpe_view *view, FILE *to)
{
	uint32_t nlanes = view->nlanes, max = DPE_VIEW_CLOCKS / (nlanes + 1);
	uint32_t count = view->nrows < max ? view->nrows : max;
	uint32_t *clocks = dpe_xcalloc((size_t)count * nlanes + 1, sizeof(*clocks)), *last = dpe_xcalloc(nlanes + 1, sizeof(*last));
	char **names = name_lanes(view);

	for (uint32_t i = 0, edge = 0; i < count; i++) {
		const struct dpe_view_row *row = &view->events[i];
		uint32_t *clock = clocks + (size_t)i * nlanes;

		if (last[row->lane])
			join(clock, clocks + (size_t)(last[row->lane] - 1) * nlanes, nlanes);
		for (; edge < row->edges; edge++)
			join(clock, clocks + (size_t)view->edges[edge] * nlanes, nlanes);
		clock[row->lane]++;
		last[row->lane] = i + 1;
		put_label(to, dpe_name_text(view->keys, row->label));
		put_clock(to, names, clock, row->lane, nlanes);
	}
	for (uint32_t lane = 0; lane < nlanes; lane++)
		free(names[lane]);
	free(names);
	free(clocks);
	free(last);
	return view->nrows - count;
}
