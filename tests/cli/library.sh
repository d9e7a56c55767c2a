# libdpe as an installed library: the example, wrong messages, a sink without callbacks, C++.
. tests/tap.sh

prefix=$folder/usr
make -s -C "$TOP" install PREFIX="$prefix" BUILD="$BUILD" DPE="$DPE" ${SANITIZE:+SANITIZE=1} >made 2>&1 || { not_ok 'make install'; cat made; }
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
flags=$(pkg-config --cflags libdpe)
libs=$(pkg-config --libs --static libdpe)
grep -q __asan_init "$BUILD/libdpe.a" && flags="$flags -fsanitize=address,undefined"
check 'pkg-config finds the installed libdpe' -n "$libs"

cp "$TOP/examples/library/follow.c" example.c
cc -Wall -Wextra -Werror example.c -o example $flags $libs >compiled 2>&1 || cat compiled
run ./example
gives 'examples/library finds violations in its messages' 1
same 'examples/library prints each violation' out <<'X'
file: violated of f = a.txt at read@5
file: incomplete of f = b.txt
X

cat >wrong.c <<'X'
#include <dpe.h>
#include <string.h>

#if DPE_API_VERSION != 1
#error "programs say which one they were written for"
#endif

static struct dpe_spec *compile(const char *name, const char *text, struct dpe_names *names, struct dpe_diags *diags)
{
	struct dpe_spec *spec = dpe_spec_compile_text(name, text, strlen(text), names, NULL, diags);

	dpe_diags_print(diags, stdout);
	return spec;
}

static void feed(struct dpe_recognizer *recognizer, struct dpe_message draft, struct dpe_diags *diags)
{
	if (dpe_recognizer_feed(recognizer, dpe_message_new(&draft), diags))
		puts("taken");
	dpe_diags_print(diags, stdout);
}

int main(void)
{
	const struct dpe_recognizer_sink nothing = {0};
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_spec *bad = compile("bad.dpe", "expect x: a b\n", names, diags);
	struct dpe_spec *spec = compile("good.dpe",
		"expect x: a ; b { print(1); }\ndetect both: a & c { error(\"both\"); }\ndetect a ; d { break; }\n",
		names, diags);
	struct dpe_recognizer *recognizer = dpe_recognizer_new(spec, NULL, &nothing, diags);
	dpe_name a = dpe_intern_string(names, "a"), d = dpe_intern_string(names, "d");
	dpe_name unwatched = dpe_intern_string(names, "unwatched");
	const struct dpe_value one = dpe_value_int(1), id = dpe_value_string("e1");
	struct dpe_summary summary;

	printf("%s %s, %u rules: %s %s of class %s\n", bad ? "compiled" : "not", names ? "compiled" : "not",
		dpe_spec_nrules(spec), dpe_mode_name(dpe_rule_mode(dpe_spec_rule(spec, 1))),
		dpe_rule_name(dpe_spec_rule(spec, 1)), dpe_class_name(dpe_rule_class(dpe_spec_rule(spec, 0))));
	feed(recognizer, (struct dpe_message){.id = id}, diags);
	feed(recognizer, (struct dpe_message){.name = a, .id = id, .has_seq = true}, diags);
	feed(recognizer, (struct dpe_message){.name = unwatched, .id = id, .has_seq = true}, diags);
	feed(recognizer, (struct dpe_message){.name = unwatched, .thread = one, .has_seq = true}, diags);
	feed(recognizer, (struct dpe_message){.name = unwatched, .thread = one, .has_seq = true, .seq = 1}, diags);
	feed(recognizer, (struct dpe_message){.name = unwatched, .thread = one, .has_seq = true, .seq = 1}, diags);
	feed(recognizer, (struct dpe_message){.name = a, .id = id}, diags);
	feed(recognizer, (struct dpe_message){.name = a, .id = id}, diags);
	feed(recognizer, (struct dpe_message){.name = dpe_intern_string(names, "c"), .id = one}, diags);
	feed(recognizer, (struct dpe_message){.name = d, .preds = &id, .npreds = 1, .place = 3}, diags);
	feed(recognizer, (struct dpe_message){.name = unwatched, .thread = one, .has_seq = true, .seq = 2}, diags);
	dpe_recognizer_finish(recognizer);
	feed(recognizer, (struct dpe_message){.name = unwatched, .thread = one, .has_seq = true, .seq = 2}, diags);
	feed(recognizer, (struct dpe_message){.name = a, .place = 4}, diags);
	dpe_recognizer_watermark(recognizer, (struct dpe_value){0}, 7);
	dpe_recognizer_finish(recognizer);
	dpe_recognizer_summary(recognizer, &summary);
	printf("%d events, %d matches, %d errors\n", (int)summary.events, (int)summary.matches, (int)summary.errors);
	dpe_recognizer_free(recognizer);
	dpe_spec_free(spec);
	dpe_diags_free(diags);
	dpe_names_free(names);
	return 0;
}
X
cc -Wall -Wextra -Werror wrong.c -o wrong $flags $libs >compiled 2>&1 || cat compiled
run ./wrong
gives 'a recognizer of libdpe works with a sink without callbacks' 0
same 'libdpe reports wrong specifications and wrong messages' out <<'X'
bad.dpe:1:13: error: an operator is missing between 'a' and 'b': write ; (then), & (independently) or + (either)
  | expect x: a b
  |             ^
