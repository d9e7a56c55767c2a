/* Two threads call put() under a lock that is made of an atomic flag, as C++ libraries and others make theirs. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_flag taken = ATOMIC_FLAG_INIT;

__attribute__((noinline)) void lock_flag(void)
{
	while (atomic_flag_test_and_set(&taken))
		usleep(10);
}

__attribute__((noinline)) void put(int number)
{
	__asm__ volatile("" : : "r"(number));
}

static void *worker(void *unused)
{
	for (int i = 0; i < 20; i++) {
		lock_flag();
		put(i);
		atomic_flag_clear(&taken);
		usleep(500);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
