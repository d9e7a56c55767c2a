/* Rules on whole logs: which verdicts, in which order, with which events. */
#include "tests/recognizer/transcript.h"

/* ---- expect ------------------------------------------------------------------------------ */

static void expect_is_satisfied(void **state)
{
	(void)state;
	assert_transcript("expect R: a;(b&(c;d));e", "msg", "(a .) (b a) (c a) (d c) (e b d)",
		"R satisfied\n");
}

static void expect_is_violated_at_the_first_event_that_cannot_fit(void **state)
{
	(void)state;
	assert_transcript("expect R: a;b;c", "msg", "(a .) (c a) (b c)",
		"R violated at c expected b after a (c came right after a)\n");
}

static void independent_events_violate_a_sequence(void **state)
{
	(void)state;
	assert_transcript("expect R: a;b", "msg", "(a .) (b .)",
		"R violated at b expected b after a "
		"(b follows no event of the rule)\n");
}

static void ordered_events_violate_concurrency(void **state)
{
	(void)state;
	assert_transcript("expect R: a&b", "msg", "(a .) (b a)",
		"R violated at b expected b independent of all earlier events (b came right after a)\n");
}

static void expect_is_incomplete_at_the_end(void **state)
{
	(void)state;
	assert_transcript("expect R: a;b", "msg", "(a .)", "R incomplete expected b after a\n");
}

static void expect_without_events_is_judged_too(void **state)
{
	(void)state;
	assert_transcript("expect R: a*", "msg", "(x .)", "R satisfied\n");
	assert_transcript("expect R: a", "msg", "(x .)", "R incomplete expected a first\n");
}

static void both_readings_are_followed(void **state)
{
	(void)state;
	assert_transcript("expect R: a;b + a;c", "msg", "(a .) (c a)", "R satisfied\n");
}

static void repetitions_and_shared_events(void **state)
{
	(void)state;
	assert_transcript("expect R: (p;s)* & (s;q)*", "msg",
		"(p .) (s p) (q s) (p#2 s) (s#2 p#2 q) (q#2 s#2)", "R satisfied\n");
}

static void other_events_do_not_matter(void **state)
{
	(void)state;
	assert_transcript("expect R: a;b", "msg", "(a .) (x a) (y x) (b y)", "R satisfied\n");
}

static void observed_events_violate(void **state)
{
	(void)state;
	assert_transcript("expect R: a;b observing x", "msg", "(a .) (x a) (b x)",
		"R violated at x expected b after a (x came right after a)\n");
}

/* ---- detect
 * -------------------------------------------------------------------------------------- */

static void detect_finds_true_concurrency(void **state)
{
	(void)state;
	assert_transcript(
		"detect R: a & b", "msg", "(s .) (a s) (b s)", "R match at b: a=$1 b=$2\n");
	assert_transcript("detect R: a & b", "msg", "(a .) (b a)", "");
}

static void detect_wants_convex_matches(void **state)
{
	(void)state;
	assert_transcript(
		"detect R: a;b", "msg", "(a .) (a#2 a) (b a#2)", "R match at b: a#2=$1 b=$2\n");
	assert_transcript("detect R: a;b observing x", "msg", "(a .) (x a) (b x)", "");
}

static void detect_reports_one_match_for_each_completing_event(void **state)
{
	(void)state;
	assert_transcript("detect R: a & b", "msg", "(s .) (a s) (a#2 s) (b s) (b#2 b)",
		"R match at b: a#2=$1 b=$2\nR match at b#2: a#2=$1 b#2=$2\n");
}

/* ---- slices
 * ----------------------------------------------------------------------------------------- */

static void each_value_has_its_slice(void **state)
{
	(void)state;
	assert_transcript("expect R(x): open(x);close(x)", "jsonl",
		"{\"event\":\"open\",\"id\":\"o1\",\"thread\":1,\"args\":[1]}\n"
		"{\"event\":\"open\",\"id\":\"o2\",\"thread\":1,\"args\":[2]}\n"
		"{\"event\":\"close\",\"id\":\"c2\",\"thread\":1,\"args\":[2]}\n"
		"{\"event\":\"open\",\"id\":\"o3\",\"thread\":1,\"args\":[2]}\n",
		"R violated at o3 [x=2] (o3 came right after c2)\n"
		"R incomplete [x=1] expected close(x) after open(x)\n");
}

static void an_event_that_binds_less_belongs_to_all(void **state)
{
	(void)state;
	assert_transcript("detect R(x): reset;use(x)", "jsonl",
		"{\"event\":\"reset\",\"id\":\"r\",\"thread\":1}\n"
		"{\"event\":\"use\",\"id\":\"u1\",\"thread\":1,\"args\":[\"p\"]}\n"
		"{\"event\":\"use\",\"id\":\"u2\",\"thread\":1,\"args\":[\"q\"]}\n",
		"R match at u1: r=$1 u1=$2 [x=p]\nR match at u2: r=$1 u2=$2 [x=q]\n");
}

/* A slice whose values are part of those of another is not judged: not when the event that began it
 * made the other, too, nor when it came later, nor where an event binds both ways. */
