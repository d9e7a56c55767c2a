/* deadlock: a spin lock and a mutex in two orders */
#include "common.h"

static pthread_spinlock_t spin;

static void *first(void *x)
{
	pthread_spin_lock(&spin);
	lock(&m);
	unlock(&m);
	pthread_spin_unlock(&spin);
	return x;
}

static void *second(void *x)
{
	RIGHT(pthread_spin_lock(&spin);)
	lock(&m);
	WRONG(pthread_spin_lock(&spin);)
	pthread_spin_unlock(&spin);
	unlock(&m);
	return x;
}

int main(void)
{
	pthread_spin_init(&spin, 0);
	TOGETHER(first, second);
}
