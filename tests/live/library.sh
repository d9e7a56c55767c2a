# libdpe-probes as an installed library: a program that observes another one, and follows a rule in it.
. tests/tap.sh
need_live 'observing programs with libdpe-probes'

prefix=$folder/usr
make -s -C "$TOP" install PREFIX="$prefix" BUILD="$BUILD" DPE="$DPE" ${SANITIZE:+SANITIZE=1} >made 2>&1 || { not_ok 'make install'; cat made; }
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
flags=$(pkg-config --cflags libdpe-probes)
libs=$(pkg-config --libs --static libdpe-probes)
grep -q __asan_init "$BUILD/libdpe.a" && flags="$flags -fsanitize=address,undefined"

cat >target.c <<'X'
__attribute__((noinline)) int step(int n)
{
	__asm__ volatile("");
	return n + 1;
}

int main(void)
{
	int n = step(40);

	return step(n) == 42 ? 7 : 1;
}
X
cat >observe.c <<'X'
#include <dpe-probes.h>
#include <dpe.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

static const char rule[] = "detect twice: step(40) ; step(41)\n";

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	(void)context;
	printf("%s: %u events\n", dpe_rule_name(verdict->rule), verdict->nevents);
}

struct flow {
	struct dpe_recognizer *recognizer;
	struct dpe_diags *diags;
};

static void on_message(void *context, struct dpe_message *message)
{
	struct flow *flow = context;

	dpe_recognizer_feed(flow->recognizer, message, flow->diags);
}

static void on_watermark(void *context, uint64_t time)
{
	dpe_recognizer_watermark(((struct flow *)context)->recognizer, (struct dpe_value){0}, time);
}

static void follow(struct dpe_probes *probes, struct flow *flow)
{
	const struct dpe_probes_sink sink = {.context = flow, .message = on_message, .watermark = on_watermark};
	int got = dpe_probes_start(probes, flow->diags) ? 0 : 1;

	while (got > 0 || (got < 0 && errno == EINTR))
		got = dpe_probes_poll(probes, 100, &sink);
	dpe_recognizer_finish(flow->recognizer);
	printf("lost in %u threads, the program returns %d\n", dpe_probes_losses(probes, NULL, 0),
		WEXITSTATUS(dpe_probes_status(probes)));
}

int main(int argc, char **argv)
{
	const struct dpe_probes_options options = {0};
	const struct dpe_recognizer_sink sink = {.verdict = on_verdict};
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_spec *spec = dpe_spec_compile_text("rule", rule, strlen(rule), names, NULL, diags);
	struct dpe_plan *plan = dpe_plan_new(spec);
	struct dpe_probes *probes = argc > 1 ? dpe_probes_launch(plan, names, argv + 1, &options, diags) : NULL;
	struct flow flow = {dpe_recognizer_new(spec, NULL, &sink, diags), diags};
	int status = probes && flow.recognizer ? 0 : 2;

	if (!status)
		follow(probes, &flow);
	dpe_diags_print(diags, stderr);
	dpe_probes_free(probes);
	dpe_recognizer_free(flow.recognizer);
	dpe_plan_free(plan);
	dpe_spec_free(spec);
	dpe_diags_free(diags);
	dpe_names_free(names);
	return status;
}
X
cc -g -O1 target.c -o target
cc -Wall -Wextra -Werror observe.c -o observe $flags $libs >compiled 2>&1 || cat compiled
run ./observe ./target
gives 'a program linked with libdpe-probes observes another program' 0
same 'a program linked with libdpe-probes receives the match of its rule' out <<'X'
twice: 2 events
lost in 0 threads, the program returns 7
X
run ./observe ./nothing
says 'a program linked with libdpe-probes gets a diagnostic for a missing target' 2 'nothing'
finish
