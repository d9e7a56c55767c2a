/* Reads that start at an argument or a result of a function: what it points to, and members of structures. */
#include "probes/plan/site_passes.h"

#include <stdlib.h>
#include <string.h>

/* A member of a structure that is passed by value is in a word of the call. */
static char *place_part(struct dpe_site *site, unsigned arg,
	struct dpe_variable *variable)
{
	uint64_t offset = variable->address, size = variable->nsteps ? 8 : variable->size;
	const char *why;
	int word, next;

	if (!dpe_signature_is_structure(site->signature, arg)) { /* C++ passes its address */
		if (variable->nsteps == DPE_VARIABLE_STEPS)
			return dpe_xasprintf("it lies behind too many pointers");
		memmove(variable->steps + 1, variable->steps,
			variable->nsteps * sizeof(*variable->steps));
		variable->steps[0] = (int64_t)offset;
		variable->nsteps++;
		variable->address = 0;
		return NULL;
	}
	if (variable->is_text && !variable->nsteps)
		return dpe_xasprintf(
			"of a structure that is passed by value, only numbers and what "
			"pointers point to can be read");
	word = dpe_signature_part(site->signature, arg, offset, &why);
	if (word >= 0 && offset % 8 + size > 8) {
		next = dpe_signature_part(site->signature, arg, offset + 8, &why);
		if (next != word + 1 || offset % 8)
			return dpe_xasprintf("its bytes are in two registers");
	}
	if (word < 0)
		return dpe_xasprintf("%s", why);
	variable->word = (uint8_t)(word + 1);
	variable->address = offset % 8;
	return NULL;
}

static char *place_reached(struct dpe_site *site, const char *lvalue,
	struct dpe_variable *variable)
{
	int arg = dpe_variable_argument(lvalue), word;
	char *why = NULL;

	if (arg == DPE_VARIABLE_RESULT) {
		variable->word = DPE_WORD_RESULT;
		return variable->nsteps ? NULL : dpe_xasprintf("it is not a pointer");
	}
	if (variable->in_structure)
		why = place_part(site, (unsigned)arg, variable);
	word = dpe_signature_word(site->signature, (unsigned)arg);
	if (why || variable->word)
		return why;
	if (word < 0)
		return dpe_xasprintf("argument %d of '%s' is not a pointer that can be read", arg + 1,
			site->function->name);
	variable->word = (uint8_t)(word + 1);
	return NULL;
}

/* The types of USDT arguments are not known: they can only be read as text that they point to. */
static char *find_at_place(
	const char *lvalue, const struct dpe_site *site, struct dpe_variable *variable)
{
	char *root = dpe_lvalue_in_text(lvalue), *why = NULL;

	*variable = (struct dpe_variable){0};
	if (!site->usdt || !dpe_lvalue_is_text(lvalue) || root[strcspn(root, DPE_LVALUE_PART "*(")])
		why = dpe_xasprintf("the types of arguments are known for functions only");
	free(root);
	return why ? why : dpe_lvalue_point_to_text(variable);
}

/* `why`: what is wrong with a variable; it is freed, and NULL returned, if an address will do. */
static char *take_for_address(const struct dpe_read *read, const struct dpe_site *site, char *why,
	const struct dpe_variable *variable, struct dpe_diags *diags)
{
	if (!why || !variable->is_guess || !read->behind)
		return why;
	if (!site->wanted->optional || site->wanted->own)
		dpe_diag(diags, DPE_WARNING, read->place,
			"there is no debug information on '%s': the value that '&' binds is assumed to be a pointer",
			site->function->name);
	free(why);
	return NULL;
}

/* '&' binds the first 8 bytes of a structure, taken as a pointer. */
static void take_beginning(const struct dpe_read *read, struct dpe_variable *variable)
{
	if (!read->behind || variable->size <= 8 || variable->is_text || variable->is_wide || variable->is_real ||
		variable->is_complex)
		return;
	variable->size = 8;
	variable->is_address = true;
}

