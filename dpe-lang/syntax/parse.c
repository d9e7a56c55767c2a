/* Files → AST: runs lexer, classification and grammar over each file, and follows includes. */
#include "dpe-lang/syntax/ast_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what bison calls ----------------------------------------------------------------- */

int dpe_yylex(DPE_YYSTYPE *value, DPE_YYLTYPE *place, struct dpe_parser *parser)
{
	unsigned last = parser->tokens.n - 1;
	const struct dpe_token *token =
		&parser->tokens.at[parser->next < last ? parser->next : last];

	parser->next++;
	*value = token->value;
	*place = token->place;
	return token->kind;
}

/* Called only if the parser's stack is full; syntax errors are reported by the grammar. */
void dpe_yyerror(const DPE_YYLTYPE *place, struct dpe_parser *parser, const char *message)
{
	(void)message;
	dpe_diag(parser->spec->diags, DPE_ERROR, *place,
		"too many levels of nesting: write a part of it on its own");
}

/* ---- one source ----------------------------------------------------------------------- */

static struct dpe_place place_at(const struct dpe_source *source, size_t at)
{
	return (struct dpe_place){source, (uint32_t)at, (uint32_t)at + 1};
}

/* False, after a diagnostic, if the input is not text. */
static bool check_text(struct ast_spec *spec, const struct dpe_source *source)
{
	size_t len, step;
	const unsigned char *text = (const unsigned char *)dpe_source_text(source, &len);

	if (len > DPE_MAX_FILE_BYTES) {
		dpe_diag_at(spec->diags, DPE_ERROR, dpe_source_name(source),
			"the specification is larger than %d MiB", DPE_MAX_FILE_BYTES >> 20);
		return false;
	}
	for (size_t i = 0; i < len; i += step) {
		step = dpe_utf8_length(text + i, len - i);
		if (step && text[i])
			continue;
		if (step)
			dpe_diag(spec->diags, DPE_ERROR, place_at(source, i),
				"a NUL byte: this is not text");
		else
			dpe_diag(spec->diags, DPE_ERROR, place_at(source, i),
				"byte 0x%02x is not UTF-8: save the file as UTF-8", text[i]);
		return false;
	}
	return true;
}

/* Two rules in a row, one of them without name and action: an operator or a name was forgotten. */
static void check_missing_headers(struct ast_spec *spec, const struct ast_item *first);

static void parse_text(struct ast_spec *spec, const struct dpe_source *source, bool included,
	struct ast_item **items)
{
	struct dpe_lexer lexer = {spec->arena, spec->diags, source, 0, true, {0}};
	struct dpe_parser parser = {.spec = spec, .arena = spec->arena, .included = included};
	struct dpe_tokens raw = {0};

	parser.last = &parser.items;
	dpe_lex(&lexer, &raw);
	dpe_classify_tokens(spec->arena, spec->diags, &raw, &parser.tokens);
	dpe_yyparse(&parser);
	check_missing_headers(spec, parser.items);
	free(raw.at);
	free(parser.tokens.at);
	*items = parser.items;
}

static bool has_action(const struct ast_dpe *dpe)
{
	/* the recursion is within DPE_MAX_OPERATORS */
	return dpe && (dpe->action || has_action(dpe->left) || has_action(dpe->right));
}

/* A missing operator was reported already. */
static bool has_gap(const struct ast_dpe *dpe)
{
	return dpe && ((dpe->kind == DPE_NODE_SEQ && dpe->place.begin == dpe->place.end) ||
			      has_gap(dpe->left) || has_gap(dpe->right));
}

static bool lacks_header(const struct ast_item *item)
{
	return item && item->kind == AST_RULE && !item->name;
}

static bool needs_name(const struct ast_item *item)
{
	return lacks_header(item) && item->mode == AST_NO_MODE && !item->action &&
	       !item->otherwise && !has_action(item->dpe) && !has_gap(item->dpe);
}

static bool joins(const struct ast_item *item)
{
	return item && (item->kind == AST_DEFINITION || item->kind == AST_RULE) &&
	       !item->ends_with_brace;
}

