/* Two workers take jobs; the second job locks in another order. Either worker may get either job. */
#include <pthread.h>

static pthread_mutex_t jobs = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int taken;

static void *work(void *x)
{
	int job;

	pthread_mutex_lock(&jobs);
	job = taken++;
	pthread_mutex_unlock(&jobs);
	if (job) {
		pthread_mutex_lock(&b);
		pthread_mutex_lock(&a);
	} else {
		pthread_mutex_lock(&a);
		pthread_mutex_lock(&b);
	}
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return x;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}
