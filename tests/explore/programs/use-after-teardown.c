/* use after free: the owner frees what another thread still uses */
#include "common.h"

struct session {
	int *buffer;
};

static struct session session;

static void *use(void *x)
{
	WRONG(int *buffer = session.buffer; if (buffer) session.buffer[0] = 1;)
	RIGHT(lock(&m); if (session.buffer) session.buffer[0] = 1; unlock(&m);)
	return x;
}

static void *tear_down(void *x)
{
	RIGHT(lock(&m);)
	free(session.buffer);
	session.buffer = NULL;
	RIGHT(unlock(&m);)
	return x;
}

int main(void)
{
	session.buffer = calloc(1, sizeof(int));
	TOGETHER(use, tear_down);
}
