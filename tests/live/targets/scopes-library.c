/* Variables of a library, one of which its constructor writes. With TWICE another library, that has one
 * of the same name. */
int both;
#ifndef TWICE
int counter, copied = 7;
static int hidden;

__attribute__((constructor)) static void begin(void)
{
	hidden = 40;
}

void bump(int n)
{
	counter += n;
	hidden++;
	both = n;
}
#else
int second;
#endif
