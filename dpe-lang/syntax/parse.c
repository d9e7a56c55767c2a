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

static bool is_operator(int kind)
{
	return kind == ';' || kind == '+' || kind == '&' || kind == ':' || kind == '=';
}

/* Operators of C that events do not have, with what to write instead. */
static const char *instead_of(int kind)
{
	switch (kind) {
	case T_ANDAND:
		return "write & for causally independent events";
	case T_OROR:
	case '|':
		return "write + for a choice";
	case T_ARROW:
	case ',':
		return "write ; for one event after the other";
	case T_INCR:
		return "write one +";
	case '?':
		return "write (… + …) for what may occur, or * for what may repeat";
	case '<':
	case '>':
	case T_LE:
	case T_GE:
	case T_EQ:
	case T_NE:
		return "a condition is written in brackets, as in [count > 3] or f(x) [x > 3]";
	case T_UPDATE:
		return "an assignment is a statement of its own, in { }";
	default:
		return NULL;
	}
}

static bool expects(const char *const *names, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	return false;
}

static const char *list_of(struct dpe_parser *parser, const char *const *names, unsigned n)
{
	struct dpe_text text = {0};
	const char *list;

	for (unsigned i = 0; i < n; i++)
		dpe_text_printf(&text, "%s%s", i ? i + 1 < n ? ", " : " or " : "", names[i]);
	list = dpe_arena_strndup(parser->arena, text.at ? text.at : "", text.len);
	dpe_text_free(&text);
	return list;
}

/* `x: uprobe:…`: the name after a header would be the next one, on the same line. Other errors of that line follow from this. */
static bool report_prefix(struct dpe_parser *parser, const struct dpe_token *token, const struct dpe_token *last)
{
	const char *text, *end, *prefix;
	size_t len;

	if (token->kind != T_ITEM || !last || last->kind != ':' || token[1].kind != T_RULE_NAME || token[2].kind != ':')
		return false;
	text = dpe_source_text(last->place.source, &len);
	end = memchr(text + last->place.end, '\n', len - last->place.end);
	if (end && text + token[1].place.begin > end)
		return false;
	prefix = dpe_token_text(parser->arena, &token[1]);
	dpe_diag(parser->spec->diags, DPE_ERROR, token[1].place,
		"unexpected '%s:' where an event begins: an event is the name of a function, f, or libc::f in one library", prefix);
	parser->silent_until = end ? (uint32_t)(end - text) : (uint32_t)len;
	return true;
}

/* The file or the item ends too early; `last` is the token before. */
static void report_early_end(struct dpe_parser *parser, const struct dpe_token *last,
	const char *const *expected, unsigned n)
{
	struct dpe_diags *diags = parser->spec->diags;

	if (last && (last->kind == ':' || last->kind == '='))
		dpe_diag(diags, DPE_ERROR, last->place,
			"an expression is missing after '%s': it needs at least one event",
			dpe_token_text(parser->arena, last));
	else if (last && is_operator(last->kind))
		dpe_diag(diags, DPE_ERROR, last->place,
			"nothing follows this '%s': write the event that comes next, or remove it",
			dpe_token_text(parser->arena, last));
	else if (n && n <= 5)
		dpe_diag(diags, DPE_ERROR, last ? last->place : (struct dpe_place){0},
			"%s is missing after '%s'", list_of(parser, expected, n),
			last ? dpe_token_text(parser->arena, last) : "");
	else
		dpe_diag(diags, DPE_ERROR, last ? last->place : (struct dpe_place){0},
			"the rule ends early, after '%s'", last ? dpe_token_text(parser->arena, last) : "");
}

/* `(int)x` or `(unsigned long)x` where an operator is expected. */
static bool is_cast(const struct dpe_token *token, const struct dpe_token *last,
	const char *const *expected, unsigned n)
{
	bool value = token->kind == T_NAME || token->kind == T_NUMBER || token->kind == T_POSITION;

	return value && last && (last->kind == ')' || last->kind == T_NAME) &&
	       expects(expected, n, "'?'");
}

