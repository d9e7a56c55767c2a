/* Replaces the pages of its own code by a copy in anonymous memory, as programs do that want large pages for it. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline)) int work(int i)
{
	__asm__ volatile("");
	return i + 1;
}

/* The mapping that holds `work`; false if it is not found. */
static int find(unsigned long *begin, unsigned long *end)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];
	int found = 0;

	while (!found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%lx-%lx", begin, end) == 2 && *begin <= (unsigned long)work && (unsigned long)work < *end;
	fclose(maps);
	return found;
}

int main(void)
{
	unsigned long begin, end;
	void *copy;

	work(1);
	if (!find(&begin, &end))
		return 1;
	copy = mmap(NULL, end - begin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(copy, (void *)begin, end - begin);
	mprotect(copy, end - begin, PROT_READ | PROT_EXEC);
	mremap(copy, end - begin, end - begin, MREMAP_MAYMOVE | MREMAP_FIXED, begin);
	work(2);
	puts("copied");
	return 0;
}
