/* Ends by a signal, in a function of the library in use: an argument says how. `usual` checks that the program sees
 * the usual actions of these signals, and `handled` that its own handler runs. */
#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static const char *volatile nothing;

static void handle(int number)
{
	signal(number, SIG_DFL);
	_exit(7);
}

static int are_usual()
{
	for (int number : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) {
		struct sigaction action;

		signal(number, SIG_DFL);
		sigaction(number, NULL, &action);
		if (action.sa_handler != SIG_DFL)
			return 1;
	}
	return 0;
}

static int overflow(int depth)
{
	volatile char bytes[1000];

	bytes[0] = (char)depth;
	return overflow(depth + 1) + bytes[0];
}

static void *crash(void *argument)
{
	std::string how = (const char *)argument;

	if (how == "assert") assert(nothing);
	if (how == "strlen") printf("%zu", strlen(nothing)); // strlen
	if (how == "abort") abort(); // abort
	if (how == "exception") std::vector<int>(1).at(3); // exception
	if (how == "terminate") { std::thread thread([] {}); } // terminate
	if (how == "read") printf("%c", *nothing); // read
	if (how == "overflow") exit(overflow(0));
	if (how == "usual") exit(are_usual());
	if (how == "handled") {
		signal(SIGABRT, handle);
		abort();
	}
	return NULL;
}

int main(int, char **argv)
{
	pthread_t thread;

	pthread_create(&thread, NULL, crash, argv[1]);
	return pthread_join(thread, NULL);
}
