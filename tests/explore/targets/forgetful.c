/* Each run does something else: it reads how many there were, and one in two locks before it creates. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *x)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return x;
}

int main(void)
{
	FILE *file = fopen("runs", "a+");
	pthread_t t, u;

	fputc('x', file);
	fflush(file);
	pthread_create(&t, NULL, work, NULL);
	if (ftell(file) % 2)
		work(NULL);
	pthread_create(&u, NULL, work, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	fclose(file);
	return 0;
}
