/* A library with a mailbox for a message, guarded by a lock of the kind: it is not compiled to report its accesses. */
#include "mailbox.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static void *message;

static int is(const char *kind, const char *which)
{
	return !strcmp(kind, which);
}

__attribute__((constructor)) static void begin(void)
{
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
}

void post(const char *kind, void *what)
{
	if (is(kind, "rwlock"))
		pthread_rwlock_wrlock(&rwlock);
	else if (is(kind, "spin"))
		pthread_spin_lock(&spin);
	else
		pthread_mutex_lock(&mutex);
	message = what;
	if (is(kind, "rwlock"))
		pthread_rwlock_unlock(&rwlock);
	else if (is(kind, "spin"))
		pthread_spin_unlock(&spin);
	else
		pthread_mutex_unlock(&mutex);
}

/* A wait that only its time ends: no signal orders it. */
static void *wait_and_look(void)
{
	struct timespec past = {1, 0};
	void *found = NULL;

	pthread_mutex_lock(&mutex);
	if (!message)
		pthread_cond_timedwait(&never, &mutex, &past);
	found = message;
	pthread_mutex_unlock(&mutex);
	return found;
}

void *look(const char *kind)
{
	void *found;

	if (is(kind, "wait"))
		return wait_and_look();
	if (is(kind, "rwlock")) {
		pthread_rwlock_rdlock(&rwlock);
		found = message;
		pthread_rwlock_unlock(&rwlock);
	} else if (is(kind, "spin")) {
		pthread_spin_lock(&spin);
		found = message;
		pthread_spin_unlock(&spin);
	} else {
		if (is(kind, "try")) {
			if (pthread_mutex_trylock(&mutex))
				return NULL;
		} else {
			pthread_mutex_lock(&mutex);
		}
		found = message;
		pthread_mutex_unlock(&mutex);
	}
	return found;
}
