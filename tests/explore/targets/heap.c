/* Memory comes and goes as without control: contents stay, realloc keeps them, and more is freed than is kept. Exits
 * with the number of the first line that is not so. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                          \
	do                                                                                         \
		if (!(condition))                                                                  \
			exit(__LINE__);                                                            \
	while (0)

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void check_filled(const unsigned char *block, size_t size, unsigned char with)
{
	for (size_t i = 0; i < size; i++)
		EXPECT(block[i] == with);
}

static void *churn(void *number)
{
	unsigned char *live[64] = {0};
	size_t sizes[64] = {0};

	for (unsigned i = 0; i < 100000; i++) {
		unsigned at = (i * 7919 + (unsigned)(long)number) % 64;

		if (live[at])
			check_filled(live[at], sizes[at], (unsigned char)at);
		free(live[at]);
		sizes[at] = i % 97 == 0 ? 200000 : i % 1000;
		live[at] = malloc(sizes[at]);
		memset(live[at], (int)at, sizes[at]);
	}
	for (unsigned i = 0; i < 64; i++)
		free(live[i]);
	return NULL;
}

static void grow(void)
{
	unsigned char *block = NULL;

	for (size_t size = 1, before = 0; size < 1 << 20; before = size, size += size / 2 + 1) {
		block = realloc(block, size);
		EXPECT(block);
		check_filled(block, before, 5);
		memset(block, 5, size);
	}
	for (size_t size = 1 << 19; size; size /= 2) {
		block = realloc(block, size);
		check_filled(block, size, 5);
	}
	EXPECT(!realloc(block, 0));
	block = calloc(100, 100);
	check_filled(block, 10000, 0);
	free(block);
	free(NULL);
}

/* What waits for an object may find it freed when it is woken. */
static void *wait_for(void *object)
{
	pthread_barrier_wait(object);
	return NULL;
}

static void free_after_use(void)
{
	pthread_barrier_t *barrier = malloc(sizeof(*barrier));
	pthread_t thread;

	pthread_barrier_init(barrier, NULL, 2);
	pthread_create(&thread, NULL, wait_for, barrier);
	pthread_barrier_wait(barrier);
	pthread_barrier_destroy(barrier);
	free(barrier);
	pthread_join(thread, NULL);
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, churn, (void *)1);
	churn((void *)2);
	pthread_join(thread, NULL);
	pthread_mutex_lock(&m);
	grow();
	pthread_mutex_unlock(&m);
	free_after_use();
	return 0;
}
