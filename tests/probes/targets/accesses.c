/* One access to memory each, at the end of a function. */
#define ACCESS(name, code)                                                                         \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" code \
		"\n.size " #name ", . - " #name "\nret\n.popsection\n");

ACCESS(moves, "mov %ecx, 8(%rdi)")
ACCESS(moves_constant, "movl $-2, (%rdi,%rsi,4)")
ACCESS(moves_high_byte, "mov %ch, (%rdi)")
ACCESS(moves_relative, "mov %r9, 0x100(%rip)")
ACCESS(moves_vector, "movsd %xmm0, (%rdi)")
ACCESS(moves_of_thread, "mov %ecx, %fs:8")
ACCESS(adds, "lock addl $3, (%rdi)")
ACCESS(subtracts, "sub %cl, (%rdi)")
ACCESS(increments, "incl (%rdi)")
ACCESS(swaps_constant, "mov $-5, %ecx\nxchg %rcx, (%rdi)")
ACCESS(swaps_copy, "mov %edx, %ecx\ntest %eax, %eax\nxchg %ecx, (%rdi)")
ACCESS(swaps_overwritten, "mov %edx, %ecx\nmov $1, %edx\nxchg %ecx, (%rdi)")
ACCESS(swaps_joined, "jmp 1f\nmov $1, %ecx\n1: xchg %ecx, (%rdi)")
ACCESS(swaps_after_call, "mov $1, %ecx\ncall main\nxchg %ecx, (%rdi)")
ACCESS(adds_constant, "mov $3, %ecx\nlock xadd %ecx, (%rdi)")
ACCESS(swaps, "xchg %ecx, (%rdi)")
ACCESS(swaps_and_adds, "lock xadd %ecx, (%rdi)")
ACCESS(compares, "lock cmpxchg %ecx, (%rdi)")
ACCESS(compares_pairs, "lock cmpxchg16b (%rdi)")
ACCESS(shifts, "shll (%rdi)")
ACCESS(reads, "mov (%rdi), %ecx")

int main(void)
{
	return 0;
}
