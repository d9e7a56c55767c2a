/* A live run: probes → log and recognizer → report, until the target ends or the user stops. */
#include "cli/live_run.h"
#include "cli/limits.h"
#include "cli/progress.h"
#include "cli/stats.h"
#include "cli/top.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct live {
	struct cli *cli;
	const struct cli_live_run *how;
	struct dpe_spec *spec;
	struct dpe_plan *plan;
	struct dpe_probes *probes;
	struct dpe_recognizer *recognizer;
	struct dpe_log_writer *log; /* or NULL */
	struct cli_report *report;
	struct cli_progress progress;
	struct cli_stats *stats; /* or NULL */
	struct cli_top *top;     /* or NULL */
	uint64_t measured; /* ms: when it was printed last */
	uint64_t deadline; /* ms: when we were asked to end; 0: not yet */
	int signals;
	bool ignores_hangup;
	unsigned interrupts;
	bool asked_to_end; /* by a signal that is meant for dpe, not for the target, or on the screen of `dpe top` */
	bool target_ended;
	uint64_t latest; /* of the last message */
	dpe_name ends; /* thread::exit */
	bool active;   /* an event other than thread::exit came since the last turn */
	uint64_t quiet; /* since when there was none, in ms; 0: what threads wait for was noted */
};

/* ---- messages ---------------------------------------------------------------------------- */

static void on_message(void *context, struct dpe_message *message)
{
	struct live *live = context;

	if (message->time < live->latest)
		dpe_recognizer_doubt(live->recognizer, "events came too late to be put in order");
	live->latest = message->time;
	live->active |= message->name != live->ends;
	dpe_recognizer_feed(live->recognizer, message, live->cli->diags);
}

static void on_watermark(void *context, uint64_t time)
{
	struct live *live = context;

	dpe_recognizer_watermark(live->recognizer, (struct dpe_value){0}, time);
}

/* Flags of rules that cannot be checked in time stay set. */
static bool on_settled(void *context, uint64_t *live_flags)
{
	struct live *live = context;
	const struct dpe_event_flag *flags;
	unsigned count;

	if (!dpe_recognizer_idle(live->recognizer))
		return false;
	*live_flags = 0;
	count = dpe_plan_flags(live->plan, &flags);
	for (unsigned i = 0; i < count; i++) {
		const struct dpe_event_flag *flag = &flags[i];
		uint64_t patterns;

		if (!dpe_recognizer_live(live->recognizer, flag->rule, &patterns) ||
			patterns & (flag->whole ? UINT64_MAX : flag->patterns))
			*live_flags |= UINT64_C(1) << i;
	}
	return true;
}

/* ---- losses and signals ------------------------------------------------------------------ */

static uint64_t sum_losses(const struct dpe_loss *losses, unsigned count)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += losses[i].count;
	return sum;
}

struct dpe_loss *cli_losses(struct dpe_probes *probes, unsigned *count)
{
	unsigned room = dpe_probes_losses(probes, NULL, 0);
	struct dpe_loss *losses = dpe_xcalloc(room + 1, sizeof(*losses));

	*count = dpe_probes_losses(probes, losses, room);
	if (*count > room)
		*count = room;
	return losses;
}

/* SIGUSR1 prints the current state. */
static void print_state(struct live *live)
{
	unsigned nlosses;
	struct dpe_loss *losses = cli_losses(live->probes, &nlosses);

	cli_report_state(live->report, live->recognizer, sum_losses(losses, nlosses));
	if (live->how->waits)
		cli_report_waits(live->report, dpe_probes_pid(live->probes), false);
	free(losses);
}

static bool is_ignored(const struct live *live, const struct signalfd_siginfo *info)
{
	return info->ssi_signo == SIGHUP && live->ignores_hangup && info->ssi_pid != (uint32_t)getpid();
}

