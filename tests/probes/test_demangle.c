/* Names of C++ and Rust, and which functions a rule means by them. */
#include "tests/probes/open_target.h"

#include "probes/binary/demangle.h"
#include "probes/plan/resolve_sites.h"

/* ---- names ------------------------------------------------------------------------------- */

static void check_names(const char *symbol, const char *whole, const char *base)
{
	char *got = dpe_demangle(symbol, true), *short_name = dpe_demangle_base(symbol);

	assert_string_equal(got ? got : "none", whole);
	assert_string_equal(short_name ? short_name : "none", base);
	free(got);
	free(short_name);
}

static void names(void **state)
{
	char *hostile = dpe_xasprintf("_ZN%04000d", 1);

	(void)state;
	check_names("_Z5twicei", "twice(int)", "twice");
	check_names("_ZN4shop5queueC1Ei", "shop::queue::queue(int)", "shop::queue::queue");
	check_names("_ZN4shop3boxIcE4openEv", "shop::box<char>::open()", "shop::box::open");
	check_names("_Z3topIiET_RKS0_", "top<int>(int const&)", "top");
	check_names("_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run()", "run");
	check_names("_ZN3loglsEi", "log::operator<<(int)", "none");
	check_names("_ZN3log11my_operatorEv", "log::my_operator()", "log::my_operator");
	check_names("_ZN3logcvbEv", "log::operator bool()", "none");
	check_names("_Z1fi.constprop.0", "f(int) [clone .constprop.0]", "none");
	check_names("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad",
		"core::fmt::Formatter::pad");
	check_names("_ZN36_$LT$q..Queue$u20$as$u20$q..Shop$GT$4push17h0123456789abcdefE", "<q::Queue as q::Shop>::push",
		"q::Queue::push");
	check_names("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.1", "core::fmt::Formatter::pad",
		"none");
	check_names("_RNvNtC6_123foo3bar3baz", "123foo::bar::baz", "123foo::bar::baz");
	check_names("_RNvMNtC1q4shopNtB2_5Queue4push", "<q::shop::Queue>::push",
		"q::shop::Queue::push");
	check_names("_RNvXC1qNtB2_5QueueNtB2_4Shop4push", "<q::Queue as q::Shop>::push",
		"q::Queue::push");
	check_names("_RINvC1q3toplE", "q::top::<i32>", "q::top");
	check_names("main", "none", "none");
	check_names("_ZN", "none", "none");
	check_names("", "none", "none");
	check_names(hostile, "none", "none");
	free(hostile);
}

static void scopes(void **state)
{
	(void)state;
	assert_true(dpe_demangled_is("shop::queue::push", "queue", "push"));
	assert_true(dpe_demangled_is("queue::push", "queue", "push"));
	assert_true(dpe_demangled_is("twice", "", "twice"));
	assert_false(dpe_demangled_is("shop::queue::push", "", "push"));
	assert_false(dpe_demangled_is("shop::queue::push", "shop", "push"));
	assert_false(dpe_demangled_is("shop::my_queue::push", "queue", "push"));
	assert_false(dpe_demangled_is("shop::queue::my_push", "queue", "push"));
	assert_false(dpe_demangled_is("push", "queue", "push"));
	assert_false(dpe_demangled_is("", "", "push"));
}

static void written_names(void **state)
{
	static const char push[] = "_ZN5QueueINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEE4pushERKS5_";
	static const char list[] = "_Z3useNSt7__cxx114listIiSaIiEEESt17basic_string_viewIcSt11char_traitsIcEE";

	(void)state;
	assert_true(dpe_symbol_is_written(push, "Queue<std::string>::push"));
	assert_true(dpe_symbol_is_written(push, "Queue<std::string>::push(std::string const&)"));
	assert_true(dpe_symbol_is_written(push, "Queue<std::basic_string<char>>::push"));
	assert_true(dpe_symbol_is_written(push, "Queue<std::__cxx11::basic_string<char>>::push"));
	assert_true(dpe_symbol_is_written(push,
		"Queue<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::push"));
	assert_false(dpe_symbol_is_written(push, "Queue<std::wstring>::push"));
	assert_true(dpe_symbol_is_written(list, "use(std::list<int>, std::string_view)"));
	assert_true(dpe_symbol_is_written("_ZN5QueueINSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEEE4pushEv",
		"Queue<std::string>::push()"));
}

/* ---- what a rule means ------------------------------------------------------------------- */

