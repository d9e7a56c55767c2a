/* Suggests functions for a misspelt name: by their symbols, and by their names in the source of C++ and Rust. */
#include "probes/plan/resolve_sites.h"

#include <stdlib.h>
#include <string.h>

struct suggested_names {
	const char *module; /* of the misspelt name; "": none */
	bool is_file;       /* the module is a file, or there is none; otherwise it is a class or namespace */
	unsigned parts;     /* of a suggestion: class and function, or as many as the misspelt name has */
	const char **names, **written; /* what is compared with the misspelt name, and how a rule names the function */
	unsigned count, capnames, capwritten;
	struct dpe_arena *arena;
};

static void add(struct suggested_names *to, const char *name, const char *written)
{
	unsigned same = to->count;

	*DPE_GROW(to->names, to->count, to->capnames) = name;
	*DPE_GROW(to->written, same, to->capwritten) = written;
}

static unsigned parts_of(const char *name)
{
	unsigned parts = 1;

	for (const char *next = name; (next = strstr(next, "::")); next += 2)
		parts++;
	return parts;
}

/* The last two parts of "shop::queue::push" are "queue::push". */
static const char *last_parts(const char *name, unsigned parts)
{
	for (unsigned all = parts_of(name); all > parts; all--)
		name = strstr(name, "::") + 2;
	return name;
}

/* A name without class or namespace is compared with the function's last part. */
static void add_source_name(struct suggested_names *to, const char *symbol)
{
	char *base = dpe_demangle_base(symbol);
	const char *written = base ? dpe_arena_printf(to->arena, "%s", last_parts(base, to->parts)) : NULL;
	const char *part = written ? strstr(written, "::") : NULL;

	free(base);
	if (written)
		add(to, part && to->is_file ? part + 2 : written, written);
}

static void add_functions(struct suggested_names *to, struct dpe_module *module)
{
	unsigned count;
	const struct dpe_function *functions = dpe_module_functions(module, &count);
	bool all = module->program || (*to->module && to->is_file);

	for (unsigned i = 0; i < count; i++) {
		if (!all && !functions[i].exported && !functions[i].is_event)
			continue;
		if (to->is_file)
			add(to, functions[i].name, functions[i].name);
		add_source_name(to, functions[i].name);
	}
}

static const char *written_as(const struct suggested_names *of, const char *name)
{
	for (unsigned i = 0; i < of->count; i++)
		if (of->names[i] == name)
			return of->written[i];
	return name;
}

/* A method of the same class is suggested if its own name is near, too. */
static unsigned keep_near_methods(const char *name, const char **best, unsigned count)
{
	const char *method = last_parts(name, 1), *nearest;
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		const char *other = last_parts(best[i], 1);

		if (dpe_nearest(method, &other, 1, &nearest, 1))
			best[kept++] = best[i];
	}
	return kept;
}

unsigned dpe_nearest_functions(struct dpe_modules *modules, const char *module, const char *name,
	const char **best, struct dpe_arena *arena)
{
	struct suggested_names suggested = {.module = module, .is_file = !*module, .arena = arena};
	unsigned count;

	for (unsigned i = 0; i < modules->count; i++)
		suggested.is_file |= dpe_module_is(modules->at[i], module);
	if (!suggested.is_file)
		name = dpe_arena_printf(arena, "%s::%s", module, name);
	suggested.parts = suggested.is_file ? 2 : parts_of(name);
	for (unsigned i = 0; i < modules->count; i++)
		if (!suggested.is_file || !*module || dpe_module_is(modules->at[i], module))
			add_functions(&suggested, modules->at[i]);
	count = dpe_nearest(name, suggested.names, suggested.count, best, DPE_NEAREST_FUNCTIONS);
	if (!suggested.is_file)
		count = keep_near_methods(name, best, count);
	for (unsigned i = 0; i < count; i++)
		best[i] = written_as(&suggested, best[i]);
	free(suggested.names);
	free(suggested.written);
	return count;
}
