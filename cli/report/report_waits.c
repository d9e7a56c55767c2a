/* The table of dpe hang: what each thread of a process waits for, as text or as a line of JSON. */
#include "cli/json_items.h"
#include "cli/report/report_state.h"
#include "cli/report/stack_frame.h"
#include "cli/report/text.h"
#include "dpe/dpe-waits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMED 4 /* threads of a cycle that are named in its title; all of them follow */

/* ---- one thread ---------------------------------------------------------------------------------- */

static const char *const KINDS[] = {
	[DPE_WAIT_NONE] = "nothing",
	[DPE_WAIT_MUTEX] = "mutex",
	[DPE_WAIT_READ_LOCK] = "read-write lock",
	[DPE_WAIT_WRITE_LOCK] = "read-write lock",
	[DPE_WAIT_CONDITION] = "condition",
	[DPE_WAIT_SEMAPHORE] = "semaphore",
	[DPE_WAIT_JOIN] = "join",
	[DPE_WAIT_BARRIER] = "barrier",
	[DPE_WAIT_ONCE] = "initialisation",
	[DPE_WAIT_LIBRARY] = "library lock",
	[DPE_WAIT_STREAM] = "stream",
	[DPE_WAIT_FUTEX] = "futex",
};

static const char *const PHRASES[] = {
	[DPE_WAIT_MUTEX] = "waits for mutex ",
	[DPE_WAIT_READ_LOCK] = "waits to read, for read-write lock ",
	[DPE_WAIT_WRITE_LOCK] = "waits to write, for read-write lock ",
	[DPE_WAIT_CONDITION] = "waits for a signal of condition ",
	[DPE_WAIT_SEMAPHORE] = "waits for a post of semaphore ",
	[DPE_WAIT_BARRIER] = "waits at barrier ",
	[DPE_WAIT_ONCE] = "waits for an initialisation that is done once, ",
	[DPE_WAIT_LIBRARY] = "waits for a lock of the C library, ",
	[DPE_WAIT_STREAM] = "waits for stream ",
	[DPE_WAIT_FUTEX] = "waits in futex ",
};

static void add_object(struct dpe_text *to, const struct dpe_waiting_thread *thread)
{
	if (thread->variable)
		cli_text_safe(to, thread->variable);
	else
		dpe_text_printf(to, "0x%" PRIx64, thread->object);
	if (thread->kind == DPE_WAIT_STREAM && thread->file) {
		dpe_text_puts(to, " of ");
		cli_text_safe(to, thread->file);
	}
}

static void add_holder(struct dpe_text *to, const struct dpe_waiting_thread *thread)
{
	if (thread->holder_process)
		dpe_text_printf(to, ", which thread %d of another process holds", (int)thread->holder);
	else if (thread->holder)
		dpe_text_printf(to, ", which thread %d %s", (int)thread->holder,
			thread->holder_ended ? "held when it ended" : "holds");
	else if (thread->readers)
		dpe_text_printf(to, ", which %u reader%s hold%s: the lock does not record which", thread->readers,
			thread->readers == 1 ? "" : "s", thread->readers == 1 ? "s" : "");
	else if (thread->kind == DPE_WAIT_MUTEX || thread->kind == DPE_WAIT_LIBRARY || thread->kind == DPE_WAIT_STREAM)
		dpe_text_puts(to, ", which does not record its holder");
	else if (thread->kind == DPE_WAIT_FUTEX)
		dpe_text_printf(to, " (value %" PRIu32 "), which does not record who can wake it", thread->word);
	else if (thread->missing)
		dpe_text_printf(to, ", for %u more thread%s", thread->missing, thread->missing == 1 ? "" : "s");
}

