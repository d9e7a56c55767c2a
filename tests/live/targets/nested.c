/* nested: calls within calls, of which the outer ones may be observed, too. */
#define FAR __attribute__((noinline, noclone))

FAR void innermost(long number)
{
	__asm__ volatile("" : : "r"(number) : "memory");
}

FAR void inner(long number)
{
	innermost(number);
	__asm__ volatile("" : : : "memory");
}

FAR void outer(long number)
{
	inner(number);
	__asm__ volatile("" : : : "memory");
}

int main(void)
{
	for (long i = 0; i < 3; i++)
		outer(i);
	return 0;
}
