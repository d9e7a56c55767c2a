/* Accesses to memory and file descriptors, and races between two of them. */
#include "cli/report/accesses.h"
#include "cli/report/report_state.h"
#include "cli/report/text.h"

#include <stdlib.h>
#include <string.h>

static bool begins_with(const struct cli_report *report, const struct dpe_message *message, const char *prefix)
{
	return !strncmp(dpe_name_text(report->cli->names, message->name), prefix, strlen(prefix));
}

static bool is_atomic(const struct cli_report *report, const struct dpe_message *message)
{
	return begins_with(report, message, "atomic::");
}

bool cli_is_access(const struct cli_report *report, const struct dpe_message *message)
{
	return message->nargs > 2 && message->args[0].kind == DPE_POINTER &&
	       (begins_with(report, message, "mem::") || is_atomic(report, message));
}

/* A use of a file descriptor, or its close. */
static bool is_file(const struct cli_report *report, const struct dpe_message *message)
{
	return message->nargs && begins_with(report, message, "file::");
}

bool cli_is_data(const struct cli_report *report, const struct dpe_message *message)
{
	return message->ret.kind == DPE_STRING && dpe_name_text(report->cli->names, message->name)[0] == '[';
}

static bool is_read(const struct cli_report *report, const struct dpe_message *message)
{
	return begins_with(report, message, "mem::read") || begins_with(report, message, "atomic::read");
}

/* Whether two accesses of one kind race if they are independent. */
static bool conflict(const struct cli_report *report, const struct dpe_message *a, const struct dpe_message *b)
{
	if (cli_is_data(report, a))
		return cli_is_data(report, b);
	if (is_file(report, a))
		return is_file(report, b) && (begins_with(report, a, "file::close") || begins_with(report, b, "file::close"));
	return cli_is_access(report, a) && cli_is_access(report, b) && !(is_read(report, a) && is_read(report, b)) &&
	       !(is_atomic(report, a) && is_atomic(report, b));
}

bool cli_is_data_race(const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events, unsigned count)
{
	return verdict->kind == DPE_MATCH && count == 2 && !dpe_rule_orders(verdict->rule) &&
	       conflict(report, events[0], events[1]);
}

/* ---- in words -------------------------------------------------------------------------------- */

/* "x" of "[x']"; the address of other accesses. */
static void add_accessed(struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	const char *name = dpe_name_text(report->cli->names, message->name);
	char *variable;

	if (is_file(report, message))
		dpe_text_puts(to, "file descriptor ");
	if (!cli_is_data(report, message)) {
		cli_text_address(to, report, message->args[0]);
		return;
	}
	variable = dpe_xasprintf("%.*s", (int)strcspn(name + 1, "']"), name + 1);
	cli_text_safe(to, variable);
	free(variable);
}

/* "write of 4 bytes by thread 4711"; of a variable, whose size is known, "atomic write by thread 4711". */
static void add_access_by(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	bool data = cli_is_data(report, message);
	const char *name = dpe_name_text(report->cli->names, message->name), *kind = data ? message->ret.text : strstr(name, "::") + 2;

	dpe_text_puts(to, is_atomic(report, message) ? "atomic " : "");
	cli_text_safe(to, kind);
	if (cli_is_access(report, message) && strcmp(kind, "free")) {
		dpe_text_puts(to, " of ");
		cli_text_value(to, message->args[1]);
		dpe_text_puts(to, message->args[1].num == 1 ? " byte" : " bytes");
	}
	dpe_text_puts(to, " by thread ");
	cli_text_value(to, message->thread);
	cli_text_host(to, message);
}

static const char *race_name(const struct cli_report *report, const struct dpe_message *const *events)
{
	unsigned freed = 0;

	for (unsigned i = 0; i < 2; i++)
		freed += !strcmp(dpe_name_text(report->cli->names, events[i]->name), "mem::free");
	return freed == 2 ? "double free" : freed ? "use after free" : "data race";
}

void cli_text_race(struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events)
{
	dpe_text_printf(to, "%s%s on ", verdict->prediction ? "predicted " : "", race_name(report, events));
	add_accessed(to, report, events[0]);
	dpe_text_puts(to, ": ");
	add_access_by(to, report, events[0]);
	dpe_text_puts(to, ", not ordered with ");
	add_access_by(to, report, events[1]);
}
