/* Reads any text by a regular expression with named groups: each match is a message. Vector clocks (a group `clock`):
 * logged_clocks.c.
 *
 * Sources: pcre2pattern(3); bitbucket.org/bestchai/shiviz, "Log format". */
#include "event/logs/import.h"
#include "event/logs/logged_clocks.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A part of the matched text. */
struct matched_text {
	const char *at;
	size_t len;
};

struct named_group {
	const char *name;
	unsigned number;
};

struct dpe_text_pattern {
	struct dpe_log_reader *reader;
	struct dpe_import *import;
	pcre2_code *code;
	pcre2_match_data *match;
	struct named_group *groups;
	unsigned ngroups;
	struct dpe_logged_clocks clocks;
	uint64_t lines, matched, untimed;
};

/* ---- the expression ------------------------------------------------------------------------- */

bool dpe_pattern_has(const struct dpe_text_pattern *pattern, const char *name)
{
	for (unsigned i = 0; i < pattern->ngroups; i++)
		if (!strcmp(pattern->groups[i].name, name))
			return true;
	return false;
}

static void find_groups(struct dpe_text_pattern *pattern)
{
	uint32_t count = 0, size = 0;
	PCRE2_SPTR names = NULL;

	pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMECOUNT, &count);
	pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
	pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMETABLE, &names);
	pattern->groups = dpe_xcalloc(count + 1, sizeof(*pattern->groups));
	for (; pattern->ngroups < count; pattern->ngroups++, names += size)
		pattern->groups[pattern->ngroups] =
			(struct named_group){(const char *)names + 2, (unsigned)names[0] << 8 | names[1]};
}

static bool compile(struct dpe_text_pattern *pattern, const char *text)
{
	struct dpe_diags *diags = pattern->reader->diags;
	PCRE2_UCHAR message[256] = "";
	PCRE2_SIZE at;
	int error;

	pattern->code = pcre2_compile(
		(PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, PCRE2_MULTILINE | PCRE2_NEVER_UTF, &error, &at, NULL);
	if (!pattern->code) {
		pcre2_get_error_message(error, message, sizeof(message));
		dpe_diag_at(diags, DPE_ERROR, "--pattern", "at character %zu: %s", at + 1, (const char *)message);
		return false;
	}
	pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE); /* without JIT, the expression is interpreted */
	pattern->match = pcre2_match_data_create_from_pattern(pattern->code, NULL);
	find_groups(pattern);
	if (dpe_pattern_has(pattern, "event"))
		return true;
	dpe_diag_at(diags, DPE_ERROR, "--pattern",
		"it needs a group that names the event: (?<event>…); others may be host, process, thread, id, seq, time, comm, ret, "
		"pred, clock, lost, arg1, arg2, …");
	return false;
}

/* ---- values --------------------------------------------------------------------------------- */

static struct matched_text part_of(const struct dpe_text_pattern *pattern, const char *text, unsigned group)
{
	const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(pattern->match);

	if (bounds[2 * group] == PCRE2_UNSET || bounds[2 * group] > bounds[2 * group + 1])
		return (struct matched_text){"", 0};
	return (struct matched_text){text + bounds[2 * group], bounds[2 * group + 1] - bounds[2 * group]};
}

static bool is_number(struct matched_text part)
{
	size_t at = part.len && *part.at == '-', whole = 0;

	for (; at + whole < part.len && strchr("0123456789", part.at[at + whole]); whole++)
		;
	if (!whole || (whole > 1 && part.at[at] == '0'))
		return false;
	if (at + whole == part.len)
		return true;
	for (at += whole + 1; at < part.len && strchr("0123456789", part.at[at]); at++)
		;
	return part.at[part.len - 1] != '.' && part.at[whole + (*part.at == '-')] == '.' && at == part.len;
}

static void add_text(struct dpe_text *to, struct matched_text part)
{
	if (is_number(part))
		dpe_text_add(to, part.at, part.len);
	else
		dpe_json_string(to, part.at, part.len);
}

