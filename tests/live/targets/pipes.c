/* Two threads of which one waits for a message of the other: pipes HOW [late]. What they put is ordered by
 * that, unless it is put late, after the message. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int ends[2], late, counter, other;
static FILE *stream;

__attribute__((noinline)) void put(int *to, int value)
{
	*to = value;
	__asm__ volatile("" : : : "memory");
}

/* Each thread has a mutex of its own, which orders nothing. */
static void take_and_give(int thread)
{
	pthread_mutex_lock(&mutexes[thread]);
	pthread_mutex_unlock(&mutexes[thread]);
}

static void send_one(void)
{
	if (stream) {
		fputc('x', stream);
		fflush(stream);
	} else if (write(ends[1], "x", 1) != 1) {
		_exit(2);
	}
}

static void *sender(void *unused)
{
	put(&other, 1);
	take_and_give(0);
	put(&counter, 1);
	send_one();
	if (late)
		put(&counter, 1);
	return unused;
}

static void *receiver(void *unused)
{
	char byte;

	take_and_give(1);
	if (read(ends[0], &byte, 1) != 1)
		_exit(2);
	put(&counter, 2);
	take_and_give(1);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	const char *how = argc > 1 ? argv[1] : "pipe";

	late = argc > 2;
	if (strcmp(how, "socket") ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 2;
	if (!strcmp(how, "stream"))
		stream = fdopen(ends[1], "w");
	pthread_create(&threads[0], NULL, sender, NULL);
	pthread_create(&threads[1], NULL, receiver, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", counter + other);
	return 0;
}
