/* observation: a target under observation, from its launch (or our attaching to it) to its end. */
#include "probes/target/target.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- beginning ---------------------------------------------------------------------------- */

/* An observation and its parts, in one allocation. */
struct observation {
	struct dpe_probes probes;
	struct dpe_watch watches[DPE_WATCHES];
	struct dpe_object_watches object_watches;
	struct dpe_child child;
	struct dpe_user user;
	struct dpe_watchdog watchdog;
	struct dpe_guards guards;
	struct dpe_kernel_rings rings;
	struct dpe_thread_names thread_names;
	struct dpe_merge merge;
	struct dpe_maps maps;
	struct dpe_process_probes first;
	struct dpe_removal sparing;
	dpe_name memory_names[DPE_MEMORY_EVENTS];
};

static struct dpe_probes *allocate(void)
{
	struct observation *whole = dpe_xcalloc(1, sizeof(*whole));

	whole->probes.watches = whole->watches;
	whole->probes.object_watches = &whole->object_watches;
	whole->probes.child = &whole->child;
	whole->probes.user = &whole->user;
	whole->probes.watchdog = &whole->watchdog;
	whole->probes.guards = &whole->guards;
	whole->probes.rings = &whole->rings;
	whole->probes.thread_names = &whole->thread_names;
	whole->probes.merge = &whole->merge;
	whole->probes.maps = &whole->maps;
	whole->probes.first = &whole->first;
	whole->probes.sparing = &whole->sparing;
	whole->probes.memory_names = whole->memory_names;
	return &whole->probes;
}

static struct dpe_probes *make(const struct dpe_plan *plan, struct dpe_names *names,
	const struct dpe_probes_options *options, struct dpe_diags *diags)
{
	struct dpe_probes *probes = allocate();

	probes->plan = plan;
	probes->names = names;
	probes->diags = diags;
	if (options) {
		probes->debug = options->debug;
		probes->ring_bytes = options->ring_bytes;
		probes->wanted_rings = options->rings;
		probes->stack_depth = options->stack_depth;
		probes->one_by_one = options->one_by_one;
		probes->stop_processes = options->stop_processes;
		probes->libraries = options->libraries;
		probes->nlibraries = options->nlibraries;
		probes->once = options->once;
		probes->stay = options->stay;
		probes->follows = options->follow;
		probes->children_wait = options->children_wait;
		probes->signal = options->signal;
		probes->stop = options->stop;
		probes->dynamic = options->dynamic;
	}
	probes->arena = dpe_arena_new();
	probes->pool = dpe_pool_new();
	probes->create = dpe_intern_string(names, DPE_THREAD_CREATE);
	probes->start = dpe_intern_string(names, DPE_THREAD_START);
	probes->found = dpe_intern_string(names, DPE_THREAD_FOUND);
	probes->end = dpe_intern_string(names, DPE_THREAD_EXIT);
	probes->waited = dpe_intern_string(names, DPE_PROCESS_WAIT);
	if (plan->channels)
		dpe_channels_open(probes);
	probes->pidfd = -1;
	probes->child->channel = -1;
	probes->status = -1;
	return probes;
}

static bool open_pidfd(struct dpe_probes *probes, struct dpe_diags *diags)
{
	probes->pidfd = pidfd_open(probes->pid, 0);
	if (probes->pidfd < 0)
		dpe_diag_at(diags, DPE_ERROR, "dpe", "cannot watch process %d: %s", probes->pid,
			strerror(errno));
	return probes->pidfd >= 0;
}

static bool find_user(struct dpe_probes *probes, const char *name, struct dpe_diags *diags)
{
	if (!dpe_user_find(probes->user, name, diags))
		return false;
	if (probes->user->uid == geteuid() || !geteuid())
		return true;
	dpe_diag_at(diags, DPE_ERROR, name, "only root can run the program as another user");
	return false;
}

/* Whether the addresses of its variables matter. If so, a target that we start is stopped where its program
 * begins, since they are unknown before. */
static bool has_places(const struct dpe_probes *probes)
{
	return probes->nwatches || dpe_bases_in_libraries(probes);
}

/* A running process may execute another program at any moment. Once the tracepoints are attached the kernel checks
 * that; an earlier exec is checked here. */
static bool place_probes(struct dpe_probes *probes, bool running, struct dpe_diags *diags)
{
	return dpe_attach_load(probes, diags) && dpe_follow_begin(probes, diags) &&
	       dpe_attach_tracepoints(probes, diags) &&
	       (!running || dpe_privilege_check_process(probes->pid, diags)) &&
	       dpe_late_mappings_begin(probes, diags) && dpe_attach_sites(probes, running, diags);
}

