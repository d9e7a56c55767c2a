/* run_findings: how a run ended, by the state that it left. */
#include "explore/runs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void dpe_finding_free(struct dpe_finding *finding)
{
	dpe_text_free(&finding->what);
	dpe_text_free(&finding->details);
	dpe_text_free(&finding->cause);
	for (unsigned i = 0; i < finding->nplaces; i++) {
		free(finding->places[i].object);
		free(finding->places[i].mutex);
		free(finding->places[i].place);
	}
	free(finding->places);
	*finding = (struct dpe_finding){0};
}

/* ---- threads ----------------------------------------------------------------------------- */

struct printing {
	const struct dpe_server *server;
	struct dpe_finding *finding;
};

static const struct dpe_sched_thread *thread_at(const struct dpe_server *server, unsigned number)
{
	return &server->memory->threads[number];
}

static unsigned count_threads(const struct dpe_server *server)
{
	unsigned count = server->memory->nthreads;

	return count < DPE_SCHED_THREADS ? count : DPE_SCHED_THREADS;
}

void dpe_operation_print(
	const struct dpe_symbols *symbols, const struct dpe_sched_op *op, struct dpe_text *details)
{
	char *place = dpe_place_text(symbols, op->pc);

	/* NONE: the wait has ended */
	dpe_text_puts(details, op->kind == DPE_SCHED_NONE ? "a wait" : dpe_sched_kind_name(op->kind));
	if (dpe_sched_names_thread(op->kind)) {
		dpe_text_printf(details, " of thread %lu", (unsigned long)op->object + 1);
	} else if (op->object) {
		dpe_text_puts(details, op->kind == DPE_SCHED_NONE ? " for " : " of ");
		dpe_object_print(symbols, op->object, details);
	}
	if (op->mutex) {
		dpe_text_puts(details, " with ");
		dpe_object_print(symbols, op->mutex, details);
	}
	if (place)
		dpe_text_printf(details, " at %s", place);
	free(place);
}

static void print_cause(struct printing *to, const struct dpe_sched_op *op)
{
	dpe_text_printf(&to->finding->cause, "%s ", dpe_sched_kind_name(op->kind));
	dpe_place_print(&to->server->symbols, op->pc, &to->finding->cause);
	dpe_text_puts(&to->finding->cause, "\n");
}

static void keep_place(struct printing *to, unsigned number, const struct dpe_sched_op *op, unsigned held_by)
{
	struct dpe_finding *finding = to->finding;
	const struct dpe_symbols *symbols = &to->server->symbols;
	bool joins = op->kind == DPE_SCHED_JOIN || op->kind == DPE_SCHED_TIMEDJOIN;

	*DPE_GROW(finding->places, finding->nplaces, finding->capplaces) = (struct dpe_explore_place){
		.thread = number + 1,
		.held_by = joins ? (unsigned)op->object + 1 : held_by,
		.operation = dpe_sched_kind_name(op->kind),
		.object = dpe_sched_names_thread(op->kind) ? NULL : dpe_object_text(symbols, op->object),
		.mutex = dpe_object_text(symbols, op->mutex),
		.place = dpe_place_text(symbols, op->pc),
	};
}

static void print_at(struct printing *to, unsigned number, const struct dpe_sched_op *op, unsigned held_by, const char *does)
{
	keep_place(to, number, op, held_by);
	dpe_text_printf(&to->finding->details, "  thread %u%s ", number + 1, does);
	dpe_operation_print(&to->server->symbols, op, &to->finding->details);
	if (held_by)
		dpe_text_printf(&to->finding->details, ", which thread %u has", held_by);
	dpe_text_puts(&to->finding->details, "\n");
}

static void print_thread(struct printing *to, unsigned number, const char *does)
{
	const struct dpe_sched_thread *thread = thread_at(to->server, number);

	print_at(to, number, &thread->op, thread->held_by, does);
}

/* ---- deadlocks --------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right)
{
	const struct dpe_sched_op *const *a = left, *const *b = right;

	if ((*a)->pc != (*b)->pc)
		return (*a)->pc < (*b)->pc ? -1 : 1;
	return (int)(*a)->kind - (int)(*b)->kind;
}

/* The cause is the same whichever thread is at which place. */
static void read_deadlock(struct printing *to)
{
	const struct dpe_sched_op *stuck[DPE_SCHED_THREADS];
	unsigned count = 0, loops = 0;

	to->finding->kind = "deadlock";
	dpe_text_puts(&to->finding->cause, "deadlock\n");
	for (unsigned i = 0; i < count_threads(to->server); i++) {
		const struct dpe_sched_thread *thread = thread_at(to->server, i);

		if (!thread->stuck)
			continue;
		print_thread(to, i, thread->repeats ? " loops without end at" : " waits in");
		loops += thread->repeats;
		stuck[count++] = &thread->op;
	}
	qsort(stuck, count, sizeof(*stuck), by_place);
	for (unsigned i = 0; i < count; i++)
		print_cause(to, stuck[i]);
	dpe_text_printf(&to->finding->what, "%s (%u thread%s)", loops ? "hang" : "deadlock", count, count == 1 ? "" : "s");
}

