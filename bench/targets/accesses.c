/* accesses THREADS ROUNDS EACH: threads that add up parts of an array, over and over, and after EACH rounds the sums under
 * a lock. Prints how long that took. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PART = 1000 };

static long *numbers, sum;
static int rounds, each;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *part)
{
	long *mine = part;

	long total = 0;

	for (int round = 1; round <= rounds; round++) {
		for (int i = 0; i < PART; i++) {
			mine[i] += i;
			total += mine[i];
		}
		if (round % each)
			continue;
		pthread_mutex_lock(&mutex);
		sum += total;
		pthread_mutex_unlock(&mutex);
		total = 0;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t ids[threads];
	struct timespec begin, end;

	rounds = argc > 2 ? atoi(argv[2]) : 100;
	each = argc > 3 ? atoi(argv[3]) : 1;
	numbers = calloc((size_t)threads * PART, sizeof(*numbers));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, work, numbers + i * PART);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("wall_ns %lld\n", (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec);
	return 0;
}
