/* Calls of a function whose first instruction faults, until a handler has repaired what it reads: repaired TIMES; or does not fault: repaired TIMES no. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int first_reads(const int *page);
__asm__(".pushsection .text\n.globl first_reads\n.type first_reads, @function\nfirst_reads:\n"
	"mov (%rdi), %eax\nadd $1, %eax\nret\n.size first_reads, . - first_reads\n.popsection");

static int *page;
static volatile int repaired;

static void repair(int signal)
{
	(void)signal;
	repaired++;
	mprotect(page, 4096, PROT_READ);
}

int main(int argc, char **argv)
{
	int sum = 0, times = argc > 1 ? atoi(argv[1]) : 1;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, repair);
	for (int i = 0; i < times; i++) {
		mprotect(page, 4096, argc > 2 ? PROT_READ : PROT_NONE);
		sum += first_reads(page);
		sum += first_reads(page);
	}
	printf("%d %d\n", sum, repaired);
	return 0;
}
