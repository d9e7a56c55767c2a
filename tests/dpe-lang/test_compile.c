/* From text to rules: the expressions of the paper, the parts of a rule, and that printed rules parse as
 * the same rules. */
#include "dpe-lang/dpe-lang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct made {
	struct dpe_names *names;
	struct dpe_diags *diags;
	struct dpe_spec *spec;
};

static struct made try_text(const char *text)
{
	struct made made = {.names = dpe_names_new(), .diags = dpe_diags_new()};

	made.spec =
		dpe_spec_compile_text("test.dpe", text, strlen(text), made.names, NULL, made.diags);
	return made;
}

static void end(struct made *made)
{
	dpe_spec_free(made->spec);
	dpe_diags_free(made->diags);
	dpe_names_free(made->names);
}

static struct made make(const char *text)
{
	struct made made = try_text(text);

	if (!made.spec) {
		print_message("%s\n", text);
		dpe_diags_print(made.diags, stderr);
	}
	assert_non_null(made.spec);
	return made;
}

static void assert_wrong(const char *text)
{
	struct made made = try_text(text);

	if (made.spec)
		print_message("%s\n", text);
	assert_null(made.spec);
	assert_true(dpe_diags_errors(made.diags) > 0);
	end(&made);
}

/* The printed expression of the first rule. */
static void assert_prints(const char *text, const char *expected)
{
	struct made made = make(text);
	struct dpe_text printed = {0};

	dpe_rule_print(&printed, &made.spec->rules[0]);
	assert_string_equal(printed.at, expected);
	dpe_text_free(&printed);
	end(&made);
}

static void assert_class(const char *text, enum dpe_class class, const char *reason)
{
	struct made made = make(text);

	assert_string_equal(dpe_class_name(made.spec->rules[0].class), dpe_class_name(class));
	assert_string_equal(made.spec->rules[0].class_reason, reason);
	end(&made);
}

/* ---- the paper ------------------------------------------------------------------------ */

static void assert_round_trip(const struct dpe_rule *rule)
{
	struct dpe_text once = {0}, twice = {0}, text = {0};
	struct made made;

	dpe_rule_print(&once, rule);
	dpe_text_printf(&text, "rule: %s\n", once.at);
	made = make(text.at);
	assert_int_equal(made.spec->nrules, 1);
	dpe_rule_print(&twice, &made.spec->rules[0]);
	assert_string_equal(once.at, twice.at);
	assert_int_equal(made.spec->rules[0].npositions, rule->npositions);
	assert_int_equal(made.spec->rules[0].nliterals, rule->nliterals);
	assert_int_equal(made.spec->rules[0].class, rule->class);
	end(&made);
	dpe_text_free(&once);
	dpe_text_free(&twice);
	dpe_text_free(&text);
}

static void assert_silent(const char *path)
{
	struct made made = {.names = dpe_names_new(), .diags = dpe_diags_new()};
	char *said = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&said, &size);

	made.spec = dpe_spec_compile(&path, 1, made.names, NULL, made.diags);
	dpe_diags_print(made.diags, to);
	fclose(to);
	assert_string_equal(said, "");
	assert_non_null(made.spec);
	for (unsigned i = 0; i < made.spec->nrules; i++)
		assert_round_trip(&made.spec->rules[i]);
	free(said);
	end(&made);
}

