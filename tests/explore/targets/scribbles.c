/* Two threads; the program writes to the memory that it shares with dpe: an event of a thread that there is not. */
#include "explore/sched/sched.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct dpe_sched_header *find_memory(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long start = 0;

	while (!start && fgets(line, sizeof(line), maps))
		if (strstr(line, "memfd:dpe-explore"))
			sscanf(line, "%lx", &start);
	fclose(maps);
	return (struct dpe_sched_header *)start;
}

static void *work(void *memory)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return memory;
}

int main(void)
{
	struct dpe_sched_header *memory = find_memory();
	pthread_t thread;

	if (!memory)
		return 2;
	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	memory->events[1].thread = 0xffff;
	return 1;
}
