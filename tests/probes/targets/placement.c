/* Functions written for what is at their beginning. `placement NAME COUNT` calls one of them
 * and tells whether the kernel had to execute an instruction out of line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION(name, code)                                                                       \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" code \
		"\n.size " #name ", . - " #name "\n.popsection\n");                                \
	void name(long a, int *b)

FUNCTION(begins_with_push, "push %rbx; pop %rbx; ret");
FUNCTION(begins_with_push_r12, "push %r12; pop %r12; ret");
FUNCTION(moves_then_pushes, "mov %edi, %eax; push %rbx; pop %rbx; ret");
FUNCTION(begins_with_endbr, "endbr64; push %rbx; pop %rbx; ret");
FUNCTION(tests_then_jumps, "test %rdi, %rdi; je 1f; nop; 1: ret");
FUNCTION(tests_then_jumps_far, "test %rdi, %rdi; .byte 0x0f, 0x84; .long 0; ret");
FUNCTION(calls_on, "mov $1, %eax; jmp begins_with_push");
FUNCTION(calls_first, "call begins_with_push; ret");
FUNCTION(loops_in_between, "mov $3, %eax; 1: dec %eax; jne 1b; ret");
FUNCTION(overwrites_second, "mov $1, %esi; push %rbx; pop %rbx; ret");
FUNCTION(overwrites_second_vector, "xorps %xmm1, %xmm1; push %rbx; pop %rbx; ret");
FUNCTION(overwrites_first, "lea 8(%rdi), %rdi; push %rbx; pop %rbx; ret");
FUNCTION(moves_the_stack, "sub $8, %rsp; jmp 1f; 1: add $8, %rsp; ret");
FUNCTION(writes_memory, "movl $1, (%rsi); push %rbx; pop %rbx; ret");
FUNCTION(jumps_by_table, "mov %edi, %eax; je 1f; lea 1f(%rip), %rax; jmp *%rax; 1: ret");
FUNCTION(locks_first, "lock decl (%rsi); jne 1f; nop; 1: ret");
FUNCTION(locks_and_adds, "lock decl (%rsi); lock addl $2, (%rsi); xor %eax, %eax; ret");
FUNCTION(spins, "1: lock decl (%rsi); js 1b; xor %eax, %eax; ret");
FUNCTION(holds_data, "mov %edi, %eax; je 1f; ret; .byte 0x06; 1: ret");
FUNCTION(jumped_into, "mov %edi, %eax; mov %eax, %ecx; push %rbx; pop %rbx; ret");
FUNCTION(jumps_into, "mov %edi, %eax; .byte 0xe9; .long jumped_into + 2 - . - 4");
FUNCTION(has_two_names, "mov %edi, %eax; .globl second_name; .type second_name, @function;"
			" second_name: mov %eax, %ecx; push %rbx; pop %rbx; ret");
FUNCTION(begins_with_long_nop, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00; push %rbx; pop %rbx; ret");
FUNCTION(only_long_nop, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00; ret");
FUNCTION(never_emulated, "mov %edi, %eax; ret");
FUNCTION(empty, "");
__asm__(".globl no_size\n.type no_size, @function\nno_size: ret\n");

#define NAMED(name) {#name, name}

static const struct {
	const char *name;
	void (*call)(long a, int *b);
} functions[] = {
	NAMED(begins_with_push),
	NAMED(begins_with_push_r12),
	NAMED(moves_then_pushes),
	NAMED(begins_with_endbr),
	NAMED(tests_then_jumps),
	NAMED(tests_then_jumps_far),
	NAMED(calls_on),
	NAMED(calls_first),
	NAMED(loops_in_between),
	NAMED(overwrites_second),
	NAMED(overwrites_second_vector),
	NAMED(overwrites_first),
	NAMED(moves_the_stack),
	NAMED(writes_memory),
	NAMED(locks_first),
	NAMED(locks_and_adds),
	NAMED(jumps_by_table),
	NAMED(holds_data),
	NAMED(jumped_into),
	NAMED(has_two_names),
	NAMED(begins_with_long_nop),
	NAMED(only_long_nop),
	NAMED(never_emulated),
};

static int executed_out_of_line(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int found = 0;

	while (maps && fgets(line, sizeof(line), maps))
		found |= strstr(line, "[uprobes]\n") != NULL;
	if (maps)
		fclose(maps);
	return found;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 1, number = 0;

	for (unsigned i = 0; argc > 1 && i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strcmp(functions[i].name, argv[1]))
			continue;
		for (int n = 0; n < count; n++)
			functions[i].call(n, &number);
	}
	puts(executed_out_of_line() ? "out of line" : "emulated");
	return 0;
}
