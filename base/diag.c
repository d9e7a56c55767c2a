/* The sink of diagnostics: collects them, and prints them in the order of the text. What comes
 * from input is printed with control bytes escaped: a file must not be able to drive the
 * terminal. */
#include "base/limits.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct diag {
	enum dpe_severity severity;
	struct dpe_place place;
	char *where; /* in place of a location; or NULL */
	char *text;
	unsigned number, line, column;
	unsigned leader; /* index of the error or warning that a note belongs to */
};

/* What a generated line of a source is printed as. */
struct generated {
	char *source, *by, *word;
	unsigned line;
};

/* Diagnostics since the last printing, to detect repetitions quickly. */
struct said {
	UT_hash_handle hh;
	char *key;
};

struct dpe_diags {
	struct diag *at;
	struct said *said;
	unsigned count, cap;
	unsigned printed; /* index of the first one not yet printed */
	bool color;         /* printed with escape sequences */
	unsigned columns;   /* of a line of source text; 0: DPE_DIAG_COLUMNS */
	bool out_of_memory; /* to be printed */
	unsigned errors, leader;
	bool dropped; /* the last error or warning is dropped, and its notes with it */
	unsigned counted[DPE_NOTE + 1], uncounted; /* since the last printing, without repetitions */
	struct dpe_arena **arenas;           /* handed over by callers */
	unsigned narenas, caparenas;
	struct generated *generated;
	unsigned ngenerated, capgenerated;
};

struct dpe_diags *dpe_diags_new(void)
{
	return dpe_xcalloc(1, sizeof(struct dpe_diags));
}

static void forget_printed(struct dpe_diags *diags)
{
	struct said *said, *next;

	HASH_ITER (hh, diags->said, said, next) {
		HASH_DEL(diags->said, said);
		free(said->key);
		free(said);
	}
}

void dpe_diags_free(struct dpe_diags *diags)
{
	if (!diags)
		return;
	for (unsigned i = 0; i < diags->count; i++) {
		free(diags->at[i].where);
		free(diags->at[i].text);
	}
	for (unsigned i = 0; i < diags->narenas; i++)
		dpe_arena_free(diags->arenas[i]);
	for (unsigned i = 0; i < diags->ngenerated; i++) {
		free(diags->generated[i].source);
		free(diags->generated[i].by);
		free(diags->generated[i].word);
	}
	forget_printed(diags);
	free(diags->generated);
	free(diags->arenas);
	free(diags->at);
	free(diags);
}

void dpe_diags_keep(struct dpe_diags *diags, struct dpe_arena *arena)
{
	*DPE_GROW(diags->arenas, diags->narenas, diags->caparenas) = arena;
}

static const struct generated *generated_line(const struct dpe_diags *diags, const struct diag *diag)
{
	for (unsigned i = 0; diag->place.source && i < diags->ngenerated; i++) {
		if (diags->generated[i].line == diag->line &&
			!strcmp(diags->generated[i].source, dpe_source_name(diag->place.source)))
			return &diags->generated[i];
	}
	return NULL;
}

static bool is_same(struct dpe_place a, struct dpe_place b)
{
	return a.source == b.source && a.begin == b.begin && a.end == b.end;
}

/* Records the diagnostic; true if it repeats an earlier one. */
static bool is_known(struct dpe_diags *diags, const struct diag *new)
{
	const struct generated *generated = generated_line(diags, new);
	const char *where = generated ? generated->word : new->where ? new->where : "";
	char *key =
		dpe_xasprintf("%d %p %u %d%zu:%s%s", new->severity, (const void *)new->place.source,
			generated ? 0 : new->place.begin, !!new->where, strlen(where), where, new->text);
	struct said *said;

	HASH_FIND_STR(diags->said, key, said);
	if (said) {
		free(key);
		return true;
	}
	said = dpe_xcalloc(1, sizeof(*said));
	said->key = key;
	HASH_ADD_KEYPTR(hh, diags->said, said->key, strlen(said->key), said);
	return false;
}

/* A file that is not of the expected kind would give any number of errors. */
static bool is_beyond_limit(struct dpe_diags *diags, const struct diag *new)
{
	if (diags->counted[new->severity] < DPE_DIAG_LINES) {
		diags->counted[new->severity]++;
		return false;
	}
	diags->uncounted++;
	diags->errors += new->severity == DPE_ERROR;
	return true;
}

static void add(struct dpe_diags *diags, struct diag new)
{
	if (new.place.source)
		dpe_place_line(new.place, &new.line, &new.column);
	if (new.severity != DPE_NOTE)
		diags->dropped = is_known(diags, &new) || is_beyond_limit(diags, &new);
	if (diags->dropped) {
		free(new.where);
		free(new.text);
		return;
	}
	new.number = diags->count;
	if (new.severity != DPE_NOTE || diags->leader < diags->printed)
		diags->leader = new.number; /* a note alone, if its error was printed */
	new.leader = diags->leader;
	diags->errors += new.severity == DPE_ERROR;
	*DPE_GROW(diags->at, diags->count, diags->cap) = new;
}

