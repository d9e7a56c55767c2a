/* deadlock: two readers wait for each other to become the writer */
#include "common.h"

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int readers;

/* Only the last reader may become the writer; others read again. */
static void *work(void *x)
{
	pthread_rwlock_rdlock(&rw);
	readers++;
	WRONG(while (readers > 1 && !pthread_rwlock_trywrlock(&rw)) continue;)
	WRONG(if (readers > 1) pthread_rwlock_wrlock(&rw);)
	readers--;
	pthread_rwlock_unlock(&rw);
	return x;
}

int main(void)
{
	TOGETHER(work, work);
}
