/* Trace events for --trace: what slices do with events. */
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>

void dpe_trace_print_slice(struct dpe_text *to, const struct dpe_names *names, const struct dpe_trace *trace)
{
	const char *between = " {";

	dpe_text_puts(to, trace->rule->name);
	for (unsigned i = 0; i < trace->rule->nvariables; i++) {
		if (trace->params[i].kind == DPE_NONE)
			continue;
		dpe_text_printf(to, "%s%s = ", between, dpe_name_text(names, trace->rule->variables[i]));
		dpe_value_print(to, trace->params[i]);
		between = ", ";
	}
	dpe_text_puts(to, *between == ',' ? "}" : "");
}

bool dpe_is_traced(const struct dpe_recognizer *recognizer)
{
	return recognizer->sink.trace;
}

void dpe_trace(struct dpe_recognizer *recognizer, const struct dpe_trace *trace)
{
	recognizer->sink.trace(recognizer->sink.context, trace);
}

void dpe_trace_slice(const struct dpe_run *run, const struct dpe_slice *slice,
	enum dpe_trace_kind kind, const struct dpe_occurrence *occurrence)
{
	const struct dpe_trace trace = {
		.kind = kind,
		.message = occurrence ? occurrence->message : NULL,
		.rule = run->rule,
		.params = slice->params,
	};

	if (dpe_is_traced(run->recognizer))
		dpe_trace(run->recognizer, &trace);
}

void dpe_trace_take(const struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_occurrence *occurrence, struct dpe_trace step)
{
	const struct dpe_message **after = dpe_xcalloc(run->preds.count + 1, sizeof(struct dpe_message *));

	for (unsigned i = 0; i < run->preds.count; i++)
		after[i] = run->preds.at[i]->message;
	step.kind = step.count || step.matched ? DPE_TRACE_TOOK : DPE_TRACE_REFUSED;
	step.message = occurrence->message;
	step.rule = run->rule;
	step.params = slice->params;
	step.after = after;
	step.nafter = run->preds.count;
	dpe_trace(run->recognizer, &step);
	free(after);
}

void dpe_trace_forgot(const struct dpe_run *run, const struct dpe_slice *slice, uint64_t count)
{
	const struct dpe_trace trace = {
		.kind = DPE_TRACE_FORGOT,
		.rule = run->rule,
		.params = slice->params,
		.count = count,
	};

	if (count && dpe_is_traced(run->recognizer))
		dpe_trace(run->recognizer, &trace);
}
