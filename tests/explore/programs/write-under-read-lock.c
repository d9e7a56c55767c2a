/* data race: a write under the lock of readers */
#include "common.h"

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int hits;

static void *look_up(void *x)
{
	WRONG(pthread_rwlock_rdlock(&rw);)
	RIGHT(pthread_rwlock_wrlock(&rw);)
	hits++;
	pthread_rwlock_unlock(&rw);
	return x;
}

int main(void)
{
	TOGETHER(look_up, look_up);
	assert(hits == 2);
}
