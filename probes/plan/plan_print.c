/* Prints the plan for `dpe run --plan`. */
#include "probes/plan/plan.h"

static void print_reads(struct dpe_text *to, const struct dpe_plan *plan, uint64_t reads)
{
	const char *before = ", with ";

	for (unsigned i = 0; i < plan->nreads && i < DPE_READS; i++) {
		if (!(reads >> i & 1))
			continue;
		dpe_text_printf(to, "%s%s", before, plan->reads[i].lvalue);
		before = ", ";
	}
}

static const char *sign_of(enum dpe_op op)
{
	static const char *const signs[] = {"<", ">", "<=", ">=", "==", "!="};

	return signs[op - DPE_OP_LT];
}

/* The filters that the probe evaluates. */
static void print_filters(struct dpe_text *to, const struct dpe_plan *plan,
	const struct dpe_filters *filters, const char *which)
{
	if (filters->all)
		return;
	for (unsigned i = 0; i < filters->count; i++) {
		const struct dpe_filter *filter = &filters->at[i];

		dpe_text_printf(to, i ? " or " : ", %s where ", which);
		dpe_text_printf(to, "%s %s ", plan->reads[filter->read].lvalue,
			sign_of(filter->op));
		if (filter->text)
			dpe_text_printf(to, "\"%s\"", filter->text);
		else
			dpe_text_printf(to, "%lld", (long long)filter->number);
	}
}

static void print_site(struct dpe_text *to, const struct dpe_names *names,
	const struct dpe_plan *plan, const struct dpe_plan_site *site)
{
	if (site->module)
		dpe_text_printf(to, "%s::", dpe_name_text(names, site->module));
	dpe_text_printf(to, "%s: %s", dpe_name_text(names, site->name),
		site->kind     ? "a place in the code"
		: !site->exit  ? "enter"
		: !site->enter ? "exit"
			       : "enter and exit");
	if (site->nargs)
		dpe_text_printf(to, ", %u argument%s", site->nargs, site->nargs == 1 ? "" : "s");
	print_reads(to, plan, site->reads);
	if (site->enter)
		print_filters(to, plan, &site->filters[0], site->exit ? "entries only" : "only");
	if (site->exit)
		print_filters(to, plan, &site->filters[1], site->enter ? "exits only" : "only");
	dpe_text_printf(to, "%s\n", site->optional ? ", where the target has it" : "");
}

void dpe_plan_print(struct dpe_text *to, const struct dpe_names *names, const struct dpe_plan *plan)
{
	for (unsigned i = 0; i < plan->nsites; i++)
		print_site(to, names, plan, &plan->sites[i]);
	for (unsigned i = 0; i < plan->nwatched; i++) {
		dpe_text_printf(to, "%s: %s, by a watchpoint", plan->watched[i].lvalue,
			plan->watched[i].access ? "reads and writes" : "updates");
		print_reads(to, plan, plan->watched[i].reads);
		dpe_text_puts(to, "\n");
	}
	for (unsigned i = 0; i < plan->nobjects; i++) {
		dpe_text_printf(to, "%s: %s, by a watchpoint for each object",
			dpe_name_text(names, plan->objects[i].object->access),
			plan->objects[i].access ? "reads and writes" : "updates");
		print_reads(to, plan, plan->objects[i].reads);
		dpe_text_puts(to, "\n");
	}
	if (plan->threads)
		dpe_text_puts(to, "threads: creation, start and exit\n");
	if (plan->channels)
		dpe_text_puts(to, "pipes, sockets, queues: what is sent and received\n");
	if (plan->waits)
		dpe_text_puts(to, "processes: waits for their end\n");
	for (unsigned i = 0; i < DPE_MEMORY_EVENTS; i++)
		if (plan->memory >> i & 1)
			dpe_text_printf(to, "%s: as the program reports\n", dpe_memory_event(i));
	if (!plan->nsites && !plan->threads && !plan->nwatched && !plan->memory &&
		!plan->channels && !plan->waits)
		dpe_text_puts(to, "nothing\n");
}