/* ---- races ------------------------------------------------------------------------------- */

/* The key is the same whichever thread is at which place. */
static void print_race(struct printing *to, const struct dpe_sched_race *race)
{
	unsigned first = race->thread[0] > race->thread[1], lower = race->op[0].pc > race->op[1].pc;

	to->finding->kind = "race";
	dpe_text_puts(&to->finding->what, "race (2 threads)");
	dpe_text_puts(&to->finding->cause, "race\n");
	print_cause(to, &race->op[lower]);
	print_cause(to, &race->op[!lower]);
	print_at(to, race->thread[first], &race->op[first], 0, " is at the");
	print_at(to, race->thread[!first], &race->op[!first], 0, " is at the");
}

static void read_race(struct printing *to)
{
	struct dpe_sched_race race = {.runs = 1};
	unsigned count = 0;

	for (unsigned i = 0; i < count_threads(to->server) && count < DPE_COUNT(race.op); i++)
		if (thread_at(to->server, i)->stuck) {
			race.op[count] = thread_at(to->server, i)->op;
			race.thread[count++] = (uint16_t)i;
		}
	print_race(to, &race);
}

void dpe_finding_read_race(struct dpe_finding *finding, const struct dpe_server *server, const struct dpe_sched_race *race)
{
	struct printing to = {server, finding};

	*finding = (struct dpe_finding){.found = true};
	print_race(&to, race);
}

/* ---- misuse ------------------------------------------------------------------------------ */

static void print_free(struct printing *to)
{
	const struct dpe_sched_header *memory = to->server->memory;

	dpe_text_printf(&to->finding->details, "  thread %u freed it at ", memory->freed_by);
	dpe_place_print(&to->server->symbols, memory->freed_pc, &to->finding->details);
	dpe_text_puts(&to->finding->details, "\n");
	dpe_text_puts(&to->finding->cause, "free ");
	dpe_place_print(&to->server->symbols, memory->freed_pc, &to->finding->cause);
	*DPE_GROW(to->finding->places, to->finding->nplaces, to->finding->capplaces) = (struct dpe_explore_place){
		.thread = memory->freed_by,
		.operation = dpe_sched_kind_name(DPE_SCHED_HEAP_FREE),
		.place = dpe_place_text(&to->server->symbols, memory->freed_pc),
	};
}

static const char *misuse_text(const struct dpe_sched_header *memory)
{
	static const char *const TEXTS[] = {
		[DPE_SCHED_PROPER] = "",
		[DPE_SCHED_NOT_LOCKED] = "unlock of an object that is not locked",
		[DPE_SCHED_STRANGER] = "unlock by a thread that does not have the lock",
		[DPE_SCHED_DESTROYED] = "use of a destroyed object",
		[DPE_SCHED_IN_USE] = "destruction of an object in use",
		[DPE_SCHED_FREED] = "use of freed memory",
		[DPE_SCHED_FREED_WRITTEN] = "write to freed memory",
	};

	if (memory->misuse == DPE_SCHED_FREED && memory->running < DPE_SCHED_THREADS &&
		memory->threads[memory->running].op.kind == DPE_SCHED_HEAP_FREE)
		return "memory freed twice";
	return memory->misuse < DPE_COUNT(TEXTS) ? TEXTS[memory->misuse] : "misuse";
}

/* What the thread's operation has to do with it. */
static const char *misuse_how(const struct dpe_sched_header *memory)
{
	if (memory->misuse != DPE_SCHED_FREED_WRITTEN)
		return ":";
	return memory->written_by_running ? " wrote there before its" : " or another wrote there before its";
}

static void read_misuse(struct printing *to)
{
	const struct dpe_sched_header *memory = to->server->memory;

	to->finding->kind = "misuse";
	dpe_text_puts(&to->finding->what, misuse_text(memory));
	dpe_text_printf(&to->finding->cause, "%s\n", to->finding->what.at);
	if (memory->running >= count_threads(to->server))
		return;
	print_thread(to, memory->running, misuse_how(memory));
	print_cause(to, &thread_at(to->server, memory->running)->op);
	if (memory->freed_by)
		print_free(to);
}

