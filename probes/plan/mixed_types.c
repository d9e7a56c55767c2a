/* Variables of a rule that are a pointer in one function and a number in another: mostly an argument in the wrong
 * place, as in malloc(p) ; free(p), where the p of malloc is a size. */
#include "probes/plan/site_passes.h"

#include <stdlib.h>

/* Unknown, too, where several functions of the name differ. */
static enum dpe_signature_type type_of(
	const struct dpe_probes *probes, const struct dpe_plan_binding *binding)
{
	enum dpe_signature_type type = DPE_TYPE_UNKNOWN;

	for (unsigned i = 0; i < probes->nsites; i++) {
		const struct dpe_site *site = &probes->sites[i];
		enum dpe_signature_type here;

		if (site->wanted->name != binding->name || site->wanted->module != binding->module)
			continue;
		here = dpe_signature_type_of(site->signature, binding->arg);
		if (type && here != type)
			return DPE_TYPE_UNKNOWN;
		type = here;
	}
	return type;
}

static char *describe(const struct dpe_probes *probes, const struct dpe_plan_binding *binding)
{
	const char *name = dpe_name_text(probes->names, binding->name);

	if (binding->arg == DPE_SIGNATURE_RESULT)
		return dpe_xasprintf("the result of '%s'", name);
	return dpe_xasprintf("argument %u of '%s'", binding->arg + 1, name);
}

static void warn(const struct dpe_probes *probes, const struct dpe_plan_binding *number,
	const struct dpe_plan_binding *pointer, struct dpe_diags *diags)
{
	const struct dpe_plan_binding *first = number->place.begin < pointer->place.begin ? number : pointer;
	char *one = describe(probes, number), *other = describe(probes, pointer);

	dpe_diag(diags, DPE_WARNING, number->place,
		"'%s' is %s, a number, and %s, a pointer: they will not be equal; what a function "
		"returns is written %s.exit = %s",
		number->text, one, other, dpe_name_text(probes->names, first->name), number->text);
	free(one);
	free(other);
}

/* The first other binding of the same variable that is a pointer; NULL: there is none. */
static const struct dpe_plan_binding *find_pointer(const struct dpe_plan *plan,
	const enum dpe_signature_type *types, const struct dpe_plan_binding *of)
{
	for (unsigned i = 0; i < plan->nbindings; i++) {
		const struct dpe_plan_binding *binding = &plan->bindings[i];

		if (types[i] == DPE_TYPE_POINTER && binding->rule == of->rule &&
			binding->variable == of->variable)
			return binding;
	}
	return NULL;
}

void dpe_sites_warn_of_types(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	enum dpe_signature_type *types = dpe_xcalloc(plan->nbindings + 1, sizeof(*types));

	for (unsigned i = 0; i < plan->nbindings; i++)
		types[i] = type_of(probes, &plan->bindings[i]);
	for (unsigned i = 0; i < plan->nbindings; i++) {
		const struct dpe_plan_binding *pointer;

		if (types[i] != DPE_TYPE_NUMBER)
			continue;
		pointer = find_pointer(plan, types, &plan->bindings[i]);
		if (pointer)
			warn(probes, &plan->bindings[i], pointer, diags);
	}
	free(types);
}
