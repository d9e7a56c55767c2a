/* Writes RAPID's STD format, without the events that std_read.c adds. */
#include "event/logs/log.h"

#include <stdlib.h>
#include <string.h>

/* A part of a text. */
struct slice {
	const char *at;
	size_t len;
};

static bool is_op(const char *name)
{
	static const char *const ops[] = {"acq", "rel", "r", "w", "fork", "join"};

	for (unsigned i = 0; i < DPE_COUNT(ops); i++) {
		if (!strcmp(ops[i], name))
			return true;
	}
	return false;
}

static bool is_added(const char *name, const struct dpe_message *message)
{
	return (!strcmp(name, "begin") || !strcmp(name, "end")) && message->nargs == 1 &&
	       dpe_value_equal(message->args[0], message->thread);
}

/* Prints the value as text; false if the format cannot hold it. */
static bool print_part(struct dpe_text *to, struct dpe_value value)
{
	size_t before = to->len;

	dpe_value_print(to, value);
	return to->len > before && !strpbrk(to->at + before, "|\n\r");
}

/* The end of the JSON string that begins here. */
static const char *skip_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		at += *at == '\\' && at[1];
	return at + (*at == '"');
}

/* The end of the JSON value that begins here. */
static const char *skip_value(const char *at)
{
	unsigned depth = 0;

	while (*at && (depth || *at != ',')) {
		depth += *at == '{' || *at == '[';
		depth -= (*at == '}' || *at == ']') && depth;
		at = *at == '"' ? skip_string(at) : at + 1;
	}
	return at;
}

/* The value of the member "loc" in further members; `*others`: there are others. */
static struct slice find_loc(const char *at, bool *others)
{
	struct slice loc = {0};

	*others = false;
	while (at && *at) {
		const char *value = skip_string(at), *end;

		value += *value == ':';
		end = skip_value(value);
		if (!strncmp(at, "\"loc\":", 6) && !loc.at)
			loc = (struct slice){value, (size_t)(end - value)};
		else
			*others = true;
		at = end + (*end == ',');
	}
	return loc;
}

/* False if the format cannot hold the location. */
static bool print_loc_back(struct dpe_text *to, struct slice loc)
{
	bool quoted = loc.len > 2 && *loc.at == '"';

	if (!loc.len) {
		dpe_text_puts(to, "0");
		return true;
	}
	loc.at += quoted;
	loc.len -= quoted ? 2 : 0;
	dpe_text_add(to, loc.at, loc.len);
	return !memchr(loc.at, '|', loc.len) && !memchr(loc.at, '\\', loc.len) &&
	       !memchr(loc.at, '"', loc.len);
}

static bool leaves_out(const struct dpe_message *message, bool other_members, unsigned npreds)
{
	return other_members || npreds || message->npreds || message->nvars || message->nstack ||
	       message->npcs || message->has_time || message->module || message->comm ||
	       message->process.kind != DPE_NONE || message->host.kind != DPE_NONE ||
	       message->ret.kind != DPE_NONE;
}

void dpe_std_write(
	struct dpe_log_writer *writer, const struct dpe_message *message, unsigned npreds)
{
	const char *name = dpe_name_text(writer->names, message->name);
	struct dpe_text *to = &writer->text;
	size_t before = to->len;
	bool others, good;
	struct slice loc;

	if (is_added(name, message))
		return;
	if (message->phase != DPE_BARE || !is_op(name) || message->nargs != 1) {
		dpe_log_refuse(writer, message,
			"the format knows acq, rel, r, w, fork and join, each "
			"with one argument");
		return;
	}
	loc = find_loc(message->extra, &others);
	good = print_part(to, message->thread);
	dpe_text_printf(to, "|%s(", name);
	good &= print_part(to, message->args[0]);
	dpe_text_puts(to, ")|");
	good &= print_loc_back(to, loc);
	dpe_text_puts(to, "\n");
	writer->nleft += leaves_out(message, others, npreds);
	if (good)
		return;
	to->len = before;
	dpe_log_refuse(writer, message,
		"it needs a thread and an object without | and line breaks in them");
}
