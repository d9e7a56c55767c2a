/* What the threads of a process wait for: the passes. */
#include "probes/waits/waits.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* One thread while it is being looked at. */
struct thread_look {
	struct dpe_thread_state state;
	struct dpe_call_stack stack;
	unsigned call; /* the frame that is shown first */
};

struct waits_reading {
	struct dpe_process_image image;
	struct dpe_waits *waits;
	struct thread_look *looks; /* one for each thread of `waits` */
	unsigned nlooks, caplooks;
	uint64_t *now; /* for each processor, on its clock of /proc/PID/sched; 0: not read yet */
};

/* ---- threads ------------------------------------------------------------------------------------- */

/* One that was stopped there waits again once it is continued. */
static bool is_in_futex(const struct dpe_thread_state *state)
{
	return state->stat.state && strchr("STt", state->stat.state) && state->call == SYS_futex;
}

static bool add_thread(void *context, pid_t thread)
{
	struct waits_reading *reading = context;
	struct dpe_waits *waits = reading->waits;
	struct thread_look look = {0};
	struct dpe_waiting_thread *to;

	if (!dpe_thread_look(waits->pid, thread, &look.state) || look.state.stat.state == 'Z' || look.state.stat.state == 'X')
		return true;
	*DPE_GROW(reading->looks, reading->nlooks, reading->caplooks) = look;
	to = DPE_GROW(waits->threads, waits->nthreads, waits->capthreads);
	*to = (struct dpe_waiting_thread){.thread = thread, .state = look.state.stat.state, .next = UINT_MAX};
	memcpy(to->name, look.state.stat.name, sizeof(to->name));
	waits->is_stopped |= to->state == 'T' || to->state == 't';
	return !look.state.denied;
}

static bool read_threads(struct waits_reading *reading, struct dpe_diags *diags)
{
	struct dpe_waits *waits = reading->waits;
	char process[32];

	snprintf(process, sizeof(process), "process %d", (int)waits->pid);
	if (dpe_threads_each(waits->pid, add_thread, reading) || !waits->nthreads) {
		dpe_diag_at(diags, DPE_ERROR, process, "it has ended");
		return false;
	}
	memcpy(waits->name, waits->threads[0].name, sizeof(waits->name));
	if (!reading->looks[reading->nlooks - 1].state.denied)
		return true;
	dpe_diag_at(diags, DPE_ERROR, process, "its system calls cannot be read: %s", strerror(EPERM));
	return false;
}

/* ---- since when ---------------------------------------------------------------------------------- */

/* When the scheduler last saw the thread run, in ns on the clock of its processor; 0: unknown. */
static uint64_t last_run(const char *path)
{
	char text[4096];
	const char *line;
	double at;

	if (!dpe_proc_text(text, sizeof(text), path))
		return 0;
	line = strstr(text, "se.exec_start");
	line = line ? strchr(line, ':') : NULL;
	return line && sscanf(line + 1, "%lf", &at) == 1 && at > 0 ? (uint64_t)(at * 1e6) : 0;
}

/* Each processor has its own clock, which stands still while it serves interrupts or other virtual machines. 0: unknown, as
 * where dpe may not run on that processor. */
static uint64_t now_on(const struct waits_reading *reading, unsigned processor)
{
	cpu_set_t own, one;

	if (processor >= CPU_SETSIZE || reading->now[processor])
		return processor < CPU_SETSIZE ? reading->now[processor] : 0;
	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	if (sched_getaffinity(0, sizeof(own), &own) || !CPU_ISSET(processor, &own) || sched_setaffinity(0, sizeof(one), &one))
		return 0;
	reading->now[processor] = last_run("/proc/thread-self/sched");
	sched_setaffinity(0, sizeof(own), &own);
	return reading->now[processor];
}

static void find_duration(const struct waits_reading *reading, unsigned number)
{
	struct dpe_waiting_thread *thread = &reading->waits->threads[number];
	unsigned processor = reading->looks[number].state.stat.processor;
	struct dpe_proc_stat stat;
	char path[64];
	uint64_t at, now;

	if (thread->state != 'S')
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/sched", reading->waits->pid, thread->thread);
	at = last_run(path);
	if (!at || !dpe_proc_stat(reading->waits->pid, thread->thread, &stat) || stat.processor != processor)
		return;
	now = now_on(reading, processor);
	thread->asleep = at < now ? now - at : 0;
}

/* ---- what each waits for ------------------------------------------------------------------------- */

static void note_call(const struct waits_reading *reading, const struct dpe_thread_state *state,
	struct dpe_waiting_thread *thread)
{
	int file = -1;

	thread->call = state->call >= 0 ? dpe_blocking_call(state->call, &file) : NULL;
	if (file >= 0)
		thread->file = dpe_descriptor_file(reading->waits->pid, (unsigned)state->args[file]);
}

