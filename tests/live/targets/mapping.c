/* Calls from many places while two threads change the mappings of the process all the time. */
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#define KEPT __attribute__((noipa))
#define BYTES (1 << 20)

static volatile bool done;

KEPT void touch(int number)
{
	__asm__ volatile("" : : "r"(number));
}

KEPT void outer(int number)
{
	touch(number);
	__asm__ volatile("");
}

#define ONE(n) \
	KEPT void from##n(int number) \
	{ \
		outer(number); \
		__asm__ volatile(""); \
	}
#define ALL(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)
ALL(ONE)

static void *map(void *unused)
{
	while (!done) {
		char *bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		*bytes = 1;
		munmap(bytes, BYTES);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, map, NULL);
#define CALL(n) from##n(n);
	for (int i = 0; i < 20; i++) {
		ALL(CALL)
	}
	done = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
