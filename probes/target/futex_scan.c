/* futex_scan: whether threads of the target are deadlocked as far as the kernel shows: each sleeps in a futex without
 * timeout that no other process can wake. Two scans are compared, as a scan takes time: threads that have not run
 * between them all slept at one moment in between. */
#include "probes/target/target.h"

#include <stdlib.h>
#include <sys/syscall.h>

enum sleep_scan { AWAKE, UNSEEN, ASLEEP };

/* Whether the thread sleeps in a futex until it is woken. */
static enum sleep_scan look_at(pid_t pid, pid_t thread, struct dpe_sleeper *sleeper)
{
	struct dpe_thread_state state;

	if (!dpe_thread_look(pid, thread, &state) || state.stat.state != 'S')
		return AWAKE;
	if (state.denied)
		return UNSEEN;
	*sleeper = (struct dpe_sleeper){
		.thread = thread,
		.futex = state.args[0],
		.times = state.times,
		.seen = dpe_ring_now(),
	};
	return state.call == SYS_futex && !state.args[3] ? ASLEEP : AWAKE;
}

static bool is_among(pid_t thread, const pid_t *threads, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (threads[i] == thread)
			return true;
	}
	return false;
}

struct thread_search {
	pid_t pid;
	const pid_t *threads;
	unsigned count;
	bool found;
};

/* False if it is another thread that lives. */
static bool is_known(void *context, pid_t thread)
{
	struct thread_search *search = context;
	struct dpe_thread_state state = {0};

	if (is_among(thread, search->threads, search->count))
		return true;
	dpe_thread_look(search->pid, thread, &state);
	search->found = state.stat.state != 'Z' && state.stat.state != 'X';
	return !search->found;
}

/* True if every thread that lives is one of these. */
static bool are_all(pid_t pid, const pid_t *threads, unsigned count)
{
	struct thread_search search = {pid, threads, count, false};

	return !dpe_threads_each(pid, is_known, &search) && !search.found;
}

static bool any_is_shared(pid_t pid, const struct dpe_sleeper *sleepers, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (dpe_memory_is_shared(pid, sleepers[i].futex))
			return true;
	}
	return false;
}

bool dpe_probes_handles_signals(const struct dpe_probes *probes)
{
	return dpe_handles_signals(probes->pid);
}

/* ---- what was seen before ---------------------------------------------------------------- */

static struct dpe_sleeper *find_sleeper(const struct dpe_probes *probes, pid_t thread)
{
	for (unsigned i = 0; i < probes->nsleepers; i++) {
		if (probes->sleepers[i].thread == thread)
			return &probes->sleepers[i];
	}
	return NULL;
}

/* Only if the thread already slept so at the scan before; since then everything that was sent before it has
 * been delivered. */
static bool is_new(const struct dpe_probes *probes, const struct dpe_sleeper *now)
{
	const struct dpe_sleeper *before = find_sleeper(probes, now->thread);

	return !before || before->futex != now->futex || before->times != now->times ||
	       probes->drained < before->seen;
}

/* Fills in how each sleeps. AWAKE if one does not; UNSEEN if that is unknown. */
static enum sleep_scan look_at_all(const struct dpe_probes *probes, const pid_t *threads, unsigned count,
	struct dpe_sleeper *sleepers)
{
	for (unsigned i = 0; i < count; i++) {
		enum sleep_scan seen = look_at(probes->pid, threads[i], &sleepers[i]);

		if (seen != ASLEEP)
			return seen;
	}
	return ASLEEP;
}

static void remember(struct dpe_probes *probes, const struct dpe_sleeper *now)
{
	struct dpe_sleeper *before = find_sleeper(probes, now->thread);

	if (!before)
		before = DPE_GROW(probes->sleepers, probes->nsleepers, probes->capsleepers);
	*before = *now;
}

/* The new state is what the next scan compares with. */
static enum dpe_stuck compare(
	struct dpe_probes *probes, const struct dpe_sleeper *sleepers, unsigned count)
{
	enum dpe_stuck stuck = DPE_STUCK_CERTAIN;

	for (unsigned i = 0; i < count; i++) {
		if (!is_new(probes, &sleepers[i]))
			continue;
		stuck = DPE_STUCK_UNDECIDED;
		remember(probes, &sleepers[i]);
	}
	return stuck;
}

enum dpe_stuck dpe_probes_stuck(
	struct dpe_probes *probes, const pid_t *threads, unsigned count, bool all)
{
	enum dpe_stuck stuck = DPE_NOT_STUCK;
	struct dpe_sleeper *sleepers;
	enum sleep_scan seen;

	if (probes->exited) /* with all its threads: no wait of theirs can last */
		return DPE_NOT_STUCK;
	if (all && !are_all(probes->pid, threads, count))
		return DPE_NOT_STUCK;
	sleepers = dpe_xcalloc(count, sizeof(*sleepers));
	seen = look_at_all(probes, threads, count, sleepers);
	if (seen == UNSEEN)
		stuck = DPE_STUCK_UNKNOWN;
	else if (seen == ASLEEP && !(all && any_is_shared(probes->pid, sleepers, count)))
		stuck = compare(probes, sleepers, count);
	if (all && stuck != DPE_STUCK_UNDECIDED)
		probes->nsleepers = 0;
	free(sleepers);
	return stuck;
}