static bool check_translator(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_module *program = dpe_modules_program(&probes->modules);

	if (!program || !dpe_translates_code(program->fd))
		return true;
	dpe_diag_at(diags, DPE_ERROR, program->path,
		"cannot be observed: it translates the code that it runs, as Valgrind and QEMU do, "
		"and would take dpe's breakpoints for part of that code");
	return false;
}

static bool launch(struct dpe_probes *probes, const struct dpe_program *program, char *const argv[],
	const char *preload, const char *user, struct dpe_diags *diags)
{
	char *const *environment;

	if (!dpe_follow_check(probes, diags) || (user && !find_user(probes, user, diags)))
		return false;
	if (preload && !dpe_preload_open(probes, preload, diags))
		return false;
	environment = dpe_preload_environment(probes);
	if (!dpe_libraries_of_program(&probes->modules, program, environment, diags) ||
		!check_translator(probes, diags) ||
		!dpe_libraries_add(
			&probes->modules, probes->libraries, probes->nlibraries, diags) ||
		!dpe_packs_check(probes, diags) ||
		!dpe_preload_check(probes, diags) || !dpe_sites_find(probes, diags) ||
		!dpe_watches_find(probes, diags) || !dpe_object_watches_find(probes, diags) ||
		!dpe_reads_find(probes, diags) || !dpe_privilege_check(diags))
		return false;
	dpe_packs_report(probes, diags);
	dpe_memory_request(probes);
	if (!dpe_launch(probes->child,
		    &(struct dpe_launch){program, argv, environment, dpe_preload_file(probes),
			    probes->user->name ? probes->user : NULL, &probes->modules},
		    diags))
		return false;
	probes->launched = true;
	probes->pid = probes->first->pid = probes->child->pid;
	dpe_preload_begin(probes);
	probes->maps->pid = probes->pid;
	if (!open_pidfd(probes, diags) || !place_probes(probes, false, diags))
		return false;
	dpe_merge_open(probes);
	if (has_places(probes))
		dpe_attach_hold(probes);
	return dpe_stops_enable(probes, diags);
}

struct dpe_probes *dpe_probes_launch(const struct dpe_plan *plan, struct dpe_names *names,
	char *const argv[], const struct dpe_probes_options *options, struct dpe_diags *diags)
{
	struct dpe_program program;
	struct dpe_probes *probes;

	if (!dpe_program_find(&program, argv[0], diags))
		return NULL;
	probes = make(plan, names, options, diags);
	if (!launch(probes, &program, argv, options ? options->preload : NULL,
		    options ? options->user : NULL, diags)) {
		dpe_probes_free(probes);
		probes = NULL;
	}
	dpe_program_free(&program);
	return probes;
}

/* A number of /proc/PID/status, or -1. */
static long status_number(pid_t pid, const char *member)
{
	char number[64];

	return dpe_proc_status(pid, member, number, sizeof(number)) ? strtol(number, NULL, 10) : -1;
}

static bool check_process(pid_t pid, struct dpe_diags *diags)
{
	long process = pid > 0 ? status_number(pid, "Tgid") : -1;
	char where[32];

	snprintf(where, sizeof(where), "process %d", pid);
	if (process < 0)
		dpe_diag_at(diags, DPE_ERROR, where, "there is no such process");
	else if (process != pid)
		dpe_diag_at(diags, DPE_ERROR, where, "this is a thread of process %ld: name that",
			process);
	else if (pid == getpid())
		dpe_diag_at(diags, DPE_ERROR, where, "this is dpe itself");
	else if (status_number(pid, "VmSize") < 0)
		dpe_diag_at(diags, DPE_ERROR, where,
			"cannot be observed: it is a kernel thread, or its main thread has ended");
	else
		return true;
	return false;
}

/* No thread may begin while the others get their watchpoints. */
static bool watch_running(struct dpe_probes *probes, struct dpe_diags *diags)
{
	bool good;

	if (!probes->nwatches)
		return true;
	if (dpe_probes_stop(probes) < 0) {
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"process %d cannot be stopped, which watching variables needs",
			probes->pid);
		return false;
	}
	good = dpe_watches_set(probes, diags);
	dpe_probes_continue(probes);
	return good;
}

static bool find_bases(struct dpe_probes *probes, struct dpe_diags *diags)
{
	return !has_places(probes) ||
	       (dpe_load_addresses_find(probes, diags) && dpe_load_addresses_check(probes, diags));
}

