/* `computes TENTHS`: of a second of processor time; `waits`: for ever, for a signal. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double computed(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 10 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e5;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "waits"))
		pause();
	while (argc == 3 && computed() < atof(argv[2]))
		continue;
	return 0;
}
