/* doubt flood: a thread that calls hit() too often for dpe to follow; then main calls begin() twice.
 * doubt wait: main calls begin(); then it and a new thread call end(). Both stand by before main's next
 * call, with the file `stands-by`. */
#include <pthread.h>
#include <string.h>

#include "stands_by.h"

volatile int sink;

__attribute__((noinline)) void hit(int i)
{
	sink = i;
}

__attribute__((noinline)) void begin(void)
{
	sink = 1;
}

__attribute__((noinline)) void end(void)
{
	sink = 2;
}

static void *flood(void *unused)
{
	for (int i = 0; i < 100000; i++)
		hit(i);
	return unused;
}

static void *end_once(void *unused)
{
	end();
	return unused;
}

static void run_beside(void *(*function)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, function, NULL);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "flood")) {
		run_beside(flood);
		stand_by("stands-by");
		begin();
		begin();
		return 0;
	}
	begin();
	stand_by("stands-by");
	end();
	run_beside(end_once);
	return 0;
}
