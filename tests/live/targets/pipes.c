/* Two threads of which one waits for a message of the other: pipes HOW [late]. What they put is ordered by
 * that, unless it is put late, after the message. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int ends[2], late, counter, other;
static FILE *stream;
static int size = 1, handles; /* of the message; it is a signal's handler that begins */
static int closes; /* the message is the end of what was written */
static sigset_t awaited; /* or a signal, for which a thread waits or */
static int signals, interrupts; /* which interrupts it */
static pthread_t receives;
static volatile sig_atomic_t interrupted;
static int polls, selects, epolls; /* nothing is read: it is enough that something could be */
static int polled = -1, watched = -1; /* an epoll, and what is put into it */

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

static void must(int good)
{
	if (!good)
		_exit(2);
}

static void handle(int number)
{
	(void)number;
	put(&counter, 2);
	_exit(0);
}

static void note_interrupt(int number)
{
	(void)number;
	put(&counter, 2);
	interrupted = 1;
}

static void send_one(void)
{
	if (interrupts) {
		must(!pthread_kill(receives, SIGUSR2));
	} else if (signals) {
		must(!kill(getpid(), SIGUSR2));
	} else if (closes) {
		must(!(stream ? fclose(stream) : close(ends[1])));
	} else if (handles) {
		signal(SIGUSR1, handle);
	} else if (polled >= 0 && !epolls) {
		must(!epoll_ctl(polled, EPOLL_CTL_ADD, watched, &(struct epoll_event){.events = EPOLLIN}));
	} else if (stream) {
		fputc('x', stream);
		fflush(stream);
	} else {
		must(write(ends[1], "12345678", (size_t)size) == size);
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

static int is_found(void)
{
	fd_set readable;

	struct epoll_event ready;

	if (polls)
		return poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, -1);
	if (epolls)
		return epoll_wait(polled, &ready, 1, -1);
	FD_ZERO(&readable);
	FD_SET(ends[0], &readable);
	return select(ends[0] + 1, &readable, NULL, NULL, NULL);
}

static void *receiver(void *unused)
{
	struct sigaction action = {0};
	struct epoll_event ready;
	char bytes[8];
	int number;

	take_and_give(1);
	while (interrupts && !interrupted)
		must(!pthread_sigmask(SIG_UNBLOCK, &awaited, NULL));
	if (interrupts)
		return unused;
	if (signals)
		must(!sigwait(&awaited, &number) && number == SIGUSR2);
	else if (polls || selects || epolls)
		must(is_found() == 1);
	else if (closes)
		must(!read(ends[0], bytes, sizeof(bytes)));
	else if (polled >= 0)
		must(epoll_wait(polled, &ready, 1, -1) == 1);
	else if (!handles)
		must(read(ends[0], bytes, sizeof(bytes)) == size);
	while (handles && action.sa_handler != handle)
		must(!sigaction(SIGUSR1, NULL, &action));
	if (handles && !late)
		raise(SIGUSR1);
	put(&counter, 2);
	take_and_give(1);
	return unused;
}

/* Two sockets of the machine itself, by which the second sends to the first. */
static void connect_ends(int type)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int receives = socket(AF_INET, type, 0), sends = socket(AF_INET, type, 0);
	socklen_t length = sizeof(address);

	must(!bind(receives, (struct sockaddr *)&address, length));
	must(!getsockname(receives, (struct sockaddr *)&address, &length));
	must(type == SOCK_DGRAM || !listen(receives, 1));
	must(!connect(sends, (struct sockaddr *)&address, length));
	ends[0] = type == SOCK_DGRAM ? receives : accept(receives, NULL, NULL);
	ends[1] = sends;
}

/* Descriptors with the same data, which one of them had not at first. */
static void watch(void)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &other};

	polled = epoll_create1(0);
	for (int never = 0; never < 2; never++)
		must(!epoll_ctl(polled, EPOLL_CTL_ADD, eventfd(0, 0), &event));
	event.data.ptr = &counter;
	must(!epoll_ctl(polled, EPOLL_CTL_ADD, ends[0], &event));
	event.data.ptr = &other;
	must(!epoll_ctl(polled, EPOLL_CTL_MOD, ends[0], &event));
}

static void open_ends(const char *how)
{
	polls = !strncmp(how, "poll of a ", strlen("poll of a "));
	selects = !strncmp(how, "select of a ", strlen("select of a "));
	epolls = !strncmp(how, "epoll of a ", strlen("epoll of a "));
	how += polls ? strlen("poll of a ") : selects ? strlen("select of a ") : epolls ? strlen("epoll of a ") : 0;
	closes = !strncmp(how, "end of a ", strlen("end of a "));
	if (closes)
		how += strlen("end of a ");
	if (!strcmp(how, "socket"))
		must(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	else if (!strcmp(how, "tcp") || !strcmp(how, "udp"))
		connect_ends(how[0] == 't' ? SOCK_STREAM : SOCK_DGRAM);
	else if (!strcmp(how, "eventfd"))
		ends[0] = ends[1] = eventfd(0, 0), size = 8;
	else
		must(!pipe(ends));
	if (!strcmp(how, "stream"))
		stream = fdopen(ends[1], "w");
	if (!strcmp(how, "epoll"))
		polled = epoll_create1(0), watched = eventfd(1, 0);
	if (epolls)
		watch();
	handles = !strcmp(how, "handler");
	interrupts = !strcmp(how, "interrupt");
	signals = !strcmp(how, "signal");
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &awaited, NULL);
	if (interrupts)
		signal(SIGUSR2, note_interrupt);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	const char *how = argc > 1 ? argv[1] : "pipe";

	late = argc > 2;
	open_ends(how);
	pthread_create(&threads[1], NULL, receiver, NULL);
	receives = threads[1];
	pthread_create(&threads[0], NULL, sender, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", counter + other);
	return 0;
}
