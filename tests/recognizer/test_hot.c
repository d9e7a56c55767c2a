/* Following rules does not allocate once there is as much memory as is in use at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dpe/dpe-recognizer.h"
#include "dpe-lang/dpe-lang.h"
#include "stabilizer/stabilizer.h"

#include <stdlib.h>
#include <string.h>

/* ---- counting ---------------------------------------------------------------------------------- */

static uint64_t allocations;

#ifndef __SANITIZE_ADDRESS__
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	allocations++;
	return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	allocations++;
	return __libc_realloc(old, size);
}
#endif

/* ---- rules at work -------------------------------------------------------------------------------- */

static void no_verdict(void *context, const struct dpe_verdict *verdict)
{
	(void)verdict;
	++*(uint64_t *)context;
}

static void nothing_held(void *context, const struct dpe_message *message, const char *missing)
{
	(void)context;
	(void)message;
	fail_msg("held: %s", missing);
}

struct bench {
	struct dpe_names *names;
	struct dpe_diags *diags;
	struct dpe_pool *pool;
	struct dpe_spec *spec;
	struct dpe_recognizer *recognizer;
	uint64_t verdicts, place;
};

static void open_bench(struct bench *bench, const char *rules)
{
	const struct dpe_recognizer_sink sink = {
		.context = &bench->verdicts, .verdict = no_verdict, .held = nothing_held};

	*bench = (struct bench){.names = dpe_names_new(), .diags = dpe_diags_new()};
	bench->pool = dpe_pool_new();
	bench->spec = dpe_spec_compile_text("hot", rules, strlen(rules), bench->names,
		&(struct dpe_compile_options){0}, bench->diags);
	assert_non_null(bench->spec);
	bench->recognizer = dpe_recognizer_new(
		bench->spec, &(struct dpe_recognizer_options){0}, &sink, bench->diags);
	assert_non_null(bench->recognizer);
}

static void close_bench(struct bench *bench)
{
	dpe_recognizer_free(bench->recognizer);
	dpe_spec_free(bench->spec);
	dpe_pool_free(bench->pool);
	dpe_diags_free(bench->diags);
	dpe_names_free(bench->names);
}

static void feed(struct bench *bench, const char *name, int thread, int object)
{
	const struct dpe_value args[] = {dpe_value_int(object)};
	struct dpe_message draft = {
		.name = dpe_intern(bench->names, name, strlen(name)),
		.place = ++bench->place,
		.unreferenced = true,
		.thread = dpe_value_int(thread),
		.args = args,
		.nargs = 1,
	};

	dpe_recognizer_feed(
		bench->recognizer, dpe_message_new_in(bench->pool, &draft), bench->diags);
}

static void follow(struct bench *bench, unsigned rounds, unsigned objects)
{
	for (unsigned i = 0; i < rounds; i++) {
		feed(bench, "a", 1, (int)(i % objects));
		feed(bench, "b", 1, (int)(i % objects));
		feed(bench, "c", 2, (int)(i % objects));
	}
}

/* Allocations while 100,000 rounds are followed, after 20,000. */
static uint64_t count_with(const char *rules, unsigned objects)
{
	struct bench bench;
	uint64_t counted;

	open_bench(&bench, rules);
	follow(&bench, 20000, objects);
	allocations = 0;
	follow(&bench, 100000, objects);
	counted = allocations;
	assert_int_equal(bench.verdicts, 0);
	close_bench(&bench);
	return counted;
}

static uint64_t count(const char *rules)
{
	return count_with(rules, 100);
}

static void expectations(void **state)
{
	(void)state;
	assert_int_equal(count("expect r: (a ; b)*\n"), 0);
	assert_int_equal(count("expect r(o): (a(o) ; b(o))*\n"), 0);
	assert_int_equal(count("expect r(o): (a(o) ; b(o))* & c(o)*\n"), 0);
}

/* Sixteen operands, followed by the token game. */
static void wide_expectations(void **state)
{
	(void)state;
	assert_int_equal(count("expect r: (a ; b)* & c* & (d1;d2;d3;d4)* & (e1;e2;e3;e4)* & (f1;f2;f3;f4)* & "
			       "(g1;g2;g3;g4)* & (h1;h2;h3;h4)* & (i1;i2;i3;i4)* & (j1;j2;j3;j4)* & "
			       "(k1;k2;k3;k4)* & (l1;l2;l3;l4)* & (m1;m2;m3;m4)* & (n1;n2;n3;n4)* & "
			       "(o1;o2;o3;o4)* & (p1;p2;p3;p4)* & (q1;q2;q3;q4)*\n"),
		0);
}

static void searches(void **state)
{
	(void)state;
	assert_int_equal(count("detect r: a ; never\n"), 0);
	assert_int_equal(count("detect r(o): b(o) & never(o)\n"), 0);
	assert_int_equal(count("detect r(o): (a(o) ; b(o)) & never(o)\n"), 0);
}

/* More slices than are active at a time: they are encoded and decoded all the time. */
static void many_objects(void **state)
{
	(void)state;
	assert_int_equal(count_with("expect r(o): (a(o) ; b(o))*\n", 5000), 0);
	assert_int_equal(count_with("expect r(o): (a(o) ; b(o))* & c(o)*\n", 5000), 0);
	assert_int_equal(count_with("detect r(o): a(o) ; never(o)\n", 5000), 0);
	assert_int_equal(count_with("detect r(o): (a(o) ; b(o)) & never(o)\n", 5000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expectations),
		cmocka_unit_test(wide_expectations),
		cmocka_unit_test(searches),
		cmocka_unit_test(many_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
