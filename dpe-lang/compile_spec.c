/* The compiler's driver: its passes in order, with their dumps. */
#include "dpe-lang/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

struct compilation {
	struct ast_spec ast;
	struct dpe_names *names;
	const struct dpe_compile_options *options;
	struct dpe_globals globals;
	const char *what; /* the first file, for diagnostics without a place */
};

/* ---- dumps ---------------------------------------------------------------------------- */

static void write_dump(const struct compilation *c, struct dpe_text *text)
{
	if (text->at)
		fwrite(text->at, 1, text->len, c->options->dump_to);
	dpe_text_free(text);
}

static bool dumps(const struct compilation *c, enum dpe_dump dump)
{
	return c->options && c->options->dump == dump && c->options->dump_to;
}

static void dump_ast(const struct compilation *c)
{
	struct dpe_text text = {0};

	for (const struct ast_item *item = c->ast.first; item; item = item->next)
		dpe_ast_print_item(&text, item);
	write_dump(c, &text);
}

/* The rules with their definitions in place. */
static void dump_expanded(struct compilation *c)
{
	struct dpe_text text = {0};

	for (const struct ast_item *item = c->ast.first; item; item = item->next) {
		struct ast_item rule = *item;
		struct ast_dpe **end = &rule.observing;

		if (item->kind != AST_RULE)
			continue;
		rule.dpe = dpe_expand(&c->ast, item);
		for (const struct ast_dpe *o = item->observing; o; o = o->next, end = &(*end)->next) {
			*end = dpe_expand_observed(&c->ast, o);
			(*end)->ends = o->ends;
		}
		*end = NULL;
		dpe_ast_print_item(&text, &rule);
	}
	write_dump(c, &text);
}

static void dump_normal(const struct compilation *c, const struct dpe_spec *spec)
{
	struct dpe_text text = {0};

	for (unsigned i = 0; i < spec->nrules; i++) {
		const struct dpe_rule *rule = &spec->rules[i];

		dpe_text_printf(&text, "%s: ", rule->name);
		dpe_print_node(&text, rule, dpe_normal_form(spec->arena, rule, rule->tree));
		dpe_text_puts(&text, "\n");
	}
	write_dump(c, &text);
}

static void dump_resolved(const struct compilation *c, const struct dpe_spec *spec)
{
	struct dpe_text text = {0};

	dpe_print_resolved(&text, spec);
	write_dump(c, &text);
}

/* The dumps of a specification without errors. */
static void dump_spec(struct compilation *c, const struct dpe_spec *spec)
{
	if (dumps(c, DPE_DUMP_EXPANDED))
		dump_expanded(c);
	if (dumps(c, DPE_DUMP_RESOLVED))
		dump_resolved(c, spec);
	if (dumps(c, DPE_DUMP_NORMAL))
		dump_normal(c, spec);
}

/* ---- the names of rules --------------------------------------------------------------- */

static bool is_taken(struct ast_item *const *named, unsigned n, const char *name)
{
	unsigned at = DPE_PARTITION_POINT(i, 0, n, strcmp(named[i]->name, name) < 0);

	return at < n && !strcmp(named[at]->name, name);
}

static void check_duplicates(struct compilation *c, struct ast_item *const *named, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		if (strcmp(named[i - 1]->name, named[i]->name))
			continue;
		dpe_diag(c->ast.diags, DPE_ERROR, named[i]->place,
			"a rule named '%s' exists already", named[i]->name);
		dpe_diag(c->ast.diags, DPE_NOTE, named[i - 1]->place, "it is here");
	}
}

/* Gives every rule a name; returns how many rules there are. */
static unsigned name_rules(struct compilation *c)
{
	struct ast_item **named = NULL;
	unsigned n = 0, cap = 0, nrules = 0, number = 0;

	for (struct ast_item *item = c->ast.first; item; item = item->next) {
		if (item->kind != AST_RULE)
			continue;
		item->number = nrules++;
		if (item->name)
			*DPE_GROW(named, n, cap) = item;
	}
	dpe_sort_items(named, n);
	check_duplicates(c, named, n);
	for (struct ast_item *item = c->ast.first; item; item = item->next) {
		if (item->kind != AST_RULE || item->name)
			continue;
		number = item->number + 1 > number ? item->number + 1 : number + 1;
		do {
			item->name = dpe_arena_printf(c->ast.arena, "rule%u", number);
		} while (is_taken(named, n, item->name) && ++number);
	}
	free(named);
	return nrules;
}

/* ---- passes --------------------------------------------------------------------------- */

static void check_any_rule(struct compilation *c, unsigned nrules)
{
	if (!nrules && !dpe_diags_errors(c->ast.diags))
		dpe_diag_at(c->ast.diags, DPE_ERROR, c->what,
			"this specification has no rule: it needs at least one, such as 'detect both: a "
			"& b'");
}

/* Whether the item is of a file in a folder of shipped specifications. */
static bool is_shipped(const struct compilation *c, const struct ast_item *item)
{
	const char *file = dpe_source_name(item->begin.source);

	for (unsigned i = 0; c->options && i < c->options->ninclude_path; i++) {
		size_t len = strlen(c->options->include_path[i]);

		if (!strncmp(file, c->options->include_path[i], len) && file[len] == '/')
			return true;
	}
	return false;
}

static bool confirms(const struct compilation *c)
{
	return c->options && c->options->confirm;
}

