/* Locks taken in different orders, and waits that nobody ends, by the arguments, one after another.
 * What only could hang never does: the threads take turns, by a way that makes no order. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER,
		       c = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t read_a = PTHREAD_RWLOCK_INITIALIZER, read_b = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static sem_t none;
static atomic_int turn;

static void await_turn(int mine)
{
	while (atomic_load(&turn) < mine)
		usleep(1000);
}

static void take_two(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void *a_then_b(void *unused)
{
	await_turn(0);
	take_two(&a, &b);
	atomic_store(&turn, 1);
	return unused;
}

static void *b_then_a(void *unused)
{
	await_turn(1);
	take_two(&b, &a);
	return unused;
}

static void *b_then_c(void *unused)
{
	await_turn(1);
	take_two(&b, &c);
	atomic_store(&turn, 2);
	return unused;
}

static void *c_then_a(void *unused)
{
	await_turn(2);
	take_two(&c, &a);
	return unused;
}

static void *guarded_a_then_b(void *unused)
{
	pthread_mutex_lock(&gate);
	a_then_b(unused);
	pthread_mutex_unlock(&gate);
	return unused;
}

static void *guarded_b_then_a(void *unused)
{
	await_turn(1);
	pthread_mutex_lock(&gate);
	take_two(&b, &a);
	pthread_mutex_unlock(&gate);
	return unused;
}

static void *both_orders(void *unused)
{
	take_two(&a, &b);
	take_two(&b, &a);
	return unused;
}

static void *try_b_then_a(void *unused)
{
	await_turn(1);
	pthread_mutex_lock(&b);
	if (!pthread_mutex_trylock(&a))
		pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return unused;
}

static void read_two(pthread_rwlock_t *first, pthread_rwlock_t *second)
{
	pthread_rwlock_rdlock(first);
	pthread_rwlock_rdlock(second);
	pthread_rwlock_unlock(second);
	pthread_rwlock_unlock(first);
}

static void *read_a_then_b(void *unused)
{
	read_two(&read_a, &read_b);
	atomic_store(&turn, 1);
	return unused;
}

static void *read_b_then_a(void *unused)
{
	await_turn(1);
	read_two(&read_b, &read_a);
	return unused;
}

/* The order of these two is no accident: one waits for the other, or finds what it did. */
static void *a_then_b_then_signal(void *unused)
{
	await_turn(1);
	take_two(&a, &b);
	pthread_mutex_lock(&c);
	atomic_store(&turn, 2);
	pthread_cond_signal(&done);
	pthread_mutex_unlock(&c);
	return unused;
}

static void *wait_then_b_then_a(void *unused)
{
	pthread_mutex_lock(&c);
	atomic_store(&turn, 1);
	while (atomic_load(&turn) < 2)
		pthread_cond_wait(&done, &c);
	pthread_mutex_unlock(&c);
	take_two(&b, &a);
	return unused;
}

static void *a_then_b_then_post(void *unused)
{
	take_two(&a, &b);
	sem_post(&none);
	return unused;
}

static void *b_then_a_after_post(void *unused)
{
	sem_wait(&none);
	take_two(&b, &a);
	return unused;
}

/* Only with the sections of `gate` the other way round could these two meet. */
static void *a_then_b_under_gate(void *unused)
{
	pthread_mutex_lock(&gate);
	take_two(&a, &b);
	pthread_mutex_unlock(&gate);
	atomic_store(&turn, 1);
	return unused;
}

static void *gate_then_b_then_a(void *unused)
{
	await_turn(1);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	take_two(&b, &a);
	return unused;
}

static void *wait_for_ever(void *unused)
{
	pthread_mutex_lock(&c);
	pthread_cond_wait(&never, &c);
	pthread_mutex_unlock(&c);
	return unused;
}

static void *wait_a_while(void *unused)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec++;
	pthread_mutex_lock(&a);
	pthread_cond_timedwait(&never, &a, &end);
	pthread_mutex_unlock(&a);
	_exit(0);
	return unused;
}

static void *read_input(void *unused)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) >= 0)
		_exit(0);
	return unused;
}

/* The same memory is used for another mutex. */
static void *reuse(void *unused)
{
	await_turn(1);
	pthread_mutex_destroy(&a);
	pthread_mutex_init(&a, NULL);
	take_two(&b, &a);
	return unused;
}

static void *(*const cases[][3])(void *) = {
	{a_then_b, b_then_a},
	{a_then_b, b_then_c, c_then_a},
	{guarded_a_then_b, guarded_b_then_a},
	{both_orders},
	{a_then_b, try_b_then_a},
	{read_a_then_b, read_b_then_a},
	{a_then_b, reuse},
	{a_then_b_then_signal, wait_then_b_then_a},
	{a_then_b_then_post, b_then_a_after_post},
	{a_then_b_under_gate, gate_then_b_then_a},
	{wait_for_ever, wait_for_ever},
	{wait_for_ever, read_input},
	{wait_for_ever, wait_a_while},
};
static const char *const names[] = {"inversion", "three", "gate", "alone", "try", "readers",
	"reuse", "signalled", "posted", "crossed", "wakeup", "input", "while"};

static void run(void *(*const *way)(void *))
{
	pthread_t threads[3];
	int count = 0;

	for (; count < 3 && way[count]; count++)
		pthread_create(&threads[count], NULL, way[count], NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void post(int unused)
{
	(void)unused;
	sem_post(&none);
}

/* A handler, or another process, could end the wait. */
static void wait_for_signal(void)
{
	signal(SIGUSR1, post);
	sem_wait(&none);
}

static void wait_for_process(void)
{
	sem_t *shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	sem_init(shared, 1, 0);
	sem_wait(shared);
}

static void one_after_another(void)
{
	void *(*const first[3])(void *) = {a_then_b}, *(*const second[3])(void *) = {b_then_a};

	run(first);
	run(second); /* its turn is since the first had it */
}

static void inversion_that_stays(void)
{
	run(cases[0]);
	fputs("is done\n", stderr);
	pause();
}

static void wait_alone(void)
{
	wait_for_ever(NULL);
}

static void take_twice(void)
{
	take_two(&a, &a);
}

static void wait_for_post(void)
{
	sem_wait(&none);
}

static const struct {
	const char *name;
	void (*go)(void);
} more[] = {
	{"joined", one_after_another},
	{"stays", inversion_that_stays},
	{"main", wait_alone},
	{"twice", take_twice},
	{"semaphore", wait_for_post},
	{"handler", wait_for_signal},
	{"shared", wait_for_process},
};

static void go(const char *way)
{
	atomic_store(&turn, 0);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(way, names[i]))
			run(cases[i]);
	}
	for (unsigned i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		if (!strcmp(way, more[i].name))
			more[i].go();
	}
}

int main(int argc, char **argv)
{
	alarm(200); /* none stays behind */
	for (int i = 1; i < argc; i++)
		go(argv[i]);
	puts("ended");
	return 0;
}
