/* Loads a library, and leaves with what its function `go` returns. */
#include <dlfcn.h>
#include <stddef.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*go)(void) = library ? (int (*)(void))dlsym(library, "go") : NULL;

	return go ? go() : 99;
}
