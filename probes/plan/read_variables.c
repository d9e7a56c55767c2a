/* Variables of the program that probes read at events. */
#include "probes/plan/site_passes.h"

#include <stdlib.h>
#include <string.h>

/* ---- finding ----------------------------------------------------------------------------- */

/* Conditions that are the same at all sites. */
static char *check_read(const struct dpe_read *read)
{
	if (read->at_data)
		return dpe_xasprintf("text is read at functions, lines and USDT probes, not where "
				     "variables or objects are accessed");
	if (read->longest >= DPE_TEXT_SIZE)
		return dpe_xasprintf(
			"it is compared with a string of %zu bytes: text of the program "
			"is known up to %d",
			read->longest, DPE_TEXT_SIZE - 1);
	return NULL;
}

bool dpe_read_check_arithmetic(
	const struct dpe_read *read, const struct dpe_variable *variable, struct dpe_diags *diags)
{
	if (!read->computed || !variable->is_real)
		return true;
	dpe_diag(diags, DPE_ERROR, read->place,
		"'%s' is a floating point number, which can only be compared and printed", read->lvalue);
	return false;
}

/* `time` where `.time` is meant, or the word of another tool for it. */
static void suggest_field(const struct dpe_read *read, struct dpe_diags *diags)
{
	static const struct {
		const char *word, *field;
	} fields[] = {
		{"tid", "tid"}, {"pid", "pid"}, {"process", "process"}, {"time", "time"}, {"nsecs", "time"}, {"ret", "ret"},
		{"retval", "ret"}, {"args", "args[0]"}, {"arg0", "args[0]"}, {"arg1", "args[1]"}, {"comm", "comm"},
		{"host", "host"}, {"access", "access"},
	};

	for (unsigned i = 0; i < DPE_COUNT(fields); i++) {
		if (!strcmp(read->lvalue, fields[i].word))
			dpe_diag(diags, DPE_NOTE, read->place,
				"the field of an event is written .%s in its condition, and $1.%s in an action", fields[i].field,
				fields[i].field);
	}
}

static bool find_one(struct dpe_probes *probes, unsigned number, struct dpe_diags *diags)
{
	const struct dpe_read *read = &probes->plan->reads[number];
	char *why = check_read(read);

	if (!why && dpe_variable_argument(read->lvalue) >= 0)
		return true; /* found for each site, see argument_reads.c */
	if (!why)
		why = dpe_variable_find_in(&probes->modules, read->lvalue, &probes->reads[number]);
	if (!why && probes->follows && !probes->reads[number].module->program)
		why = dpe_xasprintf("it is in %s, which each process may have at another address "
				    "(without --follow or dpe explore)",
			probes->reads[number].module->name);
	if (!why)
		why = dpe_variable_check(&probes->reads[number]);
	if (why) {
		dpe_diag(diags, DPE_ERROR, read->place, "'%s' cannot be read: %s", read->lvalue, why);
		suggest_field(read, diags);
	}
	free(why);
	return !why && dpe_read_check_arithmetic(read, &probes->reads[number], diags);
}

/* False after a diagnostic: actions would read the variable of the specification where the program's may be meant. */
static bool check_assigned(struct dpe_probes *probes, const struct dpe_plan_assigned *assigned, struct dpe_diags *diags)
{
	struct dpe_module *program = dpe_modules_program(&probes->modules);
	struct dpe_variable variable;
	char *problem = program ? dpe_variable_find(program, assigned->name, &variable) : dpe_xstrdup("");
	bool hides = !problem;

	free(problem);
	if (hides)
		dpe_diag(diags, DPE_ERROR, assigned->place,
			"an action assigns '%s', which is not declared, and the program has a variable of that "
			"name: write 'var %s;' if it is one of the specification, else use another name here",
			assigned->name, assigned->name);
	return !hides;
}

/* ---- how many one event carries ----------------------------------------------------------- */

const struct dpe_variable *dpe_read_variable(
	const struct dpe_probes *probes, const struct dpe_site *site, unsigned read)
{
	if (site && dpe_variable_argument(probes->plan->reads[read].lvalue) >= 0)
		return &site->reached[read];
	return &probes->reads[read];
}

unsigned dpe_read_slots(const struct dpe_variable *variable)
{
	return variable->is_wide ? 2 : 1;
}