/* Ctrl-C and Ctrl-\ reach the target too, which decides what to do (Java's prints its threads); a second Ctrl-C ends dpe. */
static void read_signals(struct live *live)
{
	struct signalfd_siginfo info;

	while (read(live->signals, &info, sizeof(info)) == sizeof(info)) {
		if (is_ignored(live, &info))
			continue;
		if (info.ssi_signo == SIGUSR1)
			print_state(live);
		else if (info.ssi_signo == SIGQUIT && live->how->launch)
			continue;
		else if (info.ssi_signo != SIGINT || !live->how->launch || live->interrupts++)
			live->asked_to_end = true;
	}
}

/* ---- the run ----------------------------------------------------------------------------- */

char *cli_find_library(struct cli *cli, const char *name)
{
	static const char *const places[] = {"", "/build", "/../lib/dpe"};
	char *path = cli_find_beside(places, DPE_COUNT(places), DPE_LIBDIR, name), *folder;

	if (path)
		return path;
	folder = cli_command_folder();
	dpe_diag_at(cli->diags, DPE_ERROR, "dpe", "%s is neither beside %s/dpe nor in %s: run 'make', or 'make install'",
		name, folder, DPE_LIBDIR);
	free(folder);
	return NULL;
}

/* Stopping a running process for a moment may be noticed by others; and an event stops only one
 * process. */
static bool breaks_at_events(const struct live *live)
{
	if (!live->how->recognize || live->cli->break_at == CLI_BREAK_LATER)
		return false;
	return (live->how->launch && !live->cli->follow) || live->cli->break_at == CLI_BREAK_EVENT;
}

static bool begin_probes(struct live *live)
{
	struct cli *cli = live->cli;
	struct dpe_probes_options options = {
		.ring_bytes = cli->ring_bytes,
		.rings = cli->rings,
		.stack_depth = cli->stack_depth,
		.libraries = cli->libraries.at,
		.nlibraries = cli->libraries.count,
		.once = live->how->once,
		.stay = cli->stay,
		.follow = cli->follow,
		.stop = breaks_at_events(live),
		.dynamic = cli->dynamic,
		.user = cli->user,
		.debug = cli->debug,
	};
	const char *name = dpe_plan_has_memory(live->plan) ? "libdpe-mem.so" : cli->preload ? "libdpe-pthread.so" : NULL;
	char *library;

	if (cli->follow && (cli->preload || cli->break_at == CLI_BREAK_EVENT)) {
		cli_usage_error(cli,
			cli->preload ? "--preload observes one process: it cannot be combined with --follow"
				     : "--break-at=event stops one process: it does not go with "
				       "--follow");
		return false;
	}
	library = name && live->how->launch ? cli_find_library(cli, name) : NULL;
	if (name && live->how->launch && !library)
		return false;
	options.preload = library;
	if (live->how->launch)
		live->probes = dpe_probes_launch(
			live->plan, cli->names, cli->target, &options, cli->diags);
	else
		live->probes =
			dpe_probes_attach(live->plan, cli->names, cli->pid, &options, cli->diags);
	free(library);
	return live->probes;
}

static bool begin_outputs(struct live *live)
{
	struct cli *cli = live->cli;
	struct dpe_recognizer_options options = {
		.engine = cli->engine,
		.ordered = true, /* in order of time, so that no watermark is needed */
		.max_instances = cli->max_instances,
		.hang_after = cli_hang_after(cli),
		.stabilize_only = !live->how->recognize,
		.debug = cli->debug,
		.memory_observed = live->how->memory_observed,
		.skip_happened = live->how->skip_happened,
	};
	struct dpe_recognizer_sink sink;

	live->report = cli_report_new(cli, live->spec);
	if (!live->report)
		return false;
	sink = cli_report_sink(live->report, true);
	live->recognizer = dpe_recognizer_new(live->spec, &options, &sink, cli->diags);
	cli_report_set_recognizer(live->report, live->recognizer);
	return live->recognizer;
}

/* Only when all probes are placed, so that an earlier log is not lost if they cannot be. */
static bool begin_log(struct live *live, bool omits_reads)
{
	struct cli *cli = live->cli;
	const struct dpe_log_header header = {.ordered = true, .omits_reads = omits_reads};

	if (!cli->output)
		return true;
	live->log = dpe_log_create(cli->names, cli->output, DPE_LOG_UNKNOWN, header, cli->diags);
	cli_report_set_log(live->report, live->log);
	return live->log;
}

