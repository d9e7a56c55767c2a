/* kinds: two named threads that call both versions of a function of a library, and one of the program. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#ifdef VERSIONS
extern int old_twice(int number), twice(int number);
__asm__(".symver old_twice,twice@OLD");
#endif

__attribute__((noipa)) int own(int number)
{
	return number + 1;
}

static void *run(void *name)
{
	pthread_setname_np(pthread_self(), name);
	own(5);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int sum = own(1);

	pthread_create(&threads[0], NULL, run, "reader");
	pthread_create(&threads[1], NULL, run, "a writer");
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
#ifdef VERSIONS
	sum += old_twice(10) + twice(10);
#endif
	printf("%d\n", sum);
	return 0;
}
