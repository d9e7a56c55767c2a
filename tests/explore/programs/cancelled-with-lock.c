/* deadlock: a thread is cancelled while it has a lock */
#include "common.h"

static void release(void *mutex)
{
	unlock(mutex);
}

static void *work(void *x)
{
	lock(&m);
	RIGHT(pthread_cleanup_push(release, &m);)
	pthread_testcancel();
	RIGHT(pthread_cleanup_pop(0);)
	unlock(&m);
	(void)release;
	return x;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	lock(&m);
	unlock(&m);
}
