/* Becomes itself again, with a thread still there, and then looks at its environment. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *stay(void *x)
{
	pause();
	return x;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1)
		return getenv("LD_PRELOAD") || getenv("DPE_SCHED") || getenv("LD_BIND_NOW");
	pthread_create(&thread, NULL, stay, NULL);
	execl(argv[0], argv[0], "again", (char *)NULL);
	return 9;
}
