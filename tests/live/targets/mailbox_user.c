/* mailbox_user KIND [racy]: a thread posts an object, which main() reads when it has it. racy: and both write a variable, between
 * which only a lock happens to be taken. Built to report accesses. */
#include "mailbox.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static const char *kind;
static int object, racy;
int between; /* not static: no access may be optimised away */

static void *poster(void *arg)
{
	if (racy)
		between = 1;
	pthread_mutex_lock(&own);
	pthread_mutex_unlock(&own);
	usleep(20000); /* main() looks meanwhile */
	object = 42;
	post(kind, &object);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int *found;

	kind = argc > 1 ? argv[1] : "mutex";
	racy = argc > 2;
	pthread_create(&thread, NULL, poster, NULL);
	pthread_mutex_lock(&own);
	pthread_mutex_unlock(&own);
	if (racy)
		between = 2;
	while (!(found = look(kind)))
		usleep(1000);
	printf("%d\n", *found);
	pthread_join(thread, NULL);
	return 0;
}