static char *format(const char *fmt, va_list args)
{
	struct dpe_text text = {0};

	dpe_text_vprintf(&text, fmt, args);
	return text.at;
}

void dpe_diag(struct dpe_diags *diags, enum dpe_severity severity, struct dpe_place place,
	const char *fmt, ...)
{
	struct diag new = {.severity = severity, .place = place};
	va_list args;

	va_start(args, fmt);
	new.text = format(fmt, args);
	va_end(args);
	add(diags, new);
}

void dpe_diag_at(struct dpe_diags *diags, enum dpe_severity severity, const char *where,
	const char *fmt, ...)
{
	struct diag new = {.severity = severity, .where = dpe_xstrdup(*where ? where : "''")};
	va_list args;

	va_start(args, fmt);
	new.text = format(fmt, args);
	va_end(args);
	add(diags, new);
}

void dpe_diags_terminal(struct dpe_diags *diags, bool color, unsigned columns)
{
	diags->color = color;
	diags->columns = columns;
}

void dpe_diags_show_word(struct dpe_diags *diags, const char *source, unsigned line, const char *by, const char *word)
{
	struct generated new = {dpe_xstrdup(source), dpe_xstrdup(by), dpe_xstrdup(word), line};

	*DPE_GROW(diags->generated, diags->ngenerated, diags->capgenerated) = new;
}

void dpe_diags_out_of_memory(struct dpe_diags *diags)
{
	diags->out_of_memory = true;
	diags->errors++;
}

unsigned dpe_diags_errors(const struct dpe_diags *diags)
{
	return diags->errors;
}

/* ---- printing ---------------------------------------------------------------------------- */

/* Bold, as compilers do. */
#define RED "\033[1;31m"
#define MAGENTA "\033[1;35m"
#define CYAN "\033[1;36m"
#define CARET "\033[1;32m"
#define PLAIN "\033[0m"

/* Adds text with unprintable bytes as \xHH; returns the number of columns. */
static unsigned add_safe(struct dpe_text *to, const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned columns = 0;

	for (size_t i = 0; i < len;) {
		size_t n = dpe_utf8_length(at + i, len - i);
		bool c1 = n == 2 && at[i] == 0xc2 && at[i + 1] < 0xa0;

		if (at[i] == '\t') { /* a tab is one blank, in the source line and below it */
			dpe_text_puts(to, " ");
			n = 1;
		} else if (!n || c1 || at[i] < 0x20 || at[i] == 0x7f) {
			dpe_text_printf(to, "\\x%02x", at[i]);
			columns += 3;
			n = 1;
		} else {
			dpe_text_add(to, text + i, n);
		}
		columns++;
		i += n;
	}
	return columns;
}

/* Source text as it is printed, and the part of it to mark, in columns. */
struct marked_line {
	struct dpe_text text;
	unsigned columns, begin, width;
};

/* The bytes before that column of printed text, in which a character takes one column. */
static size_t column_at(const struct dpe_text *text, unsigned column)
{
	size_t at = 0;

	while (at < text->len && column--)
		at += dpe_utf8_length((const unsigned char *)text->at + at, text->len - at);
	return at;
}

/* The line with a mark below it; a line that is too long is cut around the mark. */
static void add_marked(struct dpe_text *to, const struct dpe_diags *diags, struct marked_line *line)
{
	static const unsigned margin = 4; /* "  | " */
	unsigned room = DPE_DIAG_COLUMNS, first = 0;
	size_t from;

	if (diags->columns && diags->columns < room + margin)
		room = diags->columns > 2 * margin ? diags->columns - margin : margin;
	if (line->columns > room && line->begin + line->width > room)
		first = line->begin > room / 2 ? line->begin - room / 2 : 0;
	if (line->width > first + room - line->begin)
		line->width = first + room - line->begin;
	from = column_at(&line->text, first);
	dpe_text_puts(to, "  | ");
	dpe_text_add(to, line->text.at + from, column_at(&line->text, first + room) - from);
	dpe_text_printf(to, "\n  | %*s%s^", (int)(line->begin - first), "", diags->color ? CARET : "");
	for (unsigned i = 1; i < line->width; i++)
		dpe_text_puts(to, "~");
	dpe_text_puts(to, diags->color ? PLAIN "\n" : "\n");
	dpe_text_free(&line->text);
}

/* `at` and `marked`: the part to mark, in bytes. */
static struct marked_line mark_line(const char *text, size_t len, size_t at, size_t marked)
{
	struct marked_line line = {0};

