/* Objects on the heap that come and go. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct part {
	long wide;
	int number[3];
};

struct object {
	long id;
	int count;
	short small;
	signed char tag;
	unsigned bit : 3;
	double real;
	struct part part;
	struct object *next;
};

#define ENTRY __attribute__((noinline, noclone))

ENTRY void create(int id, struct object *object)
{
	memset(object, 0, sizeof(*object));
	object->id = id;
	__asm__ volatile("" : : : "memory");
}

ENTRY void destroy(struct object *object)
{
	object->count = -1;
	__asm__ volatile("" : : : "memory");
}

ENTRY void begin_cell(volatile int *cell)
{
	(void)cell;
	__asm__ volatile("" : : : "memory");
}

ENTRY void add(volatile struct object *object)
{
	object->count++;
}

ENTRY void tick(void)
{
	__asm__ volatile("" : : : "memory");
}

/* Until standard input ends. */
static void wait_for_input(void)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};

	while (!poll(&input, 1, 20))
		tick();
}

static void *work(void *object)
{
	add(object);
	add(object);
	return NULL;
}

static void *nothing(void *unused)
{
	return unused;
}

static volatile int busy = 1;

/* Makes threads all the time. */
static void *make_threads(void *unused)
{
	pthread_t thread;

	while (busy && !pthread_create(&thread, NULL, nothing, NULL))
		pthread_join(thread, NULL);
	return unused;
}

static void use(int id, struct object *object, int threads)
{
	pthread_t thread;

	create(id, object);
	add(object);
	while (threads--) {
		pthread_create(&thread, NULL, work, object);
		pthread_join(thread, NULL);
	}
}

static void finish(struct object *object)
{
	destroy(object);
	object->count = 100;
	free(object);
}

static void in_turn(int count)
{
	for (int i = 0; i < count; i++) {
		struct object *object = malloc(sizeof(*object));

		use(i, object, 1);
		finish(object);
	}
}

static void at_once(int count)
{
	struct object *objects[64];

	for (int i = 0; i < count; i++)
		use(i, objects[i] = malloc(sizeof(**objects)), 0);
	for (int i = 0; i < count; i++) {
		add(objects[i]);
		finish(objects[i]);
	}
}

static void parts(void)
{
	volatile struct object *object = calloc(1, sizeof(*object));
	volatile int *cells = calloc(4, sizeof(*cells));

	create(1, (struct object *)object);
	begin_cell(cells);
	object->small = -3;
	object->tag = -4;
	object->real = 2.5;
	object->part.number[2] = 7;
	*cells = 5;
	cells[3] = 6;
	destroy((struct object *)object);
}

ENTRY struct object *make(int id)
{
	struct object *object = id ? calloc(1, sizeof(*object)) : NULL;

	__asm__ volatile("" : : : "memory");
	return object;
}

/* Objects that a function returns, one of them none. */
static void returned(int count)
{
	make(0);
	while (count--) {
		struct object *object = make(count + 1);

		add(object);
		add(object);
		finish(object);
	}
}

/* Another program, while an object is watched. */
static void become_another(char *program)
{
	add(make(1));
	execl(program, program, "made", "2", NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "turn";
	int count = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t maker;

	if (argc > 3)
		wait_for_input();
	if (!strcmp(what, "parts"))
		parts();
	else if (!strcmp(what, "once"))
		at_once(count);
	else if (!strcmp(what, "made"))
		returned(count);
	else if (!strcmp(what, "another"))
		become_another(argv[0]);
	if (!strcmp(what, "churn"))
		pthread_create(&maker, NULL, make_threads, NULL);
	if (!strcmp(what, "turn") || !strcmp(what, "churn"))
		in_turn(count);
	if (!strcmp(what, "churn")) {
		busy = 0;
		pthread_join(maker, NULL);
	}
	printf("done %d\n", count);
	return 0;
}
