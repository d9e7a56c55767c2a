/* Text behind pointers and in arrays, and structures that are passed by value. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OWN __attribute__((noipa))

struct item {
	int len;
	const char *name;
	char tag[8]; /* full: no NUL */
};

struct mixed {
	double real;
	int number;
	unsigned char byte;
};

struct large {
	long a, b, c;
	short d;
	const char *name;
};

struct far {
	long at[8];
};

char *title = "a title", *second, *third;

OWN static int use(const char *name)
{
	return name ? -1 : 0;
}

OWN static void leave(const char *name)
{
	asm volatile("" : : "r"(name));
}

OWN static const char *name_of(int number)
{
	return number ? "one" : NULL;
}

OWN static int look(struct item *item)
{
	return item->len;
}

OWN static int mix(struct mixed mixed, int after)
{
	return mixed.number + after;
}

OWN static long load(int before, struct large large)
{
	return large.a + before;
}

OWN static long reach(struct far far)
{
	return far.at[7];
}

OWN static int handed(unsigned long where)
{
	return (int)where;
}

/* The last bytes before a page that is not there. */
static char *at_the_edge(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(pages + page, (size_t)page);
	return strcpy(pages + page - 5, "edge");
}

static char *long_text(size_t len, char last)
{
	char *text = malloc(len + 1);

	memset(text, 'x', len);
	text[len] = 0;
	text[len - 1] = last;
	return text;
}

int main(int argc, char **argv)
{
	struct item item = {3, "thing", "abcdefgh"};
	bool cut = argc > 1 && !strcmp(argv[1], "cut");

	use("abc");
	use("abd");
	use(NULL);
	use((const char *)16);
	use(at_the_edge());
	use("caf\xe9");
	use("caf\xc3\xa9");
	use(long_text(127, 'y'));
	if (cut) {
		use(long_text(300, 'y'));
		use(long_text(300, 'z'));
	}
	leave(strdup("abc"));
	name_of(1);
	name_of(0);
	look(&item);
	mix((struct mixed){1.5, 7, 200}, -9);
	load(4, (struct large){1, -2, 3, -5, "in large"});
	reach((struct far){{1, 2, 3, 4, 5, 6, 7, 8}});
	handed((unsigned long)"a number");
	puts("done");
	return 0;
}