static void show_progress(struct live *live)
{
	unsigned nlosses;
	struct dpe_loss *losses = cli_losses(live->probes, &nlosses);

	cli_progress_print(&live->progress, live->recognizer, sum_losses(losses, nlosses),
		dpe_probes_pid(live->probes));
	free(losses);
}

/* What was measured so far, at each --interval. */
static void measure(struct live *live)
{
	uint64_t now = cli_clock(), interval = live->cli->interval * UINT64_C(1000);

	if (!interval || now < live->measured + interval)
		return;
	if (live->measured)
		dpe_recognizer_measure(live->recognizer);
	live->measured = now;
}

/* The timeout for messages, in ms; a deadline of the rules may shorten it. */
static int longest_wait(const struct live *live)
{
	uint64_t due = dpe_recognizer_due(live->recognizer) / 1000000 + 1, now = cli_clock();

	if (due == 1 || due >= now + CLI_WAIT_TIME)
		return CLI_WAIT_TIME;
	return due > now ? (int)(due - now) : 1;
}

static void show(struct live *live)
{
	unsigned nlosses;
	struct dpe_loss *losses = cli_losses(live->probes, &nlosses);
	const struct cli_top_state state = {
		.probes = live->probes,
		.pid = dpe_probes_pid(live->probes),
		.name = live->how->launch ? live->cli->target[0] : "process",
		.lost = sum_losses(losses, nlosses),
		.target_ended = live->target_ended,
	};

	live->asked_to_end |= !cli_top_turn(live->top, &state);
	free(losses);
}

/* The findings stay on the screen. */
static void show_until_quit(struct live *live)
{
	const struct timespec moment = {.tv_nsec = CLI_WAIT_TIME * 1000000};

	while (live->target_ended && !live->asked_to_end) {
		show(live);
		read_signals(live);
		nanosleep(&moment, NULL);
	}
}

/* A process that ends dpe often ends the program a moment later: that end is to be reported as well. */
static bool keeps_running(struct live *live)
{
	uint64_t now = cli_clock();

	if (live->asked_to_end && !live->deadline)
		live->deadline = now + CLI_TARGET_END_TIME;
	return !live->asked_to_end || now < live->deadline;
}

/* Ctrl-C ends the program, too: what its threads wait for is to be known before. Their ends are then the last events. */
static void note_waits(struct live *live)
{
	if (!live->how->waits || !live->how->launch)
		return;
	if (live->active) {
		live->active = false;
		live->quiet = cli_clock();
		cli_report_forget_waits(live->report);
	} else if (live->quiet && cli_clock() >= live->quiet + CLI_QUIET_TIME) {
		live->quiet = 0;
		cli_report_note_waits(live->report);
	}
}

static void follow(struct live *live)
{
	const struct cli *cli = live->cli;
	uint64_t begin = cli_clock();
	const struct dpe_probes_sink sink = {
		.context = live,
		.message = on_message,
		.watermark = on_watermark,
		.settled = on_settled,
	};

	cli_progress_begin(&live->progress, cli, live->how->launch ? 0 : cli->pid);
	live->stats = cli_stats_begin(cli, live->recognizer);
	while (keeps_running(live)) {
		int got = dpe_probes_poll(live->probes, longest_wait(live), &sink);

		dpe_diags_print(live->cli->diags, stderr);
		if (cli_report_user_quit(live->report))
			return;
		if (got < 0 && errno != EINTR)
			dpe_diag_at(live->cli->diags, DPE_ERROR, "dpe",
				"cannot read the ring buffers: %s", strerror(errno));
		live->target_ended = !got;
		if (!got || (got < 0 && errno != EINTR))
			return;
		read_signals(live);
		if (live->top)
			show(live);
		if (cli_progress_due(&live->progress))
			show_progress(live);
		measure(live);
		note_waits(live);
		if (cli->duration && cli_clock() - begin >= cli->duration * UINT64_C(1000))
			return;
	}
}

/* ---- the end ----------------------------------------------------------------------------- */

