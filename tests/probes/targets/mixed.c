/* A program with code of another compiler than gcc. */
__asm__(".ident \"rustc version 1.95.0 (59807616e 2026-04-14)\"");

int main(void)
{
	return 0;
}