/* The digits after a point or comma, in nanoseconds. */
static uint64_t fraction(const char **at)
{
	uint64_t unit = 100000000, sum = 0;

	if (**at != '.' && **at != ',')
		return 0;
	for ((*at)++; **at >= '0' && **at <= '9'; (*at)++, unit /= 10)
		sum += unit * (uint64_t)(**at - '0');
	return sum;
}

/* A whole number is in the unit that makes it a time of this century; a number with a fraction is in
 * seconds. */
static uint64_t number_as_time(const char *text)
{
	const uint64_t second = 1000000000;
	char *end;
	uint64_t number = strtoull(text, &end, 10);
	const char *rest = end;

	if (*rest == '.')
		return number * second + fraction(&rest);
	for (uint64_t unit = second; unit > 1; unit /= 1000) {
		if (number < second * 100 * (second / unit))
			return number * unit;
	}
	return number;
}

/* Of "Z", "+01:00", "-0530": seconds east. */
static long zone(const char *text)
{
	long sign = *text == '-' ? -1 : 1, hours, minutes = 0;
	char *end;

	if (*text != '+' && *text != '-')
		return 0;
	hours = strtol(text + 1, &end, 10);
	if (end - text == 5) {
		minutes = hours % 100;
		hours /= 100;
	} else if (*end == ':') {
		minutes = strtol(end + 1, NULL, 10);
	}
	return sign * (hours * 3600 + minutes * 60);
}