static void the_paper_parses(void **state)
{
	glob_t found = {0};

	(void)state;
	assert_int_equal(glob("paper/*.dpe", 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 15);
	for (size_t i = 0; i < found.gl_pathc; i++)
		assert_silent(found.gl_pathv[i]);
	globfree(&found);
}

static void classes_of_table_3_2(void **state)
{
	(void)state;
	assert_class("r: open;(read+write)*;close", DPE_SEQUENTIAL, "only ; + and *");
	assert_class("r: (a;s;b) & (c;s;d)", DPE_MULTIPLE, "& between sequential expressions");
	assert_class("r: a & b & c", DPE_MULTIPLE, "& between sequential expressions");
	assert_class("r: (enq;deq)+(enq&deq)", DPE_SAFE, "& within an operand of +");
	assert_class("r: (a & b)*", DPE_SAFE, "& within an operand of *");
	assert_class("r: (fork;parent)* & (fork;child)@", DPE_GENERAL,
		"@: as many in parallel as there are");
	assert_class("r: (enq;update)@;deq;display", DPE_EXTENDED, "@ within an operand of ;");
	assert_class("r: (a@)*", DPE_EXTENDED, "@ within an operand of *");
	assert_class("r: E *n ; X *n", DPE_EXTENDED, "* with the control variable n");
}

/* ---- operators, items, keywords ------------------------------------------------------- */

static void precedence(void **state)
{
	(void)state;
	assert_prints("r: a;b&c;d+e", "((a;b)&(c;d))+e");
	assert_prints("r: a+b&c", "a+(b&c)");
	assert_prints("r: a;b*", "a;b*");
	assert_prints("r: a;b;c", "a;b;c");
	assert_prints("r: a;(b;c)", "a;(b;c)");
	assert_prints("r: (a&b)*@", "(a&b)*@");
	assert_prints("r: ((a))", "a");
	assert_prints("r: E *n;X*n", "E*n;X*n");
	assert_prints("r: libc::f^^(x, 3, _, \"s\", -1).exit by T [x = 3 && .ret != 0]",
		"libc::f^^(x, 3, _, \"s\", -1).exit by T [x = 3 && .ret != 0]");
}

/* The condition of `a [x OP y OP2 z]` groups as the table of operators says. */
static void assert_groups(enum dpe_op first, enum dpe_op second)
{
	const char *one = dpe_value_operator(first)->text, *two = dpe_value_operator(second)->text;
	bool left = dpe_value_operator(first)->precedence >= dpe_value_operator(second)->precedence;
	char *text = dpe_xasprintf("r: a [x %s y %s z] { }", one, two);
	struct made made = make(text);
	const struct dpe_expr *cond = made.spec->rules[0].patterns[0].cond;

	assert_int_equal(cond->op, left ? second : first);
	assert_int_equal((left ? cond->left : cond->right)->op, left ? first : second);
	end(&made);
	free(text);
}

/* The grammar agrees with the table for any two binary operators. */
static void precedence_is_that_of_the_table(void **state)
{
	(void)state;
	for (enum dpe_op first = DPE_OP_MUL; first <= DPE_OP_LOR; first++) {
		for (enum dpe_op second = DPE_OP_MUL; second <= DPE_OP_LOR; second++)
			assert_groups(first, second);
	}
}

/* What may follow the name of a definition and its parameters, on any line. */
static void definitions_take_what_follows(void **state)
{
	(void)state;
	assert_prints("d(x) = f(x) [x > 1 || .tid = 2]\nr: d(y) [y < 5 || y = 9] ; d(3)",
		"f(y) [(y > 1 || .tid = 2) && (y < 5 || y = 9)];f(3) [3 > 1 || .tid = 2]");
	assert_prints("d = f\nr: d by T [x = 1]", "f by T [x = 1]");
	assert_prints("d(n) = E*n\ne(k) = (d(k) ; F)*k\nr: e(m) ; X*m", "(E*m;F)*m;X*m");
}

static void keywords_are_names_elsewhere(void **state)
{
	(void)state;
	assert_prints("detect: by ; fifo & (enter + exit)", "(by;fifo)&(enter+exit)");
	assert_prints("expect detect: sync ; var ; include ; if ; observing ; once",
		"sync;var;include;if;observing;once");
	assert_prints("sync last: a ; b", "a;b");
	assert_prints("sync once once(x): all(x) ; last(x)", "all(x);last(x)");
	assert_prints("sync rounds rounds(x): a(x) [p->n] ; b(x).exit [p->n - 1]", "a(x) [p->n];b(x).exit [p->n - 1]");
	assert_prints("sync during during(x): a(x) ; b(x)", "a(x);b(x)");
	assert_prints("enter.enter ; exit.exit { break; }", "enter.enter;exit.exit");
	assert_prints("by = a\nr: by ; else", "a;else");
}

static void items_need_no_terminator(void **state)
{
	struct made made = make("include = a var x = 1, y = -2, z = \"s\"; d(p) = f(p) ; g\n"
				"expect r: d(q) detect s: include\n"
				"b & c { break; } [X'] { x = x + 1; }\n"
				"c ; d(1)* { print(x, y, z); }\n"
				"{ n = 0; } ; e { print(n); }\n");

	(void)state;
	assert_int_equal(made.spec->nrules, 6);
	assert_int_equal(made.spec->nglobals, 4);
	assert_string_equal(made.spec->rules[0].name, "r");
	assert_int_equal(made.spec->rules[0].mode, DPE_EXPECT);
	assert_string_equal(made.spec->rules[2].name, "rule3");
	assert_int_equal(made.spec->rules[3].patterns[0].kind, DPE_PATTERN_UPDATE);
	assert_int_equal(made.spec->globals[1].initial.num, -2);
	end(&made);
}

static void one_line_wants_an_operator(void **state)
{
	(void)state;
	assert_wrong("a b");
	assert_wrong("r: a b");
	assert_wrong("r: a b { print(1); }");
	assert_wrong("r: (a\nb)");
	assert_wrong("a\nb { print(1); }");
	assert_wrong("r: a\nb");
	assert_wrong("");
	assert_wrong("// nothing\n");
	assert_wrong("var x;");
	assert_wrong("d = a");
}

/* ---- actions -------------------------------------------------------------------------- */

static void owner_of_an_action(void **state)
{
	struct made made = make("r1: a ; b { print(1); }\n"
				"r2: a ; (b { print(1); })\n"
				"r3: a { print(1); } ; b\n"
				"r4: (a ; b) { print(1); }\n"
				"r5: a ; (b & c) { print(1); }\n"
				"expect r6: a { print(1); } { print(2); } else { error; }\n"
				"r7: a ; b* { print(1); }\n");
	const struct dpe_rule *r = made.spec->rules;

	(void)state;
	assert_true(r[0].action && !r[0].positions[1].action);
	assert_true(!r[1].action && r[1].positions[1].action);
	assert_true(!r[2].action && r[2].positions[0].action);
	assert_true(r[3].action != NULL);
	assert_true(!r[4].action);
	assert_true(r[5].action && r[5].positions[0].action && r[5].otherwise);
	assert_true(r[6].action && !r[6].positions[1].action);
	end(&made);
}

static void statements(void **state)
{
	struct made made =
		make("var n;\n"
		     "r: f(x) ; g { n = n + 1; n += 2; ++n; n--; if (n > 3) { break }\n"
		     "  else if (x == 1) print(x, $1.tid); else error(\"no\", $2.time);\n"
		     "  printf(\"%5d %-3s %ld %p%%\\n\", n, $1, x, $2.time ? 1 : 2) }");

	(void)state;
	end(&made);
}

/* ---- what a rule consists of ---------------------------------------------------------- */

static void literals_are_kept_once(void **state)
{
	struct made made = make("r: f(x) ; f^(x) ; f(x) ; f(y) ; f() ; f ; f.enter ; m::f ;"
				"f [x = 1] ; f [x == 1] ; f [(x) = 0x1] ; f by x");
	const struct dpe_rule *r = &made.spec->rules[0];

	(void)state;
	assert_int_equal(r->npositions, 12);
	assert_int_equal(r->npatterns, 7);
	assert_int_equal(r->nliterals, 8);
	assert_int_equal(r->positions[0].literal, r->positions[2].literal);
	assert_int_equal(r->positions[4].literal, r->positions[5].literal);
	assert_int_equal(r->positions[8].literal, r->positions[10].literal);
	assert_int_equal(r->nvariables, 2);
	assert_string_equal(r->literals[1].text, "f^(x)");
	end(&made);
}

static void sync_rules(void **state)
{
	struct made made = make("sync last M(m): unlock(m).enter ; lock(m).exit [.ret = 0]\n"
				"S(X): V(X).exit; P(X).exit {sync_event($1,$2);}\n"
				"sync once C(T): thread::create(T) ; thread::start by T\n"
				"d: a ; b\n"
				"sync reversed(x): a(x) ; b(x, y) { sync_event($2, $1); }\n"
				"sync last sides(m): (unlock(m) + wait(_, m)) ; (lock(m) + unlock(m))\n");
	const struct dpe_rule *r = made.spec->rules;

	(void)state;
	assert_int_equal(r[0].mode, DPE_SYNC);
	assert_int_equal(r[0].pairing, DPE_LAST);
	assert_true(r[0].sends[0] && !r[0].sends[1] && !r[0].receives[0] && r[0].receives[1]);
	assert_int_equal(r[0].keys, 1);
	assert_int_equal(r[1].mode, DPE_SYNC);
	assert_int_equal(r[1].pairing, DPE_FIFO);
	assert_int_equal(r[2].patterns[1].by, 0);
	assert_string_equal(
		dpe_name_text(made.names, r[2].patterns[0].qualified), "thread::create");
	assert_int_equal(r[3].mode, DPE_DETECT);
	assert_true(!r[4].sends[0] && r[4].sends[1] && r[4].receives[0] && !r[4].receives[1]);
	assert_int_equal(r[4].keys, 1); /* y is the sender's alone */
	assert_true(r[5].sends[0] && r[5].sends[1] && !r[5].sends[2]);
	assert_true(r[5].receives[0] && !r[5].receives[1] && r[5].receives[2]);
	end(&made);
}

static void definitions_are_expanded(void **state)
{
	(void)state;
	assert_prints("pair(x) = lock(x) ; unlock(x)\nr: pair(m) & pair^(m)",
		"(lock(m);unlock(m))&(lock^(m);unlock^(m))");
	assert_prints("outer(y, z) = inner(y, 3) + z\ninner(a, b) = f(a, b) by a\n"
		      "r: outer(q, _)",
		"f(q, 3) by q+z");
	assert_prints(
		"one = f(x).exit\nr: one by T [x > 2] ; one", "f(x).exit by T [x > 2];f(x).exit");
	assert_prints("c(v) = f [.ret = v && v != 0]\nr: c(-5)", "f [.ret = -5 && -5 != 0]");
}

static void positions_count_through_definitions(void **state)
{
	struct made made = make("d = a ; b\nr: d ; c { print($3.tid); }\n");

	(void)state;
	assert_int_equal(made.spec->rules[0].npositions, 3);
	end(&made);
	assert_wrong("d = a ; b\nr: d ; c { print($4.tid); }\n");
}

/* ---- includes ------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
	FILE *to = fopen(path, "w");

	assert_non_null(to);
	fputs(text, to);
	fclose(to);
}

static void included_files_are_read_once(void **state)
{
	char folder[] = "/tmp/dpe-include-XXXXXX";
	const char *path = "main.dpe", *where = "library";
	struct dpe_compile_options options = {.include_path = &where, .ninclude_path = 1};
	struct made made = {.names = dpe_names_new(), .diags = dpe_diags_new()};
	char *old = getcwd(NULL, 0);

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(system("mkdir library sub"), 0);
	write_file("main.dpe", "include \"sub/a.dpe\" include \"lib.dpe\" expect r: pair(x)\n");
	write_file("sub/a.dpe", "include \"b.dpe\" include \"lib.dpe\" detect s: shared\n");
	write_file("sub/b.dpe", "shared = f + g\n");
	write_file("library/lib.dpe", "pair(x) = lock(x) ; unlock(x)  never = nothing\n");
	made.spec = dpe_spec_compile(&path, 1, made.names, &options, made.diags);
	dpe_diags_print(made.diags, stderr);
	assert_non_null(made.spec);
	assert_int_equal(made.spec->nrules, 2);
	assert_string_equal(made.spec->rules[0].name, "s");
	end(&made);
	assert_int_equal(system("rm -r *"), 0);
	assert_int_equal(chdir(old), 0);
	rmdir(folder);
	free(old);
}

/* ---- any rule ------------------------------------------------------------------------- */

static void random_dpe(struct dpe_text *to, unsigned depth)
{
	static const char *const leaves[] = {"a", "b^", "f(x, _, 3)", "g(\"s\").exit by T", "[X']",
		"m::h.enter [x = 1 && .tid != -2]", "{ n = n + 1; }", "c [$1.tid = 2 ? 3 : 4]"};
	static const char *const operators[] = {";", " & ", "+ "};
	static const char *const postfixes[] = {"*", "@"};

	if (!depth || rand() % 4 == 0) {
		dpe_text_puts(to, leaves[rand() % 7]);
		return;
	}
	dpe_text_puts(to, "(");
	random_dpe(to, depth - 1);
	if (rand() % 4) {
		dpe_text_puts(to, operators[rand() % 3]);
		random_dpe(to, depth - 1);
		dpe_text_puts(to, ")");
	} else if (rand() % 3) {
		dpe_text_printf(to, ")%s", postfixes[rand() % 2]);
	} else {
		dpe_text_printf(to, ")*n%zu", to->len); /* shared by several, its rounds could be empty */
	}
}

static void printed_text_parses_again(void **state)
{
	(void)state;
	srand(7);
	for (unsigned i = 0; i < 2000; i++) {
		struct dpe_text text = {0};
		struct made made;

		dpe_text_puts(&text, "r: f(x) ; ");
		random_dpe(&text, 1 + (unsigned)rand() % 5);
		made = make(text.at);
		assert_round_trip(&made.spec->rules[0]);
		end(&made);
		dpe_text_free(&text);
	}
}

/* Whatever the bytes, compiling ends with rules or with an error. */
static void any_bytes_end(void **state)
{
	static const char alphabet[] = "abr:;;&+*@^(){}[]=.'\"$1 2\n/*\\_,<!-";

	(void)state;
	srand(8);
	for (unsigned i = 0; i < 20000; i++) {
		char text[64];
		unsigned len = (unsigned)rand() % sizeof(text);
		struct made made;

		for (unsigned j = 0; j < len; j++)
			text[j] = alphabet[(unsigned)rand() % (sizeof(alphabet) - 1)];
		text[len ? len - 1 : 0] = '\0';
		made = try_text(text);
		assert_true(made.spec ? !dpe_diags_errors(made.diags)
				      : dpe_diags_errors(made.diags) > 0);
		end(&made);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_paper_parses),
		cmocka_unit_test(classes_of_table_3_2),
		cmocka_unit_test(precedence),
		cmocka_unit_test(precedence_is_that_of_the_table),
		cmocka_unit_test(definitions_take_what_follows),
		cmocka_unit_test(keywords_are_names_elsewhere),
		cmocka_unit_test(items_need_no_terminator),
		cmocka_unit_test(one_line_wants_an_operator),
		cmocka_unit_test(owner_of_an_action),
		cmocka_unit_test(statements),
		cmocka_unit_test(literals_are_kept_once),
		cmocka_unit_test(sync_rules),
		cmocka_unit_test(definitions_are_expanded),
		cmocka_unit_test(positions_count_through_definitions),
		cmocka_unit_test(included_files_are_read_once),
		cmocka_unit_test(printed_text_parses_again),
		cmocka_unit_test(any_bytes_end),
	};
	const char *folder = argc > 1 ? argv[1] : getenv("DPE_TESTS");
	char *path = dpe_xasprintf("%s/dpe-lang", folder ? folder : "tests");

	if (chdir(path)) {
		perror(path);
		return 1;
	}
	free(path);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