not compiled, 3 rules: detect both of class sequential
message: error: it has no name; it is dropped
a: error: it has a number (seq), which counts within a thread, but no thread; it is dropped
unwatched: error: it has a number (seq), which counts within a thread, but no thread; it is dropped
taken
taken
input 1, message 0: error: message with number 1 of thread 1 came twice; this one is dropped
taken
input 1, message 0: error: a message with the id e1 occurred before, this one is dropped; give each its own id
taken
taken
taken
unwatched: error: it arrived after the end of the run; it is dropped
a: error: it arrived after the end of the run; it is dropped
5 events, 2 matches, 1 errors
X
if command -v g++ >/dev/null; then
	cat >plus.cc <<'X'
#include <dpe-probes.h>
#include <dpe.h>

int main()
{
	dpe_names *names = dpe_names_new();
	dpe_spec *spec = dpe_spec_empty(names);
	dpe_recognizer_sink sink = {};
	dpe_recognizer *recognizer = dpe_recognizer_new(spec, nullptr, &sink, nullptr);
	dpe_message draft = {};

	draft.name = dpe_intern_string(names, "a");
	dpe_recognizer_feed(recognizer, dpe_message_new(&draft), nullptr);
	dpe_recognizer_finish(recognizer);
	dpe_recognizer_free(recognizer);
	dpe_spec_free(spec);
	dpe_names_free(names);
}
X
	run g++ -Wall -Wextra -Wpedantic -Werror plus.cc -o plus $flags $libs
	gives 'the public headers compile in C++' 0
	run ./plus
	gives 'a C++ program with libdpe runs' 0
fi
for header in "$prefix"/include/dpe/dpe*.h; do
	printf '#include <%s>\n' "${header##*/}" >alone.c
	run cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only alone.c $flags
	gives "${header##*/} compiles alone in C11" 0
done
nm -g --defined-only "$prefix/lib/libdpe.a" "$prefix/lib/libdpe-probes.a" 2>/dev/null | awk 'NF == 3 { print $3 }' >names
check 'libdpe.a defines the public functions' "$(grep -c '^dpe_recognizer_' names)" -gt 5
check 'the libraries define no names outside dpe_' -z "$(grep -Ev '^(dpe_|__odr_asan)' names | head -5)"

# A library is linked again after a file is removed from it, and only then. (What would be done, in a folder of its own.)
relinks() { # NAME WANTED VARIABLE=VALUE...
	name=$1
	wanted=$2
	shift 2
	run make -n -C "$TOP" BUILD="$folder/own" "$@" "$folder/own/libdpe-pthread.so"
	check "$name" "$status $(grep -c -- '-o .*/libdpe-pthread.so$' out)" = "0 $wanted"
}
mkdir own
printf 'int unused;\n' >part.c
printf 'int unused_too;\n' >other.c
make -s -C "$TOP" BUILD="$folder/own" PRELOAD_SRC="$folder/part.c $folder/other.c" "$folder/own/libdpe-pthread.so" >made 2>&1 || { not_ok 'linking a library'; cat made; }
relinks 'a library with the same files is not linked again' 0 PRELOAD_SRC="$folder/part.c $folder/other.c"
run make -n -C "$TOP" BUILD="$folder/../${folder##*/}/own" PRELOAD_SRC="$folder/part.c $folder/other.c" "$folder/../${folder##*/}/own/libdpe-pthread.so"
check 'a library in a folder with another name is not linked again' "$status $(grep -c -- '-o .*/libdpe-pthread.so$' out)" = '0 0'
relinks 'a library from which a file is removed is linked again' 1 PRELOAD_SRC="$folder/part.c"
make -pnq -C "$TOP" BUILD="$folder/own" DPE="$folder/own/dpe" all >rules 2>/dev/null
for linked in libdpe.a libdpe-probes.a libdpe-pthread.so libdpe-mem.so libdpe-sched.so dpe tests/conformance/many_commands; do
	check "$linked is linked again when its list of files changes" -n "$(grep "/own/$linked: .*/own/parts" rules)"
done
finish
