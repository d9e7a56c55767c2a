/* A race in words: "data race on x: write of 4 bytes by thread 7, not ordered with read of 4 bytes by thread 8". */
#include "cli/report/accesses.h"
#include "cli/report/report_state.h"
#include "cli/report/text.h"

#include <stdlib.h>
#include <string.h>

/* "x" of "[x']"; the address of other accesses. */
static void add_accessed(struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message)
{
	const char *name = dpe_name_text(report->cli->names, message->name);
	char *variable;

	if (cli_is_file(report, message))
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

	dpe_text_puts(to, cli_is_atomic(report, message) ? "atomic " : "");
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
