/* The clocks of the C library tell the same time after a sleep. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SLEEP = 1000 };

static void *nothing(void *x)
{
	return x;
}

static int differs(time_t time, time_t begin)
{
	return time < begin + SLEEP || time > begin + SLEEP + 1;
}

int main(void)
{
	struct timespec begin, now;
	struct timeval day;
	pthread_t t;

	clock_gettime(CLOCK_REALTIME, &begin);
	pthread_create(&t, NULL, nothing, NULL);
	pthread_join(t, NULL);
	sleep(SLEEP);
	clock_gettime(CLOCK_REALTIME, &now);
	if (differs(now.tv_sec, begin.tv_sec))
		return 1;
	if (gettimeofday(&day, NULL) || differs(day.tv_sec, begin.tv_sec))
		return 2;
	if (differs(time(NULL), begin.tv_sec))
		return 3;
	return timespec_get(&now, TIME_UTC) != TIME_UTC || differs(now.tv_sec, begin.tv_sec) ? 4 : 0;
}