static bool date_as_time(const char *text, uint64_t *time)
{
	static const char *const formats[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y/%m/%d %H:%M:%S", "%b %d %H:%M:%S", "%d/%b/%Y:%H:%M:%S", "%H:%M:%S"};

	for (unsigned i = 0; i < DPE_COUNT(formats); i++) {
		struct tm parts = {.tm_mday = 1, .tm_year = 70};
		const char *rest = strptime(text, formats[i], &parts);
		uint64_t behind;
		long seconds;

		if (!rest)
			continue;
		behind = fraction(&rest);
		while (*rest == ' ')
			rest++;
		seconds = timegm(&parts) - zone(rest);
		if (seconds < 0)
			return false;
		*time = (uint64_t)seconds * 1000000000 + behind;
		return true;
	}
	return false;
}

static bool read_time(struct matched_text part, uint64_t *time)
{
	char text[64] = "";

	if (!part.len || part.len >= sizeof(text))
		return false;
	memcpy(text, part.at, part.len);
	if (!is_number(part))
		return date_as_time(text, time);
	*time = number_as_time(text);
	return *text != '-';
}

/* ---- messages ------------------------------------------------------------------------------- */

static void add_event_name(struct dpe_text *to, struct matched_text name)
{
	static const char *const phases[] = {".enter", ".exit"};
	size_t len = name.len;
	const char *phase = "";

	for (unsigned i = 0; i < DPE_COUNT(phases); i++) {
		size_t size = strlen(phases[i]);

		if (name.len > size && !memcmp(name.at + name.len - size, phases[i], size)) {
			phase = phases[i];
			len -= size;
		}
	}
	dpe_text_puts(to, "{\"event\":\"");
	dpe_import_name(to, name.at, len);
	dpe_text_printf(to, "%s\"", phase);
}

static void add_predecessors(struct dpe_text *to, struct matched_text part)
{
	const char *comma = "", *end = part.at + part.len;

	dpe_text_puts(to, ",\"pred\":[");
	for (const char *at = part.at; at < end;) {
		size_t len = 0;

		while (at + len < end && !strchr(" \t,;", at[len]))
			len++;
		if (len) {
			dpe_text_puts(to, comma);
			add_text(to, (struct matched_text){at, len});
			comma = ",";
		}
		at += len + (at + len < end);
	}
	dpe_text_puts(to, "]");
}

static void add_member(struct dpe_text_pattern *pattern, struct dpe_text *to, const char *name, struct matched_text part)
{
	static const char *const members[] = {"host", "process", "thread", "id", "seq", "comm", "ret"};
	uint64_t time;

	if (!strcmp(name, "time")) {
		if (read_time(part, &time))
			dpe_text_printf(to, ",\"time\":%llu", (unsigned long long)time);
		else
			pattern->untimed++;
	}
	if (!strcmp(name, "pred"))
		add_predecessors(to, part);
	for (unsigned i = 0; i < DPE_COUNT(members); i++) {
		if (strcmp(name, members[i]))
			continue;
		dpe_text_printf(to, ",\"%s\":", name);
		add_text(to, part);
	}
}

static unsigned argument_number(const char *name)
{
	char *end = NULL;
	unsigned long number = strncmp(name, "arg", 3) ? 0 : strtoul(name + 3, &end, 10);

	return number && !*end && number <= UINT8_MAX ? (unsigned)number : 0;
}

static void add_arguments(const struct dpe_text_pattern *pattern, struct dpe_text *to, const char *text)
{
	unsigned most = 0;

	for (unsigned i = 0; i < pattern->ngroups; i++)
		if (argument_number(pattern->groups[i].name) > most)
			most = argument_number(pattern->groups[i].name);
	for (unsigned number = 1; number <= most; number++) {
		struct matched_text part = {"", 0};

		for (unsigned i = 0; i < pattern->ngroups; i++)
			if (argument_number(pattern->groups[i].name) == number)
				part = part_of(pattern, text, pattern->groups[i].number);
		dpe_text_puts(to, number == 1 ? ",\"args\":[" : ",");
		add_text(to, part);
	}
	dpe_text_puts(to, most ? "]" : "");
}

static bool is_variable(const char *name)
{
	static const char *const others[] = {
		"event", "host", "process", "thread", "id", "seq", "time", "comm", "ret", "pred", "clock", "lost"};

	for (unsigned i = 0; i < DPE_COUNT(others); i++)
		if (!strcmp(name, others[i]))
			return false;
	return !argument_number(name);
}

/* The event, and all groups whose names have no meaning of their own, as variables. The object is left open. */
static void add_variables(const struct dpe_text_pattern *pattern, struct dpe_text *to, const char *text, struct matched_text name)
{
	dpe_text_puts(to, ",\"vars\":{\"name\":");
	dpe_json_string(to, name.at, name.len);
	for (unsigned i = 0; i < pattern->ngroups; i++) {
		const struct named_group *group = &pattern->groups[i];

		if (!is_variable(group->name) || !strcmp(group->name, "name"))
			continue;
		dpe_text_printf(to, ",\"%s\":", group->name);
		add_text(to, part_of(pattern, text, group->number));
	}
}

static struct matched_text part_named(const struct dpe_text_pattern *pattern, const char *text, const char *name)
{
	for (unsigned i = 0; i < pattern->ngroups; i++)
		if (!strcmp(pattern->groups[i].name, name))
			return part_of(pattern, text, pattern->groups[i].number);
	return (struct matched_text){"", 0};
}

/* False after a diagnostic. */
static bool note_clock(struct dpe_text_pattern *pattern, const char *text, unsigned line)
{
	struct matched_text clock = part_named(pattern, text, "clock"), host = part_named(pattern, text, "host");
	char *name = dpe_xasprintf("%.*s", (int)host.len, host.at);
	bool good = dpe_clocks_note(&pattern->clocks, name, clock.at, clock.len, pattern->import->count);

	if (!good)
		dpe_log_error(pattern->reader, DPE_ERROR, line, "its clock is not a JSON object with a number for '%s'", name);
	free(name);
	return good;
}

/* A line that says how many events were lost, by its group `lost`. */
static bool take_loss(struct dpe_text_pattern *pattern, const char *text)
{
	struct matched_text part = part_named(pattern, text, "lost");
	uint64_t count = 0;

	if (!part.len)
		return false;
	for (size_t i = 0; i < part.len && part.at[i] >= '0' && part.at[i] <= '9'; i++)
		count = count > UINT64_MAX / 10 - 1 ? count : 10 * count + (uint64_t)(part.at[i] - '0');
	pattern->reader->import_lost += count ? count : 1;
	return true;
}

/* The match as a message; its object of variables is left open. */
static void build_message(struct dpe_text_pattern *pattern, const char *text, struct dpe_text *message)
{
	struct matched_text name = part_named(pattern, text, "event");

	add_event_name(message, name);
	for (unsigned i = 0; i < pattern->ngroups; i++) {
		struct matched_text part = part_of(pattern, text, pattern->groups[i].number);

		if (part.len)
			add_member(pattern, message, pattern->groups[i].name, part);
	}
	add_arguments(pattern, message, text);
	add_variables(pattern, message, text, name);
}

static bool add_message(struct dpe_text_pattern *pattern, const char *text, unsigned line)
{
	struct dpe_text message = {0};

	if (take_loss(pattern, text))
		return true;
	if (dpe_pattern_has(pattern, "clock") && !note_clock(pattern, text, line))
		return false;
	build_message(pattern, text, &message);
	dpe_text_puts(&message, "}}");
	dpe_import_add(pattern->import, 0, line, &message);
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
static bool read_matches(struct dpe_text_pattern *pattern, const char *text, size_t len)
{
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
		good = add_message(pattern, text, line);
	}
	return good;
}

static uint64_t count_texts(const char *text, size_t len)
{
	uint64_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += text[i] != '\n' && (!i || text[i - 1] == '\n');
	return count;
}

bool dpe_pattern_report(const struct dpe_text_pattern *pattern)
{
	const struct dpe_log_reader *reader = pattern->reader;

	if (!pattern->matched && pattern->lines) {
		dpe_diag_at(reader->diags, DPE_ERROR, reader->name, "none of its %llu lines matches --pattern",
			(unsigned long long)pattern->lines);
		return false;
	}
	if (pattern->lines > pattern->matched)
		dpe_diag_at(reader->diags, DPE_NOTE, reader->name, "%llu of %llu lines do not match --pattern",
			(unsigned long long)(pattern->lines - pattern->matched), (unsigned long long)pattern->lines);
	if (pattern->untimed)
		dpe_diag_at(reader->diags, DPE_WARNING, reader->name,
			"%llu times cannot be read: neither a number nor a date and time of day", (unsigned long long)pattern->untimed);
	return true;
}

static void free_pattern(struct dpe_text_pattern *pattern)
{
	if (!pattern)
		return;
	dpe_clocks_free(&pattern->clocks);
	free(pattern->groups);
	pcre2_match_data_free(pattern->match);
	pcre2_code_free(pattern->code);
	free(pattern);
}

/* NULL after a diagnostic. */
static struct dpe_text_pattern *new_pattern(struct dpe_log_reader *reader, const char *text)
{
	struct dpe_text_pattern *pattern = dpe_xcalloc(1, sizeof(*pattern));

	pattern->reader = reader;
	if (compile(pattern, text))
		return pattern;
	free_pattern(pattern);
	return NULL;
}

bool dpe_pattern_apply(struct dpe_text_pattern *pattern, const char *text, struct dpe_text *message)
{
	int got = pcre2_match(
		pattern->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, PCRE2_NOTEMPTY, pattern->match, NULL);

	pattern->lines++;
	if (got < 0)
		return false;
	pattern->matched++;
	if (take_loss(pattern, text))
		return false;
	build_message(pattern, text, message);
	return true;
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

static struct dpe_import *read_text(struct dpe_text_pattern *pattern, const char *log, size_t len)
{
	struct dpe_import *import = dpe_xcalloc(1, sizeof(*import));

	pattern->import = import;
	pattern->lines = count_texts(log, len);
	if (!read_matches(pattern, log, len) || !dpe_pattern_report(pattern)) {
		dpe_import_free(import);
		return NULL;
	}
	dpe_clocks_order(&pattern->clocks, pattern->import);
	return import;
}

struct dpe_import *dpe_pattern_new(struct dpe_log_reader *reader, const char *text)
{
	size_t len = 0;
	char *log = dpe_import_text(reader, &len);
	struct dpe_text_pattern *pattern = log ? new_pattern(reader, text ? text : shiviz(log)) : NULL;
	struct dpe_import *import = NULL;

	if (pattern)
		import = dpe_journal_is(log) ? dpe_journal_read(reader, pattern, log) : read_text(pattern, log, len);
	free_pattern(pattern);
	free(log);
	return import;
}