static void note_searched(struct dpe_arena *arena, struct dpe_rule *rule)
{
	const struct dpe_node *tree = dpe_search_form(arena, rule);
	struct dpe_rule *searched;

	if (tree == rule->tree)
		return;
	searched = dpe_arena_alloc(arena, sizeof(*searched));
	*searched = *rule;
	searched->tree = tree;
	rule->searched = searched;
}

static struct dpe_spec *resolve(struct compilation *c)
{
	struct dpe_spec *spec = dpe_xcalloc(1, sizeof(*spec));
	unsigned nrules = name_rules(c);
	struct dpe_rule *rules = dpe_arena_alloc(c->ast.arena, (nrules + 1) * sizeof(*rules));

	spec->arena = c->ast.arena;
	spec->names = c->names;
	spec->rules = rules;
	dpe_collect_definitions(&c->ast);
	dpe_collect_globals(&c->ast, c->names, &c->globals);
	for (const struct ast_item *item = c->ast.first; item; item = item->next) {
		if (item->kind != AST_RULE || dpe_diags_errors(c->ast.diags) > DPE_MAX_ERRORS)
			continue;
		rules[spec->nrules].name = item->name;
		dpe_resolve_rule(&c->ast, c->names, &c->globals, item, &rules[spec->nrules]);
		if (confirms(c) && rules[spec->nrules].mode == DPE_PREDICT)
			rules[spec->nrules].mode = DPE_DETECT;
		if (!dpe_diags_errors(c->ast.diags))
			note_searched(spec->arena, &rules[spec->nrules]);
		rules[spec->nrules++].own = !is_shipped(c, item);
	}
	dpe_check_unused(&c->ast);
	check_any_rule(c, nrules);
	spec->globals = dpe_arena_alloc(c->ast.arena, (c->globals.n + 1) * sizeof(*spec->globals));
	if (c->globals.n)
		memcpy((void *)spec->globals, c->globals.at, c->globals.n * sizeof(*spec->globals));
	spec->nglobals = c->globals.n;
	return spec;
}

/* From the AST on. `errors` is how many there were before this compilation. */
static struct dpe_spec *finish(struct compilation *c, unsigned errors)
{
	struct dpe_spec *spec;

	if (dumps(c, DPE_DUMP_AST))
		dump_ast(c);
	spec = resolve(c);
	if (dpe_diags_errors(c->ast.diags) > errors) {
		/* the diagnostics show lines of our sources */
		dpe_diags_keep(c->ast.diags, c->ast.arena);
		free(spec);
		spec = NULL;
	} else {
		dump_spec(c, spec);
	}
	free(c->ast.definitions);
	free(c->globals.at);
	return spec;
}

static void begin(struct compilation *c, struct dpe_names *names, const char *what,
	const struct dpe_compile_options *options, struct dpe_diags *diags)
{
	*c = (struct compilation){.names = names, .options = options, .what = what};
	c->ast.arena = dpe_arena_new();
	c->ast.diags = diags;
	c->ast.last = &c->ast.first;
}

/* What to compile: files, or else a text. */
struct input {
	const char *const *paths;
	unsigned npaths;
	const char *name, *text;
	size_t len;
	struct dpe_names *names;
	const struct dpe_compile_options *options;
	struct dpe_diags *diags;
	struct dpe_spec *spec; /* the result */
};

static void compile(void *with)
{
	struct input *input = with;
	const struct dpe_compile_options *options = input->options;
	struct parse_options parse = dpe_parse_options(options);
	unsigned errors = dpe_diags_errors(input->diags);
	struct include_set *seen = dpe_include_set_new();
	struct compilation c;

	begin(&c, input->names, input->name, options, input->diags);
	if (input->text)
		dpe_parse_source(&c.ast,
			dpe_source_new(c.ast.arena, input->name, input->text, input->len), &parse,
			seen);
	for (unsigned i = 0; i < input->npaths; i++)
		dpe_parse_file(&c.ast, input->paths[i], &parse, seen);
	if (!input->text && options && options->text)
		dpe_parse_source(&c.ast,
			dpe_source_new(c.ast.arena, options->text_name, options->text,
				strlen(options->text)),
			&parse, seen);
	dpe_include_set_free(seen);
	input->spec = finish(&c, errors);
}

static struct dpe_spec *compile_protected(struct input *input)
{
	if (dpe_is_protected())
		compile(input);
	else if (!dpe_protect(compile, input))
		dpe_diags_out_of_memory(input->diags);
	return input->spec;
}

struct dpe_spec *dpe_spec_compile(const char *const *paths, unsigned npaths,
	struct dpe_names *names, const struct dpe_compile_options *options, struct dpe_diags *diags)
{
	struct input input = {
		.paths = paths,
		.npaths = npaths,
		.name = npaths ? paths[0] : "specification",
		.names = names,
		.options = options,
		.diags = diags,
	};

	return compile_protected(&input);
}

struct dpe_spec *dpe_spec_compile_text(const char *name, const char *text, size_t len,
	struct dpe_names *names, const struct dpe_compile_options *options, struct dpe_diags *diags)
{
	struct input input = {
		.name = name,
		.text = text,
		.len = len,
		.names = names,
		.options = options,
		.diags = diags,
	};

	return compile_protected(&input);
}

void dpe_spec_free(struct dpe_spec *spec)
{
	if (!spec)
		return;
	dpe_arena_free(spec->arena);
	free(spec);
}
