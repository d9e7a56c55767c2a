/* Threads that change an object each; or, with a word, one object. */
#include <pthread.h>

struct queue {
	int length;
};

static struct queue shared;

__attribute__((noipa)) static void put(struct queue *queue, int item)
{
	queue->length += item;
}

__attribute__((noipa)) static int get(struct queue *queue)
{
	return queue->length--;
}

static void *work(void *queue)
{
	put(queue, 2);
	get(queue);
	return NULL;
}

int main(int argc, char **argv)
{
	struct queue own[2] = {{0}};
	pthread_t threads[2];

	(void)argv;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, argc > 1 ? &shared : &own[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