static void parts_of_slices_are_not_judged(void **state)
{
	const char *after = "expect R(x, y): a(x, y) ; b(x)";

	(void)state;
	assert_transcript(after, "jsonl",
		"{\"event\":\"a\",\"id\":\"a1\",\"thread\":1,\"args\":[1,2]}\n"
		"{\"event\":\"b\",\"id\":\"b1\",\"thread\":1,\"args\":[1]}\n"
		"{\"event\":\"b\",\"id\":\"b7\",\"thread\":1,\"args\":[7]}\n",
		"R violated at b7 [x=7] expected a(x, y) first "
		"(b7 follows no event of the rule)\n"
		"R satisfied [x=1] [y=2]\n");
	assert_transcript("expect R(x, y): a(x) ; b(y)", "jsonl",
		"{\"event\":\"a\",\"id\":\"a1\",\"thread\":1,\"args\":[1]}\n"
		"{\"event\":\"b\",\"id\":\"b2\",\"thread\":1,\"args\":[2]}\n",
		"R satisfied [x=1] [y=2]\n");
	assert_transcript("expect R: (a(x) by T)* + a(x) ; a(x)", "jsonl",
		"{\"event\":\"a\",\"id\":\"a1\",\"thread\":5,\"args\":[1]}\n",
		"R satisfied [x=1] [T=5]\n");
}

/* A violation of a part is reported for the slices that begin with it later. */
static void slices_begin_with_what_violated_a_part(void **state)
{
	(void)state;
	assert_transcript("expect R(x, y): a(x) ; b(x, y)* { print(\"good\"); } else { print(y); }", "jsonl",
		"{\"event\":\"a\",\"id\":\"a1\",\"thread\":1,\"args\":[1]}\n"
		"{\"event\":\"b\",\"id\":\"b3\",\"thread\":1,\"args\":[1,3]}\n"
		"{\"event\":\"a\",\"id\":\"a2\",\"thread\":1,\"args\":[1]}\n"
		"{\"event\":\"b\",\"id\":\"b4\",\"thread\":1,\"args\":[1,4]}\n",
		"R violated at a2 [x=1] [y=3] expected b(x, y) after b(x, y) (a2 came right after b3)\n"
		"R prints '3'\n"
		"R violated at a2 [x=1] [y=4] (a2 came right after a1)\n"
		"R prints '4'\n");
}

static void the_thread_is_bound(void **state)
{
	(void)state;
	assert_transcript("detect R(T): a by T ; b by T", "jsonl",
		"{\"event\":\"a\",\"id\":\"a1\",\"thread\":1}\n"
		"{\"event\":\"b\",\"id\":\"b2\",\"thread\":2,\"pred\":[\"a1\"]}\n"
		"{\"event\":\"b\",\"id\":\"b1\",\"thread\":1}\n",
		"R match at b1: a1=$1 b1=$2 [T=1]\n");
}

static void conditions_decide_what_belongs(void **state)
{
	(void)state;
	assert_transcript("detect R: f.exit [.ret = 0] ; g(n) [n > 2 && .tid == 7]", "jsonl",
		"{\"event\":\"f.exit\",\"id\":\"f1\",\"thread\":7,\"ret\":0}\n"
		"{\"event\":\"f.exit\",\"id\":\"f2\",\"thread\":7,\"ret\":-1}\n"
		"{\"event\":\"g\",\"id\":\"g2\",\"thread\":7,\"args\":[2]}\n"
		"{\"event\":\"g\",\"id\":\"g3\",\"thread\":7,\"args\":[3]}\n",
		"R match at g3: f1=$1 g3=$2 [n=3]\n");
}

static void results_are_bound(void **state)
{
	static const char calls[] =
		"{\"event\":\"take.exit\",\"id\":\"t1\",\"thread\":7,\"args\":[8],\"ret\":\"0x10\"}\n"
		"{\"event\":\"take.exit\",\"id\":\"t2\",\"thread\":7,\"args\":[8],\"ret\":0}\n"
		"{\"event\":\"take.exit\",\"id\":\"t3\",\"thread\":7,\"args\":[8],\"ret\":\"0x20\"}\n"
		"{\"event\":\"take.exit\",\"id\":\"t4\",\"thread\":7,\"args\":[8]}\n"
		"{\"event\":\"give.enter\",\"id\":\"g1\",\"thread\":7,\"args\":[\"0x10\"]}\n";
	static const char handles[] =
		"{\"event\":\"open.exit\",\"id\":\"o1\",\"thread\":7,\"args\":[1,2],\"ret\":0,\"vars\":{\"*arg@1\":5}}\n"
		"{\"event\":\"open.exit\",\"id\":\"o2\",\"thread\":7,\"args\":[1,2],\"ret\":0,\"vars\":{\"*arg@1\":null}}\n"
		"{\"event\":\"open.exit\",\"id\":\"o3\",\"thread\":7,\"args\":[1,2],\"ret\":9,\"vars\":{\"*arg@1\":6}}\n"
		"{\"event\":\"close.enter\",\"id\":\"c1\",\"thread\":7,\"args\":[5]}\n"
		"{\"event\":\"close.enter\",\"id\":\"c2\",\"thread\":7,\"args\":[6]}\n";

	(void)state;
	assert_transcript("expect R: (take(_).exit = p [p] ; give(p))*", "jsonl", calls,
		"R satisfied [p=0x10]\nR incomplete [p=0x20] expected give(p) after take(_).exit = p [p]\n");
	assert_transcript("detect R: take(x).exit = x", "jsonl", calls, "");
	assert_transcript("detect R: take.exit = 0 { print($1.ret); }", "jsonl", calls,
		"R match at t2: t2=$1\nR prints '0'\n");
	assert_transcript("detect R: open(_, &d).exit = 0 ; close(d)", "jsonl", handles,
		"R match at c1: o1=$1 c1=$2 [d=5]\n");
	/* One argument or result alone is not the first argument alone. */
	assert_transcript("detect R: open(&d).exit ; close(d)", "jsonl", handles, "");
	assert_transcript("sync A: open().exit = n ; close(n)\ndetect R: open.exit & close", "jsonl",
		"{\"event\":\"open.exit\",\"id\":\"o1\",\"thread\":7,\"args\":[1],\"ret\":5}\n"
		"{\"event\":\"open.exit\",\"id\":\"o2\",\"thread\":8,\"args\":[5],\"ret\":2}\n"
		"{\"event\":\"close.enter\",\"id\":\"c1\",\"thread\":9,\"args\":[5]}\n",
		"R match at c1: o2=$1 c1=$2\n");
}