/* By what is known of it without stopping it. */
static void read_stack(struct waits_reading *reading, struct thread_look *look)
{
	struct dpe_registers registers = {.pc = look->state.pc, .sp = look->state.sp};

	look->stack.end = DPE_UNWOUND_CUT;
	if (!look->state.pc)
		return;
	dpe_image_unwind(&reading->image, &registers, &look->stack);
}

static unsigned find_thread(const struct waits_reading *reading, pid_t own_id)
{
	for (unsigned i = 0; i < reading->nlooks; i++) {
		if (reading->looks[i].state.own_id == own_id)
			return i;
	}
	return UINT_MAX;
}

/* pthread_join waits for the kernel to clear the id in the structure of the other thread. The value alone proves nothing: ids
 * in a PID namespace are small, and so are the values of other locks. */
static void note_join(const struct waits_reading *reading, struct dpe_waiting_thread *thread)
{
	unsigned other = find_thread(reading, (pid_t)thread->word);

	if (thread->kind != DPE_WAIT_FUTEX || !thread->word || other == UINT_MAX ||
		&reading->waits->threads[other] == thread || !dpe_is_thread_id(&reading->image, thread->object))
		return;
	thread->kind = DPE_WAIT_JOIN;
	thread->holder = (pid_t)thread->word;
}

/* The ids in words are those of the process's own PID namespace. */
static void find_holder(const struct waits_reading *reading, struct dpe_waiting_thread *thread)
{
	struct dpe_thread_state other;

	if (!thread->holder)
		return;
	thread->next = find_thread(reading, thread->holder);
	if (thread->next != UINT_MAX) {
		thread->holder = reading->waits->threads[thread->next].thread;
		return;
	}
	if (thread->shared && dpe_thread_look(thread->holder, thread->holder, &other))
		thread->holder_process = thread->holder;
	else
		thread->holder_ended = !thread->shared;
}

static void read_lock(struct waits_reading *reading, unsigned at)
{
	struct thread_look *look = &reading->looks[at];
	struct dpe_waiting_thread *thread = &reading->waits->threads[at];

	look->call = dpe_lock_classify(&reading->image, &look->state, &look->stack, thread);
	note_join(reading, thread);
	thread->shared = dpe_memory_is_shared(reading->waits->pid, thread->object);
	if (!thread->variable && thread->kind != DPE_WAIT_JOIN)
		thread->variable = dpe_map_variable(reading->image.maps, reading->image.nmaps, thread->object, false);
	find_holder(reading, thread);
}

static void read_waits(struct waits_reading *reading)
{
	for (unsigned i = 0; i < reading->nlooks; i++) {
		read_stack(reading, &reading->looks[i]);
		if (is_in_futex(&reading->looks[i].state))
			read_lock(reading, i);
		else
			note_call(reading, &reading->looks[i].state, &reading->waits->threads[i]);
	}
}

/* ---- what holds of all of them at one moment ------------------------------------------------------ */

/* A thread that has run since it was looked at does not wait for what it waited for. */
static void confirm(struct waits_reading *reading)
{
	for (unsigned i = 0; i < reading->nlooks; i++) {
		struct dpe_waiting_thread *thread = &reading->waits->threads[i];
		struct dpe_thread_state now = {0};

		if (!is_in_futex(&reading->looks[i].state))
			continue;
		if (dpe_thread_look(reading->waits->pid, thread->thread, &now) && is_in_futex(&now) &&
			now.times == reading->looks[i].state.times)
			continue;
		thread->kind = DPE_WAIT_NONE;
		thread->state = 'R';
		thread->asleep = 0;
		reading->looks[i].stack.count = 0;
		reading->looks[i].stack.end = DPE_UNWOUND_CUT;
		thread->holder = 0;
		thread->next = UINT_MAX;
		thread->holder_ended = false;
	}
}

/* ---- the whole stacks ------------------------------------------------------------------------------ */

static void complete_stack(struct waits_reading *reading, struct thread_look *look, const struct dpe_waiting_thread *thread)
{
	struct dpe_registers registers;
	struct dpe_call_stack stack;

	if (look->stack.end != DPE_UNWOUND_REGISTERS || thread->kind == DPE_WAIT_NONE || thread->timed || reading->waits->is_stopped ||
		!dpe_sleeper_registers(thread->thread, &registers))
		return;
	dpe_image_unwind(&reading->image, &registers, &stack);
	if (stack.count > look->stack.count)
		look->stack = stack;
}

/* By the name that the caller uses where the code has none. */
static void print_frame(struct waits_reading *reading, const struct dpe_call_stack *stack, unsigned frame, struct dpe_text *to)
{
	const struct dpe_process_image *image = &reading->image;
	const struct dpe_function *function = NULL;
	struct dpe_module *module;

	if (!dpe_image_function(image, stack, frame, &module))
		function = dpe_image_callee(image, stack, frame, &module);
	if (function)
		dpe_text_printf(to, "%s (%s)", function->name, module->name);
	else
		dpe_stack_print(image->maps, image->nmaps, stack->pcs[frame], frame > 0, to);
	dpe_text_puts(to, "\n");
}

