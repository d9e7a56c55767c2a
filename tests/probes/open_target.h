/* The programs of tests/probes/targets: built with -g -O1 into the folder $DPE_TARGETS. */
#ifndef DPE_TESTS_OPEN_TARGET_H
#define DPE_TESTS_OPEN_TARGET_H

#include "probes/binary/module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static inline char *target_path(const char *name)
{
	const char *folder = getenv("DPE_TARGETS");

	assert_non_null(folder);
	return dpe_xasprintf("%s/%s", folder, name);
}

static inline struct dpe_module *open_path(const char *path)
{
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_module *module = dpe_module_open(path, path, diags);

	dpe_diags_print(diags, stderr);
	dpe_diags_free(diags);
	assert_non_null(module);
	return module;
}

static inline struct dpe_module *open_target(const char *name)
{
	char *path = target_path(name);
	struct dpe_module *module = open_path(path);

	free(path);
	module->program = true;
	return module;
}

/* A copy of the target after `command` (strip, say) in a folder for temporary files. */
static inline struct dpe_module *open_changed(const char *name, const char *command)
{
	char copy[] = "/tmp/dpe-test-XXXXXX", *path = target_path(name), *line;
	int fd = mkstemp(copy);
	struct dpe_module *module;

	assert_true(fd >= 0);
	close(fd);
	line = dpe_xasprintf("cp %s %s && %s %s", path, copy, command, copy);
	assert_int_equal(system(line), 0);
	module = open_path(copy);
	module->program = true;
	unlink(copy);
	free(line);
	free(path);
	return module;
}

static inline char *libc_path(void)
{
	return realpath("/lib/x86_64-linux-gnu/libc.so.6", NULL);
}

/* What was reported, as text; frees the diagnostics. */
static inline char *reported(struct dpe_diags *diags)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	dpe_diags_print(diags, to);
	fclose(to);
	dpe_diags_free(diags);
	return text;
}

#endif
