/* Threads that do what their argument's letters say: see letters.py. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t sem;
static volatile int words[4]; /* some are 8 bytes apart */
static _Thread_local const char *at;
static _Thread_local int seen;

static void run(void);

/* The letters up to O are done by the first thread that comes to its o. */
static void run_once(void)
{
	const char *end = strchr(at, 'O');

	pthread_once(&once, run);
	at = end;
}

static void run(void)
{
	while (*++at && *at != 'O')
		switch (*at) {
		case 'r': seen = 2 * seen + words[0]; break;
		case 'R': seen = 2 * seen + words[2]; break;
		case 'w': words[0] = seen % 5; break;
		case 'W': words[2] = seen % 5; break;
		case 'l': pthread_mutex_lock(&mutexes[0]); break;
		case 'v': at = pthread_mutex_trylock(&mutexes[0]) ? strchr(at, 'u') : at; break;
		case 'u': pthread_mutex_unlock(&mutexes[0]); break;
		case 'L': pthread_mutex_lock(&mutexes[1]); break;
		case 'U': pthread_mutex_unlock(&mutexes[1]); break;
		case 'p': sem_post(&sem); break;
		case 's': sem_wait(&sem); break;
		case 't': seen += sem_trywait(&sem) ? 0 : 3; break;
		case 'a': pthread_rwlock_rdlock(&rw); break;
		case 'b': pthread_rwlock_wrlock(&rw); break;
		case 'c': pthread_rwlock_unlock(&rw); break;
		case 'o': run_once(); break;
		case 'g': seen += pthread_barrier_wait(&barrier) ? 3 : 0; break;
		}
}

static void *work(void *letters)
{
	at = (const char *)letters - 1;
	seen = 1;
	run();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	sem_init(&sem, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 1; i < argc; i++)
		pthread_create(&threads[i - 1], NULL, work, argv[i]);
	for (int i = 1; i < argc; i++)
		pthread_join(threads[i - 1], NULL);
	return 1 + words[0] + 5 * words[2];
}