/* ---- synchronisation
 * ----------------------------------------------------------------------------------- */

static void sync_rules_order_events(void **state)
{
	const char *log = "{\"event\":\"a\",\"id\":\"a\",\"thread\":1}\n"
			  "{\"event\":\"V\",\"id\":\"v\",\"thread\":1,\"args\":[9]}\n"
			  "{\"event\":\"P.exit\",\"id\":\"p\",\"thread\":2,\"args\":[9]}\n"
			  "{\"event\":\"b\",\"id\":\"b\",\"thread\":2}\n";

	(void)state;
	assert_transcript("detect R: a & b", "jsonl", log, "R match at b: a=$1 b=$2\n");
	assert_transcript("sync S(x): V(x);P(x).exit\ndetect R: a & b", "jsonl", log, "");
	assert_transcript("sync S(x): V(x);P(x).exit\ndetect R: a;b", "jsonl", log,
		"R match at b: a=$1 b=$2\n");
}

/* The later one of two sends counts, whichever alternatives they and the receive are. */
static void sides_of_sync_rules_have_alternatives(void **state)
{
	const char *rules = "sync last S(x): (V(x) + leave(_, x)) ; (P(x).exit + enter(_, x).exit)\n";
	const char *log = "{\"event\":\"a\",\"id\":\"a\",\"thread\":1}\n"
			  "{\"event\":\"V\",\"id\":\"v\",\"thread\":1,\"args\":[9]}\n"
			  "{\"event\":\"b\",\"id\":\"b\",\"thread\":2}\n"
			  "{\"event\":\"leave\",\"id\":\"l\",\"thread\":2,\"args\":[0,9]}\n"
			  "{\"event\":\"leave\",\"id\":\"m\",\"thread\":1,\"args\":[0,8]}\n"
			  "{\"event\":\"enter.exit\",\"id\":\"e\",\"thread\":3,\"args\":[0,9]}\n"
			  "{\"event\":\"c\",\"id\":\"c\",\"thread\":3}\n"
			  "{\"event\":\"P.exit\",\"id\":\"p\",\"thread\":4,\"args\":[8]}\n"
			  "{\"event\":\"d\",\"id\":\"d\",\"thread\":4}\n";
	const struct {
		const char *rule, *wanted;
	} cases[] = {
		{"detect R: a;c", ""},
		{"detect R: a & c", "R match at c: a=$1 c=$2\n"},
		{"detect R: b;c", "R match at c: b=$1 c=$2\n"},
		{"detect R: a;d", "R match at d: a=$1 d=$2\n"},
		{"detect R: c & d", "R match at d: c=$1 d=$2\n"},
	};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(cases); i++) {
		char *spec = dpe_xasprintf("%s%s", rules, cases[i].rule);

		assert_transcript(spec, "jsonl", log, cases[i].wanted);
		free(spec);
	}
}

static void the_papers_sync_directive_runs(void **state)
{
	(void)state;
	assert_transcript("SYNC(X): V(X).exit; P(X).exit {sync_event($1,$2);}\ndetect R: a;b",
		"jsonl",
		"{\"event\":\"a\",\"id\":\"a\",\"thread\":1}\n"
		"{\"event\":\"V.exit\",\"id\":\"v\",\"thread\":1,\"args\":[9]}\n"
		"{\"event\":\"P.exit\",\"id\":\"p\",\"thread\":2,\"args\":[9]}\n"
		"{\"event\":\"b\",\"id\":\"b\",\"thread\":2}\n",
		"R match at b: a=$1 b=$2\n");
}

/* ---- actions
 * --------------------------------------------------------------------------------------------- */

static void actions_print_and_count(void **state)
{
	(void)state;
	assert_transcript("var n = 1;\n"
			  "detect R: a { n += 2; print(\"n is\", n); } ; b "
			  "{ printf(\"%s after %s: %05d|%-4x|\", $2, $1, n * 7, n); }",
		"msg", "(a .) (b a)",
		"R prints 'n is 3'\n"
		"R match at b: a=$1 b=$2\nR prints 'b after a: 00021|3   |'\n");
}

static void rule_and_event_actions(void **state)
{
	(void)state;
	assert_transcript("detect R: (a & (b { print(\"b came\"); })) { print($1.tid, $2.tid); }",
		"jsonl",
		"{\"event\":\"a\",\"id\":\"a\",\"thread\":4}\n"
		"{\"event\":\"b\",\"id\":\"b\",\"thread\":5}\n",
		"R prints 'b came'\nR match at b: a=$1 b=$2\nR prints '4 5'\n");
}

