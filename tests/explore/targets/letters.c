/* Threads that do what their argument's letters say: see letters.py. */
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;
static volatile int words[4]; /* some are 8 bytes apart */

static void *work(void *letters)
{
	int seen = 1;

	for (const char *at = letters; *at; at++)
		switch (*at) {
		case 'r': seen = 2 * seen + words[0]; break;
		case 'R': seen = 2 * seen + words[2]; break;
		case 'w': words[0] = seen % 5; break;
		case 'W': words[2] = seen % 5; break;
		case 'l': pthread_mutex_lock(&mutexes[0]); break;
		case 'u': pthread_mutex_unlock(&mutexes[0]); break;
		case 'L': pthread_mutex_lock(&mutexes[1]); break;
		case 'U': pthread_mutex_unlock(&mutexes[1]); break;
		case 'p': sem_post(&sem); break;
		case 's': sem_wait(&sem); break;
		case 't': seen += sem_trywait(&sem) ? 0 : 3; break;
		case 'a': pthread_rwlock_rdlock(&rw); break;
		case 'b': pthread_rwlock_wrlock(&rw); break;
		case 'c': pthread_rwlock_unlock(&rw); break;
		}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	sem_init(&sem, 0, 0);
	for (int i = 1; i < argc; i++)
		pthread_create(&threads[i - 1], NULL, work, argv[i]);
	for (int i = 1; i < argc; i++)
		pthread_join(threads[i - 1], NULL);
	return 1 + words[0] + 5 * words[2];
}