/* The types of the function's arguments are those of the C library's function of that name, which it replaces or calls, as in
 * a program compiled with a sanitizer. NULL: there is none, or it has no such value either. */
static const struct dpe_site *find_replaced(struct dpe_probes *probes, const struct dpe_site *site, const char *lvalue)
{
	for (unsigned i = 0; i < probes->nsites; i++) {
		const struct dpe_site *other = &probes->sites[i];
		struct dpe_variable variable;
		char *why;

		if (other == site || other->wanted != site->wanted || !dpe_module_is(other->module, "libc"))
			continue;
		why = dpe_variable_of_call(other->module, other->function, lvalue, &variable);
		free(why);
		if (!why)
			return other;
	}
	return NULL;
}

static char *find_of_call(struct dpe_probes *probes, const struct dpe_site *site, const char *lvalue, struct dpe_variable *variable)
{
	char *why = dpe_variable_of_call(site->module, site->function, lvalue, variable);
	const struct dpe_site *replaced = why && !dpe_module_is(site->module, "libc") ? find_replaced(probes, site, lvalue) : NULL;

	if (!replaced)
		return why;
	free(why);
	return dpe_variable_of_call(replaced->module, replaced->function, lvalue, variable);
}

static char *find_reached(struct dpe_probes *probes, struct dpe_site *site, unsigned number,
	struct dpe_diags *diags)
{
	const char *lvalue = probes->plan->reads[number].lvalue;
	struct dpe_variable *variable = &site->reached[number];
	char *why;

	if (site->usdt || site->wanted->kind)
		why = find_at_place(lvalue, site, variable);
	else
		why = take_for_address(&probes->plan->reads[number], site,
			find_of_call(probes, site, lvalue, variable), variable, diags);
	if (!why)
		why = place_reached(site, lvalue, variable);
	if (!why)
		take_beginning(&probes->plan->reads[number], variable);
	return why ? why : dpe_variable_check(variable);
}

/* One line for all shipped rules and a program or library, as the user did not write them. */
static void warn_of_shipped(const struct dpe_site *site, struct dpe_diags *diags)
{
	dpe_diag_at(diags, DPE_WARNING, site->module->name,
		"has no debug information that describes its locks, barriers and once routines: shipped rules may miss races and misuse of mutexes "
		"there");
}

static void report_unreadable(const struct dpe_probes *probes, const struct dpe_site *site, const struct dpe_read *read,
	enum dpe_severity severity, const char *why, struct dpe_diags *diags)
{
	struct dpe_text what = {0};

	dpe_spec_print_lvalue(&what, probes->plan->spec, read->rule, site->wanted->name, read->lvalue);
	dpe_diag(diags, severity, read->place, "'%s' cannot be read: %s%s", what.at, why,
		read->dispensable && site->wanted->optional ? "; the rule works without it" : "");
	dpe_text_free(&what);
}

bool dpe_reads_reach(struct dpe_probes *probes, struct dpe_site *site, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	bool complete = true;

	for (unsigned i = 0; i < plan->nreads && i < DPE_READS; i++) {
		bool dispensable;
		char *why;

		if (!(site->reads >> i & 1) || dpe_variable_argument(plan->reads[i].lvalue) < 0)
			continue;
		if (!site->reached)
			site->reached = dpe_arena_alloc(
				probes->arena, plan->nreads * sizeof(*site->reached));
		why = find_reached(probes, site, i, diags);
		if (!why) {
			complete &= probes->placed || dpe_read_check_arithmetic(&plan->reads[i],
							      &site->reached[i], diags);
			continue;
		}
		dispensable = plan->reads[i].dispensable && site->wanted->optional;
		if (dispensable && !site->wanted->own)
			warn_of_shipped(site, diags);
		else
			report_unreadable(probes, site, &plan->reads[i],
				probes->placed || dispensable ? DPE_WARNING : DPE_ERROR, why, diags);
		free(why);
		site->reads &= ~(UINT64_C(1) << i);
		site->filters[0].all = site->filters[1].all = true;
		complete &= dispensable;
	}
	return complete;
}
