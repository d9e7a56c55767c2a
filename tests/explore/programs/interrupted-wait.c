/* order violation: a wait that a signal ended counts as one that was woken */
#include "common.h"

#include <errno.h>
#include <signal.h>

static sem_t ready;
static int item;

static void on_signal(int number)
{
	(void)number;
}

static void *consumer(void *x)
{
	RIGHT(while (sem_wait(&ready) && errno == EINTR);)
	WRONG(sem_wait(&ready);)
	assert(item == 1);
	return x;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t thread;

	sem_init(&ready, 0, 0);
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, consumer, NULL);
	pthread_kill(thread, SIGUSR1);
	item = 1;
	sem_post(&ready);
	pthread_join(thread, NULL);
}
