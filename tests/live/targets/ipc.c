/* One way for two processes to synchronise: what the child does with before() comes before after() in the
 * parent, and left() and right() are done at the same time, whatever the way. */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/socket.h>
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

int main(int argc, char **argv)
{
	pid_t child;

	way = argc > 1 ? argv[1] : "wait";
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
