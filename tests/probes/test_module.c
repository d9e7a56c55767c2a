/* Files: which are accepted, and which functions they have and where. */
#include "tests/probes/open_target.h"

#include "probes/binary/dwarf.h"

static void non_programs_are_refused(void **state)
{
	const char *const paths[] = {"/nowhere", "/etc/passwd", "/dev/null", "/tmp"};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(paths); i++) {
		struct dpe_diags *diags = dpe_diags_new();

		assert_null(dpe_module_open(paths[i], paths[i], diags));
		assert_int_equal(dpe_diags_errors(diags), 1);
		dpe_diags_free(diags);
	}
}

static void functions_are_found_by_name(void **state)
{
	struct dpe_module *module = open_target("functions");
	const struct dpe_function *function;
	uint64_t address;
	unsigned count;

	(void)state;
	function = dpe_module_find(module, "enqueue", &count);
	assert_int_equal(count, 1);
	assert_non_null(function);
	assert_true(dpe_module_address(module, function->offset, &address));
	assert_int_equal(address, function->address);
	assert_ptr_equal(dpe_module_function_at(module, address + 1), function);
	assert_false(module->stripped);
	assert_non_null(module->interpreter);
	assert_non_null(dpe_module_find(module, "quiet", &count));
	assert_null(dpe_module_find(module, "melted", &count));
	assert_null(dpe_module_find(module, "sem_init", &count));
	assert_null(dpe_module_find(module, "", &count));
	assert_null(dpe_module_function_at(module, 0));
	assert_null(dpe_module_function_at(module, UINT64_MAX));
	dpe_module_free(module);
}

static void stripped_programs_have_no_functions(void **state)
{
	struct dpe_module *module = open_changed("functions", "strip");
	unsigned count;

	(void)state;
	assert_null(dpe_module_find(module, "enqueue", &count));
	assert_true(module->stripped);
	dpe_module_free(module);
}

/* A program whose debug file, processed by the command, lies beside it. */
static struct dpe_module *open_separated(char *folder, const char *command)
{
	char *path = target_path("functions"), *line;
	struct dpe_module *module;

	assert_non_null(mkdtemp(folder));
	line = dpe_xasprintf("cd %s && cp %s f && objcopy --remove-section=.note.gnu.build-id f && "
			     "objcopy --only-keep-debug f f.debug 2>&- && %s && strip f && "
			     "objcopy --add-gnu-debuglink=f.debug f",
		folder, path, command);
	assert_int_equal(system(line), 0);
	free(line);
	free(path);
	path = dpe_xasprintf("%s/f", folder);
	module = open_path(path);
	free(path);
	return module;
}

static void close_separated(struct dpe_module *module, const char *folder)
{
	char *line = dpe_xasprintf("rm -r %s", folder);

	dpe_module_free(module);
	assert_int_equal(system(line), 0);
	free(line);
}

/* The file is next to the program, under the name in the program. */
static void separate_debug_files_are_found(void **state)
{
	char folder[] = "/tmp/dpe-test-XXXXXX";
	struct dpe_module *module = open_separated(folder, "true");
	const struct dpe_function *function;
	Dwarf_Die die;
	unsigned count;

	(void)state;
	function = dpe_module_find(module, "enqueue", &count);
	assert_non_null(function);
	assert_true(dpe_dwarf_function(module, function->address, &die));
	assert_string_equal(dwarf_diename(&die), "enqueue");
	close_separated(module, folder);
}

/* It is taken for the symbols alone: no debug information is read for that, nor needed. */
static void separate_symbols_need_no_debug_information(void **state)
{
	char folder[] = "/tmp/dpe-test-XXXXXX";
	struct dpe_module *module = open_separated(folder, "strip -g f.debug");
	const struct dpe_function *function;
	Dwarf_Die die;
	unsigned count;

	(void)state;
	function = dpe_module_find(module, "enqueue", &count);
	assert_non_null(function);
	assert_false(module->stripped);
	assert_false(dpe_dwarf_function(module, function->address, &die));
	close_separated(module, folder);
}