/* ---- ends of the process ----------------------------------------------------------------- */

/* Numbers may differ from run to run. */
static void add_words(struct printing *to)
{
	char *words = dpe_server_last_words(to->server);

	if (!words)
		return;
	dpe_text_printf(&to->finding->details, "  its last output: %s\n", words);
	for (const char *c = words; *c; c++)
		if (*c < '0' || *c > '9')
			dpe_text_add(&to->finding->cause, c, 1);
	free(words);
}

static bool print_crash(struct printing *to, struct dpe_sched_header *memory)
{
	const struct dpe_symbols *symbols = &to->server->symbols;
	struct dpe_finding *finding = to->finding;
	uint64_t pc = memory->crashed ? dpe_crash_place(symbols, &memory->crash) : 0;
	char *place = pc ? dpe_place_text(symbols, pc) : NULL;

	if (!place)
		return false;
	dpe_text_printf(&finding->details, "  thread %u at %s\n", memory->crashed, place);
	dpe_text_printf(&finding->cause, "%s\n", place);
	*DPE_GROW(finding->places, finding->nplaces, finding->capplaces) = (struct dpe_explore_place){
		.thread = memory->crashed,
		.operation = "signal",
		.place = place,
	};
	return true;
}

static void read_signal(struct printing *to, int number)
{
	struct dpe_sched_header *memory = to->server->memory;

	to->finding->kind = "signal";
	dpe_text_printf(&to->finding->what, "death by signal %d (%s)", number,
		sigdescr_np(number) ? sigdescr_np(number) : "?");
	dpe_text_printf(&to->finding->cause, "signal %d\n", number);
	if (!print_crash(to, memory) && memory->running < count_threads(to->server))
		print_thread(to, memory->running, ", after");
	add_words(to);
}

/* The next status or range of statuses; false at the end, or after *good was made false. */
static bool next_range(const char **at, long *from, long *to, bool *good)
{
	char *end;

	if (!**at)
		return false;
	*from = *to = strtol(*at, &end, 10);
	*good &= end != *at && *from >= 0;
	if (*good && *end == '-') {
		*at = end + 1;
		*to = strtol(*at, &end, 10);
		*good &= end != *at && *to >= *from;
	}
	*good &= *to <= UINT8_MAX && (!*end || (*end == ',' && end[1]));
	*at = *end ? end + 1 : end;
	return *good;
}

bool dpe_fails_check(const char *fails, struct dpe_diags *diags)
{
	const char *at = fails + (*fails == '!');
	bool good = *at;
	long from, to;

	while (next_range(&at, &from, &to, &good))
		continue;
	if (!good)
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"--fails takes exit statuses such as '1,3,10-20', or '!0,2' for all others, not '%s'", fails);
	return good;
}

static bool is_failure(int status, const char *fails, int first_status)
{
	bool good = true, others;
	long from, to;

	if (!fails)
		return first_status >= 0 && status != first_status;
	others = *fails == '!';
	fails += others;
	while (next_range(&fails, &from, &to, &good))
		if (status >= from && status <= to)
			return !others;
	return others;
}

static void read_exit(struct printing *to, int status, const char *fails, int first_status)
{
	to->finding->kind = "exit";
	dpe_text_printf(&to->finding->what, "exit status %d", status);
	if (!fails)
		dpe_text_printf(&to->finding->what, ", and %d in the first run", first_status);
	dpe_text_printf(&to->finding->cause, "exit status %d\n", status);
	add_words(to);
}

void dpe_finding_read(struct dpe_finding *finding, const struct dpe_server *server,
	const struct dpe_explored_run *run, const char *fails, int first_status)
{
	struct printing to = {server, finding};

	*finding = (struct dpe_finding){.found = true};
	if (server->memory->end == DPE_SCHED_DEADLOCK)
		read_deadlock(&to);
	else if (server->memory->end == DPE_SCHED_MISUSE)
		read_misuse(&to);
	else if (server->memory->end == DPE_SCHED_RACE)
		read_race(&to);
	else if (server->memory->end != DPE_SCHED_RAN || run->timed_out)
		finding->found = false;
	else if (WIFSIGNALED(run->status))
		read_signal(&to, WTERMSIG(run->status));
	else if (is_failure(WEXITSTATUS(run->status), fails, first_status))
		read_exit(&to, WEXITSTATUS(run->status), fails, first_status);
	else
		finding->found = false;
}
