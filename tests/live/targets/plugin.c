/* plugin: what host loads; it calls the host, and needs helper. */
extern int helper_twice(int number);

static volatile int calls;

__attribute__((noipa)) static int inner(int number)
{
	calls++;
	return number + 1;
}

int plugin_work(int number)
{
	return inner(helper_twice(number));
}

__attribute__((constructor)) static void plugin_begin(void)
{
	inner(-1);
}
