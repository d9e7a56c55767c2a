/* The neighbourhood of the first finding as a graph for Graphviz: its events, those before and after them in their threads, and
 * the sources of edges that enter any of these. */
#include "view/collection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct graph {
	const struct dpe_view *view;
	FILE *to;
	uint32_t *before; /* in its thread, plus one; 0: none */
	uint8_t *shown;   /* 1: near; 2: of the finding */
};

/* \n and the like are Graphviz's own. */
void dpe_view_put_dot(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', to);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
	}
	fputc('"', to);
}

static void link_lanes(struct graph *graph)
{
	uint32_t *last = dpe_xcalloc(graph->view->nlanes + 1, sizeof(*last));

	for (uint32_t i = 0; i < graph->view->nrows; i++) {
		uint32_t *before = &last[graph->view->events[i].lane];

		graph->before[i] = *before && dpe_view_are_ordered(graph->view, *before - 1, i) ? *before : 0;
		*before = i + 1;
	}
	free(last);
}

/* The distance in a lane is counted forwards in one pass, and backwards in steps. */
static void choose(struct graph *graph)
{
	const struct dpe_view *view = graph->view;
	uint32_t *since = dpe_xcalloc(view->nlanes + 1, sizeof(*since)); /* events left to be shown after one of the finding */

	for (unsigned i = 0; i < view->nmarks && view->marks[i].finding == 0; i++)
		graph->shown[view->marks[i].event] = 2;
	for (uint32_t i = 0; i < view->nrows; i++) {
		uint32_t lane = view->events[i].lane, at = i;

		if (graph->shown[i] == 2) {
			since[lane] = DPE_VIEW_NEAR;
			for (unsigned steps = 0; steps < DPE_VIEW_NEAR && graph->before[at]; steps++) {
				at = graph->before[at] - 1;
				graph->shown[at] |= 1;
			}
		} else if (since[lane]) {
			since[lane]--;
			graph->shown[i] = 1;
		}
	}
	free(since);
}

static void choose_sources(struct graph *graph)
{
	const struct dpe_view *view = graph->view;
	uint8_t *near = dpe_xcalloc(view->nrows + 1, 1);

	memcpy(near, graph->shown, view->nrows);
	for (uint32_t i = 0, edge = 0; i < view->nrows; i++) {
		for (; edge < view->events[i].edges; edge++)
			graph->shown[view->edges[edge]] |= near[i] != 0;
	}
	free(near);
}

static void put_lane(const struct graph *graph, uint32_t lane)
{
	struct dpe_text name = {0};

	dpe_view_print_lane(&name, graph->view, lane);
	fprintf(graph->to, "\tsubgraph cluster_%" PRIu32 " {\n\t\tlabel=", lane);
	dpe_view_put_dot(graph->to, name.at);
	fputs(";\n", graph->to);
	dpe_text_free(&name);
	for (uint32_t i = 0; i < graph->view->nrows; i++) {
		if (!graph->shown[i] || graph->view->events[i].lane != lane)
			continue;
		fprintf(graph->to, "\t\te%" PRIu32 " [label=", i);
		dpe_view_put_dot(graph->to, dpe_name_text(graph->view->keys, graph->view->events[i].label));
		fputs(graph->shown[i] & 2 ? ", color=red, penwidth=2];\n" : "];\n", graph->to);
	}
	fputs("\t}\n", graph->to);
}

/* To the next shown event of the lane, dashed where others lie between; and the edges between lanes. */
static void put_edges(const struct graph *graph)
{
	const struct dpe_view *view = graph->view;

	for (uint32_t i = 0, edge = 0; i < view->nrows; i++) {
		uint32_t before = graph->before[i];

		while (graph->shown[i] && before && !graph->shown[before - 1])
			before = graph->before[before - 1];
		if (graph->shown[i] && before)
			fprintf(graph->to, "\te%" PRIu32 " -> e%" PRIu32 "%s;\n", before - 1, i,
				before == graph->before[i] ? "" : " [style=dashed]");
		for (; edge < view->events[i].edges; edge++) {
			if (graph->shown[i] && graph->shown[view->edges[edge]])
				fprintf(graph->to, "\te%" PRIu32 " -> e%" PRIu32 " [color=blue];\n",
					view->edges[edge], i);
		}
	}
}

static bool has_shown(const struct graph *graph, uint32_t lane)
{
	bool any = false;

	for (uint32_t i = 0; i < graph->view->nrows; i++)
		any |= graph->shown[i] && graph->view->events[i].lane == lane;
	return any;
}

void dpe_view_write_dot(struct dpe_view *view, FILE *to)
{
	struct graph graph = {.view = view, .to = to};

	graph.before = dpe_xcalloc(view->nrows + 1, sizeof(*graph.before));
	graph.shown = dpe_xcalloc(view->nrows + 1, 1);
	link_lanes(&graph);
	choose(&graph);
	choose_sources(&graph);
	fputs("digraph finding {\n\tlabel=", to);
	dpe_view_put_dot(to, view->nmarks ? dpe_name_text(view->keys, view->marks[0].title) : "no finding");
	fputs(";\n\tnode [shape=box, fontname=monospace];\n", to);
	for (uint32_t lane = 0; lane < view->nlanes; lane++) {
		if (has_shown(&graph, lane))
			put_lane(&graph, lane);
	}
	put_edges(&graph);
	fputs("}\n", to);
	free(graph.before);
	free(graph.shown);
}