static void add_wait(struct dpe_text *to, const struct dpe_waiting_thread *thread)
{
	if (thread->kind == DPE_WAIT_JOIN) {
		dpe_text_printf(to, "waits for the end of thread %d", (int)thread->holder);
	} else if (thread->is_refused) {
		dpe_text_puts(to, "waits for ever for a mutex with priority inheritance: the kernel refused the wait, as a "
				  "deadlock or because the holder has ended");
	} else if (thread->kind != DPE_WAIT_NONE) {
		dpe_text_puts(to, PHRASES[thread->kind]);
		add_object(to, thread);
		add_holder(to, thread);
	} else if (thread->state == 'R') {
		dpe_text_puts(to, "runs");
	} else if (thread->call) {
		dpe_text_printf(to, "sleeps in %s", thread->call);
	} else {
		dpe_text_puts(to, "sleeps in the kernel");
	}
	if (thread->kind == DPE_WAIT_NONE && thread->file) {
		dpe_text_puts(to, " on ");
		cli_text_safe(to, thread->file);
	}
	dpe_text_puts(to, thread->kind != DPE_WAIT_NONE && thread->timed ? ", with a timeout" : "");
	dpe_text_puts(to, thread->state == 'T' || thread->state == 't' ? ", and is stopped" : "");
	if (thread->asleep)
		dpe_text_printf(to, ", for %.1f s", (double)thread->asleep / 1e9);
}

static void add_stack(struct dpe_text *to, const struct cli *cli, const struct dpe_waiting_thread *thread)
{
	char *lines = dpe_xstrdup(thread->stack ? thread->stack : ""), *rest = lines, *line;
	const char **frames = NULL;
	unsigned count = 0, cap = 0;
	bool begins;

	while ((line = strsep(&rest, "\n"))) {
		if (*line)
			*DPE_GROW(frames, count, cap) = line;
	}
	cli_text_stack(to, cli, frames, count);
	begins = cli_frames_reach_start(frames, count);
	free(frames);
	free(lines);
	if (thread->is_cut && thread->nframes && !begins)
		dpe_text_puts(to, "       …\n");
}

/* ---- threads that wait alike --------------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_alike(const struct dpe_waiting_thread *a, const struct dpe_waiting_thread *b)
{
	return a->kind == b->kind && a->object == b->object && a->holder == b->holder && a->prospect == b->prospect &&
	       a->timed == b->timed && a->state == b->state && !a->cycle && !b->cycle && a->call == b->call &&
	       is_same_text(a->file, b->file) && is_same_text(a->stack, b->stack);
}

static bool is_first(const struct dpe_waits *waits, unsigned at)
{
	for (unsigned i = 0; i < at; i++) {
		if (is_alike(&waits->threads[i], &waits->threads[at]))
			return false;
	}
	return true;
}

static void add_thread(
	struct dpe_text *to, const struct cli *cli, const struct dpe_waits *waits, unsigned at)
{
	const struct dpe_waiting_thread *thread = &waits->threads[at];
	unsigned alike = 0;

	for (unsigned i = at + 1; i < waits->nthreads; i++)
		alike += is_alike(thread, &waits->threads[i]);
	dpe_text_printf(to, "  thread %d (", (int)thread->thread);
	cli_text_safe(to, thread->name);
	dpe_text_puts(to, ") ");
	if (alike)
		dpe_text_printf(to, "and %u more, each: ", alike);
	add_wait(to, thread);
	dpe_text_puts(to, "\n");
	add_stack(to, cli, thread);
}

/* ---- the whole ----------------------------------------------------------------------------------- */

/* "12 waits for a, held by 13; 13 waits for b, held by 12": the cycle in one line. */
static void add_chain(struct dpe_text *to, const struct dpe_waits *waits, unsigned first)
{
	const char *before = ": ";
	unsigned at = first;

	do {
		const struct dpe_waiting_thread *thread = &waits->threads[at];

		dpe_text_printf(to, "%s%d waits for ", before, (int)thread->thread);
		if (thread->kind == DPE_WAIT_JOIN) {
			dpe_text_printf(to, "the end of %d", (int)thread->holder);
		} else {
			add_object(to, thread);
			dpe_text_printf(to, ", held by %d", (int)thread->holder);
		}
		before = "; ";
		at = thread->next;
	} while (at != first);
}

static void add_cycle(struct dpe_text *to, const struct cli *cli, const struct dpe_waits *waits, unsigned number)
{
	unsigned first = 0, count = 0, at;

	for (unsigned i = waits->nthreads; i-- > 0;) {
		if (waits->threads[i].cycle == number) {
			first = i;
			count++;
		}
	}
	dpe_text_printf(to, "deadlock of %u thread%s", count, count == 1 ? "" : "s");
	if (count <= NAMED)
		add_chain(to, waits, first);
	dpe_text_puts(to, "\n");
	at = first;
	do {
		add_thread(to, cli, waits, at);
		at = waits->threads[at].next;
	} while (at != first);
}