/* `&counter` where an event begins: the variable's name; NULL: something else. */
static const char *name_of_address(struct dpe_parser *parser, const struct dpe_token *token)
{
	const struct dpe_token *next = token + 1; /* there is one: the last token is the end */

	if (token->kind != '&' || next->kind != T_NAME || next->place.begin != token->place.end)
		return NULL;
	return dpe_token_text(parser->arena, next);
}

/* `operator<` without quotes. */
static bool is_operator_name(struct dpe_parser *parser, const struct dpe_token *token, const struct dpe_token *last)
{
	return last && last->place.end == token->place.begin && !strcmp(dpe_token_text(parser->arena, last), "operator");
}

/* Where template arguments that begin at `text` end; 0: nowhere. */
static size_t skip_template_arguments(const char *text, size_t len)
{
	unsigned level = 0;

	for (size_t i = 0; i < len && !strchr("\n;{\"", text[i]); i++) {
		level += text[i] == '<';
		level -= text[i] == '>';
		if (!level)
			return i + 1;
	}
	return 0;
}

static bool report_template(struct dpe_parser *parser, const struct dpe_token *token, const struct dpe_token *last)
{
	size_t len, begin = token->place.begin, skip;
	const char *text = dpe_source_text(token->place.source, &len);

	if (token->kind != '<' || !last || last->kind != T_NAME)
		return false;
	skip = skip_template_arguments(text + begin, len - begin);
	dpe_diag(parser->spec->diags, DPE_ERROR, token->place,
		"unexpected '<': a name with template arguments is written in quotes, as dpe list prints it: \"%s\"",
		skip ? dpe_name_around(parser->arena, token, begin + skip) : "queue<int>::push");
	return true;
}

static void report_operator(struct dpe_parser *parser, const struct dpe_token *last)
{
	dpe_diag(parser->spec->diags, DPE_ERROR, last->place, "the name of an operator is written in quotes: \"%s\"",
		dpe_name_around(parser->arena, last, last->place.end));
}

/* `within 5ms` or `< 5ms`, where a comparison has no left side. */
static bool is_time_bound(struct dpe_parser *parser, const struct dpe_token *token)
{
	bool compares = token->kind == '<' || token->kind == '>' || token->kind == T_LE || token->kind == T_GE;

	return dpe_token_is_time(parser->arena, compares ? token + 1 : token);
}

/* Reports `within 5ms` and the like, which are no part of the language, or a unit apart from its number. False: it is neither. */
static bool report_time(struct dpe_parser *parser, const struct dpe_token *token, const struct dpe_token *last)
{
	struct dpe_diags *diags = parser->spec->diags;
	const char *text = dpe_token_text(parser->arena, token);

	if (is_time_bound(parser, token))
		dpe_diag(diags, DPE_ERROR, token->place,
			"unexpected '%s': a bound of time is a condition of the later event, as in a ; b [.time - $1.time > 5ms]", text);
	else if (last && last->kind == T_NUMBER && dpe_token_is_unit(token))
		dpe_diag(diags, DPE_ERROR, token->place, "unexpected '%s': a unit follows its number directly: %s%s", text,
			dpe_token_text(parser->arena, last), text);
	else
		return false;
	return true;
}

/* A mistake that is known, with what to write instead; false: it is not one. */
static bool report_known_mistake(struct dpe_parser *parser, const struct dpe_token *token,
	const struct dpe_token *last, const char *const *expected, unsigned n)
{
	struct dpe_diags *diags = parser->spec->diags;
	bool event = expects(expected, n, "'@'") || expects(expected, n, "'&'");
	const char *instead = event ? instead_of(token->kind) : NULL;
	const char *variable = name_of_address(parser, token);

	if (report_time(parser, token, last))
		return true;
	if (variable && last && (last->kind == '(' || last->kind == '[' || is_operator(last->kind)))
		dpe_diag(diags, DPE_ERROR, token->place,
			"unexpected '&': accesses to the variable %s are the event [%s], updates of it [%s']", variable, variable,
			variable);
	else if (is_operator_name(parser, token, last))
		report_operator(parser, last);
	else if (event && report_template(parser, token, last))
		return true;
	else if (instead)
		dpe_diag(diags, DPE_ERROR, token->place, "unexpected '%s': %s", dpe_token_text(parser->arena, token), instead);
	else if (token->kind == '~')
		dpe_diag(diags, DPE_ERROR, token->place, "unexpected '~': a destructor is written with its class, queue::~queue");
	else if (token->kind == ')' && last && last->kind == '(')
		dpe_diag(diags, DPE_ERROR, token->place,
			"these parentheses are empty: write an expression");
	else if (token->kind == '^' && last && last->kind == ')')
		dpe_diag(
			diags, DPE_ERROR, token->place, "carets precede the arguments: f^(x)");
	else
		return false;
	return true;
}

