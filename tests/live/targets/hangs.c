/* What threads can wait for, by the first argument: each way ends in waits that last. */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t wakeup = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both, four;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_t threads[2];
static int waits; /* who waits for the wakeup; under b */
static sem_t post;
static FILE *stream;
static int word;
static pthread_mutex_t *shared;

static void meet(void)
{
	pthread_barrier_wait(&both);
}

static void take_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	meet();
	pthread_mutex_lock(second);
}

static void *a_then_b(void *unused)
{
	take_both(&a, &b);
	return unused;
}

static void *b_then_a(void *unused)
{
	take_both(&b, &a);
	return unused;
}

static void *write_then_a(void *unused)
{
	pthread_rwlock_wrlock(&lock);
	meet();
	pthread_mutex_lock(&a);
	return unused;
}

static void *a_then_read(void *unused)
{
	pthread_mutex_lock(&a);
	meet();
	pthread_rwlock_rdlock(&lock);
	return unused;
}

static void *read_then_a(void *unused)
{
	pthread_rwlock_rdlock(&lock);
	meet();
	pthread_mutex_lock(&a);
	return unused;
}

static void *a_then_write(void *unused)
{
	pthread_mutex_lock(&a);
	meet();
	pthread_rwlock_wrlock(&lock);
	return unused;
}

static void *stream_then_stdout(void *unused)
{
	flockfile(stream);
	meet();
	puts("");
	return unused;
}

static void *stdout_then_stream(void *unused)
{
	flockfile(stdout);
	meet();
	fputs("text", stream);
	return unused;
}

static void *await_wakeup(void *unused)
{
	pthread_mutex_lock(&b);
	waits++;
	pthread_cond_wait(&wakeup, &b);
	pthread_mutex_unlock(&b);
	return unused;
}

/* Signalled, and then in need of the mutex. */
static void *signal_with_b(void *unused)
{
	pthread_mutex_lock(&b);
	while (!waits) {
		pthread_mutex_unlock(&b);
		sched_yield();
		pthread_mutex_lock(&b);
	}
	pthread_cond_signal(&wakeup);
	pthread_join(threads[0], NULL);
	return unused;
}

static void *await_post(void *unused)
{
	sem_wait(&post);
	return unused;
}

static void *await_four(void *unused)
{
	pthread_barrier_wait(&four);
	return unused;
}

/* The value is, by chance, the id of another thread: in a container, these are as small as the values of locks. */
static void *await_word(void *unused)
{
	word = getpid();
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, word, NULL);
	return unused;
}

static void *do_nothing(void *unused)
{
	meet();
	return unused;
}

static void initialise(void)
{
	meet();
	pthread_join(threads[1], NULL);
}

static void *call_once(void *unused)
{
	pthread_once(&once, initialise);
	return unused;
}

static void *meet_and_call_once(void *unused)
{
	meet();
	pthread_once(&once, initialise);
	return unused;
}

static void *take_shared(void *unused)
{
	pthread_mutex_lock(shared);
	return unused;
}

static void *take_a_and_poll(void *unused)
{
	pthread_mutex_lock(&a);
	meet();
	poll(NULL, 0, -1);
	return unused;
}

static void *meet_and_take_a(void *unused)
{
	meet();
	pthread_mutex_lock(&a);
	return unused;
}

static void *take_a_timed(void *unused)
{
	struct timespec late;

	clock_gettime(CLOCK_REALTIME, &late);
	late.tv_sec += 1000;
	meet();
	pthread_mutex_timedlock(&a, &late);
	return unused;
}

static void *run_with_a(void *unused)
{
	pthread_mutex_lock(&a);
	meet();
	for (;;)
		__asm__ volatile("pause");
	return unused;
}

static void init_mutexes(const char *way)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	if (!strcmp(way, "inherits"))
		pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	if (!strcmp(way, "robust"))
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&a, &attributes);
	pthread_mutex_init(&b, &attributes);
}

static void on_signal(int signal)
{
	(void)signal;
	sem_post(&post);
}

/* A mutex in shared memory, which a child holds until it is killed. */
static void share(void)
{
	pthread_mutexattr_t attributes;
	int ends[2];

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(shared, &attributes);
	if (pipe(ends))
		return;
	if (!fork()) {
		pthread_mutex_lock(shared);
		(void)!write(ends[1], "", 1);
		poll(NULL, 0, -1);
	}
	(void)!read(ends[0], &word, 1);
}

static const struct {
	const char *name;
	void *(*first)(void *), *(*second)(void *);
	int polls; /* main does, instead of waiting for them */
} ways[] = {
	{"plain", a_then_b, b_then_a, 1},
	{"inherits", a_then_b, b_then_a, 1},
	{"robust", a_then_b, b_then_a, 1},
	{"written", write_then_a, a_then_read, 1},
	{"read", read_then_a, a_then_write, 0},
	{"read-polling", read_then_a, a_then_write, 1},
	{"streams", stream_then_stdout, stdout_then_stream, 1},
	{"condition", await_wakeup, await_wakeup, 0},
	{"pool", await_wakeup, await_wakeup, 1},
	{"signalled", await_wakeup, signal_with_b, 1},
	{"semaphore", await_post, NULL, 0},
	{"handled", await_post, NULL, 0},
	{"barrier", await_four, await_four, 1},
	{"futex", await_word, NULL, 1},
	{"once", call_once, meet_and_call_once, 1},
	{"shared", take_shared, NULL, 0},
	{"held", take_a_and_poll, meet_and_take_a, 0},
	{"timed", take_a_and_poll, take_a_timed, 1},
	{"runs", run_with_a, meet_and_take_a, 0},
	{"ended", do_nothing, do_nothing, 1},
};

int main(int argc, char **argv)
{
	unsigned way = 0;

	while (way < sizeof(ways) / sizeof(*ways) && strcmp(argv[argc > 1], ways[way].name))
		way++;
	if (way == sizeof(ways) / sizeof(*ways))
		return 2;
	pthread_barrier_init(&both, NULL, 2);
	pthread_barrier_init(&four, NULL, 4);
	sem_init(&post, 0, 0);
	stream = fopen("/dev/null", "w");
	init_mutexes(ways[way].name);
	if (!strcmp(ways[way].name, "handled"))
		signal(SIGUSR1, on_signal);
	if (!strcmp(ways[way].name, "shared"))
		share();
	pthread_create(&threads[0], NULL, ways[way].first, NULL);
	if (ways[way].second)
		pthread_create(&threads[1], NULL, ways[way].second, NULL);
	if (ways[way].polls)
		poll(NULL, 0, -1);
	for (unsigned i = 0; i < (ways[way].second ? 2 : 1); i++)
		pthread_join(threads[i], NULL);
	return 0;
}
