/* The table of definitions, and errors in definitions before they are used. */
#include "dpe-lang/syntax/syntax.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table ------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct ast_item *const *)a)->name, (*(struct ast_item *const *)b)->name);
}

static int by_name_and_order(const void *a, const void *b)
{
	const struct ast_item *x = *(struct ast_item *const *)a;
	const struct ast_item *y = *(struct ast_item *const *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

void dpe_sort_items(struct ast_item **items, unsigned count)
{
	if (count)
		qsort(items, count, sizeof(*items), by_name_and_order);
}

struct ast_item *dpe_find_definition(const struct ast_spec *spec, const char *name)
{
	struct ast_item key = {.name = name}, *at = &key, **found;

	if (!spec->ndefinitions)
		return NULL;
	found = bsearch(&at, spec->definitions, spec->ndefinitions, sizeof(*found), by_name);
	return found ? *found : NULL;
}

static bool has_event(const struct ast_dpe *dpe)
{
	return dpe && (dpe->kind == DPE_NODE_EVENT || has_event(dpe->left) || has_event(dpe->right));
}

void dpe_check_params(struct ast_spec *spec, const struct ast_item *item)
{
	for (const struct ast_name *p = item->params; p; p = p->next) {
		if (!strcmp(p->text, "_"))
			dpe_diag(spec->diags, DPE_ERROR, p->place,
				"'_' cannot name a parameter: it means any value");
	}
}

static void check_definition(struct ast_spec *spec, const struct ast_item *item)
{
	unsigned n = 0;

	dpe_check_params(spec, item);
	for (const struct ast_name *p = item->params; p && n <= DPE_MAX_ARGS; p = p->next, n++) {
		for (const struct ast_name *q = item->params; q != p; q = q->next) {
			if (!strcmp(p->text, q->text))
				dpe_diag(spec->diags, DPE_ERROR, p->place,
					"'%s' is a parameter of '%s' already", p->text, item->name);
		}
	}
	if (n > DPE_MAX_ARGS)
		dpe_diag(spec->diags, DPE_ERROR, item->place, "'%s' has more than %d parameters",
			item->name, DPE_MAX_ARGS);
	if (item->dpe && !has_event(item->dpe))
		dpe_diag(spec->diags, DPE_ERROR, item->place,
			"the definition of '%s' is empty: it needs at least one event", item->name);
}

void dpe_collect_definitions(struct ast_spec *spec)
{
	unsigned n = 0, cap = 0, kept = 0;
	struct ast_item **all = NULL;

	for (struct ast_item *item = spec->first; item; item = item->next) {
		if (item->kind != AST_DEFINITION)
			continue;
		item->number = n;
		*DPE_GROW(all, n, cap) = item;
		check_definition(spec, item);
	}
	dpe_sort_items(all, n);
	for (unsigned i = 0; i < n; i++) {
		if (kept && !strcmp(all[kept - 1]->name, all[i]->name)) {
			dpe_diag(spec->diags, DPE_ERROR, all[i]->place, "'%s' is defined already",
				all[i]->name);
			dpe_diag(spec->diags, DPE_NOTE, all[kept - 1]->place, "it is defined here");
			continue;
		}
		all[kept++] = all[i];
	}
	spec->definitions = all;
	spec->ndefinitions = kept;
}