	dpe_text_puts(&line.text, "");
	line.begin = add_safe(&line.text, text, at);
	line.width = add_safe(&line.text, text + at, marked);
	line.columns = line.begin + line.width + add_safe(&line.text, text + at + marked, len - at - marked);
	return line;
}

/* The source line of the location, as far as it can be shown. */
static void add_line(struct dpe_text *to, const struct dpe_diags *diags, struct dpe_place place)
{
	size_t size, begin = place.begin, end, from, marked;
	const char *text = dpe_source_text(place.source, &size);
	struct marked_line line;

	if (begin > size)
		begin = size;
	from = begin;
	while (from && text[from - 1] != '\n' && begin - from < DPE_DIAG_COLUMNS / 2)
		from--;
	end = begin;
	while (end < size && text[end] != '\n' && end - from < DPE_DIAG_COLUMNS)
		end++;
	if (end > begin && end < size && text[end] == '\n' && text[end - 1] == '\r')
		end--;
	marked = place.end > end ? end - begin : place.end > begin ? place.end - begin : 0;
	line = mark_line(text + from, end - from, begin - from, marked);
	add_marked(to, diags, &line);
}

/* The word with a mark below the name that the location begins with; below all of it if it does not have that. */
static void add_word(
	struct dpe_text *to, const struct dpe_diags *diags, const struct generated *generated, struct dpe_place place)
{
	size_t size, len;
	const char *word = generated->word, *text = dpe_source_text(place.source, &size), *at = NULL;
	struct marked_line line;

	text += place.begin < size ? place.begin : size;
	text += *text == '[' || *text == '"';
	len = strcspn(text, "()[]'\"&; \n");
	if (len)
		at = memmem(word, strlen(word), text, len);
	if (!at) {
		at = word;
		len = strlen(word);
	}
	line = mark_line(word, strlen(word), (size_t)(at - word), len);
	add_marked(to, diags, &line);
}

/* `leader`: the diagnostic that a note belongs to; its source line is not repeated. */
static void print_diag(const struct dpe_diags *diags, FILE *to, const struct diag *diag, const struct diag *leader)
{
	static const char *const severities[] = {"error", "warning", "note"};
	static const char *const colored[] = {
		RED "error" PLAIN, MAGENTA "warning" PLAIN, CYAN "note" PLAIN};
	const struct generated *generated = generated_line(diags, diag);
	const char *name = diag->where ? diag->where : "dpe";
	struct dpe_text text = {0};

	if (diag->place.source)
		name = generated ? generated->by : dpe_source_name(diag->place.source);
	add_safe(&text, name, strlen(name));
	if (diag->place.source && !generated)
		dpe_text_printf(&text, ":%u:%u", diag->line, diag->column);
	dpe_text_printf(&text, ": %s: ", (diags->color ? colored : severities)[diag->severity]);
	add_safe(&text, diag->text, strlen(diag->text));
	dpe_text_puts(&text, "\n");
	if (diag->place.source && (diag == leader || !is_same(diag->place, leader->place))) {
		if (generated)
			add_word(&text, diags, generated, diag->place);
		else
			add_line(&text, diags, diag->place);
	}
	fwrite(text.at, 1, text.len, to);
	dpe_text_free(&text);
}

/* By file and line if both are known, else in order of arrival. Files keep the order of their
 * first diagnostic. */
static int in_text(const struct diag *a, const struct diag *b)
{
	if (a->place.source && a->place.source == b->place.source && a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->place.source && a->place.source == b->place.source && a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* Insertion sort of the leaders within runs of one source: short and stable. */
static unsigned sort_leaders(const struct dpe_diags *diags, unsigned *order)
{
	unsigned count = 0;

	for (unsigned i = diags->printed; i < diags->count; i++) {
		unsigned at = count;

		if (diags->at[i].leader != i)
			continue;
		while (at && diags->at[order[at - 1]].place.source == diags->at[i].place.source &&
			in_text(&diags->at[i], &diags->at[order[at - 1]]) < 0) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
		count++;
	}
	return count;
}

void dpe_diags_print(struct dpe_diags *diags, FILE *to)
{
	unsigned *order, count;

	if (diags->out_of_memory)
		fputs("dpe: error: out of memory\n", to);
	diags->out_of_memory = false;
	order = dpe_xcalloc(diags->count, sizeof(*order));
	count = sort_leaders(diags, order);
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = order[i]; j < diags->count; j++) {
			if (diags->at[j].leader != order[i])
				break;
			print_diag(diags, to, &diags->at[j], &diags->at[order[i]]);
		}
	}
	free(order);
	if (diags->uncounted)
		fprintf(to, "dpe: note: %u more error%s not shown\n", diags->uncounted,
			diags->uncounted == 1 ? " or warning is" : "s or warnings are");
	diags->uncounted = 0;
	memset(diags->counted, 0, sizeof(diags->counted));
	forget_printed(diags);
	diags->printed = diags->count;
}
