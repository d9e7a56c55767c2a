/* released: a thread lets another one continue, and then changes a variable; with a second argument before. The exit status is what the
 * other thread saw. */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t sem;
static pthread_t other;
static volatile int late, seen = -1, futex, waits;
static const char *how;

static bool is(const char *name)
{
	return !strcmp(how, name);
}

static void look(void *unused)
{
	(void)unused;
	if (seen < 0)
		seen = late;
}

static void on_signal(int number)
{
	(void)number;
	look(NULL);
}

static void run_once(void)
{
	if (pthread_equal(pthread_self(), other))
		seen = 1;
}

static void wait_for_cond(void)
{
	pthread_mutex_lock(&mutex);
	waits = 1;
	while (waits)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void *wait_and_look(void *unused)
{
	pthread_cleanup_push(look, unused);
	if (is("unlock"))
		pthread_mutex_lock(&mutex);
	else if (is("signal") || is("broadcast"))
		wait_for_cond();
	else if (is("post") || is("cancel") || is("kill"))
		sem_wait(&sem);
	else if (is("rwlock"))
		pthread_rwlock_rdlock(&rwlock);
	else if (is("spin"))
		pthread_spin_lock(&spin);
	else if (is("barrier"))
		pthread_barrier_wait(&barrier);
	else if (is("once"))
		pthread_once(&once, run_once);
	else if (is("futex"))
		syscall(SYS_futex, &futex, FUTEX_WAIT, 0, NULL);
	pthread_cleanup_pop(1);
	return NULL;
}

static void take(void)
{
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	pthread_spin_lock(&spin);
}

static void wake(void)
{
	bool woke = false;

	while (!woke) {
		pthread_mutex_lock(&mutex);
		woke = waits;
		waits = 0;
		pthread_mutex_unlock(&mutex);
	}
	if (is("signal"))
		pthread_cond_signal(&cond);
	else
		pthread_cond_broadcast(&cond);
}

static void release(void)
{
	if (is("unlock"))
		pthread_mutex_unlock(&mutex);
	else if (is("signal") || is("broadcast"))
		wake();
	else if (is("post"))
		sem_post(&sem);
	else if (is("rwlock"))
		pthread_rwlock_unlock(&rwlock);
	else if (is("spin"))
		pthread_spin_unlock(&spin);
	else if (is("barrier"))
		pthread_barrier_wait(&barrier);
	else if (is("once"))
		pthread_once(&once, run_once);
	else if (is("futex"))
		while (!syscall(SYS_futex, &futex, FUTEX_WAKE, 1))
			usleep(1);
	else if (is("cancel"))
		pthread_cancel(other);
	else if (is("kill"))
		pthread_kill(other, SIGUSR1);
	else
		pthread_create(&other, NULL, wait_and_look, NULL);
}

int main(int argc, char **argv)
{
	how = argv[1];
	signal(SIGUSR1, on_signal);
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&sem, 0, 0);
	if (is("unlock") || is("rwlock") || is("spin"))
		take();
	if (!is("create"))
		pthread_create(&other, NULL, wait_and_look, NULL);
	if (argc > 2)
		late = 1;
	release();
	late = 1;
	if (is("kill"))
		sem_post(&sem);
	pthread_join(other, NULL);
	_exit(seen);
}
