/* Reads what `journalctl -o json` prints: an entry of the systemd journal is a message.
 *
 * Sources: systemd, "Journal Export Formats"; systemd.journal-fields(7). */
#include "event/logs/import.h"
#include "event/logs/text_pattern.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STAMP "__REALTIME_TIMESTAMP"

struct journal {
	struct dpe_log_reader *reader;
	struct dpe_text_pattern *pattern; /* borrowed; or NULL */
	struct dpe_import *import;
	uint64_t large; /* messages that journalctl left out */
	uint64_t threadless; /* messages without a process */
};

bool dpe_journal_is(const char *text)
{
	const char *end = strchr(text, '\n');
	size_t len = end ? (size_t)(end - text) : strlen(text);

	return *text == '{' && memmem(text, len, "\"" STAMP "\"", strlen(STAMP) + 2);
}

/* ---- fields --------------------------------------------------------------------------------- */

/* The first value of a field that the entry has several times. */
static const cJSON *find_field(const cJSON *entry, const char *name)
{
	const cJSON *field = cJSON_GetObjectItemCaseSensitive(entry, name);

	if (cJSON_IsArray(field) && field->child && !cJSON_IsNumber(field->child))
		return field->child;
	return field;
}

static bool is_bytes(const cJSON *field)
{
	const cJSON *byte;

	if (!cJSON_IsArray(field))
		return false;
	cJSON_ArrayForEach(byte, field) {
		if (!cJSON_IsNumber(byte) || byte->valuedouble != (unsigned char)byte->valueint)
			return false;
	}
	return true;
}

/* journalctl prints a field that is not UTF-8 as an array of bytes. A zero byte becomes one that does not occur
 * in UTF-8. */
static char *copy_bytes(const cJSON *field)
{
	struct dpe_text text = {0};
	const cJSON *byte;

	dpe_text_puts(&text, "");
	cJSON_ArrayForEach(byte, field) {
		char one = byte->valueint ? (char)byte->valueint : (char)0xff;

		dpe_text_add(&text, &one, 1);
	}
	return text.at;
}

/* For free(); NULL if the entry has none. */
static char *copy_field(const cJSON *entry, const char *name)
{
	const cJSON *field = find_field(entry, name);

	if (cJSON_IsString(field))
		return dpe_xstrdup(field->valuestring);
	return is_bytes(field) ? copy_bytes(field) : NULL;
}

static bool number_of(const cJSON *entry, const char *name, uint64_t *number)
{
	const cJSON *field = find_field(entry, name);
	char *end = NULL;

	if (!cJSON_IsString(field))
		return false;
	errno = 0;
	*number = strtoull(field->valuestring, &end, 10);
	return end != field->valuestring && !*end && !errno;
}

static bool is_absent(const cJSON *entry, const char *name)
{
	const cJSON *field = find_field(entry, name);

	return !field || cJSON_IsNull(field);
}

/* False if an event made of it would have the wrong time, thread or text. */
static bool is_entry(const cJSON *entry)
{
	static const char *const numbers[] = {"_PID", "_TID", "N_DROPPED"};
	const cJSON *message = find_field(entry, "MESSAGE");
	uint64_t number;

	if (!number_of(entry, STAMP, &number) || number > UINT64_MAX / 1000)
		return false;
	for (unsigned i = 0; i < DPE_COUNT(numbers); i++) {
		if (!is_absent(entry, numbers[i]) && !number_of(entry, numbers[i], &number))
			return false;
	}
	return is_absent(entry, "MESSAGE") || cJSON_IsString(message) || is_bytes(message);
}

/* ---- a message ------------------------------------------------------------------------------ */

static void add_text_member(struct dpe_text *to, const char *name, const cJSON *entry, const char *field)
{
	char *text = copy_field(entry, field);

	if (text) {
		dpe_text_printf(to, ",\"%s\":", name);
		dpe_json_string(to, text, strlen(text));
	}
	free(text);
}

static void add_number_member(struct dpe_text *to, const char *name, const cJSON *entry, const char *field, unsigned scale)
{
	uint64_t number;

	if (number_of(entry, field, &number))
		dpe_text_printf(to, ",\"%s\":%llu", name, (unsigned long long)number * scale);
}

/* The members for which the pattern has no groups. */
static void add_members(const struct journal *journal, struct dpe_text *to, const cJSON *entry)
{
	static const struct {
		const char *member, *field, *other;
		unsigned scale; /* 0: a text */
	} members[] = {
		{"host", "_HOSTNAME", NULL, 0},
		{"process", "_PID", NULL, 1},
		{"thread", "_TID", "_PID", 1},
		{"comm", "_COMM", "SYSLOG_IDENTIFIER", 0},
		{"time", STAMP, NULL, 1000},
	};

	for (unsigned i = 0; i < DPE_COUNT(members); i++) {
		const char *field = members[i].field;

		if (journal->pattern && dpe_pattern_has(journal->pattern, members[i].member))
			continue;
		if (members[i].other && !find_field(entry, field))
			field = members[i].other;
		if (members[i].scale)
			add_number_member(to, members[i].member, entry, field, members[i].scale);
		else
			add_text_member(to, members[i].member, entry, field);
	}
}

