/* `break` in a live run: the target is stopped, and on a terminal the user decides how to proceed. */
#include "cli/report/writers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Standard input belongs to the target: answers are read from the terminal itself. */
static int open_terminal(void)
{
	if (!isatty(STDERR_FILENO))
		return -1;
	return open("/dev/tty", O_RDWR | O_CLOEXEC);
}

/* Ends the line of the question, which the user did not. */
static char leave(int terminal)
{
	dprintf(terminal, "\n");
	return 'l';
}

/* A letter; 'l' if the terminal is gone or a signal asks to end. */
static char read_answer(int terminal, int signals)
{
	struct pollfd fds[] = {
		{.fd = terminal, .events = POLLIN},
		{.fd = signals, .events = POLLIN},
	};
	char line[256];
	ssize_t len;

	while (poll(fds, 2, -1) < 0) {
		if (errno != EINTR)
			return leave(terminal);
	}
	if (fds[1].revents)
		return leave(terminal);
	len = read(terminal, line, sizeof(line));
	return len <= 0 ? leave(terminal) : line[0];
}

static enum cli_on_break ask(struct cli_report *report, int terminal, bool there, bool *leave)
{
	for (;;) {
		dprintf(terminal,
			"dpe: the program is stopped%s: [c]ontinue, [g]db, [k]ill, [l]eave it "
			"running? ",
			there ? " at this event" : "");
		switch (read_answer(terminal, report->signals)) {
		case 'c':
		case '\n':
			return CLI_CONTINUE;
		case 'g':
		case 'd':
			return CLI_GDB;
		case 'k':
			return CLI_KILL;
		case 'l':
		case 'q':
			*leave = true;
			return CLI_CONTINUE;
		default:
			break;
		}
	}
}

/* A repeated finding is not asked about again. */
static void print_break(struct cli_report *report, const struct dpe_rule *rule, const char *text)
{
	if (!report->cli->json && !report->repeated)
		cli_text_line(report, rule, "break", text);
	fflush(report->to);
}

static bool is_there(struct cli_report *report, const struct dpe_message *at)
{
	bool there = at && at->has_seq && at->thread.kind == DPE_INT &&
		     dpe_probes_stopped_at(report->probes, (pid_t)at->thread.num, at->seq);

	report->stops_there += there;
	return there;
}

static const char *stop_place(bool there, enum cli_on_break how)
{
	if (how != CLI_CONTINUE)
		return there ? "the program is stopped here, at this event"
			     : "the program is stopped here, some time after this event";
	return there ? "the program was stopped here, and continued: at this event"
		     : "the program was stopped here, and continued, some time after this event";
}

static enum dpe_break hand_over(struct cli_report *report, const struct dpe_rule *rule)
{
	pid_t target = dpe_probes_pid(report->probes);

	print_break(report, rule, "the program is under gdb, and no longer observed");
	dpe_probes_leave(report->probes);
	report->left = true;
	cli_gdb_run(report, target);
	return DPE_BREAK_END;
}

static enum dpe_break continue_program(struct cli_report *report, const struct dpe_rule *rule, bool leave)
{
	int error = dpe_probes_continue(report->probes);

	if (error)
		dpe_diag_at(report->cli->diags, DPE_ERROR, "dpe", "cannot continue the program: %s",
			strerror(-error));
	if (!leave)
		return DPE_BREAK_CONTINUE;
	print_break(report, rule, "the program runs on, no longer observed");
	report->left = true;
	return DPE_BREAK_END;
}

enum dpe_break cli_stop(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_message *at)
{
	enum cli_on_break how = report->cli->on_break;
	int error = dpe_probes_stop(report->probes), terminal = -1;
	bool leave = false, there = !error && is_there(report, at);

	if (error == -ESRCH) {
		print_break(report, rule, "the program has ended already");
		return DPE_BREAK_CONTINUE;
	}
	if (error) {
		dpe_diag_at(report->cli->diags, DPE_ERROR, "dpe", "cannot stop the program: %s",
			strerror(-error));
		return DPE_BREAK_CONTINUE;
	}
	if (how == CLI_ASK) {
		terminal = open_terminal();
		how = terminal < 0 ? CLI_CONTINUE : ask(report, terminal, there, &leave);
	}
	if (terminal >= 0)
		close(terminal);
	else
		print_break(report, rule, stop_place(there, how));
	if (how == CLI_GDB) {
		cli_json_match(report, rule, at);
		return hand_over(report, rule);
	}
	if (how == CLI_CONTINUE)
		return continue_program(report, rule, leave);
	dpe_probes_kill(report->probes);
	return DPE_BREAK_CONTINUE;
}

/* The program hangs anyway; the question is whether to leave it hanging. */
void cli_stop_at_deadlock(struct cli_report *report, const struct dpe_rule *rule)
{
	report->repeated = false;
	switch (report->cli->on_deadlock) {
	case CLI_HANG:
		return;
	case CLI_HALT:
		if (!dpe_probes_stop(report->probes))
			print_break(report, rule, "the program is stopped, and no longer observed");
		dpe_probes_leave(report->probes);
		report->left = true;
		return;
	case CLI_DEADLOCK_KILL:
		dpe_probes_kill(report->probes);
		return;
	case CLI_DEADLOCK_GDB:
		free(report->match);
		report->match = NULL;
		if (!dpe_probes_stop(report->probes))
			hand_over(report, rule);
		return;
	}
}
