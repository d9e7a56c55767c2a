/* What each rule did at an event, for stepping through a run: the steps that the recognizer traces. */
#include "view/collection.h"

#include <inttypes.h>
#include <string.h>

static dpe_name slice_of(struct dpe_view *view, const struct dpe_trace *trace)
{
	struct dpe_text text = {0};
	dpe_name slice;

	dpe_trace_print_slice(&text, view->names, trace);
	slice = dpe_view_text(view, text.at);
	dpe_text_free(&text);
	return slice;
}

static const char *kind_of(const struct dpe_trace *trace)
{
	switch (trace->kind) {
	case DPE_TRACE_BEGAN:
		return "begins";
	case DPE_TRACE_IGNORED:
		return "ignores it: no condition makes it an event of the slice";
	case DPE_TRACE_TOOK:
		return trace->matched ? "takes it, which completes a match" : "takes it";
	case DPE_TRACE_REFUSED:
		return "refuses it";
	case DPE_TRACE_ENDED:
		return "ends";
	default:
		return NULL;
	}
}

/* [row, slice, what it does, configurations or partial matches after it, rows of immediate predecessors, rule,
 * states after it as pairs of the automaton's number and the state's, what may come next] */
static void add_step(struct dpe_view *view, const struct dpe_trace *trace, uint32_t event)
{
	struct dpe_text *to = &view->steps;
	unsigned count = 0;

	dpe_text_printf(to, "%s[%u,%u,%u,%" PRIu64 ",[", to->len ? ",\n" : "", event, slice_of(view, trace),
		dpe_view_text(view, kind_of(trace)), trace->kind == DPE_TRACE_TOOK ? trace->count : 0);
	for (unsigned i = 0; i < trace->nafter; i++) {
		uint32_t after = dpe_view_find(view, trace->after[i]);

		if (after != DPE_VIEW_NONE)
			dpe_text_printf(to, "%s%u", count++ ? "," : "", after);
	}
	dpe_text_printf(to, "],%u,[", dpe_view_rule(view, trace->rule));
	for (unsigned i = 0; i < trace->nstates; i++)
		dpe_text_printf(to, "%s%u,%" PRIu32, i ? "," : "", trace->states[i].automaton, trace->states[i].state);
	dpe_text_puts(to, "],[");
	for (unsigned i = 0; i < trace->nexpected; i++)
		dpe_text_printf(to, "%s%u", i ? "," : "", dpe_view_text(view, trace->expected[i]));
	dpe_text_puts(to, "]]");
}

void dpe_view_automata(struct dpe_view *view, const struct dpe_rule *rule, const char *json)
{
	dpe_text_printf(&view->automata, "%s\"%u\":%s", view->automata.len ? "," : "", dpe_view_rule(view, rule), json);
}

void dpe_view_step(struct dpe_view *view, const struct dpe_trace *trace)
{
	uint32_t event = trace->rule && trace->message && kind_of(trace) ? dpe_view_find(view, trace->message) : DPE_VIEW_NONE;

	if (event == DPE_VIEW_NONE)
		return;
	if (view->nsteps++ < DPE_VIEW_STEPS)
		add_step(view, trace, event);
	else
		view->left_steps++;
}
