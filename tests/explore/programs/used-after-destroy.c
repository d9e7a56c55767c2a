/* a lock is used after it was destroyed */
#include "common.h"

static void *late(void *x)
{
	lock(&m);
	unlock(&m);
	return x;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, late, NULL);
	RIGHT(pthread_join(thread, NULL);)
	lock(&m);
	unlock(&m);
	pthread_mutex_destroy(&m);
	WRONG(pthread_join(thread, NULL);)
}
