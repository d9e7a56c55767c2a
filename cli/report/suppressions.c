/* Suppressions: a line silences findings by its rule and, optionally, by one frame of a stack
 * or one event's function. */
#include "cli/report/suppressions.h"

#include "cli/report/stack_frame.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum subject { RULE, FUNCTION, FILE_NAME, LIBRARY, NSUBJECTS };

static const char *const SUBJECTS[] = {"rule", "function", "file", "library"};

struct line {
	char *patterns[NSUBJECTS]; /* in the arena; NULL: anything */
	struct dpe_place place;
	uint64_t count;
};

struct cli_suppressions {
	struct dpe_arena *arena;
	struct dpe_diags *diags;
	struct line *lines;
	unsigned nlines, caplines;
	bool good;
};

/* ---- reading ----------------------------------------------------------------------------- */

static void complain(
	struct cli_suppressions *s, struct dpe_place place, const char *text, const char *word)
{
	dpe_diag(s->diags, DPE_ERROR, place, text, word);
	s->good = false;
}

static int subject_of(const char *word, size_t len)
{
	for (int i = 0; i < NSUBJECTS; i++) {
		if (strlen(SUBJECTS[i]) == len && !strncmp(word, SUBJECTS[i], len))
			return i;
	}
	return -1;
}

/* False: what follows is not read, as the file may be another tool's. */
static bool read_word(struct cli_suppressions *s, struct line *line, const char *word, size_t len,
	struct dpe_place place)
{
	const char *colon = memchr(word, ':', len);
	char *text = dpe_arena_strndup(s->arena, word, len);
	int subject = colon ? subject_of(word, (size_t)(colon - word)) : -1;

	if (subject < 0)
		complain(s, place,
			"'%s' should be rule:PATTERN, function:PATTERN, file:PATTERN or "
			"library:PATTERN",
			text);
	else if (line->patterns[subject])
		complain(s, place, "a second %s: in one line",
			SUBJECTS[subject]);
	else if (colon + 1 == word + len)
		complain(s, place, "'%s' has no pattern; * matches anything", text);
	else
		line->patterns[subject] = text + (colon + 1 - word);
	return subject >= 0;
}

static bool read_line(struct cli_suppressions *s, const struct dpe_source *source, const char *text,
	size_t begin, size_t end)
{
	struct line line = {.place = {source, (uint32_t)begin, (uint32_t)end}};
	bool any = false;

	for (size_t at = begin; at < end;) {
		struct dpe_place place;
		size_t len;

		if (strchr(" \t\r", text[at])) {
			at++;
			continue;
		}
		if (text[at] == '#')
			break;
		for (len = 1; at + len < end && !strchr(" \t\r", text[at + len]);)
			len++;
		place = (struct dpe_place){source, (uint32_t)at, (uint32_t)(at + len)};
		if (!read_word(s, &line, text + at, len, place))
			return false;
		any = true;
		at += len;
	}
	if (any)
		*DPE_GROW(s->lines, s->nlines, s->caplines) = line;
	return true;
}

static void read_file(struct cli_suppressions *s, const char *path)
{
	const struct dpe_source *source = dpe_source_read(s->arena, path);
	const char *text;
	size_t len;

	if (!source) {
		dpe_diag_at(s->diags, DPE_ERROR, path, "cannot read these suppressions: %s",
			strerror(errno));
		s->good = false;
		return;
	}
	text = dpe_source_text(source, &len);
	for (size_t at = 0; at < len;) {
		const char *newline = memchr(text + at, '\n', len - at);
		size_t end = newline ? (size_t)(newline - text) : len;

		if (!read_line(s, source, text, at, end))
			return;
		at = end + 1;
	}
}

struct cli_suppressions *cli_suppressions_new(struct cli *cli)
{
	struct cli_suppressions *s = dpe_xcalloc(1, sizeof(*s));

	s->arena = dpe_arena_new();
	s->diags = cli->diags;
	s->good = true;
	for (unsigned i = 0; i < cli->suppressions.count; i++)
		read_file(s, cli->suppressions.at[i]);
	if (s->good)
		return s;
	dpe_diags_keep(cli->diags, s->arena);
	s->arena = NULL;
	cli_suppressions_free(s);
	return NULL;
}

void cli_suppressions_free(struct cli_suppressions *suppressions)
{
	if (!suppressions)
		return;
	if (suppressions->arena)
		dpe_arena_free(suppressions->arena);
	free(suppressions->lines);
	free(suppressions);
}

/* ---- matching ---------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *text, size_t len)
{
	char *copy;
	bool found;

	if (!pattern)
		return true;
	if (!text)
		return false;
	copy = dpe_xasprintf("%.*s", (int)len, text);
	found = !fnmatch(pattern, copy, 0);
	free(copy);
	return found;
}

/* The start of the parameter list: "f(int) const" and "f(void (*)(int))" have one. */
static size_t without_parameters(const char *name, size_t len)
{
	size_t end = len;
	int depth = 0;

	if (end > 6 && !strncmp(name + end - 6, " const", 6))
		end -= 6;
	if (!end || name[end - 1] != ')')
		return len;
	for (size_t at = end; at-- > 0;) {
		depth += (name[at] == ')') - (name[at] == '(');
		if (!depth)
			return at ? at : len;
	}
	return len;
}

