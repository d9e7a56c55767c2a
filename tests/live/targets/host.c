/* host: loads plugins while it runs: host PLUGIN ROUNDS [FILE to stand by with]. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "stands_by.h"

__attribute__((noipa)) static void reported(int sum)
{
	printf("%d\n", sum);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1, sum = 0;

	if (argc > 3)
		stand_by(argv[3]);
	for (int i = 0; i < rounds; i++) {
		void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
		int (*work)(int) = plugin ? (int (*)(int))dlsym(plugin, "plugin_work") : NULL;

		if (!work) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		sum += work(i);
		dlclose(plugin);
	}
	reported(sum);
	return 0;
}
