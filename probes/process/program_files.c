/* program_files: the program that a command line names. */
#include "probes/process/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first file on $PATH that can be run, or NULL with errno. */
static char *search_path(const char *name)
{
	const char *path = getenv("PATH");
	int reason = ENOENT;

	if (!path)
		path = "/bin:/usr/bin";
	for (;; path++) {
		size_t len = strcspn(path, ":");
		char *file = len ? dpe_xasprintf("%.*s/%s", (int)len, path, name)
				 : dpe_xasprintf("./%s", name);
		int error = dpe_program_check(file);

		if (!error)
			return file;
		if (!access(file, F_OK))
			reason = error;
		free(file);
		path += len;
		if (!*path)
			break;
	}
	errno = reason;
	return NULL;
}

bool dpe_program_find(struct dpe_program *program, const char *name, struct dpe_diags *diags)
{
	char *interpreted;
	int error;

	*program = (struct dpe_program){0};
	if (strchr(name, '/')) {
		program->path = dpe_xstrdup(name);
		error = dpe_program_check(name);
	} else {
		program->path = search_path(name);
		error = program->path ? 0 : errno;
	}
	if (error) {
		const char *hint = strchr(name, '/') ? "" : " (looked for on $PATH)";

		dpe_diag_at(diags, DPE_ERROR, name, "cannot be run: %s%s", strerror(error), hint);
		if (*hint && !access(name, F_OK) && dpe_program_check(name) != EISDIR)
			dpe_diag_at(
				diags, DPE_NOTE, name, "the file of that name here is ./%s", name);
		dpe_program_free(program);
		return false;
	}
	interpreted = dpe_script_interpreter(program->path, diags);
	if (!interpreted) {
		dpe_program_free(program);
		return false;
	}
	program->real_path = realpath(interpreted, NULL);
	if (program->real_path)
		free(interpreted);
	else
		program->real_path = interpreted;
	return true;
}

void dpe_program_free(struct dpe_program *program)
{
	free(program->path);
	free(program->real_path);
	*program = (struct dpe_program){0};
}
