/* Reads any text by a regular expression (text_pattern.c). Vector clocks (a group `clock`): logged_clocks.c.
 *
 * Source: bitbucket.org/bestchai/shiviz, "Log format". */
#include "event/logs/logged_clocks.h"
#include "event/logs/text_pattern.h"

#include <stdlib.h>
#include <string.h>

struct text_log {
	struct dpe_text_pattern *pattern;
	struct dpe_import *import;
	struct dpe_logged_clocks clocks;
};

/* ---- messages ------------------------------------------------------------------------------- */

/* False after a diagnostic. */
static bool note_clock(struct text_log *log, const char *text, unsigned line)
{
	struct dpe_matched_text clock = dpe_pattern_part(log->pattern, text, "clock"), host = dpe_pattern_part(log->pattern, text, "host");
	char *name = dpe_xasprintf("%.*s", (int)host.len, host.at);
	bool good = dpe_clocks_note(&log->clocks, name, clock.at, clock.len, log->import->count);

	if (!good)
		dpe_log_error(log->pattern->reader, DPE_ERROR, line, "its clock is not a JSON object with a number for '%s'", name);
	free(name);
	return good;
}

static bool add_message(struct text_log *log, const char *text, unsigned line)
{
	struct dpe_text message = {0};

	if (dpe_pattern_take_loss(log->pattern, text))
		return true;
	if (dpe_pattern_has(log->pattern, "clock") && !note_clock(log, text, line))
		return false;
	dpe_pattern_build(log->pattern, text, &message);
	dpe_text_puts(&message, "}}");
	dpe_import_add(log->import, 0, line, &message);
	return true;
}

/* ---- the log -------------------------------------------------------------------------------- */

static unsigned count_lines(const char *from, const char *to)
{
	unsigned count = 0;

	for (; from < to; from++)
		count += *from == '\n';
	return count;
}

/* False after a diagnostic. */
static bool read_matches(struct text_log *log, const char *text, size_t len)
{
	struct dpe_text_pattern *pattern = log->pattern;
	const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(pattern->match);
	size_t at = 0, counted = 0;
	unsigned line = 1;
	bool good = true;

	while (good && at <= len) {
		int got = pcre2_match(pattern->code, (PCRE2_SPTR)text, len, at, PCRE2_NOTEMPTY, pattern->match, NULL);

		if (got == PCRE2_ERROR_NOMATCH)
			return true;
		if (got < 0) {
			dpe_log_error(pattern->reader, DPE_ERROR, line + count_lines(text + counted, text + at),
				"--pattern takes too long from here on: write it so that it fails sooner");
			return false;
		}
		line += count_lines(text + counted, text + bounds[0]);
		counted = bounds[0];
		at = bounds[1];
		pattern->matched += 1 + count_lines(text + bounds[0], text + at - (text[at - 1] == '\n'));
		good = add_message(log, text, line);
	}
	return good;
}

/* Times that are whole numbers have one unit, which the largest shows. */
static void note_times(struct dpe_text_pattern *pattern, const char *text, size_t len)
{
	const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(pattern->match);
	size_t at = 0;

	while (at <= len && pcre2_match(pattern->code, (PCRE2_SPTR)text, len, at, PCRE2_NOTEMPTY, pattern->match, NULL) >= 0) {
		if (!dpe_pattern_note_time(pattern, dpe_pattern_part(pattern, text, "time")))
			return;
		at = bounds[1];
	}
}

static uint64_t count_texts(const char *text, size_t len)
{
	uint64_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += text[i] != '\n' && (!i || text[i - 1] == '\n');
	return count;
}

/* ShiViz's default format has the clock in the second line of an event, a log of GoVector in the first. */
static const char *shiviz(const char *log)
{
	size_t len = strcspn(log, "\n");
	const char *clock = memmem(log, len, " {", 2);

	if (clock && log[len - 1] == '}')
		return "^(?<host>\\S*) (?<clock>\\{.*\\})\n(?<event>.*)$";
	return "^(?<event>.*)\n(?<host>\\S*) (?<clock>\\{.*\\})$";
}

static void order_by_clocks(struct text_log *log)
{
	char *unlogged = dpe_clocks_order(&log->clocks, log->import);

	if (unlogged)
		dpe_diag_at(log->pattern->reader->diags, DPE_WARNING, log->pattern->reader->name,
			"clocks count events of '%s', of which this log has none: put the logs of all hosts into one file", unlogged);
	free(unlogged);
}

static struct dpe_import *read_text(struct dpe_text_pattern *pattern, const char *text, size_t len)
{
	struct text_log log = {.pattern = pattern, .import = dpe_xcalloc(1, sizeof(*log.import))};

	pattern->lines = count_texts(text, len);
	if (dpe_pattern_has(pattern, "time"))
		note_times(pattern, text, len);
	pattern->reader->has_clocks = dpe_pattern_has(pattern, "clock");
	if (read_matches(&log, text, len) && dpe_pattern_report(pattern)) {
		order_by_clocks(&log);
	} else {
		dpe_import_free(log.import);
		log.import = NULL;
	}
	dpe_clocks_free(&log.clocks);
	return log.import;
}

struct dpe_import *dpe_pattern_new(struct dpe_log_reader *reader, const char *text)
{
	size_t len = 0;
	char *log = dpe_import_text(reader, &len);
	struct dpe_text_pattern *pattern = log ? dpe_pattern_compile(reader, text ? text : shiviz(log)) : NULL;
	struct dpe_import *import = NULL;

	if (pattern)
		import = dpe_journal_is(log) ? dpe_journal_read(reader, pattern, log) : read_text(pattern, log, len);
	dpe_pattern_free(pattern);
	free(log);
	return import;
}