/* A reading continues in place, unless the run is traced: the actions are the same. */
static void the_latest_is_at_each_position(void **state)
{
	static const char rule[] = "expect R: (a { print($1, $2); } ; b { print($1, $2); })*";
	static const char expected[] =
		"R prints 'a (none)'\nR prints 'a b'\nR prints 'a#2 b'\nR prints 'a#2 b#2'\n";

	(void)state;
	for (unsigned traced = 0; traced < 2; traced++) {
		struct transcript to = {.traced = traced};

		transcript_run(&to, rule, "msg", "(a .) (b a) (a#2 b) (b#2 a#2)");
		assert_memory_equal(to.text.at, expected, strlen(expected));
		assert_non_null(strstr(to.text.at, "R satisfied"));
		dpe_text_free(&to.text);
	}
}

static void else_runs_on_violation(void **state)
{
	(void)state;
	assert_transcript("expect R: a;b { print(\"good\"); } else { error(\"bad\", $1); }", "msg",
		"(a .) (b a) (b#2 b)",
		"R violated at b#2 (b#2 came right after b)\nR error 'bad a'\n");
	assert_transcript("expect R: a;b { print(\"good\"); } else { error; }", "msg",
		"(a .) (b a)", "R satisfied\nR prints 'good'\n");
}

static void ifs_and_arithmetic(void **state)
{
	(void)state;
	assert_transcript("var x, y = 5, z;\n"
			  "detect R: a { if (y > 4 && !x) { x = y / z; y++; } else x = 9;\n"
			  "print(x, y, -7 / 2, 7 % 3, 1 << 4, 6 & 3, x == 0 ? 1 : 2); }",
		"msg", "(a .)", "R match at a: a=$1\nR prints '(none) 6 -3 1 16 2 2'\n");
}

static void break_ends_a_replay(void **state)
{
	struct transcript to = {.end_at_break = true};

	(void)state;
	assert_string_equal(
		transcript_run(&to, "detect R: a { break; }\nexpect S: b", "msg", "(a .) (b a)"),
		"R match at a: a=$1\nR breaks at a\n"
		"S inconclusive (the run was ended by break)\n");
	dpe_text_free(&to.text);
}

static void replay_can_continue_after_break(void **state)
{
	(void)state;
	assert_transcript("detect R: a { break; print(\"on\"); }", "msg", "(a .)",
		"R match at a: a=$1\nR breaks at a\nR prints 'on'\n");
}

/* ---- actions within the expression, unsafe rules ----------------------------------------- */

/* The paper's way to count, with a variable; and with a control variable. */
static void as_many_exits_as_entries(void **state)
{
	const char *counted = "var n = 7;\nexpect R: {n = 0}; E{n = n + 1}*; X{n = n - 1}*; "
			      "{if (n != 0) error(n); else print(\"equal\");}";
	const char *controlled = "expect R: E*n ; X*n";

	(void)state;
	assert_transcript(
		counted, "msg", "(E .) (E#2 E) (X E#2) (X#2 X)", "R prints 'equal'\nR satisfied\n");
	assert_transcript(counted, "msg", "(E .) (E#2 E) (X E#2)", "R error '1'\nR satisfied\n");
	assert_transcript(counted, "msg", "(z .)", "R prints 'equal'\nR satisfied\n");
	assert_transcript(controlled, "msg", "(E .) (E#2 E) (X E#2) (X#2 X)", "R satisfied\n");
	assert_transcript(controlled, "msg", "(E .) (X E) (X#2 X)",
		"R violated at X#2 (X#2 came right after X (an earlier event may have violated "
		"the rule: the token game sees some violations late))\n");
	assert_transcript(
		controlled, "msg", "(E .) (E#2 E) (X E#2)", "R incomplete expected X after X (an event may have violated the rule: the token "
		"game sees some violations late)\n");
}

static void parentheses_and_operands_act(void **state)
{
	(void)state;
	assert_transcript("expect R: (a;b){print(\"ab\", $1);} ; {print(\"then\");} ; "
			  "(c & d){print(\"cd\");} {print(\"all\");}",
		"msg", "(a .) (b a) (c b) (d b)",
		"R prints 'ab a'\nR prints 'then'\nR prints 'cd'\nR satisfied\nR prints 'all'\n");
}

static void any_number_side_by_side(void **state)
{
	const char *rule = "expect R: (enq;update)@; deq; display";

	(void)state;
	assert_transcript(rule, "msg",
		"(enq .) (enq#2 .) (update enq) (update#2 enq#2) (deq update update#2) (display "
		"deq)",
		"R satisfied\n");
	assert_transcript(rule, "msg", "(enq .) (enq#2 .) (update enq) (deq update enq#2)",
		"R violated at deq expected enq independent of all earlier events | update after enq "
		"(deq came right after update and enq#2)\n");
	assert_transcript("detect R: s ; a@ ; b", "msg", "(s .) (a s) (a#2 s) (b a a#2)",
		"R match at b: s=$1 a=$2 a#2=$2 b=$3\n");
}

/* ---- doubt
 * ---------------------------------------------------------------------------------------------------
 */

static void dependence_on_a_loss_is_inconclusive(void **state)
{
	(void)state;
	assert_transcript("expect R: a;b", "msg", "(a .) (b a z)",
		"held b for predecessor z\n"
		"R inconclusive (b waited for predecessor z, which never arrived)\n");
}

