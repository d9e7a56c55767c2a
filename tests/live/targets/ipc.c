/* One way for two processes to synchronise: what the child does with before() comes before after() in the
 * parent, and left() and right() are done at the same time, whatever the way. */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) void before(void)
{
}

__attribute__((noipa)) void after(void)
{
}

__attribute__((noipa)) void left(void)
{
}

__attribute__((noipa)) void right(void)
{
}

struct shared {
	sem_t semaphore;
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	int done;
};

static const char *way;
static struct shared *shared;
static int ends[2], queue;
static mqd_t messages;
static sem_t *named;

static int is(const char *name)
{
	return !strcmp(way, name);
}

static void must(int good)
{
	if (good)
		return;
	perror(way);
	exit(1);
}

static void *map(int fd)
{
	void *at = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	must(at != MAP_FAILED);
	return at;
}

static void prepare_shared(void)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t condition;

	sem_init(&shared->semaphore, 1, 0);
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &mutex);
	pthread_condattr_init(&condition);
	pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared->condition, &condition);
}

static int listener(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	unlink(path);
	must(!bind(fd, (void *)&address, sizeof(address)) && !listen(fd, 1));
	return fd;
}

static int connection(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	must(!connect(fd, (void *)&address, sizeof(address)));
	return fd;
}

static void prepare(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 8};
	char name[64];

	snprintf(name, sizeof(name), "/dpe-test-%d", (int)getpid());
	shared = map(-1);
	prepare_shared();
	if (is("pipe"))
		must(!pipe(ends));
	else if (is("socketpair"))
		must(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	else if (is("datagrams"))
		must(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	else if (is("connection"))
		ends[0] = listener("socket");
	else if (is("mqueue"))
		must((messages = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes)) >= 0 &&
			!mq_unlink(name));
	else if (is("sysv"))
		must((queue = msgget(IPC_PRIVATE, 0600)) >= 0);
	else if (is("named"))
		must((named = sem_open(name, O_CREAT, 0600, 0)) != SEM_FAILED &&
			!sem_unlink(name));
}

static void give(void)
{
	struct msgbuf message = {1, "x"};

	if (is("connection"))
		ends[1] = connection("socket");
	if (is("mqueue"))
		must(!mq_send(messages, "x", 1, 0));
	else if (is("sysv"))
		must(!msgsnd(queue, &message, 1, 0));
	else if (is("named"))
		sem_post(named);
	else if (is("semaphore"))
		sem_post(&shared->semaphore);
	else if (is("condition")) {
		pthread_mutex_lock(&shared->mutex);
		shared->done = 1;
		pthread_cond_signal(&shared->condition);
		pthread_mutex_unlock(&shared->mutex);
	} else if (!is("wait") && !is("waitid"))
		must(write(ends[1], "x", 1) == 1);
}

static void take(pid_t child)
{
	struct msgbuf message;
	siginfo_t info;
	char bytes[8];

	if (is("connection"))
		ends[0] = accept(ends[0], NULL, NULL);
	if (is("wait"))
		must(waitpid(child, NULL, 0) == child);
	else if (is("waitid"))
		must(!waitid(P_PID, (id_t)child, &info, WEXITED));
	else if (is("mqueue"))
		must(mq_receive(messages, bytes, sizeof(bytes), NULL) == 1);
	else if (is("sysv"))
		must(msgrcv(queue, &message, 1, 0, 0) == 1 && !msgctl(queue, IPC_RMID, NULL));
	else if (is("named"))
		sem_wait(named);
	else if (is("semaphore"))
		sem_wait(&shared->semaphore);
	else if (is("condition")) {
		pthread_mutex_lock(&shared->mutex);
		while (!shared->done)
			pthread_cond_wait(&shared->condition, &shared->mutex);
		pthread_mutex_unlock(&shared->mutex);
	} else
		must(read(ends[0], bytes, sizeof(bytes)) == 1);
}

/* ---- waiting without taking anything ----------------------------------------------------- */

static void rest(void)
{
	usleep(1000);
}

/* Until so many bytes are in the pipe. */
static void await_bytes(int count)
{
	int there = 0;

	while (must(!ioctl(ends[0], FIONREAD, &there)), there < count)
		rest();
}

static void await_messages(long count)
{
	struct mq_attr attributes;

	while (must(!mq_getattr(messages, &attributes)), attributes.mq_curmsgs < count)
		rest();
}

