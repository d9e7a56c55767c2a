/* Programs that a preloaded library must see rightly and leave alone, by the first argument. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t posted, from_handler;
static volatile long handled;
static int calls;

/* Before main, and before the library's constructor if it were not the first. */
__attribute__((constructor)) static void early(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void *lock(void *unused)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	(void)unused;
	for (int i = 0; i < calls; i++) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
	return NULL;
}

static int count(int threads)
{
	pthread_t ids[256];

	for (int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, lock, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

/* Threads one after another, more than there are rings. */
static int many(int threads)
{
	for (int i = 0; i < threads; i++) {
		pthread_t id;

		pthread_create(&id, NULL, lock, NULL);
		pthread_join(id, NULL);
	}
	return 0;
}

static int killed(void)
{
	lock(NULL);
	pthread_mutex_lock(&mutex);
	return kill(getpid(), SIGKILL);
}

/* The child's locks are its own affair. */
static int forks(void)
{
	int status = 1;
	pid_t child;

	lock(NULL);
	child = fork();
	if (!child) {
		lock(NULL);
		count(2);
		_exit(3);
	}
	waitpid(child, &status, 0);
	lock(NULL);
	return WEXITSTATUS(status);
}

static void handle(int signal)
{
	(void)signal;
	handled++;
	sem_post(&from_handler);
}

/* A handler that posts, in the midst of posts. */
static int handlers(void)
{
	struct itimerval often = {{0, 50}, {0, 50}}, never = {0};

	sem_init(&posted, 0, 0);
	sem_init(&from_handler, 0, 0);
	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < calls; i++) {
		sem_post(&posted);
		sem_wait(&posted);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%ld\n", 2 * (long)calls + handled);
	return 0;
}

static sigjmp_buf back;

static void jump(int signal)
{
	(void)signal;
	sem_post(&from_handler);
	siglongjmp(back, 1);
}

/* Handlers that leave by longjmp, in the midst of posts: how often. */
static int jumps(void)
{
	static volatile int jumped, done;
	struct itimerval often = {{0, 50}, {0, 50}}, never = {0};

	sem_init(&posted, 0, 0);
	sem_init(&from_handler, 0, 0);
	signal(SIGALRM, jump);
	if (sigsetjmp(back, 1))
		jumped++;
	setitimer(ITIMER_REAL, &often, NULL);
	for (; done < calls; done++)
		sem_post(&posted);
	signal(SIGALRM, SIG_IGN);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d\n", jumped);
	return 0;
}

static void unlock(void *unused)
{
	(void)unused;
	pthread_mutex_unlock(&mutex);
}

static void *wait_for_ever(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, NULL);
	sem_post(&posted);
	while (1)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(0);
	return NULL;
}

/* 0 where a wait was cancelled, and gave its mutex back. */
static int cancels(void)
{
	void *result = NULL;
	pthread_t id;

	sem_init(&posted, 0, 0);
	pthread_create(&id, NULL, wait_for_ever, NULL);
	sem_wait(&posted);
	pthread_cancel(id);
	pthread_join(id, &result);
	return result == PTHREAD_CANCELED ? pthread_mutex_lock(&mutex) : 1;
}

/* 0 where errno stays what it is, and calls say what they should. */
static int tells(void)
{
	sem_init(&posted, 0, 0);
	errno = ENOTTY;
	pthread_mutex_lock(&mutex);
	if (errno != ENOTTY || pthread_mutex_trylock(&mutex) != EBUSY)
		return 1;
	if (sem_trywait(&posted) != -1 || errno != EAGAIN)
		return 2;
	pthread_spin_init(&spin, 0);
	return pthread_spin_lock(&spin) || pthread_spin_trylock(&spin) != EBUSY ||
	       pthread_spin_unlock(&spin);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int number = argc > 3 ? atoi(argv[3]) : 1;

	calls = argc > 2 ? atoi(argv[2]) : 1;
	if (!strcmp(what, "count"))
		return count(number);
	if (!strcmp(what, "many"))
		return many(number);
	if (!strcmp(what, "killed"))
		return killed();
	if (!strcmp(what, "fork"))
		return forks();
	if (!strcmp(what, "handlers"))
		return handlers();
	if (!strcmp(what, "jumps"))
		return jumps();
	if (!strcmp(what, "cancel"))
		return cancels();
	if (!strcmp(what, "tell"))
		return tells();
	if (!strcmp(what, "exec"))
		return execl(argv[0], argv[0], "count", argv[2], "1", NULL);
	if (!strcmp(what, "exec-bare"))
		return execle(argv[0], argv[0], "count", argv[2], "1", NULL, (char *[]){NULL});
	return 99;
}