static void a_gap_makes_inconclusive(void **state)
{
	(void)state;
	assert_transcript("detect R: a;b { error; }", "jsonl",
		"{\"event\":\"a\",\"id\":\"a\",\"thread\":1,\"seq\":0}\n"
		"{\"event\":\"b\",\"id\":\"b\",\"thread\":1,\"seq\":3}\n",
		"lost 2 before b\nR inconclusive at b: a=$1 b=$2 "
		"(2 messages of thread 1 were lost before b)\n");
	assert_transcript("detect R: a;c", "jsonl",
		"{\"event\":\"a\",\"id\":\"a\",\"thread\":1,\"seq\":1}\n",
		"lost 1 before a\nR inconclusive (1 message of thread 1 was lost before a)\n");
}

static void a_limit_that_is_met_is_reported(void **state)
{
	struct transcript to = {.max_instances = 2};
	const char *text;

	(void)state;
	text = transcript_run(
		&to, "detect R: a & b & c", "msg", "(a .) (a#2 .) (a#3 .) (a#4 .) (b .) (c .)");
	assert_non_null(strstr(text, "--max-instances"));
	assert_null(strstr(text, "R match at c"));
	dpe_text_free(&to.text);
}

/* ---- conditions over other events --------------------------------------------------------- */

#define LOG_HEAD "{\"dpe_log\":1,\"ordered\":true}\n"
#define CALL(id, name, thread, arg, preds)                                                         \
	"{\"id\":\"" id "\",\"event\":\"" name "\",\"thread\":" #thread ",\"args\":[" #arg         \
	"],\"pred\":[" preds "]}\n"

static void a_condition_sees_earlier_events(void **state)
{
	(void)state;
	/* Each close with the open of the same file; a close without one is no event of the rule. */
	assert_transcript("detect R: open(_) ; close(_) [.args[0] == $1.args[0]]", "jsonl",
		LOG_HEAD CALL("e1", "open", 1, 5, "") CALL("e2", "close", 1, 6, "")
			CALL("e3", "close", 1, 5, ""),
		"R match at e3: e1=$1 e3=$2\n");
	assert_transcript("expect R: open(_) ; close(_) [.args[0] == $1.args[0]]", "jsonl",
		LOG_HEAD CALL("e1", "open", 1, 5, "") CALL("e2", "close", 1, 6, "")
			CALL("e3", "close", 1, 5, ""),
		"R satisfied\n");
	assert_transcript("expect R: open(_) ; close(_) [.args[0] == $1.args[0]]", "jsonl",
		LOG_HEAD CALL("e1", "open", 1, 5, "") CALL("e2", "close", 1, 6, ""),
		"R incomplete expected close(_) [.args[0] == $1.args[0]] after open(_)\n");
}

/* Which of two independent events comes first must not matter: neither sees the other. */
static void a_condition_does_not_see_independent_events(void **state)
{
	(void)state;
	assert_transcript("detect R: open(_) & close(_) [.args[0] == $1.args[0]]", "jsonl",
		LOG_HEAD CALL("e1", "open", 1, 5, "") CALL("e2", "close", 2, 5, ""), "");
}

/* Both opens lead to the same state; the close picks the one that its condition names. */
static void partial_matches_differ_by_what_conditions_name(void **state)
{
	(void)state;
	assert_transcript(
		"detect R: (open(_) + read(_)) ; stat(_)* ; close(_) [.args[0] == $1.args[0]]",
		"jsonl",
		LOG_HEAD CALL("e1", "open", 1, 5, "") CALL("e2", "open", 2, 6, "")
			CALL("e3", "stat", 3, 0, "\"e1\"") CALL("e4", "close", 3, 5, ""),
		"R match at e4: e1=$1 e3=$3 e4=$4\n");
}

/* ---- rounds ------------------------------------------------------------------------------ */

#define AT(name, thread, number)                                                                   \
	"{\"event\":\"" name "\",\"thread\":" #thread ",\"args\":[1],\"vars\":{\"arg@0->n\":" #number       \
	"}}\n"
#define MARK(id, name, thread) "{\"id\":\"" id "\",\"event\":\"" name "\",\"thread\":" #thread "}\n"
#define MEET "sync rounds meet(b): come(b) [b->n / 2] ; go(b).exit [b->n / 2 - 1]\n"

/* Thread 2 comes for the next round before 1 goes, which is in that round itself or in one before,
 * or nobody knows which. */
static void a_number_identifies_the_round(void **state)
{
	(void)state;
	assert_transcript(MEET "detect S: x & y\ndetect R: x ; y", "jsonl",
		AT("come", 1, 0) AT("come", 2, 1) AT("go.exit", 2, 2) MARK("x", "x", 2)
			AT("come", 2, 2) AT("go.exit", 1, 2) MARK("y", "y", 1),
		"S match at y: x=$1 y=$2\n");
	assert_transcript(MEET "detect S: x & y\ndetect R: x ; y", "jsonl",
		AT("come", 1, 0) AT("come", 2, 1) AT("go.exit", 2, 2) MARK("x", "x", 2)
			AT("come", 2, 2) AT("go.exit", 1, 4) MARK("y", "y", 1),
		"R match at y: x=$1 y=$2\n");
	assert_transcript(MEET "detect S: x & y\ndetect R: x ; y", "jsonl",
		AT("come", 1, 0) AT("come", 2, 1) AT("go.exit", 2, 2) MARK("x", "x", 2)
			AT("come", 2, 2) AT("go.exit", 1, null) MARK("y", "y", 1),
		"R match at y: x=$1 y=$2\n");
}

