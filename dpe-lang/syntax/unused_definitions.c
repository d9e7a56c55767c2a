/* Definitions and parameters that are not used: their errors, and a warning for each. */
#include "dpe-lang/syntax/syntax.h"

static void warn_params(struct ast_spec *spec, const struct ast_item *item)
{
	for (const struct ast_name *p = item->params; p; p = p->next) {
		if (!p->used)
			dpe_diag(spec->diags, DPE_WARNING, p->place,
				"the parameter '%s' of '%s' is not used", p->text, item->name);
	}
}

static void warn_unused(struct ast_spec *spec)
{
	unsigned warned = 0, more = 0;

	for (unsigned i = 0; i < spec->ndefinitions; i++) {
		const struct ast_item *item = spec->definitions[i];

		if (item->included)
			continue;
		if (warned < DPE_MAX_WARNINGS)
			warn_params(spec, item);
		if (item->used)
			continue;
		if (warned++ < DPE_MAX_WARNINGS)
			dpe_diag(spec->diags, DPE_WARNING, item->place,
				"the definition of '%s' is not used", item->name);
		else
			more++;
	}
	if (more)
		dpe_diag(spec->diags, DPE_WARNING, spec->definitions[0]->place,
			"%u more definitions are not used", more);
}

void dpe_check_unused(struct ast_spec *spec)
{
	for (unsigned i = 0; i < spec->ndefinitions; i++) {
		if (!spec->definitions[i]->used)
			dpe_expand_alone(spec, spec->definitions[i]);
	}
	/* after an error the uses are not known */
	if (!dpe_diags_errors(spec->diags))
		warn_unused(spec);
}