static struct dpe_value thread_of(const struct dpe_loss *loss)
{
	return loss->thread ? dpe_value_int(loss->thread) : (struct dpe_value){.kind = DPE_NONE};
}

/* After a thread's last message no gap shows losses. */
void cli_log_loss(struct dpe_log_writer *log, const struct dpe_loss *lost)
{
	if (log)
		dpe_log_write_lost(log, thread_of(lost), lost->count + lost->doubts);
}

void cli_lose(struct dpe_recognizer *recognizer, const struct dpe_loss *lost)
{
	const struct dpe_thread_loss loss = {
		.thread = thread_of(lost),
		.count = lost->count,
		.doubts = lost->doubts,
		.has_times = true,
		.first = lost->first,
		.last = lost->last,
	};

	dpe_recognizer_lose(recognizer, &loss);
}

/* False after an error. */
static bool end_log(struct live *live)
{
	struct dpe_log_writer *log = live->log;

	if (!log)
		return true;
	live->log = NULL;
	cli_report_set_log(live->report, NULL);
	return dpe_log_finish(log, live->cli->diags) >= 0;
}

/* `recorded`: all of them are in the log. Otherwise an error says why not. */
static void end_record(struct live *live, bool recorded, const struct dpe_loss *losses, unsigned nlosses)
{
	struct dpe_summary summary;

	dpe_recognizer_summary(live->recognizer, &summary);
	fprintf(stderr, "dpe: %llu events %s%s, %llu lost\n", (unsigned long long)summary.events,
		recorded ? "recorded in " : "observed", recorded ? live->cli->output : "",
		(unsigned long long)sum_losses(losses, nlosses));
	for (unsigned i = 0; i < nlosses; i++)
		fprintf(stderr, "  thread %d lost %llu\n", losses[i].thread,
			(unsigned long long)losses[i].count);
}

static void end_outputs(struct live *live)
{
	unsigned nlosses;
	struct dpe_loss *losses = cli_losses(live->probes, &nlosses);
	bool recorded;

	dpe_probes_report_missing(live->probes, live->cli->diags);
	for (unsigned i = 0; i < nlosses; i++)
		cli_lose(live->recognizer, &losses[i]);
	cli_stats_note(live->stats, live->recognizer);
	dpe_recognizer_finish(live->recognizer);
	for (unsigned i = 0; i < nlosses; i++)
		cli_log_loss(live->log, &losses[i]);
	recorded = end_log(live);
	if (live->how->recognize)
		cli_report_finish(live->report, live->recognizer);
	else
		end_record(live, recorded, losses, nlosses);
	cli_stats_end(live->stats, live->report, live->recognizer);
	if (live->how->recognize && cli_report_needs_order(live->report))
		dpe_probes_report_unobserved_order(live->probes, live->cli->diags);
	free(losses);
}

/* Each such stop costs the program a few hundred microseconds. */
static void print_stops(const struct live *live)
{
	uint64_t idle = dpe_probes_stops(live->probes) - cli_report_stops(live->report);

	if (idle >= CLI_USELESS_STOPS)
		fprintf(stderr,
			"dpe: %llu events stopped the program for a moment, as they could have led "
			"to a break (--break-at=later lets it run)\n",
			(unsigned long long)idle);
}

