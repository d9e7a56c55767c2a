/* A regular expression with named groups: each match is a message.
 *
 * Source: pcre2pattern(3). */
#include "event/logs/text_pattern.h"
#include "event/logs/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
			(struct dpe_named_group){(const char *)names + 2, (unsigned)names[0] << 8 | names[1]};
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

void dpe_pattern_free(struct dpe_text_pattern *pattern)
{
	if (!pattern)
		return;
	free(pattern->groups);
	pcre2_match_data_free(pattern->match);
	pcre2_code_free(pattern->code);
	free(pattern);
}

struct dpe_text_pattern *dpe_pattern_compile(struct dpe_log_reader *reader, const char *text)
{
	struct dpe_text_pattern *pattern = dpe_xcalloc(1, sizeof(*pattern));

	pattern->reader = reader;
	pattern->threadless = strstr(text, "(?<thread>)");
	if (compile(pattern, text))
		return pattern;
	dpe_pattern_free(pattern);
	return NULL;
}

/* ---- values --------------------------------------------------------------------------------- */

static struct dpe_matched_text part_of(const struct dpe_text_pattern *pattern, const char *text, unsigned group)
{
	const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(pattern->match);

	if (bounds[2 * group] == PCRE2_UNSET || bounds[2 * group] > bounds[2 * group + 1])
		return (struct dpe_matched_text){"", 0};
	return (struct dpe_matched_text){text + bounds[2 * group], bounds[2 * group + 1] - bounds[2 * group]};
}

static bool is_number(struct dpe_matched_text part)
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

static void add_text(struct dpe_text *to, struct dpe_matched_text part)
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

static bool is_whole(struct dpe_matched_text part)
{
	return is_number(part) && !memchr(part.at, '.', part.len) && *part.at != '-';
}

/* The unit that makes the number a time of our time, in ns. */
static uint64_t unit_of(uint64_t number)
{
	const uint64_t second = 1000000000;

	for (uint64_t unit = second; unit > 1; unit /= 1000) {
		if (number < second * 10 * (second / unit))
			return unit;
	}
	return 1;
}

bool dpe_pattern_note_time(struct dpe_text_pattern *pattern, struct dpe_matched_text part)
{
	uint64_t unit;

	if (!is_whole(part))
		return !part.len;
	unit = unit_of(strtoull(part.at, NULL, 10));
	if (!pattern->unit || unit < pattern->unit)
		pattern->unit = unit;
	return true;
}

/* A number with a fraction is in seconds. */
static bool number_as_time(const struct dpe_text_pattern *pattern, const char *text, uint64_t *time)
{
	char *end;
	const char *rest;
	uint64_t number, unit = 1000000000;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text == '-' || errno)
		return false;
	if (!*end)
		unit = pattern->unit ? pattern->unit : unit_of(number);
	rest = end;
	return !__builtin_mul_overflow(number, unit, time) && !__builtin_add_overflow(*time, fraction(&rest), time);
}

/* The offset of "Z", "+01:00", "-0530" in seconds east. */
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

static bool is_half_of_day(const char *rest)
{
	return *rest && strchr("AaPp", *rest) && (rest[1] == 'M' || rest[1] == 'm');
}

/* A date without its year, or a time without its date, is of the next year or day where it goes back by more than half
 * of one. */
static uint64_t continued(struct dpe_text_pattern *pattern, uint64_t time, uint64_t days)
{
	uint64_t period = days * 24 * 3600 * 1000000000;

	time += pattern->turns * period;
	if (time + period / 2 < pattern->latest) {
		pattern->turns++;
		time += period;
	}
	pattern->latest = time;
	return time;
}

static bool date_as_time(struct dpe_text_pattern *pattern, const char *text, uint64_t *time)
{
	static const struct {
		const char *text;
		unsigned days; /* until it repeats; 0: never */
	} formats[] = {{"%Y-%m-%dT%H:%M:%S", 0}, {"%Y-%m-%d %H:%M:%S", 0}, {"%Y/%m/%d %H:%M:%S", 0},
		{"%b %d %H:%M:%S %Y", 0}, {"%b %d %H:%M:%S", 366}, {"%d/%b/%Y:%H:%M:%S", 0}, {"%H:%M:%S", 1}};

	for (unsigned i = 0; i < DPE_COUNT(formats); i++) {
		struct tm parts = {.tm_mday = 1, .tm_year = 72}; /* a leap year */
		const char *rest = strptime(text, formats[i].text, &parts);
		uint64_t behind;
		long seconds;

		if (!rest)
			continue;
		behind = fraction(&rest);
		while (*rest == ' ')
			rest++;
		seconds = timegm(&parts) - zone(rest);
		if (seconds < 0 || is_half_of_day(rest))
			return false;
		*time = (uint64_t)seconds * 1000000000 + behind;
		if (formats[i].days)
			*time = continued(pattern, *time, formats[i].days);
		return true;
	}
	return false;
}

