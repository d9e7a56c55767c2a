/* a semaphore with one permit too many */
#include "common.h"

static sem_t permits;
static atomic_int inside;

static void *work(void *x)
{
	sem_wait(&permits);
	assert(++inside <= 1);
	inside--;
	sem_post(&permits);
	return x;
}

int main(void)
{
	sem_init(&permits, 0, WRONG(2) RIGHT(1));
	TOGETHER(work, work, work);
}
