/* step_show: where threads are at a macrostep, and which one continues by default. */
#include "explore/stepping.h"

#include "explore/sched/dependence.h"

bool dpe_step_is_possible(const struct dpe_sched_question *question, unsigned thread)
{
	for (unsigned i = 0; i < question->count && i < DPE_SCHED_THREADS; i++)
		if (question->possible[i] == thread)
			return thread < DPE_SCHED_THREADS;
	return false;
}

unsigned dpe_step_default(const struct dpe_stepping *stepping, bool *is_switch)
{
	const struct dpe_sched_header *memory = stepping->server.memory;
	const struct dpe_sched_question *question = &memory->question;
	const struct dpe_sched_thread *current = &memory->threads[question->current];

	for (unsigned i = 0; i < stepping->schedule.count; i++) {
		const struct dpe_sched_switch *at = &stepping->schedule.at[i];

		*is_switch = at->from == question->current && at->step == current->steps &&
			     at->kind == current->op.kind && dpe_step_is_possible(question, at->to);
		if (*is_switch)
			return at->to;
	}
	*is_switch = false;
	return question->by_default;
}

static const char *state_name(const struct dpe_sched_header *memory, unsigned thread)
{
	switch (memory->threads[thread].state) {
	case DPE_SCHED_FINISHED:
		return "over";
	case DPE_SCHED_OUTSIDE:
		return "not controlled";
	default:
		return dpe_step_is_possible(&memory->question, thread) ? "active" : "sleeping";
	}
}

/* What is known of the choice. */
static void print_child(const struct dpe_macrostep *here, unsigned thread, struct dpe_text *to)
{
	for (const struct dpe_macrostep *child = here->first; child; child = child->next)
		if (child->chosen == thread)
			dpe_text_printf(to, "  (#%u%s%s)", child->number, child->end ? ": " : "",
				child->end ? child->end : "");
}

static void print_thread(
	const struct dpe_stepping *stepping, unsigned thread, unsigned by_default, struct dpe_text *to)
{
	const struct dpe_sched_header *memory = stepping->server.memory;
	const struct dpe_sched_thread *at = &memory->threads[thread];
	const char *state = state_name(memory, thread);

	dpe_text_printf(to, "%c thread %u  %-8s  ", thread == by_default ? '>' : ' ', thread + 1, state);
	if (at->state != DPE_SCHED_FINISHED)
		dpe_operation_print(&stepping->server.symbols, &at->op, to);
	if (at->held_by && at->op.kind != DPE_SCHED_JOIN)
		dpe_text_printf(to, ", which thread %u has", at->held_by);
	print_child(stepping->here, thread, to);
	dpe_text_puts(to, "\n");
}

static void print_heading(const struct dpe_stepping *stepping, struct dpe_text *to)
{
	const struct dpe_macrostep *here = stepping->here;

	dpe_text_printf(to, "#%u", here->number);
	if (here->name)
		dpe_text_printf(to, " [%s]", here->name);
	if (here->parent) {
		dpe_text_printf(to, " after thread %u: ", here->chosen + 1u);
		dpe_operation_print(&stepping->server.symbols, &here->op, to);
	}
	dpe_text_puts(to, here->end ? "\n  the run has ended: " : "\n");
	if (here->end)
		dpe_text_printf(to, "%s\n", here->end);
}

/* For --races. */
static void print_races(const struct dpe_stepping *stepping, unsigned thread, struct dpe_text *to)
{
	const struct dpe_sched_thread *threads = stepping->server.memory->threads;

	for (unsigned i = 0; stepping->options->races && i < thread; i++)
		if (threads[i].state == DPE_SCHED_CONTROLLED && threads[thread].state == DPE_SCHED_CONTROLLED &&
			dpe_ops_race(&threads[i].op, &threads[thread].op))
			dpe_text_printf(to, "  threads %u and %u race: both are about to access the same memory\n", i + 1, thread + 1);
}

void dpe_step_show(const struct dpe_stepping *stepping)
{
	struct dpe_text text = {0};
	bool is_switch;
	unsigned by_default = dpe_step_default(stepping, &is_switch), nthreads;

	print_heading(stepping, &text);
	nthreads = stepping->live ? stepping->server.memory->nthreads : 0;
	for (unsigned i = 0; i < nthreads && i < DPE_SCHED_THREADS; i++)
		print_thread(stepping, i, by_default, &text);
	for (unsigned i = 0; i < nthreads && i < DPE_SCHED_THREADS; i++)
		print_races(stepping, i, &text);
	fputs(text.at, stepping->options->to);
	dpe_text_free(&text);
}

