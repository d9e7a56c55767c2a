/* Variables that threads change: data THREADS ROUNDS [FILE to stand by with]. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "stands_by.h"

static int counter;
static volatile unsigned char flag;
static volatile long total = -5;
static struct {
	int first;
	volatile short part[3];
} box;
__typeof__(box) *p = &box;
static double real;
int a, b, c, d, e;
static int rounds;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *arg)
{
	(void)arg;
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

__attribute__((noinline)) static void set_flag(int value)
{
	flag = (unsigned char)value;
}

__attribute__((noinline)) static long look(void)
{
	return total;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t ids[64];

	rounds = argc > 2 ? atoi(argv[2]) : 10;
	if (argc > 3)
		stand_by(argv[3]);
	for (int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, count, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	set_flag(1);
	set_flag(1);
	set_flag(0);
	set_flag(1);
	box.part[1] = -7;
	box.first = 1;
	look();
	total++;
	real = 1.5;
	a = b = c = d = e = 1;
	printf("%d %g\n", counter, real);
	return 0;
}