static bool read_time(struct dpe_text_pattern *pattern, struct dpe_matched_text part, uint64_t *time)
{
	char text[64] = "";

	if (!part.len || part.len >= sizeof(text))
		return false;
	memcpy(text, part.at, part.len);
	return is_number(part) ? number_as_time(pattern, text, time) : date_as_time(pattern, text, time);
}

/* ---- messages ------------------------------------------------------------------------------- */

static void add_event_name(struct dpe_text *to, struct dpe_matched_text name)
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

static void add_predecessors(struct dpe_text *to, struct dpe_matched_text part)
{
	const char *comma = "", *end = part.at + part.len;

	dpe_text_puts(to, ",\"pred\":[");
	for (const char *at = part.at; at < end;) {
		size_t len = 0;

		while (at + len < end && !strchr(" \t,;", at[len]))
			len++;
		if (len) {
			dpe_text_puts(to, comma);
			add_text(to, (struct dpe_matched_text){at, len});
			comma = ",";
		}
		at += len + (at + len < end);
	}
	dpe_text_puts(to, "]");
}

static void add_member(struct dpe_text_pattern *pattern, struct dpe_text *to, const char *name, struct dpe_matched_text part)
{
	static const char *const members[] = {"host", "process", "thread", "id", "seq", "comm", "ret"};
	uint64_t time;

	if (!strcmp(name, "time")) {
		if (read_time(pattern, part, &time))
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
	unsigned max = 0;

	for (unsigned i = 0; i < pattern->ngroups; i++)
		if (argument_number(pattern->groups[i].name) > max)
			max = argument_number(pattern->groups[i].name);
	for (unsigned number = 1; number <= max; number++) {
		struct dpe_matched_text part = {"", 0};

		for (unsigned i = 0; i < pattern->ngroups; i++)
			if (argument_number(pattern->groups[i].name) == number)
				part = part_of(pattern, text, pattern->groups[i].number);
		dpe_text_puts(to, number == 1 ? ",\"args\":[" : ",");
		add_text(to, part);
	}
	dpe_text_puts(to, max ? "]" : "");
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
static void add_variables(const struct dpe_text_pattern *pattern, struct dpe_text *to, const char *text, struct dpe_matched_text name)
{
	dpe_text_puts(to, ",\"vars\":{\"name\":");
	dpe_json_string(to, name.at, name.len);
	for (unsigned i = 0; i < pattern->ngroups; i++) {
		const struct dpe_named_group *group = &pattern->groups[i];

		if (!is_variable(group->name) || !strcmp(group->name, "name"))
			continue;
		dpe_text_printf(to, ",\"%s\":", group->name);
		add_text(to, part_of(pattern, text, group->number));
	}
}

struct dpe_matched_text dpe_pattern_part(const struct dpe_text_pattern *pattern, const char *text, const char *name)
{
	for (unsigned i = 0; i < pattern->ngroups; i++)
		if (!strcmp(pattern->groups[i].name, name))
			return part_of(pattern, text, pattern->groups[i].number);
	return (struct dpe_matched_text){"", 0};
}

bool dpe_pattern_take_loss(struct dpe_text_pattern *pattern, const char *text)
{
	struct dpe_matched_text part = dpe_pattern_part(pattern, text, "lost");
	uint64_t count = 0;

	if (!part.len)
		return false;
	for (size_t i = 0; i < part.len && part.at[i] >= '0' && part.at[i] <= '9'; i++)
		count = count > UINT64_MAX / 10 - 1 ? count : 10 * count + (uint64_t)(part.at[i] - '0');
	pattern->reader->import_lost += count ? count : 1;
	return true;
}

void dpe_pattern_build(struct dpe_text_pattern *pattern, const char *text, struct dpe_text *message)
{
	struct dpe_matched_text name = dpe_pattern_part(pattern, text, "event");

	add_event_name(message, name);
	for (unsigned i = 0; i < pattern->ngroups; i++) {
		struct dpe_matched_text part = part_of(pattern, text, pattern->groups[i].number);

		if (part.len)
			add_member(pattern, message, pattern->groups[i].name, part);
	}
	if (pattern->threadless)
		dpe_text_puts(message, ",\"thread\":1");
	add_arguments(pattern, message, text);
	add_variables(pattern, message, text, name);
}

bool dpe_pattern_apply(struct dpe_text_pattern *pattern, const char *text, struct dpe_text *message)
{
	int got = pcre2_match(
		pattern->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, PCRE2_NOTEMPTY, pattern->match, NULL);

	pattern->lines++;
	if (got < 0)
		return false;
	pattern->matched++;
	if (dpe_pattern_take_loss(pattern, text))
		return false;
	dpe_pattern_build(pattern, text, message);
	return true;
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
