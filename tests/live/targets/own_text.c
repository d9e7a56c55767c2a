/* Kills a dpe, whose id is in its standard input, when the first probe of its functions is there; with an argument: when SIGTERM
 * has made dpe take out the first of them. Then waits until all of them are gone. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEN(EACH, tens) \
	EACH(tens##0) EACH(tens##1) EACH(tens##2) EACH(tens##3) EACH(tens##4) EACH(tens##5) EACH(tens##6) EACH(tens##7) EACH(tens##8) EACH(tens##9)
#define HUNDRED(EACH, hundreds) \
	TEN(EACH, hundreds##0) TEN(EACH, hundreds##1) TEN(EACH, hundreds##2) TEN(EACH, hundreds##3) TEN(EACH, hundreds##4) \
	TEN(EACH, hundreds##5) TEN(EACH, hundreds##6) TEN(EACH, hundreds##7) TEN(EACH, hundreds##8) TEN(EACH, hundreds##9)
#define ALL(EACH) HUNDRED(EACH, 1) HUNDRED(EACH, 2) HUNDRED(EACH, 3) HUNDRED(EACH, 4)
#define FUNCTION(number) \
	void f##number(void) \
	{ \
		puts(#number); \
	}
#define NAME(number) f##number,

ALL(FUNCTION)

static void (*const functions[])(void) = {ALL(NAME)};

enum { COUNT = sizeof(functions) / sizeof(*functions) };

static unsigned probes(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < COUNT; i++)
		count += *(volatile unsigned char *)functions[i] == 0xcc;
	return count;
}

int main(int count, char **words)
{
	char line[32];
	pid_t dpe;

	(void)words;
	puts("begun");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	dpe = atoi(line);
	while (!probes())
		usleep(10);
	if (count > 1) {
		while (probes() < COUNT)
			usleep(10);
		kill(dpe, SIGTERM);
		while (probes() == COUNT)
			usleep(10);
	}
	kill(dpe, SIGKILL);
	while (probes())
		usleep(1000);
	puts("whole");
	return 0;
}
