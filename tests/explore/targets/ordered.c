/* Two threads whose calls come in another order under another schedule; `round`: a barrier orders them. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int rounds;

__attribute__((noinline)) void configure(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void use(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void never(void)
{
	__asm__ volatile("");
}

static void *first(void *with)
{
	pthread_mutex_lock(&lock);
	configure();
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < rounds; i++)
		pthread_barrier_wait(&barrier);
	return with;
}

static void *second(void *with)
{
	for (int i = 0; i < rounds; i++)
		pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&lock);
	use();
	pthread_mutex_unlock(&lock);
	return with;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	(void)argv;
	rounds = argc > 1 ? 2 : 0;
	if (argc > 2)
		never();
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
