/* dpe: the command, a process of its own. */
#include "cli/cli.h"

#include <fcntl.h>
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

int main(int argc, char **argv)
{
	occupy_standard_files();
	if (dpe_probes_begin_privileged()) {
		fputs("dpe: error: cannot drop the privileges of its owner\n", stderr);
		return CLI_ERROR;
	}
	return cli_main(argc, argv);
}
