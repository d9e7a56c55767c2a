/* loads: loads libraries as its arguments say, and calls `work` of each, with their number:
 * +FILE (and closes it), =FILE (and keeps it), %FILE (in a namespace of its own), <FILE (puts FILE.new
 * in the place of FILE), wait (makes a file "waits", until there is a file "go"), thread (the next one in another
 * thread). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int sum, number;

static void *load(void *argument)
{
	const char *word = argument;
	void *library = *word == '%' ? dlmopen(LM_ID_NEWLM, word + 1, RTLD_NOW)
				     : dlopen(word + 1, RTLD_NOW);
	int (*work)(int) = library ? (int (*)(int))dlsym(library, "work") : NULL;

	if (!work) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	sum += work(number++);
	if (*word == '+')
		dlclose(library);
	return NULL;
}

static void replace(const char *file)
{
	char new[4096];

	snprintf(new, sizeof(new), "%s.new", file);
	if (rename(new, file))
		exit(2);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		pthread_t thread;

		if (!strcmp(argv[i], "wait")) {
			close(open("waits", O_CREAT | O_WRONLY, 0600));
			while (access("go", F_OK))
				usleep(1000);
		} else if (!strcmp(argv[i], "thread")) {
			pthread_create(&thread, NULL, load, argv[++i]);
			pthread_join(thread, NULL);
		} else if (argv[i][0] == '<') {
			replace(argv[i] + 1);
		} else {
			load(argv[i]);
		}
	}
	printf("%d\n", sum);
	return 0;
}
