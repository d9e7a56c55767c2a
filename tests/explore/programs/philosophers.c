/* deadlock: four philosophers take the left fork first */
#include "common.h"

static sem_t forks[4];

static void *dine(void *number)
{
	long left = (long)number, right = (left + 1) % 4;

	RIGHT(if (left == 3) { left = 0; right = 3; })
	sem_wait(&forks[left]);
	sem_wait(&forks[right]);
	sem_post(&forks[right]);
	sem_post(&forks[left]);
	return NULL;
}

int main(void)
{
	for (int i = 0; i < 4; i++)
		sem_init(&forks[i], 0, 1);
	TOGETHER(dine, dine, dine, dine);
}