/* Until the process waits in read(). */
static void await_reader(pid_t pid)
{
	char path[64];
	long call;
	int got;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	do {
		FILE *file = fopen(path, "r");

		must(file != NULL);
		got = fscanf(file, "%ld", &call);
		fclose(file);
		rest();
	} while (got != 1 || call != SYS_read);
}

/* ---- streams that are distinguished by their bytes ------------------------------------------ */

static void put_byte(void)
{
	must(write(ends[1], "x", 1) == 1);
}

static void get_byte(void)
{
	char byte;

	must(read(ends[0], &byte, 1) == 1);
}

/* The child is ahead: what it did after the byte that was read was not before. */
static void be_ahead(void)
{
	must(!pipe(ends));
	if (!fork()) {
		before();
		put_byte();
		left();
		put_byte();
		_exit(0);
	}
	await_bytes(2);
	get_byte();
	after();
	right();
}

/* Two children write one after the other: the first byte is the first one's. */
static void be_two(void)
{
	must(!pipe(ends));
	if (!fork()) {
		before();
		put_byte();
		_exit(0);
	}
	await_bytes(1);
	if (!fork()) {
		left();
		put_byte();
		_exit(0);
	}
	await_bytes(2);
	get_byte();
	after();
	right();
}

/* Two wait for the same bytes. */
static void be_crowded(void)
{
	pid_t readers[2];

	must(!pipe(ends));
	for (int i = 0; i < 2; i++) {
		readers[i] = fork();
		if (!readers[i]) {
			get_byte();
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++)
		await_reader(readers[i]);
	must(write(ends[1], "xy", 2) == 2);
}

/* What is urgent overtakes. */
static void be_urgent(void)
{
	char bytes[8];

	way = "mqueue";
	prepare();
	if (!fork()) {
		before();
		must(!mq_send(messages, "a", 1, 1));
		must(!mq_send(messages, "b", 1, 2));
		_exit(0);
	}
	await_messages(2);
	must(mq_receive(messages, bytes, sizeof(bytes), NULL) == 1);
	after();
}

#define PIECES 500
#define LENGTH(i) (1 + (i) % 7)

__attribute__((noipa)) void put(int i)
{
	(void)i;
}

__attribute__((noipa)) void put_next(int i)
{
	(void)i;
}

__attribute__((noipa)) void got(int i)
{
	(void)i;
}

/* The last piece that was read of is reported. */
static void be_in_pieces(void)
{
	unsigned read_so_far = 0, until = 0, reported = 0, random = 1;
	int last = -1, piece = -1;
	char bytes[16];
	ssize_t len;

	must(!pipe(ends));
	if (!fork()) {
		for (int i = 0; i < PIECES; i++) {
			put(i);
			must(write(ends[1], "1234567", LENGTH(i)) == LENGTH(i));
			put_next(i);
		}
		_exit(0);
	}
	close(ends[1]);
	for (;;) {
		random = random * 1103515245 + 12345;
		len = read(ends[0], bytes, 1 + (random >> 16) % sizeof(bytes));
		if (len <= 0)
			break;
		read_so_far += (unsigned)len;
		while (until < read_so_far)
			until += LENGTH(++piece);
		if (piece == last)
			continue;
		got(last = piece);
		reported++;
	}
	printf("%u\n", reported);
}

static void *act(void *unused)
{
	(void)unused;
	left();
	before();
	put_byte();
	return NULL;
}

static void be_threads(void)
{
	pthread_t thread;

	must(!pipe(ends));
	pthread_create(&thread, NULL, act, NULL);
	right();
	get_byte();
	after();
	pthread_join(thread, NULL);
}

static const struct {
	const char *name;
	void (*be)(void);
} others[] = {
	{"ahead", be_ahead},
	{"two", be_two},
	{"crowd", be_crowded},
	{"urgent", be_urgent},
	{"pieces", be_in_pieces},
	{"threads", be_threads},
};

int main(int argc, char **argv)
{
	pid_t child;

	way = argc > 1 ? argv[1] : "wait";
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (!is(others[i].name))
			continue;
		others[i].be();
		while (wait(NULL) > 0)
			;
		return 0;
	}
	if (is("fork"))
		before();
	prepare();
	child = fork();
	if (!child && is("fork")) {
		after();
		left();
		return 0;
	}
	if (!child) {
		left();
		before();
		give();
		return 0;
	}
	right();
	if (!is("fork")) {
		take(child);
		after();
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
