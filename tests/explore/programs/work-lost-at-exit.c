/* work lost at shutdown: main does not wait for a thread */
#include "common.h"

static atomic_int saved;

static void *save(void *x)
{
	saved = 1;
	return x;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, save, NULL);
	sleep(1);
	RIGHT(pthread_join(thread, NULL);)
	WRONG(pthread_detach(thread);)
	return saved ? 0 : 3;
}
