/* Runs many command lines in one process, one after another, as dpe would: a request on standard input is a line
 * "WORDS SECONDS", then that many words, each ended by NUL; the answer on standard output is a line
 * "STATUS OUTPUT ERRORS MICROSECONDS", then so many bytes of both. It dies where one takes longer. */
#include "cli/cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_WORDS = 64, WORD_BYTES = 4096 };

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static double processor_seconds(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void limit_processor(unsigned seconds)
{
	rlim_t end = (rlim_t)processor_seconds() + seconds + 1;

	if (setrlimit(RLIMIT_CPU, &(struct rlimit){.rlim_cur = end, .rlim_max = RLIM_INFINITY}))
		fail("setrlimit");
}

/* What the command writes to the descriptor goes to memory. */
static void capture(int fd)
{
	int memory = memfd_create("output", MFD_CLOEXEC);

	if (memory < 0 || dup2(memory, fd) < 0)
		fail("memfd_create");
	close(memory);
}

static void empty(int fd)
{
	if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
		fail("ftruncate");
}

static size_t written(int fd)
{
	return (size_t)lseek(fd, 0, SEEK_END);
}

static void send(FILE *to, int fd, size_t size)
{
	char *bytes = dpe_xcalloc(1, size);

	if (pread(fd, bytes, size, 0) != (ssize_t)size || fwrite(bytes, 1, size, to) != size)
		fail("sending output");
	free(bytes);
}

static void answer(FILE *to, int status, double seconds)
{
	size_t output = written(STDOUT_FILENO), errors = written(STDERR_FILENO);

	fprintf(to, "%d %zu %zu %.0f\n", status, output, errors, seconds * 1e6);
	send(to, STDOUT_FILENO, output);
	send(to, STDERR_FILENO, errors);
	if (fflush(to))
		fail("sending output");
}

static void run(FILE *to, unsigned count, char **words, unsigned seconds)
{
	double begin = processor_seconds();
	int status;

	empty(STDOUT_FILENO);
	empty(STDERR_FILENO);
	limit_processor(seconds);
	status = cli_main((int)count, words);
	fflush(stderr);
	answer(to, status, processor_seconds() - begin);
}

static void read_words(FILE *from, unsigned count, char words[][WORD_BYTES], char **argv)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned len = 0;
		int c;

		while ((c = getc(from)) > 0 && len < WORD_BYTES - 1)
			words[i][len++] = (char)c;
		if (c)
			fail("a request that ends early, or is too long");
		words[i][len] = '\0';
		argv[i] = words[i];
	}
	argv[count] = NULL;
}

int main(void)
{
	static char words[MOST_WORDS][WORD_BYTES];
	FILE *from = fdopen(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), "r");
	FILE *to = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w");
	char *argv[MOST_WORDS + 1];
	unsigned count, seconds;
	int none = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (!from || !to || none < 0 || dup2(none, STDIN_FILENO) < 0)
		fail("begin");
	capture(STDOUT_FILENO);
	capture(STDERR_FILENO);
	while (fscanf(from, "%u %u", &count, &seconds) == 2 && getc(from) == '\n' && count &&
		count <= MOST_WORDS) {
		read_words(from, count, words, argv);
		run(to, count, argv, seconds);
	}
	return feof(from) ? 0 : 2;
}