static void add_those(struct dpe_text *to, const struct cli *cli, const struct dpe_waits *waits,
	enum dpe_prospect prospect, const char *title)
{
	for (unsigned i = 0; i < waits->nthreads; i++) {
		if (waits->threads[i].prospect != prospect || waits->threads[i].cycle || !is_first(waits, i))
			continue;
		dpe_text_puts(to, title);
		title = "";
		add_thread(to, cli, waits, i);
	}
}

static void add_result(struct dpe_text *to, const struct dpe_waits *waits)
{
	dpe_text_printf(to, "dpe: process %d (", (int)waits->pid);
	cli_text_safe(to, waits->name);
	dpe_text_printf(to, "), %u thread%s: ", waits->nthreads, waits->nthreads == 1 ? "" : "s");
	if (waits->ncycles)
		dpe_text_printf(to, "%u deadlock%s%s", waits->ncycles, waits->ncycles == 1 ? "" : "s", waits->hang ? ", " : "");
	if (waits->hang && waits->may_end && waits->prospect != DPE_PROSPECT_NEVER)
		dpe_text_puts(to, "no thread can proceed, unless a signal handler of the program wakes one");
	else if (waits->hang)
		dpe_text_puts(to, "no thread can proceed");
	else if (waits->prospect == DPE_PROSPECT_NEVER && !waits->ncycles)
		dpe_text_puts(to, "a thread waits for something that no thread will provide");
	else if (waits->prospect == DPE_PROSPECT_UNKNOWN)
		dpe_text_puts(to, "it is not known whether all threads can proceed");
	else if (waits->prospect == DPE_PROSPECT_PROCEEDS)
		dpe_text_puts(to, "every thread can proceed");
	if (waits->is_stopped)
		dpe_text_puts(to, "; it is stopped, by a signal or a debugger");
	dpe_text_puts(to, "\n");
}

