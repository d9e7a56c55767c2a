/* Accesses to variables by threads, ordered or not: races WAY. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int counter, other;
static int copies[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, another = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int length;
	pthread_rwlock_t guard;
} table = {.guard = PTHREAD_RWLOCK_INITIALIZER};
static const char *way;

static int is(const char *name)
{
	return !strcmp(way, name);
}

__attribute__((noinline)) void put(int value)
{
	counter = value;
}

__attribute__((noinline)) int get(void)
{
	return *(volatile int *)&counter;
}

static void *writer(void *arg)
{
	if (is("locked"))
		pthread_mutex_lock(&mutex);
	put((int)(long)arg);
	if (is("locked"))
		pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	if (is("locked"))
		pthread_mutex_lock(&mutex);
	other = get();
	if (is("locked"))
		pthread_mutex_unlock(&mutex);
	return NULL;
}

/* Under three locks, and under one that the reader has not. */
static void *guarded(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_rwlock_rdlock(&table.guard);
	pthread_mutex_lock(&another);
	pthread_mutex_unlock(&mutex);
	put((int)(long)arg);
	pthread_mutex_unlock(&another);
	pthread_rwlock_unlock(&table.guard);
	return NULL;
}

static void *under_mutex(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_rdlock(&table.guard);
	other = get();
	pthread_rwlock_unlock(&table.guard);
	return NULL;
}

/* A write of the value that is there already is one all the same. */
static void *same(void *arg)
{
	(void)arg;
	put(0);
	return NULL;
}

static void *copier(void *arg)
{
	memcpy(arg, &counter, sizeof(counter));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t one, two;

	way = argc > 1 ? argv[1] : "race";
	if (is("read")) {
		pthread_create(&one, NULL, reader, NULL);
		pthread_create(&two, NULL, copier, &copies[0]);
	} else if (is("writes")) {
		pthread_create(&one, NULL, writer, (void *)1L);
		pthread_create(&two, NULL, writer, (void *)2L);
	} else if (is("guarded")) {
		pthread_create(&one, NULL, under_mutex, NULL);
		pthread_create(&two, NULL, guarded, (void *)1L);
	} else if (is("same")) {
		pthread_create(&one, NULL, reader, NULL);
		pthread_create(&two, NULL, same, NULL);
	} else {
		pthread_create(&one, NULL, writer, (void *)1L);
		if (is("joined"))
			pthread_join(one, NULL);
		pthread_create(&two, NULL, reader, NULL);
	}
	if (!is("joined"))
		pthread_join(one, NULL);
	pthread_join(two, NULL);
	printf("%d %d\n", counter, other);
	return 0;
}
