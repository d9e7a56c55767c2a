/* Its exit status is the order of two threads; with the argument `new` it has an operation more. */
#include <pthread.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int first;

static void *note(void *status)
{
	pthread_mutex_lock(&m);
	if (!first)
		first = (int)(long)status;
	pthread_mutex_unlock(&m);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc > 1 && !strcmp(argv[1], "new")) {
		pthread_create(&threads[0], NULL, note, (void *)3L);
		pthread_join(threads[0], NULL);
	}
	pthread_create(&threads[0], NULL, note, (void *)3L);
	pthread_create(&threads[1], NULL, note, (void *)4L);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return first;
}
