/* Functions written for how they end. `exits COUNT` calls each of them so many times, and prints what it
 * was called with and what it returned. */
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION(name, code)                                                                       \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" code \
		"\n.size " #name ", . - " #name "\n.popsection\n");                                \
	long name(long a, long *b)

FUNCTION(halves, "mov %rdi, %rax; shr %rax; ret");
FUNCTION(branches, "test $1, %dil; je 1f; mov $1, %eax; ret; 1: xor %eax, %eax; ret");
FUNCTION(branches_far, "test $1, %dil; .byte 0x0f, 0x84; .long 6; mov $5, %eax; ret; mov $6, %eax; ret");
FUNCTION(compares, "mov %rdi, %rax; cmp $3, %rdi; jle 1f; jmp 2f; 1: mov $-1, %rax; ret; 2: ret");
FUNCTION(saves, "push %rbx; mov %rdi, %rbx; call halves; test $1, %al; jne 1f; mov %ebx, %eax; 1: pop %rbx; ret");
FUNCTION(spills, "sub $24, %rsp; mov %rdi, 8(%rsp); call halves; xor %edi, %edi; jmp 1f; nop; 1: add $24, %rsp; ret");
FUNCTION(has_frame, "push %rbp; mov %rsp, %rbp; sub $16, %rsp; mov %rdi, -8(%rbp); call halves; xor %edi, %edi; jmp 1f; nop; 1: leave; ret");
FUNCTION(ends_by_nop, "xor %eax, %eax; nop; ret");
FUNCTION(ends_by_push, "mov %rdi, %rax; push %rax; pop %rcx; ret");
FUNCTION(leaves, "test $1, %dil; jne 1f; jmp halves; 1: mov $7, %eax; jmp 2f; nop; 2: ret");
FUNCTION(leaves_with_others, "mov $4, %edi; jmp halves");
FUNCTION(keeps_a_frame, "push %rbp; mov $1, %ebp; test %rdi, %rdi; je 1f; 1: mov %rdi, %rax; pop %rbp; ret");
FUNCTION(loops, "mov $3, %eax; 1: dec %eax; jne 1b; ret");
FUNCTION(calls_last, "sub $8, %rsp; call halves; add $8, %rsp; ret");
FUNCTION(writes_last, "mov %rdi, %rax; jmp 1f; nop; 1: mov %rdi, (%rsi); ret");
FUNCTION(locks_last, "xor %eax, %eax; jmp 1f; nop; 1: lock addq %rdi, (%rsi); ret");
FUNCTION(exchanges_last, "mov %rdi, %rax; jmp 1f; nop; 1: xchg %rax, (%rsi); mov %rdi, %rax; ret");
FUNCTION(computes_last, "jmp 1f; nop; 1: lea 1(%rdi), %rax; ret");
FUNCTION(forgets, "mov $5, %eax; xor %edi, %edi; jmp 1f; nop; 1: ret");
FUNCTION(forgets_on_one_way, "mov $5, %eax; cmp $3, %rdi; jg 1f; xor %edi, %edi; 1: nop; ret");
FUNCTION(lets_others_write, "sub $24, %rsp; mov %rdi, 8(%rsp); lea 8(%rsp), %rsi; call clears; jmp 1f; nop; 1: add $24, %rsp; ret");
FUNCTION(clears, "movq $0, (%rsi); mov $9, %eax; ret");
FUNCTION(jumps_by_table, "lea 1f(%rip), %rax; jmp *%rax; 1: mov $2, %eax; ret");
FUNCTION(aligns, "push %rbp; mov %rsp, %rbp; and $-32, %rsp; mov %rdi, %rax; jmp 1f; nop; 1: leave; ret");
FUNCTION(loops_to_itself, "test %rdi, %rdi; je 1f; dec %rdi; jmp loops_to_itself; 1: xor %eax, %eax; ret");

#define NAMED(name) {#name, name}

static const struct {
	const char *name;
	long (*call)(long a, long *b);
} functions[] = {
	NAMED(branches),
	NAMED(branches_far),
	NAMED(compares),
	NAMED(saves),
	NAMED(spills),
	NAMED(has_frame),
	NAMED(ends_by_nop),
	NAMED(ends_by_push),
	NAMED(leaves),
	NAMED(leaves_with_others),
	NAMED(keeps_a_frame),
	NAMED(loops),
	NAMED(calls_last),
	NAMED(writes_last),
	NAMED(locks_last),
	NAMED(exchanges_last),
	NAMED(computes_last),
	NAMED(forgets),
	NAMED(forgets_on_one_way),
	NAMED(lets_others_write),
	NAMED(jumps_by_table),
	NAMED(aligns),
};

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		for (long a = 0; a < count; a++) {
			long b = 0;

			printf("%s %ld %ld\n", functions[i].name, a, functions[i].call(a, &b));
		}
	}
	return 0;
}