static void check_missing_headers(struct ast_spec *spec, const struct ast_item *first)
{
	const struct ast_item *last = NULL;

	for (const struct ast_item *item = first; item; last = item, item = item->next) {
		struct dpe_place start = item->begin;

		if (!needs_name(item))
			continue;
		start.end = start.begin + 1;
		if (joins(last))
			dpe_diag(spec->diags, DPE_ERROR, start,
				"an operator is missing before this event: write ; (then), & "
				"(independently) or + (either); or, where a rule of its own "
				"begins, its "
				"name and a ':'");
		else if (!lacks_header(item->next) || !needs_name(item->next))
			dpe_diag(spec->diags, DPE_ERROR, start,
				"a rule needs a name or an action: write 'NAME: …', or { … } at "
				"its "
				"end");
	}
}

/* ---- includes ------------------------------------------------------------------------- */

struct file_id {
	dev_t device;
	ino_t inode;
	bool open; /* being read: including it again is a cycle */
};

struct include_set {
	struct file_id *files;
	unsigned n, cap;
};

struct include_set *dpe_include_set_new(void)
{
	return dpe_xcalloc(1, sizeof(struct include_set));
}

void dpe_include_set_free(struct include_set *set)
{
	free(set->files);
	free(set);
}

static struct file_id *find_file(struct include_set *set, const struct stat *st)
{
	for (unsigned i = 0; i < set->n; i++) {
		if (set->files[i].device == st->st_dev && set->files[i].inode == st->st_ino)
			return &set->files[i];
	}
	return NULL;
}

struct reader {
	struct ast_spec *spec;
	const struct parse_options *options;
	struct include_set *seen;
	unsigned depth;
};

static void read_items(struct reader *r, const struct dpe_source *source, bool included);

/* The including file's folder, with a '/' unless it is empty. */
static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

/* The file to include, or NULL and the paths tried in `tried`. */
static const char *find_include(
	struct reader *r, const char *from, const char *name, struct dpe_text *tried)
{
	struct dpe_arena *arena = r->spec->arena;
	const char *path;

	if (*name == '/')
		path = name;
	else
		path = dpe_arena_printf(arena, "%.*s%s", (int)folder_length(from), from, name);
	if (is_file(path))
		return path;
	dpe_text_puts(tried, path);
	for (unsigned i = 0; *name != '/' && i < r->options->ninclude_path; i++) {
		path = dpe_arena_printf(arena, "%s/%s", r->options->include_path[i], name);
		if (is_file(path))
			return path;
		dpe_text_printf(tried, ", %s", path);
	}
	return NULL;
}

static void read_file(struct reader *r, const char *path, struct dpe_place place)
{
	struct dpe_source *source;
	struct file_id *file = NULL;
	struct stat st;
	unsigned number;

	if (strcmp(path, "-") && !stat(path, &st)) {
		file = find_file(r->seen, &st);
		if (file && file->open && place.source)
			dpe_diag(r->spec->diags, DPE_ERROR, place,
				"'%s' includes itself: remove this line", path);
		if (file)
			return;
		*DPE_GROW(r->seen->files, r->seen->n, r->seen->cap) =
			(struct file_id){st.st_dev, st.st_ino, true};
		file = &r->seen->files[r->seen->n - 1];
	}
	number = r->seen->n - 1;
	source = dpe_source_read(r->spec->arena, path);
	if (source)
		read_items(r, source, place.source);
	else if (place.source)
		dpe_diag(r->spec->diags, DPE_ERROR, place, "cannot read '%s': %s", path,
			strerror(errno));
	else
		dpe_diag_at(r->spec->diags, DPE_ERROR, path, "cannot read this file: %s",
			strerror(errno));
	if (file)
		r->seen->files[number].open = false;
}

static void report_no_include(struct reader *r, const struct ast_item *item, const char *tried)
{
	const char *from = dpe_source_name(item->place.source);
	const char *folder = dpe_arena_printf(r->spec->arena, "%.*s", (int)folder_length(from), from);
	const char *nearest = dpe_nearest_include(r->spec->arena, folder, r->options, item->name);

	dpe_diag(r->spec->diags, DPE_ERROR, item->place, "cannot find '%s'; looked for %s", item->name, tried);
	if (nearest)
		dpe_diag(r->spec->diags, DPE_NOTE, item->place, "did you mean '%s'?", nearest);
}

