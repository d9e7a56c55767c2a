/* dpe: the command, a process of its own. */
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* A closed standard file descriptor must not be reused for the log or the report, or output
 * would go into these. It is occupied by a descriptor that can neither be read nor written and
 * that the target does not inherit. */
static void occupy_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
	}
}

static void ignore_signal(int signal)
{
	(void)signal;
}

/* A file that reaches the limit of file sizes (ulimit -f) is an error of writing like any other. Programs that dpe executes
 * get the signal's default action, or their parent's choice. */
static void ignore_size_signal(void)
{
	const struct sigaction action = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};
	struct sigaction before;

	if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
	occupy_standard_files();
	ignore_size_signal();
	if (dpe_probes_begin_privileged()) {
		fputs("dpe: error: cannot drop the privileges of its owner\n", stderr);
		return CLI_ERROR;
	}
	return cli_main(argc, argv);
}
