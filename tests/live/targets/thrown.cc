// An exception that leaves a function, and is caught.
extern "C" __attribute__((noinline)) void fails(int status)
{
	throw status;
}

int main()
{
	try {
		fails(0);
	} catch (int status) {
		return status;
	}
	return 1;
}
