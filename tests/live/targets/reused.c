/* One thread frees an object, and another one then allocates the next object at its address; nothing else orders the two.
 * To be run with one arena and no caches of threads (GLIBC_TUNABLES). With an argument, both use one object. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
	char bytes[2000];
};

static volatile int freed, shared;
static struct item *volatile last;

[[gnu::noipa]] static void use(struct item *item)
{
	item->bytes[0]++;
}

static void *first(void *unused)
{
	struct item *item = malloc(sizeof(*item));

	use(item);
	last = item;
	if (!shared)
		free(item);
	freed = 1;
	return unused;
}

static void *second(void *unused)
{
	struct item *item;

	while (!freed)
		;
	item = shared ? last : malloc(sizeof(*item));
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
