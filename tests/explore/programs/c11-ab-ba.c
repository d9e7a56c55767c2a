/* deadlock: two locks in two orders, with the threads of C11 */
#include "common.h"

#include <threads.h>

static mtx_t p, q;

static int first(void *x)
{
	mtx_lock(&p);
	mtx_lock(&q);
	mtx_unlock(&q);
	mtx_unlock(&p);
	return x != NULL;
}

static int second(void *x)
{
	mtx_lock(WRONG(&q) RIGHT(&p));
	mtx_lock(WRONG(&p) RIGHT(&q));
	mtx_unlock(&p);
	mtx_unlock(&q);
	return x != NULL;
}

int main(void)
{
	thrd_t t, u;

	mtx_init(&p, mtx_plain);
	mtx_init(&q, mtx_plain);
	thrd_create(&t, first, NULL);
	thrd_create(&u, second, NULL);
	thrd_join(t, NULL);
	thrd_join(u, NULL);
}
