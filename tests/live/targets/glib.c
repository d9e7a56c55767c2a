/* What GLib orders, each case with a correct and a wrong version: two threads that put and get a value, which the case names.
 *
 *	glib right	the correct ones, except for routines that run once
 *	glib all	these, too
 *	glib wrong	all wrong ones; glib list: their values */
#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGES = 20, WAIT = 60 * G_USEC_PER_SEC };

static int mutex_value, locker_value, try_value, rec_value, rw_value, cond_value, queue_value[MESSAGES], pool_value, idle_value, init_value,
	once_value;
static gboolean right;
static pthread_barrier_t start, end;
static GMutex mutex;
static GRecMutex rec;
static GRWLock rw;
static GCond cond;
static gboolean ready;
static GAsyncQueue *queue;
static GMainLoop *loop;

__attribute__((noipa)) void put(int *value)
{
	++*value;
}

__attribute__((noipa)) int get(int *value)
{
	return *value;
}

static void mutex_case(void)
{
	if (right)
		g_mutex_lock(&mutex);
	put(&mutex_value);
	if (right)
		g_mutex_unlock(&mutex);
}

static void locker_case(void)
{
	g_autoptr(GMutexLocker) locker = right ? g_mutex_locker_new(&mutex) : NULL;

	put(&locker_value);
}

static void try_case(void)
{
	while (right && !g_mutex_trylock(&mutex))
		g_thread_yield();
	put(&try_value);
	if (right)
		g_mutex_unlock(&mutex);
}

static void rec_case(void)
{
	for (int i = 0; right && i < 2; i++)
		g_rec_mutex_lock(&rec);
	put(&rec_value);
	for (int i = 0; right && i < 2; i++)
		g_rec_mutex_unlock(&rec);
}

static void rw_write(void)
{
	if (right)
		g_rw_lock_writer_lock(&rw);
	put(&rw_value);
	if (right)
		g_rw_lock_writer_unlock(&rw);
}

static void rw_read(void)
{
	if (right)
		g_rw_lock_reader_lock(&rw);
	get(&rw_value);
	if (right)
		g_rw_lock_reader_unlock(&rw);
}

static void cond_signal(void)
{
	put(&cond_value);
	g_mutex_lock(&mutex);
	ready = TRUE;
	g_cond_signal(&cond);
	g_mutex_unlock(&mutex);
	if (!right)
		put(&cond_value);
}

static void cond_wait(void)
{
	g_mutex_lock(&mutex);
	while (!ready)
		g_cond_wait_until(&cond, &mutex, g_get_monotonic_time() + WAIT);
	g_mutex_unlock(&mutex);
	get(&cond_value);
}

static void queue_push(void)
{
	for (int i = 0; i < MESSAGES; i++) {
		put(&queue_value[i]);
		g_async_queue_push(queue, &queue_value[i]);
		if (!right)
			put(&queue_value[i]);
	}
}

static void queue_pop(void)
{
	for (int i = 0; i < MESSAGES; i++)
		get(g_async_queue_pop(queue));
}

/* An order that nobody observes. */
static gboolean pool_ended;

__attribute__((no_sanitize("thread"), noipa)) static void end_pool(void)
{
	__atomic_store_n(&pool_ended, TRUE, __ATOMIC_RELAXED);
}

__attribute__((no_sanitize("thread"), noipa)) static void await_pool(void)
{
	while (!__atomic_load_n(&pool_ended, __ATOMIC_RELAXED))
		g_thread_yield();
}

static void pool_task(gpointer data, gpointer user)
{
	(void)user;
	get(data);
	end_pool();
}

static void pool_case(void)
{
	GThreadPool *pool = g_thread_pool_new(pool_task, NULL, 2, TRUE, NULL);

	put(&pool_value);
	g_thread_pool_push(pool, &pool_value, NULL);
	if (!right) {
		put(&pool_value);
		await_pool();
	}
	g_thread_pool_free(pool, FALSE, TRUE);
	put(&pool_value);
}

static void nothing(void)
{
}

static gboolean idle_call(gpointer data)
{
	get(data);
	g_main_loop_quit(loop);
	return G_SOURCE_REMOVE;
}

static void idle_run(void)
{
	if (!right)
		get(&idle_value);
	g_main_loop_run(loop);
}

static void idle_add(void)
{
	put(&idle_value);
	g_idle_add(idle_call, &idle_value);
}

static void init_case(void)
{
	static gsize initialised;

	if (!right) {
		put(&init_value);
	} else if (g_once_init_enter(&initialised)) {
		put(&init_value);
		g_once_init_leave(&initialised, 1);
	}
	get(&init_value);
}

static gpointer routine(gpointer data)
{
	put(data);
	return data;
}

static void once_case(void)
{
	static GOnce once = G_ONCE_INIT;

	if (right)
		g_once(&once, routine, &once_value);
	else
		routine(&once_value);
	get(&once_value);
}

static const struct two {
	const char *name;
	void (*first)(void), (*second)(void);
	gboolean once;
} cases[] = {
	{"mutex", mutex_case, mutex_case, FALSE},
	{"locker", locker_case, locker_case, FALSE},
	{"try", try_case, try_case, FALSE},
	{"rec", rec_case, rec_case, FALSE},
	{"rw", rw_write, rw_read, FALSE},
	{"cond", cond_signal, cond_wait, FALSE},
	{"queue", queue_push, queue_pop, FALSE},
	{"pool", pool_case, nothing, FALSE},
	{"idle", idle_run, idle_add, FALSE},
	{"init", init_case, init_case, TRUE},
	{"once", once_case, once_case, TRUE},
};

/* Both threads have begun, and neither ends: GLib's locks there order nothing of the case. */
static gpointer first(gpointer data)
{
	pthread_barrier_wait(&start);
	((const struct two *)data)->first();
	pthread_barrier_wait(&end);
	return NULL;
}

static gpointer second(gpointer data)
{
	pthread_barrier_wait(&start);
	((const struct two *)data)->second();
	pthread_barrier_wait(&end);
	return NULL;
}

static void run(const struct two *two)
{
	GThread *a = g_thread_new("first", first, (gpointer)two), *b = g_thread_new("second", second, (gpointer)two);

	g_thread_join(a);
	g_thread_join(b);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "list";

	right = strcmp(mode, "wrong") != 0;
	pthread_barrier_init(&start, NULL, 2);
	pthread_barrier_init(&end, NULL, 2);
	queue = g_async_queue_new();
	loop = g_main_loop_new(NULL, FALSE);
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
		if (!strcmp(mode, "list"))
			printf("%s_value\n", cases[i].name);
		else if (!right || !cases[i].once || !strcmp(mode, "all"))
			run(&cases[i]);
	return 0;
}
