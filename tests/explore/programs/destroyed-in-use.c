/* a lock is destroyed while another thread has it */
#include "common.h"

static atomic_bool done;

static void *work(void *x)
{
	lock(&m);
	done = true;
	unlock(&m);
	return x;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	while (!done)
		sched_yield();
	RIGHT(pthread_join(thread, NULL);)
	pthread_mutex_destroy(&m);
	WRONG(pthread_join(thread, NULL);)
}
