/* What functions of the C library do to memory: strings NAME announces too early what NAME then writes, and is found out by
 * NAME of a reader; "freed" frees what another thread compares. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name;
static char text[200], *heap;
static volatile int ready;

static int is(const char *other)
{
	return !strcmp(name, other);
}

/* volatile: the compiler is not to do it itself */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
static void *(*volatile move)(void *, const void *, size_t) = memmove;
static void *(*volatile set)(void *, int, size_t) = memset;
static char *(*volatile copy_text)(char *, const char *) = strcpy;
static char *(*volatile copy_some)(char *, const char *, size_t) = strncpy;
static int (*volatile compare)(const void *, const void *, size_t) = memcmp;

static void *write_late(void *x)
{
	ready = 1;
	if (is("memcpy"))
		copy(text, "yes", 4);
	else if (is("memmove"))
		move(text, "yes", 4);
	else if (is("memset"))
		set(text, 'y', 3);
	else if (is("strncpy"))
		copy_some(text, "yes", 100);
	else
		copy_text(text, "yes");
	return x;
}

static void *read_early(void *x)
{
	if (ready && text[0] != 'y')
		exit(1);
	return x;
}

static void *compare_heap(void *x)
{
	if (!compare(heap, "abc", 3))
		ready = 1;
	return x;
}

static void *free_heap(void *x)
{
	free(heap);
	return x;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	name = argc > 1 ? argv[1] : "strcpy";
	heap = strdup("abc");
	pthread_create(&threads[0], NULL, is("freed") ? free_heap : write_late, NULL);
	pthread_create(&threads[1], NULL, is("freed") ? compare_heap : read_early, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