/* ---- progress ---------------------------------------------------------------------------- */

#define PICK(id, fork) CALL(id, "pick", 1, fork, "")
#define PROGRESS_SPEC                                                                              \
	"var meals;\ndetect E: eat(_) { meals = meals + 1 }\n"                                     \
	"detect P: pick(_) { progress(meals, $1.args[0]) }\n"

/* Without the lines of the matches, of which each event makes one. */
static void assert_errors(const char *spec, const char *log, const char *expected)
{
	struct transcript to = {0};
	struct dpe_text errors = {0};
	char *rest = (char *)transcript_run(&to, spec, "jsonl", log), *line;

	dpe_text_puts(&errors, "");
	while ((line = strsep(&rest, "\n"))) {
		if (strstr(line, " error "))
			dpe_text_printf(&errors, "%s\n", line);
	}
	assert_string_equal(errors.at, expected);
	dpe_text_free(&errors);
	dpe_text_free(&to.text);
}

static void a_state_without_progress_is_reported_once(void **state)
{
	(void)state;
	assert_errors(PROGRESS_SPEC,
		LOG_HEAD PICK("e1", 1) PICK("e2", 2) PICK("e3", 1) PICK("e4", 1) PICK("e5", 3),
		"P error 'no progress: the state (1) occurred before, at e1, and 0, which counts "
		"as progress, is the same'\n");
}

static void progress_makes_states_new(void **state)
{
	(void)state;
	assert_errors(PROGRESS_SPEC,
		LOG_HEAD PICK("e1", 1) CALL("e2", "eat", 1, 0, "") PICK("e3", 1)
			CALL("e4", "eat", 1, 0, "") PICK("e5", 1),
		"");
}

static void each_slice_has_states_of_its_own(void **state)
{
	(void)state;
	assert_errors("detect P(f): pick(f) { progress(0, $1.tid) }",
		LOG_HEAD PICK("e1", 1) PICK("e2", 2) PICK("e3", 2),
		"P error 'no progress: the state (1) occurred before, at e2, and 0, which counts "
		"as progress, is the same'\n");
}

/* ---- data events ------------------------------------------------------------------------- */

#define WRITE(id, name, vars)                                                                      \
	"{\"id\":\"" id "\",\"event\":\"[" name "']\",\"thread\":1,\"vars\":{" vars "}}\n"
#define READ(id, name) "{\"id\":\"" id "\",\"event\":\"[" name "]\",\"thread\":1}\n"

static void updates_and_accesses(void **state)
{
	(void)state;
	assert_transcript("detect U: [X']\ndetect A: [X]\n", "jsonl",
		LOG_HEAD WRITE("e1", "X", "\"X\":1,\"X'\":0") READ("e2", "X")
			WRITE("e3", "Y", "\"Y\":1"),
		"U match at e1: e1=$1\nA match at e1: e1=$1\nA match at e2: e2=$1\n");
}

static void a_condition_becomes_true(void **state)
{
	(void)state;
	assert_transcript("detect R: [X = 1]", "jsonl",
		LOG_HEAD WRITE("e1", "X", "\"X\":1,\"X'\":0") WRITE("e2", "X", "\"X\":1,\"X'\":1")
			WRITE("e3", "X", "\"X\":0,\"X'\":1") WRITE("e4", "X", "\"X\":1,\"X'\":0"),
		"R match at e1: e1=$1\nR match at e4: e4=$1\n");
	/* By an update of either variable; what the log does not state is not true. */
	assert_transcript("detect R: [X > Y + 1]", "jsonl",
		LOG_HEAD WRITE("e1", "X", "\"X\":5,\"X'\":0,\"Y\":4")
			WRITE("e2", "Y", "\"X\":5,\"Y\":3,\"Y'\":4") WRITE(
				"e3", "X", "\"X\":6,\"X'\":5,\"Y\":3") WRITE("e4", "X", "\"X\":9"),
		"R match at e2: e2=$1\n");
}

static void a_condition_on_the_value_before(void **state)
{
	(void)state;
	assert_transcript("expect R: ([X = X' + 1] {print(X', X);})*", "jsonl",
		LOG_HEAD WRITE("e1", "X", "\"X\":1,\"X'\":0") WRITE("e2", "X", "\"X\":2,\"X'\":1")
			WRITE("e3", "X", "\"X\":2,\"X'\":2"),
		"R prints '0 1'\nR prints '1 2'\nR satisfied\n");
}

/* ---- ends of slices ---------------------------------------------------------------------- */

#define ON(id, name, arg) CALL(id, name, 1, arg, "")
#define FILE_RULE "expect F(f): open(f) ; read(f)* ; close(f) observing free(f) ends"

