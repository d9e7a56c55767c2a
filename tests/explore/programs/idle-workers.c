/* a worker that was woken takes a job which another one took meanwhile */
#include "common.h"

enum { JOBS = 3 };
static int jobs = 1, made = 1, idle;
static bool done;

static bool take(void)
{
	idle++;
	if (idle == 2 && !jobs) {
		done = true;
		pthread_cond_broadcast(&c);
	}
	WRONG(if) RIGHT(while) (!jobs && !done)
		pthread_cond_wait(&c, &m);
	if (done)
		return false;
	idle--;
	assert(jobs > 0);
	jobs--;
	return true;
}

static void *work(void *x)
{
	lock(&m);
	while (take()) {
		unlock(&m);
		lock(&m);
		if (made < JOBS) {
			made++;
			jobs++;
			pthread_cond_signal(&c);
		}
		unlock(&m);
		lock(&m);
	}
	unlock(&m);
	return x;
}

int main(void)
{
	TOGETHER(work, work);
}
