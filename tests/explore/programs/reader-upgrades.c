/* atomicity violation: a reader becomes the writer, and does not look again */
#include "common.h"

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void *work(void *x)
{
	bool empty;

	pthread_rwlock_rdlock(&rw);
	empty = !value;
	pthread_rwlock_unlock(&rw);
	if (!empty)
		return x;
	pthread_rwlock_wrlock(&rw);
	RIGHT(if (!value))
		value++;
	pthread_rwlock_unlock(&rw);
	return x;
}

int main(void)
{
	TOGETHER(work, work);
	assert(value == 1);
}
