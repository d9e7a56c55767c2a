/* deadlock: three locks in a cycle */
#include "common.h"

static pthread_mutex_t locks[3] = {MUTEX, MUTEX, MUTEX};

static void *work(void *number)
{
	long at = (long)number, next = (at + 1) % 3;

	RIGHT(if (at > next) { long swap = at; at = next; next = swap; })
	lock(&locks[at]);
	lock(&locks[next]);
	unlock(&locks[next]);
	unlock(&locks[at]);
	return NULL;
}

int main(void)
{
	TOGETHER(work, work, work);
}
