/* observe: what tests of live targets share: targets, plans made by hand, all results of a run. */
#ifndef DPE_TESTS_OBSERVE_H
#define DPE_TESTS_OBSERVE_H

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/plan/plan.h"

#include <cmocka.h>

#define MAX_SITES 8
#define MAX_LOSSES 64

/* The folder into which the targets were compiled. */
struct targets {
	char folder[32];
	/* position-independent; at fixed addresses; static, with debug information */
	char plain[64], fixed[64], whole[64];
};

/* One observed run. */
struct run {
	struct dpe_names *names;
	struct dpe_diags *diags;
	struct dpe_plan_site sites[MAX_SITES];
	struct dpe_plan plan;
	struct dpe_probes_options options;
	struct dpe_probes *probes;
	struct dpe_message **messages;
	unsigned count, cap;
	uint64_t watermark;
	unsigned early; /* messages of a time before a watermark that came before them */
	struct dpe_loss losses[MAX_LOSSES];
	unsigned nlosses;
	int status;
};

static inline void compile(const char *to, const char *flags, const char *sources)
{
	const char *compiler = getenv("CC");
	char folder[] = __FILE__;
	char *command;

	*strrchr(folder, '/') = '\0';
	command = dpe_xasprintf("cd %s/targets && %s -O2 -pthread %s -o %s %s", folder,
		compiler ? compiler : "cc", flags, to, sources);
	if (system(command))
		fail_msg("cannot compile the target: %s", command);
	free(command);
}

static inline void make_targets(struct targets *targets)
{
	char library[64], *sources;

	strcpy(targets->folder, "/tmp/dpe-live-XXXXXX");
	assert_non_null(mkdtemp(targets->folder));
	snprintf(targets->plain, sizeof(targets->plain), "%s/plain", targets->folder);
	snprintf(targets->fixed, sizeof(targets->fixed), "%s/fixed", targets->folder);
	snprintf(targets->whole, sizeof(targets->whole), "%s/whole", targets->folder);
	snprintf(library, sizeof(library), "%s/libtwice.so.1", targets->folder);
	compile(library, "-shared -fPIC", "library.c");
	sources = dpe_xasprintf("target.c %s -Wl,-rpath,%s", library, targets->folder);
	compile(targets->plain, "-fPIE -pie", sources);
	compile(targets->fixed, "-fno-pie -no-pie", sources);
	compile(targets->whole, "-g -static", "target.c library.c");
	free(sources);
}

static inline void begin(struct run *run)
{
	*run = (struct run){.names = dpe_names_new(), .diags = dpe_diags_new(), .status = -1};
	run->plan.sites = run->sites;
}

static inline void add_site(struct run *run, const char *module, const char *name, unsigned nargs)
{
	run->sites[run->plan.nsites++] = (struct dpe_plan_site){
		.name = dpe_intern_string(run->names, name),
		.module = module ? dpe_intern_string(run->names, module) : 0,
		.enter = true,
		.exit = true,
		.nargs = nargs,
	};
}

static inline void keep_message(void *context, struct dpe_message *message)
{
	struct run *run = context;

	run->early += message->time < run->watermark;
	*DPE_GROW(run->messages, run->count, run->cap) = message;
}

static inline void keep_watermark(void *context, uint64_t time)
{
	struct run *run = context;

	assert_true(time >= run->watermark);
	run->watermark = time;
}

/* 0 once the target has ended. */
static inline int poll_once(struct run *run, int timeout)
{
	const struct dpe_probes_sink sink = {
		.context = run, .message = keep_message, .watermark = keep_watermark};
	int more = dpe_probes_poll(run->probes, timeout, &sink);

	assert_true(more >= 0 || errno == EINTR);
	return more;
}

static inline void print_errors(struct run *run)
{
	dpe_diags_print(run->diags, stderr);
}

static inline void launch(struct run *run, char *const argv[])
{
	run->probes = dpe_probes_launch(&run->plan, run->names, argv, &run->options, run->diags);
	print_errors(run);
	assert_non_null(run->probes);
}

