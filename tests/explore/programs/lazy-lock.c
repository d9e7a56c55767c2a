/* a lock that is made when it is needed first: two threads make one each */
#include "common.h"

static pthread_mutex_t *_Atomic made;
static atomic_int inside;

static pthread_mutex_t *get(void)
{
	pthread_mutex_t *mine;

	if (made)
		return made;
	mine = malloc(sizeof(*mine));
	pthread_mutex_init(mine, NULL);
	WRONG(made = mine;)
	RIGHT(pthread_mutex_t *none = NULL;
		if (!atomic_compare_exchange_strong(&made, &none, mine)) return none;)
	return mine;
}

static void *work(void *x)
{
	pthread_mutex_t *mine = get();

	lock(mine);
	assert(++inside == 1);
	inside--;
	unlock(mine);
	return x;
}

int main(void)
{
	TOGETHER(work, work);
}