static void add_all(struct dpe_text *to, const struct cli *cli, const struct dpe_waits *waits)
{
	for (unsigned i = 1; i <= waits->ncycles; i++)
		add_cycle(to, cli, waits, i);
	add_those(to, cli, waits, DPE_PROSPECT_NEVER, CLI_NEVER_HEADING);
	add_those(to, cli, waits, DPE_PROSPECT_UNKNOWN, "blocked, and it is not known who will wake them\n");
	add_those(to, cli, waits, DPE_PROSPECT_PROCEEDS, "can proceed\n");
	if (waits->advice && waits->prospect != DPE_PROSPECT_PROCEEDS)
		dpe_text_printf(to, "note: %s\n", waits->advice);
	add_result(to, waits);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static cJSON *stack_item(const struct dpe_waiting_thread *thread)
{
	cJSON *frames = cJSON_CreateArray();

	for (const char *line = thread->stack; line && *line;) {
		size_t length = strcspn(line, "\n");

		cJSON_AddItemToArray(frames, cli_json_text(line, length));
		line += length + (line[length] != '\0');
	}
	return frames;
}

static cJSON *thread_item(const struct dpe_waiting_thread *thread)
{
	static const char *const prospects[] = {
		[DPE_PROSPECT_PROCEEDS] = "proceeds", [DPE_PROSPECT_UNKNOWN] = "unknown", [DPE_PROSPECT_NEVER] = "never"};
	cJSON *item = cJSON_CreateObject();
	char object[24], state[2] = {thread->state, '\0'};

	cJSON_AddNumberToObject(item, "thread", thread->thread);
	cli_json_add_text(item, "name", thread->name);
	cli_json_add_text(item, "state", state);
	cli_json_add_text(item, "prospect", prospects[thread->prospect]);
	cli_json_add_text(item, "call", thread->call);
	cli_json_add_text(item, "file", thread->file);
	if (thread->kind != DPE_WAIT_NONE) {
		snprintf(object, sizeof(object), "0x%" PRIx64, thread->object);
		cli_json_add_text(item, "waits_for", KINDS[thread->kind]);
		cli_json_add_text(item, "object", object);
		cli_json_add_text(item, "variable", thread->variable);
		cJSON_AddBoolToObject(item, "timed", thread->timed);
	}
	if (thread->holder)
		cJSON_AddNumberToObject(item, "holder", thread->holder);
	if (thread->holder_ended)
		cJSON_AddTrueToObject(item, "holder_ended");
	if (thread->asleep)
		cJSON_AddNumberToObject(item, "asleep", (double)thread->asleep);
	if (thread->cycle)
		cJSON_AddNumberToObject(item, "cycle", thread->cycle);
	cJSON_AddItemToObject(item, "stack", stack_item(thread));
	return item;
}

static void print_json(const struct dpe_waits *waits, FILE *to)
{
	cJSON *item = cJSON_CreateObject(), *threads = cJSON_AddArrayToObject(item, "threads");

	cJSON_AddStringToObject(item, "type", "waits");
	cJSON_AddNumberToObject(item, "process", waits->pid);
	cJSON_AddNumberToObject(item, "deadlocks", waits->ncycles);
	cJSON_AddBoolToObject(item, "hang", waits->hang);
	for (unsigned i = 0; i < waits->nthreads; i++)
		cJSON_AddItemToArray(threads, thread_item(&waits->threads[i]));
	cli_json_print(to, item);
}

/* ---- printing ------------------------------------------------------------------------------------ */

static void print(const struct cli *cli, const struct dpe_waits *waits, FILE *to)
{
	struct dpe_text text = {0};

	if (cli->json) {
		print_json(waits, to);
		return;
	}
	add_all(&text, cli, waits);
	if (cli_has_color(cli, to))
		cli_text_colored(to, text.at);
	else
		fputs(text.at, to);
	dpe_text_free(&text);
}

int cli_waits_print(struct cli *cli, pid_t pid, FILE *to)
{
	struct dpe_waits *waits = dpe_waits_read(pid, cli->stack_depth, NULL, cli->diags);
	enum dpe_prospect prospect;

	if (!waits)
		return CLI_ERROR;
	print(cli, waits, to);
	prospect = waits->prospect;
	dpe_waits_free(waits);
	return prospect == DPE_PROSPECT_NEVER ? CLI_FINDING : prospect == DPE_PROSPECT_UNKNOWN ? CLI_INCONCLUSIVE : CLI_GOOD;
}

static FILE *stream_of(const struct cli_report *report)
{
	return report->sarif ? stderr : report->to;
}

void cli_report_waits(struct cli_report *report, pid_t pid, bool blocked)
{
	struct dpe_diags *diags = dpe_diags_new(); /* that it cannot be read makes no verdict wrong */
	unsigned depth = report->cli->stack_depth;
	struct dpe_waits *waits = report->probes ? dpe_probes_waits(report->probes, depth, diags)
						 : dpe_waits_read(pid, depth, NULL, diags);

	report->blocked |= blocked && waits && waits->prospect == DPE_PROSPECT_NEVER;
	if (waits && !(blocked && waits->prospect == DPE_PROSPECT_PROCEEDS))
		print(report->cli, waits, stream_of(report));
	if (report->probes) /* otherwise the error of observing it says why */
		dpe_diags_print(diags, stderr);
	dpe_diags_free(diags);
	dpe_waits_free(waits);
}

void cli_report_note_waits(struct cli_report *report)
{
	struct dpe_diags *ignored = dpe_diags_new();

	cli_report_forget_waits(report);
	report->noted = dpe_probes_waits(report->probes, report->cli->stack_depth, ignored);
	dpe_diags_free(ignored);
}

void cli_report_forget_waits(struct cli_report *report)
{
	dpe_waits_free(report->noted);
	report->noted = NULL;
}

void cli_report_noted_waits(struct cli_report *report)
{
	if (!report->noted || report->noted->prospect == DPE_PROSPECT_PROCEEDS)
		return;
	report->blocked |= report->noted->prospect == DPE_PROSPECT_NEVER;
	print(report->cli, report->noted, stream_of(report));
}

/* That the process cannot be read is an error of observing it. */
bool cli_report_hangs_already(struct cli_report *report, pid_t pid)
{
	struct dpe_diags *ignored = dpe_diags_new();
	struct dpe_waits *waits = dpe_waits_read(pid, report->cli->stack_depth, NULL, ignored);
	bool hangs = waits && waits->prospect == DPE_PROSPECT_NEVER;

	if (hangs)
		print(report->cli, waits, stream_of(report));
	report->found |= hangs;
	dpe_diags_free(ignored);
	dpe_waits_free(waits);
	return hangs;
}