static inline void finish(struct run *run)
{
	while (poll_once(run, 100))
		;
	run->status = dpe_probes_status(run->probes);
	run->nlosses = dpe_probes_losses(run->probes, run->losses, MAX_LOSSES);
	assert_int_equal(run->early, 0);
}

static inline void observe(struct run *run, char *const argv[])
{
	launch(run, argv);
	assert_int_equal(dpe_probes_start(run->probes, run->diags), 0);
	finish(run);
}

static inline void end(struct run *run)
{
	dpe_probes_free(run->probes);
	for (unsigned i = 0; i < run->count; i++)
		dpe_message_unref(run->messages[i]);
	free(run->messages);
	dpe_diags_free(run->diags);
	dpe_names_free(run->names);
}

static inline bool is_event(
	const struct run *run, const struct dpe_message *message, const char *name, int phase)
{
	return !strcmp(dpe_name_text(run->names, message->name), name) &&
	       (int)message->phase == phase;
}

static inline unsigned count_events(const struct run *run, const char *name, int phase)
{
	unsigned count = 0;

	for (unsigned i = 0; i < run->count; i++)
		count += is_event(run, run->messages[i], name, phase);
	return count;
}

static inline int64_t number(struct dpe_value value)
{
	int64_t number = -1;

	assert_true(dpe_value_as_int(value, &number));
	return number;
}

/* Messages of that thread that did not arrive, by the gaps in their numbers; losses at its end, after
 * which none arrives, are not counted. */
static inline uint64_t count_gaps(const struct run *run, int64_t thread)
{
	uint64_t next = 0, gaps = 0;

	for (unsigned i = 0; i < run->count; i++) {
		const struct dpe_message *message = run->messages[i];

		if (number(message->thread) != thread)
			continue;
		assert_true(message->has_seq && message->seq >= next);
		gaps += message->seq - next;
		next = message->seq + 1;
	}
	return gaps;
}

static inline void assert_no_gaps(const struct run *run)
{
	assert_int_equal(run->nlosses, 0);
	for (unsigned i = 0; i < run->count; i++)
		assert_int_equal(count_gaps(run, number(run->messages[i]->thread)), 0);
}

/* The text of the diagnostics. */
static inline char *errors_of(struct run *run)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	dpe_diags_print(run->diags, file);
	fclose(file);
	return text;
}

static inline void assert_error(struct run *run, const char *words)
{
	char *text = errors_of(run);

	assert_int_equal(dpe_diags_errors(run->diags), 1);
	if (!strstr(text, words))
		fail_msg("no \"%s\" in: %s", words, text);
	free(text);
}

/* ---- the group ------------------------------------------------------------------------------- */

static inline struct targets *targets_of(void **state)
{
	return *state;
}

static inline int make_all(void **state)
{
	struct targets *targets = dpe_xcalloc(1, sizeof(*targets));

	make_targets(targets);
	*state = targets;
	return 0;
}

static inline int remove_all(void **state)
{
	struct targets *targets = *state;
	char *command = dpe_xasprintf("rm -rf %s", targets->folder);
	int status = system(command);

	free(command);
	free(targets);
	return status;
}

/* NULL if probes can be attached. */
static inline char *why_not(void)
{
	char *const argv[] = {"true", NULL};
	struct run run;
	char *why = NULL;

	begin(&run);
	run.probes = dpe_probes_launch(&run.plan, run.names, argv, &run.options, run.diags);
	if (!run.probes)
		why = errors_of(&run);
	end(&run);
	return why;
}

/* False, with the reason printed, if probes cannot be attached and the test may be skipped (see DPE_LIVE). */
static inline bool may_run(void)
{
	const char *wanted = getenv("DPE_LIVE");
	bool required = wanted && !strcmp(wanted, "require");
	char *why = why_not();
	bool may = !why || required;

	if (why)
		printf("live tests%s: %s", may ? "" : " skipped", why);
	free(why);
	return may;
}

/* Attaching probes one by one needs more privileges than attaching all at once. */
static inline bool is_root(void)
{
	return !geteuid();
}

#define ARGV(...) ((char *[]){__VA_ARGS__, NULL})

#endif
