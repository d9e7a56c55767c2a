/* Accesses to memory and file descriptors, and which two of them race. */
#include "cli/report/accesses.h"
#include "cli/report/report_state.h"

#include <string.h>

static bool begins_with(const struct cli_report *report, const struct dpe_message *message, const char *prefix)
{
	return !strncmp(dpe_name_text(report->cli->names, message->name), prefix, strlen(prefix));
}

bool cli_is_atomic(const struct cli_report *report, const struct dpe_message *message)
{
	return begins_with(report, message, "atomic::");
}

bool cli_is_access(const struct cli_report *report, const struct dpe_message *message)
{
	return message->nargs > 2 && message->args[0].kind == DPE_POINTER &&
	       (begins_with(report, message, "mem::") || cli_is_atomic(report, message));
}

bool cli_is_file(const struct cli_report *report, const struct dpe_message *message)
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
	if (cli_is_file(report, a))
		return cli_is_file(report, b) && (begins_with(report, a, "file::close") || begins_with(report, b, "file::close"));
	return cli_is_access(report, a) && cli_is_access(report, b) && !(is_read(report, a) && is_read(report, b)) &&
	       !(cli_is_atomic(report, a) && cli_is_atomic(report, b));
}

bool cli_is_data_race(const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events, unsigned count)
{
	return verdict->kind == DPE_MATCH && count == 2 && !dpe_rule_orders(verdict->rule) &&
	       conflict(report, events[0], events[1]);
}
