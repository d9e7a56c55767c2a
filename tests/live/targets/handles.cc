/* Handles that are given back, all but one of each kind; and blocks that another thread frees. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define KEPT __attribute__((noipa))

static sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
static void *volatile box;

KEPT void push(void *block)
{
	while (!__sync_bool_compare_and_swap(&box, nullptr, block))
		;
}

KEPT void *pop()
{
	void *block;

	while (!(block = __sync_lock_test_and_set(&box, nullptr)))
		;
	return block;
}

static void *take(void *unused)
{
	for (int i = 0; i < 20; i++)
		free(pop());
	return unused;
}

static void *call(void *unused)
{
	for (int i = 0; i < 3; i++) {
		int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);

		if (connect(descriptor, reinterpret_cast<sockaddr *>(&address), sizeof(address)))
			abort();
		close(descriptor);
	}
	return unused;
}

struct session {
	int number;
	KEPT explicit session(int number) : number(number) {}
	KEPT ~session() { number = 0; }
};

int main()
{
	pthread_t thread;
	int listening = socket(AF_UNIX, SOCK_STREAM, 0), first = open("/", O_RDONLY), second = open("/", O_RDONLY); // both opened
	FILE *closed = fopen("/etc/passwd", "r"), *open = fopen("/etc/passwd", "r");                               // both files
	session *ended = new session(1), *lives = new session(2);                                                  // both sessions

	close(first);
	fclose(closed);
	delete ended;
	if (bind(listening, reinterpret_cast<sockaddr *>(&address), sizeof(address)) || listen(listening, 3))
		abort();
	pthread_create(&thread, nullptr, call, nullptr);
	for (int i = 0; i < 3; i++) {
		int accepted = accept(listening, nullptr, nullptr); // accepted

		if (i != 1)
			close(accepted);
	}
	pthread_join(thread, nullptr);
	pthread_create(&thread, nullptr, take, nullptr);
	for (int i = 0; i < 20; i++)
		push(malloc(3000));
	pthread_join(thread, nullptr);
	return second < 0 || !open || lives->number != 2;
}
