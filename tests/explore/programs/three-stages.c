/* order violation over three threads */
#include "common.h"

static atomic_int stage;
static sem_t first, second;

static void *prepare(void *x)
{
	stage = 1;
	sem_post(&first);
	return x;
}

static void *refine(void *x)
{
	RIGHT(sem_wait(&first);)
	if (stage == 1)
		stage = 2;
	sem_post(&second);
	return x;
}

static void *finish(void *x)
{
	sem_wait(&second);
	assert(stage != 1);
	return x;
}

int main(void)
{
	sem_init(&first, 0, 0);
	sem_init(&second, 0, 0);
	TOGETHER(prepare, refine, finish);
}
