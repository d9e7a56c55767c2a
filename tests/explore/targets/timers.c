/* timers: main waits for a timer, whose function the C library calls in a thread of its own. */
#include <pthread.h>
#include <signal.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ticks;

static void tick(union sigval unused)
{
	(void)unused;
	pthread_mutex_lock(&m);
	ticks++;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
	const struct itimerspec once = {.it_value.tv_nsec = 1000000};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return 2;
	for (int round = 1; round <= 3; round++) {
		timer_settime(timer, 0, &once, NULL);
		pthread_mutex_lock(&m);
		while (ticks < round)
			pthread_cond_wait(&c, &m);
		pthread_mutex_unlock(&m);
	}
	return 0;
}
