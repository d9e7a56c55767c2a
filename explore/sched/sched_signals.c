/* sched_signals: signal handlers. A thread that waits for its turn when a signal comes has the handler as its next operation,
 * and then again the one that it was about to do. A thread that sends a signal continues once the handler is waiting. */
#include "explore/sched/control.h"

#include "explore/sched/libgomp.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct sigaction own_actions[NSIG]; /* the program's, of signals that on_signal handles */

static bool has_handler(int number)
{
	return own_actions[number].sa_handler != SIG_DFL && own_actions[number].sa_handler != SIG_IGN;
}

void dpe_sched_call_handler(int number, siginfo_t *info, void *context)
{
	const struct sigaction *own = &own_actions[number];

	if (!has_handler(number))
		return;
	if (own->sa_flags & SA_SIGINFO)
		own->sa_sigaction(number, info, context);
	else
		own->sa_handler(number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int error = errno;
	const struct sigaction *own = &own_actions[number];
	bool waited = dpe_sched_interrupt((uint64_t)own->sa_sigaction + 1, own->sa_flags & SA_RESTART);

	dpe_sched_call_handler(number, info, context);
	if (waited)
		dpe_sched_resume();
	errno = error;
}

static bool is_replaced(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_signal;
}

static bool is_default(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

/* The handlers of the signals at events of rules and at system calls of libgomp stay the library's. */
static bool is_taken(int number)
{
	return (dpe_sched->rules && number == DPE_SCHED_SIGNAL) || (number == SIGSYS && dpe_sched_has_libgomp());
}

DPE_SCHED_EXPORTED int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	bool is_known = dpe_sched && number > 0 && number < NSIG;
	bool is_own = is_known && is_taken(number);
	struct sigaction wanted, own, was;
	int error = 0;

	if (!is_known)
		return REAL(sigaction)(number, action, before);
	own = own_actions[number];
	if (action) {
		wanted = own_actions[number] = *action;
		if (has_handler(number)) {
			wanted.sa_flags |= SA_SIGINFO;
			wanted.sa_sigaction = on_signal;
		}
	}
	if (!is_own)
		error = REAL(sigaction)(number, action ? &wanted : NULL, &was);
	if (error)
		own_actions[number] = own;
	else if (before)
		*before = is_own || is_replaced(&was) || dpe_sched_is_crash(number) ? own : was;
	if (!error && action && dpe_sched_is_crash(number) && is_default(action))
		dpe_sched_note_crash(number);
	return error;
}

DPE_SCHED_EXPORTED sighandler_t signal(int number, sighandler_t handler)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;

	if (!dpe_sched)
		return REAL(signal)(number, handler);
	return sigaction(number, &action, &before) ? SIG_ERR : before.sa_handler;
}

/* ---- sending ------------------------------------------------------------------------------ */

static bool blocks(const struct dpe_sched_thread *thread, int number)
{
	char path[64], text[4096], *mask;
	int file;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/self/task/%u/status", thread->tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	len = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
	if (file >= 0)
		close(file);
	text[len > 0 ? len : 0] = '\0';
	mask = strstr(text, "SigBlk:");
	return !mask || strtoull(mask + strlen("SigBlk:"), NULL, 16) >> (number - 1) & 1;
}

static void await_parked(const struct dpe_sched_thread *thread)
{
	while (thread->state == DPE_SCHED_CONTROLLED && !__atomic_load_n(&thread->parked, __ATOMIC_ACQUIRE))
		REAL(sched_yield)();
}

/* Another thread's handler runs when it is that thread's turn; one's own runs at once. */
static struct dpe_sched_thread *begin_sending(struct dpe_sched_thread *to, int number, uint64_t pc)
{
	struct dpe_sched_thread *me = dpe_sched_self();

	if (!me || me->inside || !to || number <= 0 || number >= NSIG || !has_handler(number))
		return NULL;
	dpe_sched_point(&(struct dpe_sched_op){.kind = DPE_SCHED_KILL, .object = dpe_sched_number(to), .pc = pc});
	if (to == me)
		return NULL;
	me->inside = true;
	await_parked(to);
	if (!blocks(to, number) && to->nested < DPE_SCHED_NESTED)
		return to;
	me->inside = false;
	return NULL;
}

static void end_sending(const struct dpe_sched_thread *to, uint32_t handlers, bool sent, uint64_t pc)
{
	while (sent && to->state == DPE_SCHED_CONTROLLED && __atomic_load_n(&to->handlers, __ATOMIC_ACQUIRE) == handlers)
		REAL(sched_yield)();
	await_parked(to);
	dpe_sched_self()->inside = false;
	dpe_sched_released(DPE_SCHED_KILLED, dpe_sched_number(to), pc);
}

DPE_SCHED_EXPORTED int pthread_kill(pthread_t handle, int number)
{
	struct dpe_sched_thread *to = begin_sending(dpe_sched ? dpe_sched_find(handle) : NULL, number, DPE_SCHED_HERE);
	uint32_t handlers = to ? to->handlers : 0;
	int error = REAL(pthread_kill)(handle, number);

	if (to)
		end_sending(to, handlers, !error, DPE_SCHED_HERE);
	return error;
}

/* The kernel gives a signal to the first thread, unless that blocks it. */
DPE_SCHED_EXPORTED int kill(pid_t pid, int number)
{
	bool is_own = dpe_sched && pid == getpid();
	struct dpe_sched_thread *to = begin_sending(is_own ? dpe_sched->threads : NULL, number, DPE_SCHED_HERE);
	uint32_t handlers = to ? to->handlers : 0;
	int result = REAL(kill)(pid, number);

	if (to)
		end_sending(to, handlers, !result, DPE_SCHED_HERE);
	return result;
}