static unsigned count_slots(
	const struct dpe_probes *probes, const struct dpe_site *site, uint64_t reads)
{
	unsigned count = 0;

	for (unsigned i = 0; i < probes->plan->nreads && i < DPE_READS; i++)
		count += reads >> i & 1 ? dpe_read_slots(dpe_read_variable(probes, site, i)) : 0;
	return count;
}

static unsigned count_texts(const struct dpe_plan *plan, uint64_t reads)
{
	unsigned count = 0;

	for (unsigned i = 0; i < plan->nreads && i < DPE_READS; i++)
		count += reads >> i & 1 && dpe_lvalue_is_text(plan->reads[i].lvalue);
	return count;
}

static bool check_count(const struct dpe_probes *probes, const struct dpe_site *site,
	uint64_t reads, dpe_name event, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	const char *name = dpe_name_text(probes->names, event);
	unsigned count = count_slots(probes, site, reads), texts = count_texts(plan, reads);

	if (count > DPE_VALUES)
		dpe_diag(diags, DPE_ERROR, plan->reads[63 - __builtin_clzll(reads)].place,
			"the rules want %u variables of the program at '%s': one event carries %d",
			count, name, DPE_VALUES);
	else if (texts > DPE_TEXTS)
		dpe_diag(diags, DPE_ERROR, plan->reads[63 - __builtin_clzll(reads)].place,
			"the rules want %u texts of the program at '%s': one event carries %d",
			texts, name, DPE_TEXTS);
	return count <= DPE_VALUES && texts <= DPE_TEXTS;
}

static bool check_counts(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	bool good = true;

	for (unsigned i = 0; i < probes->nsites; i++)
		good &= check_count(probes, &probes->sites[i], probes->sites[i].reads,
			probes->sites[i].wanted->name, diags);
	for (unsigned i = 0; i < probes->nwatches; i++)
		good &= check_count(
			probes, NULL, probes->watches[i].reads, probes->watches[i].event, diags);
	for (unsigned i = 0; i < plan->nobjects; i++)
		good &= check_count(probes, NULL, plan->objects[i].reads,
			plan->objects[i].object->access, diags);
	return good;
}

bool dpe_reads_find(struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	bool complete = true;

	if (plan->nreads > DPE_READS) {
		dpe_diag(diags, DPE_ERROR, plan->reads[DPE_READS].place,
			"the rules want more than %d variables of the program", DPE_READS);
		return false;
	}
	probes->reads = dpe_xcalloc(plan->nreads, sizeof(*probes->reads));
	for (unsigned i = 0; i < plan->nreads; i++)
		complete &= find_one(probes, i, diags);
	for (unsigned i = 0; i < plan->nassigned; i++)
		complete &= check_assigned(probes, &plan->assigned[i], diags);
	return complete && check_counts(probes, diags);
}

bool dpe_reads_have_room(const struct dpe_probes *probes, const struct dpe_site *site)
{
	return count_slots(probes, site, site->reads) <= probes->max_values &&
	       count_texts(probes->plan, site->reads) <= DPE_TEXTS;
}

/* ---- limits ------------------------------------------------------------------------------ */

static void raise(unsigned *max, unsigned count)
{
	if (*max < count)
		*max = count;
}

unsigned dpe_reads_max(const struct dpe_probes *probes)
{
	unsigned max = 0;

	/* A site that is found later may need all of them, each as two values. */
	if (probes->awaited || probes->follows)
		return 2 * probes->plan->nreads < DPE_VALUES ? 2 * probes->plan->nreads
							     : DPE_VALUES;
	for (unsigned i = 0; i < probes->nsites; i++)
		raise(&max, count_slots(probes, &probes->sites[i], probes->sites[i].reads));
	for (unsigned i = 0; i < probes->nwatches; i++)
		raise(&max, count_slots(probes, NULL, probes->watches[i].reads));
	for (unsigned i = 0; i < probes->object_watches->nkinds; i++)
		raise(&max, count_slots(probes, NULL, probes->object_watches->kinds[i].watch.reads));
	return max;
}

bool dpe_reads_texts(const struct dpe_probes *probes)
{
	for (unsigned i = 0; i < probes->plan->nreads; i++) {
		if (dpe_lvalue_is_text(probes->plan->reads[i].lvalue))
			return true;
	}
	return false;
}
