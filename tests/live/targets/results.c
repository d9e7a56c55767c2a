/* What calls return and leave behind pointers: memory, files, descriptors, handles. "right" gives all of it back. A
 * second word: descriptors alone. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define OWN __attribute__((noipa))

struct store {
	int pages;
};

OWN static void *take(size_t size)
{
	return malloc(size);
}

OWN static void give(void *memory)
{
	free(memory);
}

OWN static int open_store(const char *name, struct store **store)
{
	*store = calloc(1, sizeof(**store));
	(*store)->pages = (int)strlen(name);
	return 0;
}

OWN static void close_store(struct store *store)
{
	free(store);
}

static void *give_elsewhere(void *memory)
{
	give(memory);
	return NULL;
}

static void use_memory(int right)
{
	pthread_t thread;
	void *first = take(24), *second, *kept = take(100);

	pthread_create(&thread, NULL, give_elsewhere, first);
	pthread_join(thread, NULL);
	second = take(24); /* it may be at the same address */
	give(second);
	if (right)
		give(kept);
	give(take(SIZE_MAX / 2)); /* there is not so much */
}

static void use_files(int right)
{
	FILE *file = fopen("/dev/null", "r"), *other = fopen("/dev/zero", "r");

	fclose(file);
	if (right)
		fclose(other);
}

static int listen_here(struct sockaddr_un *here, socklen_t *size)
{
	int listening = socket(AF_UNIX, SOCK_STREAM, 0);
	sa_family_t family = AF_UNIX;

	if (bind(listening, (struct sockaddr *)&family, sizeof(family)) || listen(listening, 4) ||
		getsockname(listening, (struct sockaddr *)here, size))
		abort();
	return listening;
}

static void use_descriptors(int right)
{
	struct sockaddr_un here;
	socklen_t size = sizeof(here);
	int listening = listen_here(&here, &size), calling = socket(AF_UNIX, SOCK_STREAM, 0), called;
	int file = open("/dev/null", O_RDONLY);

	open("/nonexistent", O_RDONLY);
	close(file);
	if (connect(calling, (struct sockaddr *)&here, size))
		abort();
	called = accept(listening, NULL, NULL);
	close(calling);
	close(listening);
	if (right)
		close(called);
}

static void use_stores(int right)
{
	struct store *one, *two;

	open_store("one", &one);
	open_store("second", &two);
	close_store(one);
	if (right)
		close_store(two);
}

int main(int argc, char **argv)
{
	int right = argc > 1 && !strcmp(argv[1], "right");
	void *aligned;

	use_descriptors(right);
	if (argc > 2)
		return 0;
	use_memory(right);
	use_files(right);
	use_stores(right);
	if (posix_memalign(&aligned, 64, 640))
		return 1;
	if (right)
		free(aligned);
	return 0;
}