static void an_end_closes_the_slice_and_begins_another(void **state)
{
	(void)state;
	assert_transcript(FILE_RULE, "jsonl",
		LOG_HEAD ON("e1", "open", 1) ON("e2", "close", 1) ON("e3", "free", 1) ON("e4",
			"open", 1) ON("e5", "free", 1) ON("e6", "free", 2) ON("e7", "open", 1),
		"F satisfied [f=1]\n"
		"F incomplete [f=1] expected read(f) after open(f) | close(f) after open(f)\n"
		"F incomplete [f=1] expected read(f) after open(f) | close(f) after open(f)\n");
	/* A violated slice is over, until the object occurs again. */
	assert_transcript(FILE_RULE, "jsonl",
		LOG_HEAD ON("e1", "close", 1) ON("e2", "close", 1) ON("e3", "free", 1)
			ON("e4", "open", 1) ON("e5", "close", 1),
		"F violated at e1 [f=1] expected open(f) first (e1 follows no event of the rule)\nF satisfied [f=1]\n");
}

static void an_end_can_be_the_last_event(void **state)
{
	(void)state;
	assert_transcript("expect F(f): open(f) ; close(f) observing close(f) ends", "jsonl",
		LOG_HEAD ON("e1", "open", 1) ON("e2", "close", 1) ON("e3", "open", 1)
			ON("e4", "close", 1),
		"F satisfied [f=1]\nF satisfied [f=1]\n");
}

static void an_end_forgets_partial_matches(void **state)
{
	(void)state;
	assert_transcript("detect D(f): free(f) ; use(f) observing malloc(f) ends", "jsonl",
		LOG_HEAD ON("e1", "free", 1) ON("e2", "malloc", 1) ON("e3", "use", 1)
			ON("e4", "free", 1) ON("e5", "use", 1),
		"D match at e5: e4=$1 e5=$2 [f=1]\n");
}

static void an_end_for_several_slices(void **state)
{
	(void)state;
	assert_transcript("expect F(f, t): open(f) by t ; close(f) by t observing free(f) ends",
		"jsonl",
		LOG_HEAD CALL("e1", "open", 1, 5, "") CALL("e2", "open", 2, 5, "")
			CALL("e3", "close", 2, 5, "") CALL("e4", "free", 1, 5, "\"e3\""),
		"F incomplete [f=5] [t=1] expected close(f) by t after open(f) by t\n"
		"F satisfied [f=5] [t=2]\n");
}

/* An event that joins several slices at once: each of the new ones begins with what the old ones
 * saw, not with what another new one of fewer values did. */
static void an_event_makes_several_slices(void **state)
{
	(void)state;
	assert_transcript("detect R: d(y) ; c(x) ; e(z)", "jsonl",
		"{\"event\":\"e\",\"id\":\"e1\",\"thread\":1,\"args\":[1]}\n"
		"{\"event\":\"d\",\"id\":\"d1\",\"thread\":2,\"args\":[1]}\n"
		"{\"event\":\"c\",\"id\":\"c1\",\"thread\":2,\"args\":[1]}\n"
		"{\"event\":\"e\",\"id\":\"e2\",\"thread\":2,\"args\":[0]}\n",
		"R match at e2: d1=$1 c1=$2 e2=$3 [y=1] [x=1] [z=0]\n");
}

/* A rule without variables has a slice from the start; later ones begin with their first event. */
static void an_end_in_a_rule_without_variables(void **state)
{
	const char *rule = "expect R: a observing z ends";

	(void)state;
	assert_transcript(rule, "jsonl", LOG_HEAD ON("e1", "z", 1),
		"R incomplete expected a first\n");
	assert_transcript(rule, "jsonl",
		LOG_HEAD ON("e1", "z", 1) ON("e2", "z", 1) ON("e3", "a", 1) ON("e4", "z", 1),
		"R incomplete expected a first\nR satisfied\n");
	assert_transcript(rule, "jsonl", LOG_HEAD ON("e1", "a", 1) ON("e2", "z", 1),
		"R satisfied\n");
	assert_transcript("expect R: a observing z ends { print(1); } else { print(2); }", "jsonl",
		LOG_HEAD ON("e1", "z", 1) ON("e2", "a", 1) ON("e3", "z", 1),
		"R incomplete expected a first\nR prints '2'\nR satisfied\nR prints '1'\n");
	/* What was lost later could have begun another one. */
	assert_transcript(rule, "jsonl",
		"{\"event\":\"a\",\"thread\":1,\"seq\":0}\n"
		"{\"event\":\"z\",\"thread\":1,\"seq\":1}\n"
		"{\"event\":\"b\",\"id\":\"b1\",\"thread\":2,\"seq\":0}\n"
		"{\"event\":\"b\",\"id\":\"b2\",\"thread\":2,\"seq\":2}\n",
		"R satisfied\nlost 1 before b2\n"
		"R inconclusive (1 message of thread 2 was lost before b2)\n");
}

/* Many short-lived objects: the amount of kept state does not grow. */
static void short_lived_objects(void **state)
{
	struct transcript to = {0};
	struct dpe_text log = {0};

	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		dpe_text_printf(&log, "T0|r(V%u)|1\nT0|w(V%u)|1\n", i, i);
	transcript_run(&to, "expect F(v): r(v) ; w(v) observing w(v) ends", "std", log.at);
	assert_true(to.summary.slices < 3000);
	assert_true(to.summary.kept < 10000);
	dpe_text_free(&log);
	dpe_text_free(&to.text);
}

