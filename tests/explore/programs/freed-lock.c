/* use after free: the last one frees the lock that another one is about to take */
#include "common.h"

struct session {
	pthread_mutex_t mutex;
	int users;
};

static struct session *session;
static bool closed;

static void *use(void *x)
{
	struct session *mine;

	lock(&m);
	mine = closed ? NULL : session;
	RIGHT(if (mine) mine->users++;)
	unlock(&m);
	if (!mine)
		return x;
	lock(&mine->mutex);
	unlock(&mine->mutex);
	RIGHT(lock(&m); mine->users--; pthread_cond_signal(&c); unlock(&m);)
	return x;
}

static void *end(void *x)
{
	lock(&m);
	closed = true;
	RIGHT(while (session->users) pthread_cond_wait(&c, &m);)
	unlock(&m);
	free(session);
	return x;
}

int main(void)
{
	session = calloc(1, sizeof(*session));
	TOGETHER(use, end);
}
