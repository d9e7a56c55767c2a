/* One thread frees an object, and another one then allocates the next object at its address; nothing else orders the two.
 * To be run with one arena and no caches of threads (GLIBC_TUNABLES). With an argument, both use one object. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
	char bytes[2000];
};

static volatile int ready, freed, done, shared;
static struct item *volatile last;

[[gnu::noipa]] static void use(struct item *item)
{
	item->bytes[0]++;
}

static void *first(void *unused)
{
	struct item *item;

	while (!ready)
		;
	item = malloc(sizeof(*item));
	use(item);
	last = item;
	if (!shared)
		free(item);
	freed = 1;
	while (!done) /* the end of a thread frees, too */
		;
	return unused;
}

static void *second(void *unused)
{
	void *volatile once = malloc(1); /* what the allocator needs for this thread */
	struct item *item;

	free(once);
	ready = 1;
	while (!freed)
		;
	item = shared ? last : malloc(sizeof(*item));
	done = 1;
	use(item);
	puts(item == last ? "same address" : "other address");
	free(item);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	(void)argv;
	shared = argc > 1;
	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