/* The same where the end binds but some of the variables. */
static void short_lived_threads(void **state)
{
	struct transcript to = {0};
	struct dpe_text log = {0};

	(void)state;
	for (unsigned i = 0; i < 30000; i++)
		dpe_text_printf(&log,
			"T%u|acq(L%u)|1\nT%u|rel(L%u)|1\nT%u|acq(L0)|1\nT%u|rel(L0)|1\nT%u|w(X)|1\n",
			i, 1 + i % 7, i, 1 + i % 7, i, i, i);
	transcript_run(&to,
		"expect L(l, t): (acq(l) by t ; rel(l) by t)* observing w(_) by t ends", "std",
		log.at);
	assert_null(strstr(to.text.at, "violated"));
	assert_true(to.summary.slices < 3000);
	assert_true(to.summary.kept < 10000);
	dpe_text_free(&log);
	dpe_text_free(&to.text);
}

/* What ends slices that others are parts of, or that are parts of others. */
static void an_end_beside_parts(void **state)
{
	(void)state;
	assert_transcript("expect F(f, t): open(f) ; (read(f) by t)* observing leave by t ends",
		"jsonl",
		LOG_HEAD CALL("e1", "open", 1, 5, "") CALL("e2", "read", 2, 5, "\"e1\"")
			CALL("e3", "leave", 2, 0, "") CALL("e4", "leave", 3, 0, "")
				CALL("e5", "read", 2, 5, "\"e1\""),
		"F satisfied [f=5] [t=2]\n"
		"F satisfied [f=5] [t=2]\n");
}

/* e4 binds one of two values, the other of which has ended: it is judged in the slice that has it alone. */
static void an_end_does_not_bring_back(void **state)
{
	(void)state;
	assert_transcript("expect F(f, g): open(f) ; use(g) observing leave(f) ends",
		"jsonl",
		LOG_HEAD CALL("e1", "open", 1, 5, "") CALL("e2", "use", 1, 7, "") CALL("e3", "leave", 1, 5, "")
			CALL("e4", "use", 1, 7, ""),
		"F satisfied [f=5] [g=7]\n"
		"F violated at e2 [g=7] (e2 follows no event of the rule)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_lived_threads),
		cmocka_unit_test(an_end_beside_parts),
		cmocka_unit_test(an_end_does_not_bring_back),
		cmocka_unit_test(expect_is_satisfied),
		cmocka_unit_test(expect_is_violated_at_the_first_event_that_cannot_fit),
		cmocka_unit_test(independent_events_violate_a_sequence),
		cmocka_unit_test(ordered_events_violate_concurrency),
		cmocka_unit_test(expect_is_incomplete_at_the_end),
		cmocka_unit_test(expect_without_events_is_judged_too),
		cmocka_unit_test(both_readings_are_followed),
		cmocka_unit_test(repetitions_and_shared_events),
		cmocka_unit_test(other_events_do_not_matter),
		cmocka_unit_test(observed_events_violate),
		cmocka_unit_test(detect_finds_true_concurrency),
		cmocka_unit_test(detect_wants_convex_matches),
		cmocka_unit_test(detect_reports_one_match_for_each_completing_event),
		cmocka_unit_test(each_value_has_its_slice),
		cmocka_unit_test(an_event_that_binds_less_belongs_to_all),
		cmocka_unit_test(parts_of_slices_are_not_judged),
		cmocka_unit_test(slices_begin_with_what_violated_a_part),
		cmocka_unit_test(the_thread_is_bound),
		cmocka_unit_test(conditions_decide_what_belongs),
		cmocka_unit_test(results_are_bound),
		cmocka_unit_test(sync_rules_order_events),
		cmocka_unit_test(sides_of_sync_rules_have_alternatives),
		cmocka_unit_test(the_papers_sync_directive_runs),
		cmocka_unit_test(actions_print_and_count),
		cmocka_unit_test(rule_and_event_actions),
		cmocka_unit_test(the_latest_is_at_each_position),
		cmocka_unit_test(else_runs_on_violation),
		cmocka_unit_test(ifs_and_arithmetic),
		cmocka_unit_test(as_many_exits_as_entries),
		cmocka_unit_test(parentheses_and_operands_act),
		cmocka_unit_test(any_number_side_by_side),
		cmocka_unit_test(break_ends_a_replay),
		cmocka_unit_test(replay_can_continue_after_break),
		cmocka_unit_test(dependence_on_a_loss_is_inconclusive),
		cmocka_unit_test(a_gap_makes_inconclusive),
		cmocka_unit_test(a_limit_that_is_met_is_reported),
		cmocka_unit_test(a_condition_sees_earlier_events),
		cmocka_unit_test(a_condition_does_not_see_independent_events),
		cmocka_unit_test(partial_matches_differ_by_what_conditions_name),
		cmocka_unit_test(a_number_identifies_the_round),
		cmocka_unit_test(a_state_without_progress_is_reported_once),
		cmocka_unit_test(progress_makes_states_new),
		cmocka_unit_test(each_slice_has_states_of_its_own),
		cmocka_unit_test(updates_and_accesses),
		cmocka_unit_test(a_condition_becomes_true),
		cmocka_unit_test(a_condition_on_the_value_before),
		cmocka_unit_test(an_end_closes_the_slice_and_begins_another),
		cmocka_unit_test(an_end_can_be_the_last_event),
		cmocka_unit_test(an_end_forgets_partial_matches),
		cmocka_unit_test(an_end_for_several_slices),
		cmocka_unit_test(an_end_in_a_rule_without_variables),
		cmocka_unit_test(an_event_makes_several_slices),
		cmocka_unit_test(short_lived_objects),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
