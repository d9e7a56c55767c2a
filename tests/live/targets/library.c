/* library: a function that a target calls in a shared library. */
int library_twice(int number)
{
	return 2 * number;
}