static void report_unexpected(struct dpe_parser *parser, const struct dpe_token *token,
	const struct dpe_token *last, const char *const *expected, unsigned n)
{
	const char *text = dpe_token_text(parser->arena, token);
	struct dpe_diags *diags = parser->spec->diags;

	if (report_known_mistake(parser, token, last, expected, n))
		return;
	if (last && is_operator(last->kind) && is_operator(token->kind))
		dpe_diag(diags, DPE_ERROR, token->place, "%s is missing between '%s' and '%s'",
			expects(expected, n, "an event position") ? "a value" : "an event",
			dpe_token_text(parser->arena, last), text);
	else if (is_cast(token, last, expected, n))
		dpe_diag(diags, DPE_ERROR, token->place,
			"unexpected '%s' after '%s': an operator is missing, or this is a cast, "
			"which conditions do not have: values have their types in the program",
			text, dpe_token_text(parser->arena, last));
	else if (n && n <= 5)
		dpe_diag(diags, DPE_ERROR, token->place, "unexpected '%s': %s is expected here",
			text, list_of(parser, expected, n));
	else if (last && last->kind != T_ITEM)
		dpe_diag(diags, DPE_ERROR, token->place, "unexpected '%s' after '%s'", text,
			dpe_token_text(parser->arena, last));
	else
		dpe_diag(diags, DPE_ERROR, token->place,
			"unexpected '%s': a rule begins with its name, an event or '('", text);
}

void dpe_build_syntax_error(
	struct dpe_parser *parser, const char *const *expected, unsigned nexpected)
{
	unsigned at = parser->next ? parser->next - 1 : 0;
	const struct dpe_token *token, *last;

	if (at >= parser->tokens.n)
		at = parser->tokens.n - 1;
	token = &parser->tokens.at[at];
	while (at && parser->tokens.at[at - 1].place.begin == parser->tokens.at[at - 1].place.end &&
		parser->tokens.at[at - 1].kind != T_ITEM)
		at--;
	last = at ? &parser->tokens.at[at - 1] : NULL;
	if (token->place.begin < parser->silent_until || report_prefix(parser, token, last))
		return;
	if (token->kind == T_ITEM || token->kind == T_END || token->place.begin == token->place.end)
		report_early_end(parser, last, expected, nexpected);
	else
		report_unexpected(parser, token, last, expected, nexpected);
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

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Notes that a file beside the including one hides a shipped one; shipped files include each other. */
static void note_hidden(struct reader *r, const struct ast_item *item, const char *path)
{
	char *folder = dpe_xasprintf("%.*s.", (int)folder_length(path), path), *hidden = NULL;
	bool shipped = false;

	for (unsigned i = 0; i < r->options->ninclude_path; i++) {
		const char *other = r->options->include_path[i];
		char *file = dpe_xasprintf("%s/%s", other, item->name);

		shipped |= same_file(folder, other);
		if (!hidden && is_file(file) && !same_file(path, file))
			hidden = file;
		else
			free(file);
	}
	if (hidden && !shipped)
		dpe_diag(r->spec->diags, DPE_NOTE, item->place, "this is %s, which hides %s", path,
			hidden);
	free(hidden);
	free(folder);
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

	if (path) {
		note_hidden(r, item, path);
		read_file(r, path, item->place);
	} else {
		report_no_include(r, item, tried.at);
	}
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