static bool attach(struct dpe_probes *probes, struct dpe_diags *diags)
{
	bool good;

	if (probes->plan->memory) {
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"events of memory are reported by a library that a program loads when it starts: "
			"start it with dpe");
		return false;
	}
	good = dpe_follow_check(probes, diags) && dpe_privilege_check(diags) &&
	       check_process(probes->pid, diags) &&
	       dpe_privilege_check_process(probes->pid, diags) &&
	       open_pidfd(probes, diags) &&
	       dpe_libraries_of_process(&probes->modules, probes->pid, NULL, diags) &&
	       check_translator(probes, diags) &&
	       dpe_libraries_add(&probes->modules, probes->libraries, probes->nlibraries, diags) &&
	       dpe_packs_check(probes, diags) && dpe_sites_find(probes, diags) && dpe_watches_find(probes, diags) &&
	       dpe_object_watches_find(probes, diags) &&
	       dpe_reads_find(probes, diags) && find_bases(probes, diags);
	if (!good)
		return false;
	dpe_packs_report(probes, diags);
	if (!place_probes(probes, true, diags))
		return false;
	dpe_merge_open(probes);
	return watch_running(probes, diags) && dpe_stops_enable(probes, diags);
}

struct dpe_probes *dpe_probes_attach(const struct dpe_plan *plan, struct dpe_names *names,
	pid_t pid, const struct dpe_probes_options *options, struct dpe_diags *diags)
{
	struct dpe_probes *probes = make(plan, names, options, diags);

	probes->pid = probes->maps->pid = probes->first->pid = pid;
	probes->started = true;
	if (attach(probes, diags)) {
		dpe_late_mappings_scan(probes, probes->pid); /* at what was mapped while we began */
		return probes;
	}
	dpe_probes_free(probes);
	return NULL;
}

/* ---- while it runs ------------------------------------------------------------------------ */

static void reap(struct dpe_probes *probes)
{
	int status;

	probes->exited = true;
	dpe_kernel_rings_ended(probes->rings, probes->pidfd);
	dpe_follow_first_ended(probes);
	if (!probes->child->pid)
		return;
	while (waitpid(probes->child->pid, &status, 0) < 0)
		if (errno != EINTR)
			return;
	probes->status = status;
}

/* True once it is stopped; false if it has ended, or, with -1 in *error, if that is not known. */
static bool await_stop(struct dpe_probes *probes, int *error)
{
	int status;

	while (waitpid(probes->child->pid, &status, WUNTRACED) < 0) {
		if (errno == EINTR)
			continue;
		*error = -1;
		return false;
	}
	if (WIFSTOPPED(status))
		return true;
	probes->exited = true;
	probes->status = status;
	return false;
}

/* The target continues from stop to stop until all libraries with wanted variables are mapped. */
static bool await_libraries(struct dpe_probes *probes, int *error, struct dpe_diags *diags)
{
	if (!dpe_attach_hold_linker(probes, diags))
		return false;
	while (dpe_load_addresses_missing(probes) && !dpe_attach_begins(probes)) {
		*error = dpe_control_continue(probes);
		if (*error || !await_stop(probes, error))
			return !*error;
		if (!dpe_load_addresses_find(probes, diags))
			return false;
	}
	dpe_attach_unhold(probes);
	if (!dpe_load_addresses_check(probes, diags) || !dpe_watches_set(probes, diags))
		return false;
	dpe_attach_configure_reads(probes);
	dpe_late_mappings_scan(probes, probes->pid);
	return true;
}

static bool begin_watching(struct dpe_probes *probes, int *error, struct dpe_diags *diags)
{
	if (!dpe_load_addresses_find(probes, diags) || !dpe_watches_set(probes, diags))
		return false;
	return !dpe_load_addresses_missing(probes) || await_libraries(probes, error, diags);
}

/* The kernel stops the target at the beginning of its program. */
static int watch_launched(struct dpe_probes *probes, struct dpe_diags *diags)
{
	int error = 0;

	if (!await_stop(probes, &error))
		return error;
	if (dpe_attach_untraceable(probes)) {
		dpe_probes_continue(probes);
		return 0;
	}
	if (begin_watching(probes, &error, diags)) {
		dpe_probes_continue(probes);
		return 0;
	}
	if (error)
		dpe_diag_at(diags, DPE_ERROR, "dpe", "process %d cannot be waited for", probes->pid);
	dpe_probes_kill(probes);
	reap(probes);
	return -1;
}

int dpe_probes_start(struct dpe_probes *probes, struct dpe_diags *diags)
{
	int error;

	if (probes->started)
		return 0;
	probes->started = true;
	if (has_places(probes))
		dpe_probes_expect_stop(probes);
	error = dpe_launch_go(probes->child);
	if (!error)
		return has_places(probes) ? watch_launched(probes, diags) : 0;
	reap(probes);
	dpe_diag_at(diags, DPE_ERROR, probes->modules.at[0]->path, "cannot be run: %s",
		strerror(error));
	return -1;
}