static void print_stack(struct waits_reading *reading, struct thread_look *look, struct dpe_waiting_thread *thread, unsigned depth)
{
	struct dpe_text text = {0};

	for (unsigned i = look->call; i < look->stack.count && thread->nframes < depth; i++) {
		print_frame(reading, &look->stack, i, &text);
		thread->nframes++;
	}
	thread->stack = text.at;
	thread->is_cut = look->stack.count > look->call + thread->nframes || look->stack.end != DPE_UNWOUND_OUTERMOST;
}

/* Initialisation that is done once is done by the only thread whose stack shows such a call, as far as all show
 * theirs. */
static void find_initialisers(struct waits_reading *reading)
{
	unsigned found = UINT_MAX, count = 0;

	for (unsigned i = 0; i < reading->nlooks; i++) {
		if (reading->looks[i].stack.end != DPE_UNWOUND_OUTERMOST)
			return;
		if (dpe_lock_runs_once(&reading->image, &reading->looks[i].stack)) {
			found = i;
			count++;
		}
	}
	for (unsigned i = 0; count == 1 && i < reading->nlooks; i++) {
		struct dpe_waiting_thread *thread = &reading->waits->threads[i];

		if (thread->kind != DPE_WAIT_ONCE)
			continue;
		thread->next = found;
		thread->holder = reading->waits->threads[found].thread;
	}
}

static void read_process(struct waits_reading *reading, unsigned depth)
{
	struct dpe_waits *waits = reading->waits;

	read_waits(reading);
	for (unsigned i = 0; i < reading->nlooks; i++)
		find_duration(reading, i);
	confirm(reading);
	for (unsigned i = 0; i < reading->nlooks; i++)
		complete_stack(reading, &reading->looks[i], &waits->threads[i]);
	find_initialisers(reading);
	for (unsigned i = 0; i < reading->nlooks; i++)
		print_stack(reading, &reading->looks[i], &waits->threads[i], depth);
	waits->advice = dpe_lock_advice(&reading->image);
	waits->may_end = dpe_handles_signals(waits->pid);
	dpe_prospects_find(waits);
}

/* ---- the whole -------------------------------------------------------------------------------------- */

/* What the kernel refuses, and what to do. */
static bool check_rights(pid_t pid, struct dpe_diags *diags)
{
	char process[32], text[16] = "";
	int error = dpe_tracer_check(pid);

	snprintf(process, sizeof(process), "process %d", (int)pid);
	if (!error)
		return true;
	if (error == ESRCH)
		dpe_diag_at(diags, DPE_ERROR, process, kill(pid, 0) && errno == ESRCH
			? "there is no such process" : "it has ended, or is a kernel thread");
	else if (error == EPERM && dpe_proc_text(text, sizeof(text), "/proc/sys/kernel/yama/ptrace_scope") &&
		 text[0] != '0')
		dpe_diag_at(diags, DPE_ERROR, process,
			"the kernel does not let us trace it: kernel.yama.ptrace_scope is %c. Run dpe as root, or 'sysctl "
			"kernel.yama.ptrace_scope=0' where the process is your own",
			text[0]);
	else if (error == EPERM)
		dpe_diag_at(diags, DPE_ERROR, process,
			"the kernel does not let us trace it: it is another user's, has more rights, or forbids it "
			"(PR_SET_DUMPABLE). Run dpe as its user or as root; in a container, with CAP_SYS_PTRACE");
	else
		dpe_diag_at(diags, DPE_ERROR, process, "it cannot be traced: %s", strerror(error));
	return false;
}

struct dpe_waits *dpe_waits_read(
	pid_t pid, unsigned depth, const struct dpe_diverted_returns *returns, struct dpe_diags *diags)
{
	struct waits_reading reading = {0};
	bool read;

	if (!check_rights(pid, diags))
		return NULL;
	reading.waits = dpe_xcalloc(1, sizeof(*reading.waits));
	reading.waits->pid = pid;
	reading.now = dpe_xcalloc(CPU_SETSIZE, sizeof(*reading.now));
	read = dpe_image_open(&reading.image, pid, returns, diags) && read_threads(&reading, diags);
	if (read)
		read_process(&reading, depth);
	dpe_image_free(&reading.image);
	free(reading.looks);
	free(reading.now);
	if (read)
		return reading.waits;
	dpe_waits_free(reading.waits);
	return NULL;
}

void dpe_waits_free(struct dpe_waits *waits)
{
	if (!waits)
		return;
	for (unsigned i = 0; i < waits->nthreads; i++) {
		free(waits->threads[i].file);
		free(waits->threads[i].variable);
		free(waits->threads[i].stack);
	}
	free(waits->threads);
	free(waits);
}
