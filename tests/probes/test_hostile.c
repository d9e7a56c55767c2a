/* Files that are truncated or have wrong bytes: they may be refused, but nothing crashes. */
#include "tests/probes/open_target.h"

#include "probes/binary/binary.h"
#include "probes/code/code.h"
#include "probes/plan/resolve_sites.h"

#include <fcntl.h>
#include <sys/stat.h>

static unsigned rounds(void)
{
	const char *is_long = getenv("DPE_TEST_LONG");

	return is_long && *is_long ? 300 : 60;
}

struct file {
	char *bytes;
	size_t size;
};

/* dwarf_getscopes() of elfutils 0.188 loses its result where it finds broken debug information after it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libdw.so";
}

static struct file read_file(const char *name)
{
	char *path = target_path(name);
	int fd = open(path, O_RDONLY);
	struct stat status;
	struct file file;

	assert_true(fd >= 0 && !fstat(fd, &status));
	file.size = status.st_size;
	file.bytes = dpe_xmalloc(file.size);
	assert_int_equal(read(fd, file.bytes, file.size), file.size);
	close(fd);
	free(path);
	return file;
}

static void look_at_functions(struct dpe_module *module)
{
	struct dpe_map map = {0, UINT64_MAX, 0, module};
	struct dpe_arena *arena = dpe_arena_new();
	unsigned count;
	const struct dpe_function *functions = dpe_module_functions(module, &count);

	for (unsigned i = 0; i < count && i < 100; i++) {
		struct dpe_placement placement;
		struct dpe_text text = {0};

		dpe_signature_of(module, &functions[i], 3, arena);
		dpe_place_entry(module, &functions[i], &(struct dpe_entry_use){2, i % 2}, &placement);
		dpe_signature_print(&text, module, &functions[i]);
		dpe_inlined_into(module, &functions[i]);
		dpe_stack_print(&map, 1, functions[i].offset + 1, true, &text);
		dpe_text_free(&text);
	}
	dpe_inlined_everywhere(module, "", "nobody");
	dpe_inlined_everywhere(module, "none", "nobody");
	dpe_arena_free(arena);
}

static void look_at_variables(struct dpe_module *module)
{
	static const char *const names[] = {
		"counter", "table[1].inner.value", "accounts[1].lock", "mutexes[2]", "nobody",
		"*pointer", "list->next->next->value"};

	for (unsigned i = 0; i < DPE_COUNT(names); i++) {
		struct dpe_variable variable;
		char *why = dpe_variable_find(module, names[i], &variable);

		if (!why)
			free(dpe_variable_at(module, variable.address + i, i % 2));
		free(why);
	}
}

static void count_usdt(void *context, const struct dpe_usdt *usdt)
{
	struct dpe_text text = {0};
	unsigned *count = context;

	dpe_usdt_print(&text, usdt);
	dpe_text_free(&text);
	++*count;
}

static void count_line(void *context, const struct dpe_line_row *row)
{
	unsigned *count = context;

	*count += strlen(row->file) > 0 && dpe_line_owner(row);
}

static void look_at_places(struct dpe_module *module)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_plan_site site = {.name = dpe_intern_string(names, "variables.c:29")};
	struct dpe_modules modules = {&module, 1, 1};
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_arena *arena = dpe_arena_new();
	struct dpe_target_function *found;
	unsigned count = 0;

	dpe_usdt_each(module, count_usdt, &count);
	dpe_line_each(module, count_line, &count);
	if (!dpe_resolve_line(&modules, &site, names, arena, diags, &found))
		assert_int_equal(dpe_diags_errors(diags), 1);
	free(found);
	dpe_arena_free(arena);
	dpe_diags_free(diags);
	dpe_names_free(names);
}

static void look_at(const char *bytes, size_t size)
{
	char path[] = "/tmp/dpe-test-XXXXXX";
	int fd = mkstemp(path);
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_module *module;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	module = dpe_module_open(path, path, diags);
	if (module) {
		look_at_functions(module);
		look_at_variables(module);
		look_at_places(module);
	} else
		assert_int_equal(dpe_diags_errors(diags), 1);
	dpe_module_free(module);
	dpe_diags_free(diags);
	unlink(path);
}

static const char *const targets[] = {
	"functions", "variables", "placement", "cplusplus", "inlined", "notes"};

static void truncated_files(void **state)
{
	(void)state;
	for (unsigned t = 0; t < DPE_COUNT(targets); t++) {
		struct file file = read_file(targets[t]);

		for (unsigned i = 0; i < rounds(); i++)
			look_at(file.bytes, file.size * i / rounds());
		free(file.bytes);
	}
}

/* Small steps in the headers, where each byte matters; larger ones elsewhere. */
static void damage(const struct file *file, unsigned short *random)
{
	for (unsigned i = 0; i < 4 * rounds(); i++) {
		char *copy = dpe_xmalloc(file->size);

		memcpy(copy, file->bytes, file->size);
		for (unsigned j = 0; j < 1 + i % 16; j++)
			copy[nrand48(random) % (i % 3 ? file->size : 1024)] ^=
				1 << nrand48(random) % 8;
		look_at(copy, file->size);
		free(copy);
	}
}

static void files_with_wrong_bytes(void **state)
{
	unsigned short random[3] = {1, 2, 3};

	(void)state;
	for (unsigned t = 0; t < DPE_COUNT(targets); t++) {
		struct file file = read_file(targets[t]);

		damage(&file, random);
		free(file.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncated_files),
		cmocka_unit_test(files_with_wrong_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
