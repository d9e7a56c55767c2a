/* Hands a program to gdb: one that is stopped, with the match in a file; or a run that is replayed. */
#include "cli/report/writers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char *find_on_path(const char *name)
{
	const char *path = getenv("PATH");

	for (path = path ? path : "/bin:/usr/bin"; *path; path += strspn(path, ":")) {
		size_t len = strcspn(path, ":");
		char *file = dpe_xasprintf("%.*s/%s", (int)len, path, name);

		if (!access(file, X_OK))
			return file;
		free(file);
		path += len;
	}
	return NULL;
}

bool cli_gdb_check(struct cli *cli)
{
	char *gdb;

	if (cli->gdb)
		cli->on_break = CLI_GDB;
	if (cli->on_break != CLI_GDB && cli->on_deadlock != CLI_DEADLOCK_GDB)
		return true;
	gdb = find_on_path("gdb");
	if (!gdb)
		dpe_diag_at(cli->diags, DPE_ERROR, "gdb",
			"is not on $PATH, but needed by --gdb, --on-break=gdb or --on-deadlock=gdb");
	free(gdb);
	return gdb;
}

/* A file with our gdb commands. NULL, after a warning, if there is none. */
static char *find_commands(const char *name)
{
	static const char *const places[] = {"/cli/gdb", "/../cli/gdb", "/../share/dpe/gdb"};
	char *path = cli_find_beside(places, DPE_COUNT(places), DPE_DATADIR "/gdb", name);

	if (!path)
		fprintf(stderr, "dpe: warning: gdb has no commands of dpe: %s is neither in ../share/dpe/gdb beside dpe nor in " DPE_DATADIR "/gdb\n",
			name);
	return path;
}

/* The match in a file that only we may read. NULL after a diagnostic. */
static char *write_match(struct cli_report *report)
{
	const char *folder = getenv("TMPDIR");
	char *path = dpe_xasprintf("%s/dpe-match-XXXXXX", folder && *folder ? folder : "/tmp");
	int file = mkostemp(path, O_CLOEXEC);
	size_t len = strlen(report->match);

	if (file >= 0 && write(file, report->match, len) == (ssize_t)len && !close(file))
		return path;
	dpe_diag_at(report->cli->diags, DPE_WARNING, path,
		"cannot be written, so gdb will not show the match: %s", strerror(errno));
	if (file >= 0)
		unlink(path);
	free(path);
	return NULL;
}

static _Noreturn void become_gdb(pid_t target, const char *commands, const char *match)
{
	char *pid = dpe_xasprintf("%d", (int)target);
	sigset_t none;

	if (match)
		setenv("DPE_MATCH", match, 1);
	else
		unsetenv("DPE_MATCH");
	dpe_probes_lend_privileges();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (match && commands)
		execlp("gdb", "gdb", "-q", "-p", pid, "-x", commands, "-ex",
			"with pagination off -- info dpe", "-ex",
			"with pagination off -- dpe-match", (char *)NULL);
	else if (commands)
		execlp("gdb", "gdb", "-q", "-p", pid, "-x", commands, (char *)NULL);
	else
		execlp("gdb", "gdb", "-q", "-p", pid, (char *)NULL);
	dprintf(STDERR_FILENO, "dpe: cannot run gdb: %s\n", strerror(errno));
	_exit(127);
}

void cli_gdb_run(struct cli_report *report, pid_t target)
{
	char *commands = find_commands("dpe.py"), *match = report->match ? write_match(report) : NULL;
	int held = pidfd_open(target, 0); /* its number may be another's once gdb has ended it */
	pid_t child = fork();

	if (!child)
		become_gdb(target, commands, match);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (match)
		unlink(match);
	free(match);
	free(commands);
	if (held >= 0) {
		pidfd_send_signal(held, SIGCONT, NULL, 0);
		close(held);
	}
}

/* Standard input and SIGINT are gdb's while it is there. */
bool cli_gdb_attend(struct cli_gdb *gdb, pid_t target)
{
	char *commands;

	if (!gdb->begun) {
		gdb->begun = true;
		commands = find_commands("explore.py");
		gdb->interrupt = signal(SIGINT, SIG_IGN);
		gdb->pid = fork();
		if (!gdb->pid) {
			signal(SIGINT, SIG_DFL);
			prctl(PR_SET_PDEATHSIG, SIGHUP); /* it would keep the terminal */
			become_gdb(target, commands, NULL);
		}
		free(commands);
	}
	if (gdb->pid <= 0)
		return false;
	if (!waitpid(gdb->pid, NULL, WNOHANG))
		return true;
	signal(SIGINT, gdb->interrupt);
	gdb->pid = 0;
	return false;
}
