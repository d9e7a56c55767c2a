# libdpe as an installed library: the example, two sessions in two threads, wrong events, C++.
. tests/tap.sh

prefix=$folder/usr
make -s -C "$TOP" install PREFIX="$prefix" BUILD="$BUILD" DPE="$DPE" ${SANITIZE:+SANITIZE=1} >made 2>&1 || { not_ok 'make install'; cat made; }
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
flags=$(pkg-config --cflags libdpe)
libs=$(pkg-config --libs --static libdpe)
grep -q __asan_init "$BUILD/libdpe.a" && flags="$flags -fsanitize=address,undefined"
check 'pkg-config knows it' -n "$libs"
check 'one header is all' "$(find "$prefix/include" -name '*.h' ! -name probe.h | sed 's|.*/||')" = dpe.h

cc -Wall -Wextra -Werror "$TOP/api/example.c" -o example $flags $libs >compiled 2>&1 || cat compiled
run ./example
gives 'the example finds something' 1
same 'and says what' out <<'X'
file: violated of f = a.txt at read@5
file: incomplete of f = b.txt
X

cat >two.c <<'X'
#include <dpe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counts {
	int matches, prints;
};

static void verdict(void *context, const struct dpe_session_verdict *verdict)
{
	struct counts *counts = context;

	counts->matches += verdict->outcome == DPE_SESSION_MATCH && verdict->nevents == 2 &&
			   !strcmp(verdict->events[0], "x");
}

static void print(void *context, const char *rule, const char *text)
{
	((struct counts *)context)->prints += !strcmp(rule, "both") && !strcmp(text, "7");
}

static void *work(void *arg)
{
	static const char rules[] = "var n = 7;\ndetect both: a & b { print(n); }\n";
	struct counts *counts = arg;

	for (int round = 0; round < 200; round++) {
		const struct dpe_session_callbacks callbacks = {.size = sizeof(callbacks),
			.context = counts, .verdict = verdict, .print = print};
		struct dpe_session *session = dpe_session_open("two", rules, NULL, 0, &callbacks, NULL);
		struct dpe_session_event event = {.size = sizeof(event), .name = "a", .id = "x"};

		dpe_session_feed(session, &event, NULL);
		event.name = "b";
		event.id = "y";
		dpe_session_feed(session, &event, NULL);
		if (dpe_session_finish(session) != 1)
			abort();
		dpe_session_close(session);
	}
	return NULL;
}

static void wrong(struct dpe_session *session, struct dpe_session_event event)
{
	char *errors;

	event.size = sizeof(event);
	printf("%s", dpe_session_feed(session, &event, &errors) ? "taken\n" : errors);
	free(errors);
}

int main(void)
{
	struct counts counts[2] = {{0}, {0}};
	const struct dpe_session_callbacks none = {.size = sizeof(none)};
	struct dpe_session *session;
	pthread_t threads[2];
	char *errors;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &counts[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d %d %d\n", counts[0].matches, counts[1].matches, counts[0].prints, counts[1].prints);
	session = dpe_session_open("bad.dpe", "expect x: a b\n", NULL, 0, &none, &errors);
	printf("%s%s", session ? "compiled\n" : "", errors);
	free(errors);
	session = dpe_session_open("good.dpe", "expect x: a ; b\n", NULL, 0, &none, &errors);
	free(errors);
	wrong(session, (struct dpe_session_event){.name = ""});
	wrong(session, (struct dpe_session_event){.name = "a", .has_seq = true});
	wrong(session, (struct dpe_session_event){.name = "a", .id = "1"});
	wrong(session, (struct dpe_session_event){.name = "a", .id = "1"});
	printf("%d\n", dpe_session_finish(session));
	wrong(session, (struct dpe_session_event){.name = "b"});
	dpe_session_close(session);
	return 0;
}
X
cc -Wall -Wextra -Werror two.c -o two $flags $libs -lpthread >compiled 2>&1 || cat compiled
run ./two
gives 'two threads' 0
same 'each with sessions of its own; what is wrong is told' out <<'X'
200 200 200 200
bad.dpe:1:13: error: an operator is missing between 'a' and 'b': write ; (then), & (independently) or + (either)
  | expect x: a b
  |             ^
event: error: an event needs a name
a: error: a number (seq) is one in a thread: give that, too
taken
input 1, message 2: error: a message with the id 1 was there before, this one is dropped; give each its own id
1
b: error: the session is finished
X
if command -v g++ >/dev/null; then
	printf '#include <dpe.h>\nint main() { dpe_session_close(nullptr); }\n' >plus.cc
	run g++ -Wall -Wextra -Werror plus.cc -o plus $flags $libs
	gives 'from C++' 0
fi
finish