static unsigned resolve(const char *module, const char *name, bool optional, char **text,
	struct dpe_target_function **found)
{
	struct dpe_modules modules = {0};
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_plan_site site = {
		.name = dpe_intern_string(names, name),
		.module = *module ? dpe_intern_string(names, module) : 0,
		.enter = true,
		.optional = optional,
	};
	unsigned count;

	dpe_modules_add(&modules, open_target("cplusplus"));
	count = dpe_resolve_site(&modules, &site, names, diags, found);
	*text = reported(diags);
	dpe_modules_free(&modules);
	dpe_names_free(names);
	return count;
}

static void check_found(const char *module, const char *name, unsigned expected, bool by_class)
{
	struct dpe_target_function *found;
	char *text;

	assert_int_equal(resolve(module, name, false, &text, &found), expected);
	assert_string_equal(text, "");
	assert_int_equal(found[0].by_class, by_class);
	free(found);
	free(text);
}

static void found_by_their_names(void **state)
{
	(void)state;
	check_found("", "_ZN4shop5queue4pushEi", 1, false);
	check_found("", "twice", 1, false);
	check_found("", "hidden", 1, false);
	check_found("cplusplus", "twice", 1, false);
	check_found("queue", "push", 1, true);
	check_found("queue", "queue", 1, true);
	check_found("", "shop::queue::push(int)", 1, false);
	check_found("", "queue::push", 1, false);
	check_found("", "queue::take()", 1, false);
	check_found("", "twice(int)", 1, false);
	check_found("", "box<char>::open", 1, false);
	check_found("", "shop::box< char, char >::open()", 1, false);
	check_found("box", "open", 2, true);
	check_found("", "total", 2, false);
	check_found("", "total<int>", 1, false);
}

/* `instances`: in sync rules, where a name may be missing, it means all of them. */
static void check_missing(const char *module, const char *name, unsigned instances, const char *const parts[])
{
	struct dpe_target_function *found;
	char *text;

	assert_int_equal(resolve(module, name, false, &text, &found), 0);
	for (; *parts; parts++)
		if (!strstr(text, *parts))
			fail_msg("no \"%s\" in:\n%s", *parts, text);
	free(text);
	assert_int_equal(resolve(module, name, true, &text, &found), instances);
	assert_string_equal(text, "");
	free(found);
	free(text);
}

#define MISSING(module, name, ...)                                                                 \
	check_missing(module, name, 0, (const char *const[]){__VA_ARGS__, NULL})
#define TWO(module, name, ...) check_missing(module, name, 2, (const char *const[]){__VA_ARGS__, NULL})

static void more_than_one(void **state)
{
	(void)state;
	TWO("queue", "take",
		"error: there is more than one function 'queue::take': write one of them in quotes",
		"note: \"shop::queue::take(int)\"", "note: \"shop::queue::take()\"");
	TWO("", "queue::take", "there is more than one function 'queue::take'");
	TWO("log", "write", "note: \"shop::log::write(int)\"", "note: \"(anonymous namespace)::log::write(int)\"");
}

static void not_there(void **state)
{
	(void)state;
	MISSING("", "push", "no function 'push'",
		"did you mean 'queue::push'?");
	MISSING("queue", "pusch", "no function 'queue::pusch' in cplusplus or its libraries\n", "did you mean 'queue::push'?");
	MISSING("queue", "overflowed_items", "no function 'queue::overflowed_items' in cplusplus or its libraries\n",
		"cplusplus has other functions of 'queue': the compiler may have inlined this one");
	MISSING("cplusplus", "push", "no function 'push' in cplusplus");
	MISSING("shop", "push", "no function 'shop::push'");
	MISSING("", "box<long>::open", "no function 'box<long>::open' in cplusplus");
	MISSING("", "box<char>::operator<(char)", "no function 'box<char>::operator<(char)' in cplusplus");
	MISSING("", "box::operator<", "no function 'box::operator<' in cplusplus");
	MISSING("", "box<char>::operator<<", "note: 'dpe list' prints");
	MISSING("", "box<int, char>::open", "no function 'box<int, char>::open' in cplusplus");
	MISSING("", "box<char, char, char>::open", "no function 'box<char, char, char>::open' in cplusplus");
	MISSING("", "box<in>::open", "no function 'box<in>::open' in cplusplus");
	MISSING("", "box<>", "no function 'box<>' in cplusplus");
	MISSING("", "queue::take(char)", "no function 'queue::take(char)' in cplusplus");
	MISSING("", "ox<int>::open", "no function 'ox<int>::open' in cplusplus");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(scopes),
		cmocka_unit_test(written_names),
		cmocka_unit_test(found_by_their_names),
		cmocka_unit_test(more_than_one),
		cmocka_unit_test(not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