static void versions_are_reported_apart(void **state)
{
	char *path = libc_path();
	struct dpe_module *libc;
	const struct dpe_function *functions;
	unsigned count;

	(void)state;
	if (!path)
		skip();
	libc = open_path(path);
	free(path);
	functions = dpe_module_find(libc, "pthread_cond_wait", &count);
	assert_non_null(functions);
	assert_int_equal(count, 2);
	assert_int_not_equal(functions[0].address, functions[1].address);
	functions = dpe_module_find(libc, "memcpy", &count);
	assert_non_null(functions);
	assert_true(functions[0].is_ifunc || functions[count - 1].is_ifunc);
	functions = dpe_module_find(libc, "pthread_mutex_lock", &count);
	assert_non_null(functions);
	assert_string_equal(
		dpe_module_function_at(libc, functions->address)->name, "pthread_mutex_lock");
	functions = dpe_module_find(libc, "free", &count); /* and cfree */
	assert_non_null(functions);
	assert_string_equal(dpe_module_function_at(libc, functions->address)->name, "free");
	dpe_module_free(libc);
}

static void names_of_rules_are_file_names_without_version(void **state)
{
	const struct {
		const char *file, *name;
		bool is;
	} cases[] = {
		{"libc.so.6", "libc", true},
		{"libc-2.36.so", "libc", true},
		{"libcrypt.so.1", "libc", false},
		{"prog", "prog", true},
		{"prog", "pro", false},
		{"pro", "prog", false},
	};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(cases); i++) {
		struct dpe_module module = {.name = (char *)cases[i].file};

		assert_int_equal(dpe_module_is(&module, cases[i].name), cases[i].is);
	}
}

static void the_same_file_is_kept_once(void **state)
{
	struct dpe_modules modules = {0};
	struct dpe_module *first = open_target("functions");

	(void)state;
	assert_ptr_equal(dpe_modules_add(&modules, first), first);
	assert_ptr_equal(dpe_modules_add(&modules, open_target("functions")), first);
	assert_ptr_not_equal(dpe_modules_add(&modules, open_target("signatures")), first);
	assert_int_equal(modules.count, 2);
	assert_ptr_equal(dpe_modules_find(&modules, first->path), first);
	assert_null(dpe_modules_find(&modules, "/nowhere"));
	dpe_modules_free(&modules);
}

/* As lld lays them out: the code begins in the page in which what is read only ends. */
static void code_may_begin_within_a_page(void **state)
{
	struct dpe_segment segments[] = {
		{.offset = 0, .address = 0, .size = 0x1870c},
		{.offset = 0x18710, .address = 0x19710, .size = 0x4a090, .executable = true},
		{.offset = 0x627a0, .address = 0x647a0, .size = 0x3090},
	};
	struct dpe_module module = {.segments = segments, .nsegments = DPE_COUNT(segments)};
	uint64_t bias;

	(void)state;
	assert_true(dpe_module_bias(&module, 0x555500019000, 0x18000, &bias));
	assert_int_equal(bias, 0x555500000000);
	assert_true(dpe_module_bias(&module, 0x555500021000, 0x20000, &bias));
	assert_int_equal(bias, 0x555500000000);
	assert_false(dpe_module_bias(&module, 0x555500000000, 0, &bias));
	assert_false(dpe_module_bias(&module, 0x555500065000, 0x63000, &bias));
}

/* Compilers of LLVM, such as rustc, leave out reports of reads. */
static void a_file_of_gcc_has_no_code_of_other_compilers(void **state)
{
	struct dpe_module *gcc = open_target("functions"), *mixed = open_target("mixed");
	struct dpe_module *unknown = open_changed("functions", "objcopy --remove-section .comment");

	(void)state;
	assert_true(dpe_module_is_of_gcc(gcc));
	assert_false(dpe_module_is_of_gcc(mixed));
	assert_false(dpe_module_is_of_gcc(unknown));
	dpe_module_free(gcc);
	dpe_module_free(mixed);
	dpe_module_free(unknown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(non_programs_are_refused),
		cmocka_unit_test(functions_are_found_by_name),
		cmocka_unit_test(stripped_programs_have_no_functions),
		cmocka_unit_test(separate_debug_files_are_found),
		cmocka_unit_test(separate_symbols_need_no_debug_information),
		cmocka_unit_test(versions_are_reported_apart),
		cmocka_unit_test(names_of_rules_are_file_names_without_version),
		cmocka_unit_test(the_same_file_is_kept_once),
		cmocka_unit_test(code_may_begin_within_a_page),
		cmocka_unit_test(a_file_of_gcc_has_no_code_of_other_compilers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