/* `wait_status`: as from wait(2), or -1. */
static int target_status(int wait_status)
{
	if (wait_status < 0)
		return CLI_ERROR;
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* Whether the waits of a process that runs already are observed: what it waits for now can be read without probes. */
static bool attaches_to_waits(const struct live *live)
{
	return live->how->waits && !live->how->launch;
}

static bool begin_observing(struct live *live)
{
	bool omits_reads;

	if (!begin_probes(live)) {
		if (attaches_to_waits(live) && !kill(live->cli->pid, 0))
			cli_report_waits(live->report, live->cli->pid, false); /* which needs fewer rights */
		return false;
	}
	omits_reads = dpe_probes_omits_reads(live->probes);
	if (!begin_log(live, omits_reads))
		return false;
	if (omits_reads)
		dpe_recognizer_expect_updates(live->recognizer);
	live->ignores_hangup = cli_live_ignores_hangup();
	live->signals = cli_live_take_signals();
	cli_report_set_probes(live->report, live->probes, live->signals);
	if (live->how->launch && dpe_probes_start(live->probes, live->cli->diags) < 0)
		return false;
	dpe_probes_drop_privileges(live->probes, live->cli->diags);
	dpe_diags_print(live->cli->diags, stderr);
	return !live->top || cli_top_begin(live->top, live->report, live->recognizer);
}

/* `wait_status`: as from wait(2), or -1. */
static bool is_killed(int wait_status)
{
	return wait_status >= 0 && WIFSIGNALED(wait_status);
}

static void end_observing(struct live *live)
{
	if (live->top)
		show_until_quit(live);
	cli_top_end(live->top);
	live->top = NULL;
	if (live->how->waits && !live->target_ended && !cli_report_user_quit(live->report))
		cli_report_waits(live->report, dpe_probes_pid(live->probes), true);
	else if (live->target_ended && is_killed(dpe_probes_status(live->probes)))
		cli_report_noted_waits(live->report);
	if (!cli_report_user_quit(live->report))
		cli_live_print_target(live->cli, live->how, live->probes, live->target_ended);
	print_stops(live);
	end_outputs(live);
}

static int run(struct live *live)
{
	if (!cli_gdb_check(live->cli) || !begin_outputs(live))
		return CLI_ERROR;
	if (live->how->screen && !(live->top = cli_top_new(live->cli)))
		return CLI_ERROR;
	if (attaches_to_waits(live) && cli_report_hangs_already(live->report, live->cli->pid))
		return CLI_GOOD;
	if (!begin_observing(live))
		return CLI_ERROR;
	follow(live);
	end_observing(live);
	return dpe_diags_errors(live->cli->diags) ? CLI_ERROR : CLI_GOOD;
}

/* Errors first, then findings; then the program's own status, if that is asked for, or what is
 * inconclusive. A program that a signal ended is no success. */
static int choose_status(const struct live *live, int status, int verdict, int wait_status)
{
	bool killed = live->how->launch && wait_status >= 0 && WIFSIGNALED(wait_status);
	int own = live->cli->target_status || (verdict == CLI_GOOD && killed) ? target_status(wait_status) : CLI_GOOD;

	if (status != CLI_GOOD || verdict == CLI_FINDING || verdict == CLI_ERROR)
		return status != CLI_GOOD ? status : verdict;
	return own != CLI_GOOD ? own : verdict;
}

static int close_all(struct live *live, int status)
{
	int verdict = CLI_GOOD, wait_status = -1;

	cli_top_end(live->top);
	if (!end_log(live)) /* observing has failed before its end */
		status = CLI_ERROR;
	dpe_recognizer_free(live->recognizer);
	if (live->report)
		verdict = cli_report_free(live->report);
	cli_live_leave_timer();
	if (live->probes)
		wait_status = dpe_probes_status(live->probes);
	dpe_probes_free(live->probes);
	if (live->signals >= 0)
		close(live->signals);
	dpe_plan_free(live->plan);
	/* before the specification is freed, whose lines they show */
	dpe_diags_print(live->cli->diags, stderr);
	dpe_spec_free(live->spec);
	return choose_status(live, status, verdict, wait_status);
}

static int show_plan(struct live *live)
{
	struct dpe_text text = {0};

	dpe_plan_print(&text, live->cli->names, live->plan);
	fputs(text.at ? text.at : "", stdout);
	dpe_text_free(&text);
	return CLI_GOOD;
}

int cli_live_run(struct cli *cli, const struct cli_live_run *how)
{
	struct live live = {.cli = cli, .how = how, .signals = -1};

	live.spec = cli_compile_runnable(cli, true);
	if (!live.spec)
		return CLI_ERROR;
	live.plan = dpe_plan_new(live.spec);
	live.ends = dpe_intern_string(cli->names, DPE_THREAD_EXIT);
	live.quiet = cli_clock();
	return close_all(&live, cli->plan ? show_plan(&live) : run(&live));
}
