/* processors: their number for the program, and with an argument, once it has chosen one itself: its exit status. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

static int before;

__attribute__((constructor)) static void count(void)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	before = CPU_COUNT(&set);
}

int main(int count, char **arguments)
{
	cpu_set_t set;

	(void)arguments;
	pthread_getaffinity_np(pthread_self(), sizeof(set), &set);
	if (CPU_COUNT(&set) != before)
		return 99;
	for (int cpu = 0, kept = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && count > 1 && kept++)
			CPU_CLR(cpu, &set);
	if (count > 1)
		pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	sched_getaffinity(0, sizeof(set), &set);
	return CPU_COUNT(&set);
}