pid_t dpe_probes_pid(const struct dpe_probes *probes)
{
	return probes->pid;
}

#define PF_EXITING 0x4 /* of Linux */

static bool is_ending(pid_t pid)
{
	struct dpe_proc_stat stat;

	return !dpe_proc_stat(pid, pid, &stat) || stat.state == 'Z' || stat.flags & PF_EXITING;
}

/* The first attempt shows whether the process ends meanwhile, which is not an error. */
struct dpe_waits *dpe_probes_waits(const struct dpe_probes *probes, unsigned depth, struct dpe_diags *diags)
{
	struct dpe_diverted_returns returns = dpe_attach_returns(probes, probes->pid);
	struct dpe_diags *ignored = dpe_diags_new();
	struct dpe_waits *waits = dpe_waits_read(probes->pid, depth, &returns, ignored);

	if (!waits && !is_ending(probes->pid))
		waits = dpe_waits_read(probes->pid, depth, &returns, diags);
	dpe_diags_free(ignored);
	free(returns.at);
	return waits;
}

static bool is_over(const struct dpe_probes *probes)
{
	return probes->exited && !dpe_follow_is_alive(probes);
}

int dpe_probes_poll(struct dpe_probes *probes, int timeout, const struct dpe_probes_sink *sink)
{
	int ended;
	uint64_t question;
	bool over, complete;

	if (probes->merge->behind)
		timeout = 0;
	else if (probes->preload && (timeout < 0 || timeout > DPE_PRELOAD_PAUSE))
		timeout = DPE_PRELOAD_PAUSE;
	/* A request may have woken us by the ring after we last checked for requests. */
	if (dpe_stops_pending(probes) || dpe_attach_asked(probes, &question))
		timeout = 0;
	ended = is_over(probes) ? 0
				: dpe_kernel_rings_wait(probes->rings,
					  probes->exited ? -1 : probes->pidfd, timeout);
	if (ended < 0)
		return -1;
	if (ended)
		reap(probes);
	dpe_follow_serve(probes);
	dpe_requests_answer(probes);
	dpe_process_probes_sweep(probes);
	dpe_attach_spare_children(probes);
	over = is_over(probes);
	dpe_stops_scan(probes);
	complete = dpe_merge_deliver(probes, over, over ? 0 : DPE_CLOCK_SLACK, sink);
	sink->watermark(sink->context, probes->drained);
	dpe_stops_settle(probes, complete, sink);
	return !(complete && over);
}

uint64_t dpe_probes_others(const struct dpe_probes *probes)
{
	return probes->follow ? dpe_attach_living(probes) - !probes->exited
			      : dpe_attach_children(probes);
}

uint64_t dpe_probes_cut_stacks(const struct dpe_probes *probes)
{
	return dpe_attach_cut_stacks(probes);
}

int dpe_probes_status(const struct dpe_probes *probes)
{
	return probes->status;
}

uint64_t dpe_probes_delivered(const struct dpe_probes *probes)
{
	return probes->delivering > probes->drained ? probes->delivering : probes->drained;
}

/* ---- the end ------------------------------------------------------------------------------ */

void dpe_probes_free(struct dpe_probes *probes)
{
	if (!probes)
		return;
	dpe_access_free(probes);
	dpe_preload_shut(probes);
	dpe_detach(probes);
	dpe_follow_free(probes);
	dpe_stops_disable(probes);
	dpe_attach_free(probes);
	dpe_probes_continue(probes);
	dpe_watchdog_dismiss(probes->watchdog);
	dpe_launch_close(probes->child);
	if (probes->child->pid && !probes->started)
		kill(probes->child->pid, SIGKILL);
	if (probes->child->pid && !probes->exited)
		waitpid(probes->child->pid, NULL, probes->started ? WNOHANG : 0);
	dpe_kernel_rings_close(probes->rings);
	dpe_merge_free(probes);
	dpe_thread_names_free(probes);
	dpe_preload_free(probes);
	if (probes->pidfd >= 0)
		close(probes->pidfd);
	free(probes->maps->at);
	free(probes->linkers);
	dpe_channels_free(probes->channels);
	dpe_extra_messages_free(probes->extra_messages);
	free(probes->sleepers);
	free(probes->sites);
	free(probes->awaited);
	free(probes->reads);
	dpe_losses_free(probes->losses);
	dpe_modules_free(&probes->modules);
	dpe_user_free(probes->user);
	dpe_arena_free(probes->arena);
	dpe_pool_free(probes->pool);
	free(probes);
}
