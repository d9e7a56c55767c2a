/* Probes that are there on purpose: sdt [FILE to stand by with]. */
#include <pthread.h>
#include <stdio.h>

#include "stands_by.h"

#define SDT_USE_VARIADIC
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

unsigned short queue_costly_semaphore __attribute__((section(".probes")));
#define queue_push_semaphore no_semaphore
#define queue_pop_semaphore no_semaphore
#define queue_done_semaphore no_semaphore
#define queue_real_semaphore no_semaphore
extern unsigned short no_semaphore __attribute__((section(".probes")));
unsigned short no_semaphore;

static int count;
static long table[4] = {100, 200, 300, 400};
static volatile int costly;

__attribute__((noipa)) static void push(int x, const char *name, signed char byte)
{
	count++;
	STAP_PROBE5(queue, push, x, name, byte, count, 7);
}

__attribute__((noipa)) static void pop(unsigned i)
{
	STAP_PROBE3(queue, pop, table[i], (unsigned short)(i + 65535), -1L);
	count--;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		stand_by(argv[1]);
	for (int i = 0; i < 4; i++) {
		push(i - 2, "text", (signed char)-i);
		pop((unsigned)i);
		if (queue_costly_semaphore) {
			costly++;
			STAP_PROBE1(queue, costly, costly);
		}
	}
	STAP_PROBE1(queue, real, 1.5);
	STAP_PROBE(queue, done);
	STAP_PROBE(queue, done);
	printf("%d %d %d\n", count, costly, queue_costly_semaphore);
	return 0;
}
