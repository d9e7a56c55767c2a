/* Two threads, of which one waits for a system call of the other, most often for bytes that it sends: transfers HOW [late].
 * What they put is ordered by that, unless it is put late, after the call. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PARTS = 3, SIZE = 8 };

static int ends[2], file, set, timer, late, counter;
static char sent[PARTS * SIZE] = "the bytes that are sent", received[PARTS * SIZE];
static struct sockaddr_in address = {.sin_family = AF_INET};

__attribute__((noinline)) void put(int *to, int value)
{
	*to = value;
	__asm__ volatile("" : : : "memory");
}

static void must(int good)
{
	if (!good)
		_exit(2);
}

/* ---- ways to send ------------------------------------------------------------------------ */

static void prepare(struct iovec parts[PARTS], char *bytes)
{
	for (int i = 0; i < PARTS; i++)
		parts[i] = (struct iovec){bytes + i * SIZE, SIZE};
}

static void by_write(void)
{
	must(write(ends[1], sent, sizeof(sent)) == sizeof(sent));
}

static void by_pwritev2(void)
{
	struct iovec parts[PARTS];

	prepare(parts, sent);
	must(pwritev2(ends[1], parts, PARTS, -1, 0) == sizeof(sent));
}

static void by_sendmmsg(void)
{
	struct mmsghdr messages[PARTS] = {0};
	struct iovec parts[PARTS];

	prepare(parts, sent);
	for (int i = 0; i < PARTS; i++) {
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
		if (address.sin_port) {
			messages[i].msg_hdr.msg_name = &address;
			messages[i].msg_hdr.msg_namelen = sizeof(address);
		}
	}
	must(sendmmsg(ends[1], messages, PARTS, 0) == PARTS);
}

static void by_sendmsg(void)
{
	struct msghdr message = {.msg_iov = &(struct iovec){sent, sizeof(sent)}, .msg_iovlen = 1, .msg_name = &address,
		.msg_namelen = sizeof(address)};

	must(sendmsg(ends[1], &message, 0) == sizeof(sent));
}

static void by_sendfile(void)
{
	must(sendfile(ends[1], file, &(off_t){0}, sizeof(sent)) == sizeof(sent));
}

static void by_splice(void)
{
	must(splice(file, &(off64_t){0}, ends[1], NULL, sizeof(sent), 0) == sizeof(sent));
}

static void by_vmsplice(void)
{
	struct iovec part = {sent, sizeof(sent)};

	must(vmsplice(ends[1], &part, 1, 0) == sizeof(sent));
}

static void by_semop(void)
{
	must(!semop(set, &(struct sembuf){.sem_op = 1}, 1));
}

static void by_timer(void)
{
	must(!timerfd_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = 1}, NULL));
}

/* ---- ways to receive --------------------------------------------------------------------- */

static void as_bytes(void)
{
	for (size_t size = 0, more; size < sizeof(received); size += more)
		must((more = (size_t)read(ends[0], received + size, 5)) > 0 && more <= 5);
}

static void as_datagrams(void)
{
	for (int i = 0; i < PARTS; i++)
		must(recv(ends[0], received + i * SIZE, SIZE, 0) == SIZE);
}

static void as_datagram(void)
{
	must(recv(ends[0], received, sizeof(received), 0) == sizeof(received));
}

static void with_recvmmsg(void)
{
	struct mmsghdr messages[PARTS] = {0};
	struct iovec parts[PARTS];

	prepare(parts, received);
	for (int i = 0; i < PARTS; i++) {
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	must(recvmmsg(ends[0], messages, PARTS, 0, NULL) == PARTS);
}

static void with_preadv2(void)
{
	struct iovec parts[PARTS];

	prepare(parts, received);
	must(preadv2(ends[0], parts, PARTS, -1, 0) == sizeof(received));
}

static void with_splice(void)
{
	must(splice(ends[0], NULL, file, &(off64_t){0}, sizeof(received), 0) == sizeof(received));
}

static void with_semop(void)
{
	must(!semop(set, &(struct sembuf){.sem_op = -1}, 1));
}

static void with_timer(void)
{
	must(read(timer, received, sizeof(uint64_t)) == sizeof(uint64_t));
}

/* ---- the two threads --------------------------------------------------------------------- */

static const struct {
	const char *name;
	int family, type; /* of the sockets; otherwise a pipe */
	void (*send)(void), (*receive)(void);
} ways[] = {
	{"pwritev2", 0, 0, by_pwritev2, as_bytes},
	{"preadv2", 0, 0, by_write, with_preadv2},
	{"sendmmsg", AF_UNIX, SOCK_STREAM, by_sendmmsg, as_bytes},
	{"sendmmsg of datagrams", AF_UNIX, SOCK_DGRAM, by_sendmmsg, as_datagrams},
	{"recvmmsg", AF_UNIX, SOCK_DGRAM, by_sendmmsg, with_recvmmsg},
	{"sendfile", AF_UNIX, SOCK_STREAM, by_sendfile, as_bytes},
	{"splice", 0, 0, by_splice, as_bytes},
	{"splice to a file", 0, 0, by_write, with_splice},
	{"vmsplice", 0, 0, by_vmsplice, as_bytes},
	{"sendmsg to a port", AF_INET, SOCK_DGRAM, by_sendmsg, as_datagram},
	{"sendmmsg to a port", AF_INET, SOCK_DGRAM, by_sendmmsg, as_datagrams},
	{"semop", 0, 0, by_semop, with_semop},
	{"a timer", 0, 0, by_timer, with_timer},
}, *way;

static void *sender(void *unused)
{
	put(&counter, 1);
	way->send();
	if (late)
		put(&counter, 1);
	return unused;
}

static void *receiver(void *unused)
{
	way->receive();
	put(&counter, 2);
	return unused;
}

static void open_ends(void)
{
	socklen_t length = sizeof(address);

	if (way->family == AF_UNIX) {
		must(!socketpair(AF_UNIX, way->type, 0, ends));
	} else if (way->family == AF_INET) {
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		for (int i = 0; i < 2; i++)
			ends[i] = socket(AF_INET, way->type, 0);
		must(!bind(ends[0], (struct sockaddr *)&address, length));
		must(!getsockname(ends[0], (struct sockaddr *)&address, &length));
	} else {
		must(!pipe(ends));
	}
	set = semget(IPC_PRIVATE, 1, 0600);
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	file = memfd_create("bytes", 0);
	must(pwrite(file, sent, sizeof(sent), 0) == sizeof(sent));
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	for (way = ways; strcmp(way->name, argv[1]);)
		must(++way < ways + sizeof(ways) / sizeof(*ways));
	late = argc > 2;
	open_ends();
	pthread_create(&threads[1], NULL, receiver, NULL);
	pthread_create(&threads[0], NULL, sender, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	semctl(set, 0, IPC_RMID);
	printf("%d\n", counter);
	return 0;
}