static void follow_include(struct reader *r, const struct ast_item *item)
{
	struct dpe_text tried = {0};
	const char *path;

	if (r->depth == DPE_MAX_INCLUDES) {
		dpe_diag(r->spec->diags, DPE_ERROR, item->place,
			"more than %d files include one another", DPE_MAX_INCLUDES);
		return;
	}
	r->depth++;
	path = find_include(r, dpe_source_name(item->place.source), item->name, &tried);
	if (path)
		read_file(r, path, item->place);
	else
		report_no_include(r, item, tried.at);
	r->depth--;
	dpe_text_free(&tried);
}

/* Items of an included file precede the include item. */
static void read_items(struct reader *r, const struct dpe_source *source, bool included)
{
	struct ast_item *items = NULL, *next;

	if (!check_text(r->spec, source))
		return;
	parse_text(r->spec, source, included, &items);
	for (; items; items = next) {
		next = items->next;
		items->next = NULL;
		if (items->kind == AST_INCLUDE)
			follow_include(r, items);
		*r->spec->last = items;
		r->spec->last = &items->next;
	}
}

void dpe_parse_file(struct ast_spec *spec, const char *path, const struct parse_options *options,
	struct include_set *seen)
{
	struct reader reader = {spec, options, seen, 0};

	read_file(&reader, path, (struct dpe_place){0});
}

void dpe_parse_source(struct ast_spec *spec, const struct dpe_source *source,
	const struct parse_options *options, struct include_set *seen)
{
	struct reader reader = {spec, options, seen, 0};

	read_items(&reader, source, false);
}

struct parse_options dpe_parse_options(const struct dpe_compile_options *options)
{
	if (!options)
		return (struct parse_options){0};
	return (struct parse_options){options->include_path, options->ninclude_path};
}

bool dpe_spec_parses(const char *name, const char *text, size_t len,
	const struct dpe_compile_options *options, struct dpe_diags *diags)
{
	struct parse_options parse = dpe_parse_options(options);
	unsigned errors = dpe_diags_errors(diags);
	struct include_set *seen = dpe_include_set_new();
	struct ast_spec spec = {.arena = dpe_arena_new(), .diags = diags};

	spec.last = &spec.first;
	dpe_parse_source(&spec, dpe_source_new(spec.arena, name, text, len), &parse, seen);
	dpe_include_set_free(seen);
	dpe_diags_keep(diags, spec.arena);
	return dpe_diags_errors(diags) == errors;
}

/* The event that is the whole rule; NULL if the rule is anything else. */
static const struct ast_event *only_event(const struct ast_item *rule)
{
	bool alone = rule && !rule->next && rule->kind == AST_RULE && !rule->observing && !rule->action && !rule->otherwise;

	if (!alone || rule->dpe->kind != DPE_NODE_EVENT || rule->dpe->action || rule->dpe->control)
		return NULL;
	return rule->dpe->event;
}

const struct ast_event *dpe_parse_event(struct dpe_arena *arena, const char *text, size_t *name)
{
	static const char head[] = "expect e: ";
	const size_t begin = sizeof(head) - 1, end = begin + strlen(text);
	struct ast_spec spec = {.arena = arena, .diags = dpe_diags_new()};
	const char *rule = dpe_arena_printf(arena, "%s%s\n", head, text);
	const struct dpe_source *source = dpe_source_new(arena, "event", rule, end + 1);
	const struct ast_event *event = NULL;
	struct ast_item *items = NULL;

	if (check_text(&spec, source))
		parse_text(&spec, source, false, &items);
	if (!dpe_diags_errors(spec.diags))
		event = only_event(items);
	dpe_diags_free(spec.diags);
	if (!event || event->place.begin != begin || event->place.end != end)
		return NULL;
	*name = event->name_place.end - begin;
	return event;
}
