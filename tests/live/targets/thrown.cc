// An exception that leaves a function, and is caught; `passes` ends in a jump to it.
extern "C" __attribute__((noinline)) void fails(int status)
{
	throw status;
}

extern "C" __attribute__((noipa)) void passes(void (*function)(int), int status)
{
	function(status);
}

int main()
{
	try {
		passes(fails, 0);
	} catch (int status) {
		return status;
	}
	return 1;
}