static bool function_matches(const char *pattern, const char *name, size_t len)
{
	return matches(pattern, name, len) || matches(pattern, name, without_parameters(name, len));
}

/* A file by its full path, or by its last component. */
static bool file_matches(const char *pattern, const char *file, size_t len)
{
	const char *last = file ? memrchr(file, '/', len) : NULL;

	return matches(pattern, file, len) ||
	       (last && matches(pattern, last + 1, len - 1 - (size_t)(last - file)));
}

/* As in rules, libc stands for libc.so.6. */
static bool library_matches(const char *pattern, const char *library, size_t len)
{
	size_t stem = library ? strcspn(library, ".-") : 0;

	return matches(pattern, library, len) ||
	       (library && stem < len && matches(pattern, library, stem));
}

static bool frame_matches(const struct line *line, const struct cli_frame *frame)
{
	return function_matches(line->patterns[FUNCTION], frame->function, frame->function_len) &&
	       file_matches(line->patterns[FILE_NAME], frame->file, frame->file_len) &&
	       library_matches(line->patterns[LIBRARY], frame->library, frame->library_len);
}

static bool event_matches(
	const struct line *line, const struct dpe_names *names, const struct dpe_message *event)
{
	struct cli_frame self = {
		.function = dpe_name_text(names, event->name),
		.library = event->module ? dpe_name_text(names, event->module) : NULL,
	};

	self.function_len = strlen(self.function);
	self.library_len = self.library ? strlen(self.library) : 0;
	if (frame_matches(line, &self))
		return true;
	for (unsigned i = 0; i < event->nstack; i++) {
		struct cli_frame frame = cli_frame_split(event->stack[i]);

		if (frame_matches(line, &frame))
			return true;
	}
	return false;
}

static bool is_about_events(const struct line *line)
{
	return line->patterns[FUNCTION] || line->patterns[FILE_NAME] || line->patterns[LIBRARY];
}

static bool line_matches(const struct line *line, const struct dpe_names *names, const char *rule,
	struct dpe_message *const *events, unsigned nevents)
{
	if (!matches(line->patterns[RULE], rule, strlen(rule)))
		return false;
	if (!is_about_events(line))
		return true;
	for (unsigned i = 0; i < nevents; i++) {
		if (events[i] && event_matches(line, names, events[i]))
			return true;
	}
	return false;
}

bool cli_suppressions_need_stacks(const struct cli_suppressions *suppressions, const char *rule)
{
	for (unsigned i = 0; i < suppressions->nlines; i++) {
		if (matches(suppressions->lines[i].patterns[RULE], rule, strlen(rule)))
			return true;
	}
	return false;
}

bool cli_suppressions_match(struct cli_suppressions *suppressions, const struct dpe_names *names,
	const char *rule, struct dpe_message *const *events, unsigned nevents,
	struct dpe_place *place)
{
	for (unsigned i = 0; i < suppressions->nlines; i++) {
		if (!line_matches(&suppressions->lines[i], names, rule, events, nevents))
			continue;
		suppressions->lines[i].count++;
		*place = suppressions->lines[i].place;
		return true;
	}
	return false;
}

/* ---- telling ----------------------------------------------------------------------------- */

void cli_suppressions_each(const struct cli_suppressions *suppressions,
	void (*each)(void *context, const char *file, unsigned line, uint64_t count), void *context)
{
	for (unsigned i = 0; i < suppressions->nlines; i++) {
		const struct line *line = &suppressions->lines[i];
		unsigned number, column;

		dpe_place_line(line->place, &number, &column);
		each(context, dpe_source_name(line->place.source), number, line->count);
	}
}

/* Characters that are special in patterns, or could drive a terminal, become "any character". */
static void add_pattern(struct dpe_text *to, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool plain = (unsigned char)text[i] > 0x20 && text[i] != 0x7f &&
			     !strchr("*?[\\", text[i]);

		dpe_text_add(to, plain ? &text[i] : "?", 1);
	}
}

void cli_suppression_print(struct dpe_text *to, const struct dpe_names *names, const char *rule,
	struct dpe_message *const *events, unsigned nevents)
{
	const struct dpe_message *last = nevents ? events[nevents - 1] : NULL;
	const char *best = last ? cli_frame_best(last) : NULL;
	struct cli_frame frame = cli_frame_split(best ? best : "");

	dpe_text_printf(to, "rule:%s", rule);
	if (!last)
		return;
	if (!frame.function_len) {
		frame.function = dpe_name_text(names, last->name);
		frame.function_len = strlen(frame.function);
	}
	dpe_text_puts(to, " function:");
	add_pattern(to, frame.function, frame.function_len);
}
