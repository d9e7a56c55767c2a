/* Suggests a file for an include that is not found: from the folder of the including file, and from the searched folders. */
#include "dpe-lang/syntax/syntax.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct names {
	struct dpe_arena *arena;
	const char **at;
	unsigned count, cap;
};

static void add_names(struct names *to, const char *folder)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		size_t len = strlen(entry->d_name);

		if (len > 4 && !strcmp(entry->d_name + len - 4, ".dpe"))
			*DPE_GROW(to->at, to->count, to->cap) = dpe_arena_strndup(to->arena, entry->d_name, len);
	}
	if (directory)
		closedir(directory);
}

const char *dpe_nearest_include(
	struct dpe_arena *arena, const char *folder, const struct parse_options *options, const char *name)
{
	struct names names = {.arena = arena};
	const char *best = NULL;
	unsigned found;

	add_names(&names, *folder ? folder : ".");
	for (unsigned i = 0; i < options->ninclude_path; i++)
		add_names(&names, options->include_path[i]);
	found = dpe_nearest(name, names.at, names.count, &best, 1);
	free(names.at);
	return found ? best : NULL;
}
