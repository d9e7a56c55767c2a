/* lost wakeup: the flag to stop is set between the look and the wait */
#include "common.h"

static bool stop;
static int jobs;

static void *worker(void *x)
{
	lock(&m);
	while (!stop) {
		if (jobs)
			jobs--;
		else
			pthread_cond_wait(&c, &m);
	}
	unlock(&m);
	return x;
}

static void *control(void *x)
{
	lock(&m);
	jobs++;
	pthread_cond_signal(&c);
	unlock(&m);
	RIGHT(lock(&m);)
	stop = true;
	pthread_cond_signal(&c);
	RIGHT(unlock(&m);)
	return x;
}

int main(void)
{
	TOGETHER(worker, control);
}