/* The event is named after the program that wrote the entry. The message is NULL if the entry has none. */
static void begin_message(struct dpe_text *to, const cJSON *entry, const char *message)
{
	char *name = copy_field(entry, "SYSLOG_IDENTIFIER");

	if (!name)
		name = copy_field(entry, "_COMM");
	dpe_text_puts(to, "{\"event\":\"");
	dpe_import_name(to, name ? name : "unknown", strlen(name ? name : "unknown"));
	dpe_text_puts(to, "\",\"args\":[");
	if (message)
		dpe_json_string(to, message, strlen(message));
	dpe_text_puts(to, "],\"vars\":{\"name\":");
	dpe_json_string(to, name ? name : "", strlen(name ? name : ""));
	free(name);
}

/* False if the pattern does not match. */
static bool begin(struct journal *journal, struct dpe_text *to, const cJSON *entry, const char *message)
{
	if (journal->pattern)
		return dpe_pattern_apply(journal->pattern, message ? message : "", to);
	begin_message(to, entry, message);
	return true;
}

static bool has_thread(const struct journal *journal, const cJSON *entry)
{
	if (journal->pattern && dpe_pattern_has(journal->pattern, "thread"))
		return true;
	return !is_absent(entry, "_TID") || !is_absent(entry, "_PID");
}

static void add_message(struct journal *journal, const cJSON *entry, const char *message, unsigned line)
{
	struct dpe_text text = {0};

	if (!begin(journal, &text, entry, message))
		return;
	journal->threadless += !has_thread(journal, entry);
	if (!journal->pattern || !dpe_pattern_has(journal->pattern, "unit"))
		add_text_member(&text, "unit", entry, "_SYSTEMD_UNIT");
	if (!journal->pattern || !dpe_pattern_has(journal->pattern, "priority"))
		add_number_member(&text, "priority", entry, "PRIORITY", 1);
	dpe_text_puts(&text, "}");
	add_members(journal, &text, entry);
	dpe_text_puts(&text, "}");
	dpe_import_add(journal->import, 0, line, &text);
}

/* ---- the log -------------------------------------------------------------------------------- */

static void read_entry(struct journal *journal, const char *text, unsigned line)
{
	cJSON *entry = cJSON_Parse(text);
	char *message = copy_field(entry, "MESSAGE");
	struct dpe_text damaged = {0};
	uint64_t dropped = 0;

	if (!cJSON_IsObject(entry) || !is_entry(entry)) {
		dpe_import_add(journal->import, 0, line, &damaged);
	} else if (cJSON_IsNull(find_field(entry, "MESSAGE"))) {
		journal->large++;
		journal->reader->import_lost++;
	} else {
		add_message(journal, entry, message, line);
	}
	if (number_of(entry, "N_DROPPED", &dropped))
		journal->reader->import_lost += dropped;
	free(message);
	cJSON_Delete(entry);
}

struct dpe_import *dpe_journal_read(struct dpe_log_reader *reader, struct dpe_text_pattern *pattern, char *text)
{
	struct journal journal = {.reader = reader, .pattern = pattern};
	unsigned number = 0;

	journal.import = dpe_xcalloc(1, sizeof(*journal.import));
	journal.import->damage = "this is not an entry of a journal: a line that is a JSON object with " STAMP
		", and fields as 'journalctl -o json' prints them";
	for (char *line; (line = strsep(&text, "\n"));) {
		number++;
		if (*line)
			read_entry(&journal, line, number);
	}
	if (journal.large)
		dpe_diag_at(reader->diags, DPE_WARNING, reader->name,
			"%llu messages were too large for journalctl, which counts as a loss: use journalctl --all",
			(unsigned long long)journal.large);
	if (journal.threadless)
		dpe_diag_at(reader->diags, DPE_NOTE, reader->name, "%llu of %u entries name no process: nothing orders them",
			(unsigned long long)journal.threadless, journal.import->count);
	if (!pattern || dpe_pattern_report(pattern))
		return journal.import;
	dpe_import_free(journal.import);
	return NULL;
}

struct dpe_import *dpe_journal_new(struct dpe_log_reader *reader)
{
	size_t len = 0;
	char *text = dpe_import_text(reader, &len);
	struct dpe_import *import = NULL;

	if (text && !strncmp(text, "LPKSHHRH", 8))
		dpe_diag_at(reader->diags, DPE_ERROR, reader->name,
			"this is the journal's own file: journalctl --file=%s -o json prints what can be read", reader->name);
	else if (text)
		import = dpe_journal_read(reader, NULL, text);
	free(text);
	return import;
}
