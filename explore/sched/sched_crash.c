/* sched_crash: where a signal ends the program: the registers and the stack of the thread, from which dpe finds the program's line. */
#include "explore/sched/control.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static bool is_watching; /* not where a debugger stops at the signal */

bool dpe_sched_is_fault(int number)
{
	switch (number) {
	case SIGILL:
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGSEGV:
		return true;
	default:
		return false;
	}
}

bool dpe_sched_is_crash(int number)
{
	return is_watching && dpe_sched_is_fault(number);
}

/* memcpy would be an access of the program. The end of a stack that is not the thread's own, such as a coroutine's, is
 * not known. */
static void copy_stack(const struct dpe_sched_thread *me, struct dpe_sched_crash *to, uint64_t from)
{
	uint64_t size = me->stack > from && me->stack - from <= DPE_SCHED_DEEPEST ? me->stack - from : 0;
	void *at = to->stack;

	to->size = size < sizeof(to->stack) ? (uint32_t)size : sizeof(to->stack);
	size = to->size;
	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
}

static void note(const ucontext_t *context)
{
	const struct dpe_sched_thread *me = dpe_sched_mine();
	const greg_t *registers = context->uc_mcontext.gregs;
	struct dpe_sched_crash *to = &dpe_sched->crash;

	if (!me || dpe_sched->crashed)
		return;
	to->pc = (uint64_t)registers[REG_RIP];
	to->sp = (uint64_t)registers[REG_RSP];
	to->bp = (uint64_t)registers[REG_RBP];
	copy_stack(me, to, to->sp);
	dpe_sched->crashed = dpe_sched_number(me) + 1;
}

/* The signal comes again at the return, and then ends the process. */
static void on_crash(int number, siginfo_t *info, void *context)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};

	(void)info;
	if (dpe_sched)
		note(context);
	REAL(sigaction)(number, &by_default, NULL);
	dpe_sched_kernel(SYS_tgkill, getpid(), gettid(), number);
}

void dpe_sched_note_crash(int number)
{
	const struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	REAL(sigaction)(number, &action, NULL);
}

void dpe_sched_crashes_begin(void)
{
	struct sigaction action;

	is_watching = !dpe_sched->held;
	for (int number = 1; number < NSIG; number++)
		if (dpe_sched_is_crash(number) && !REAL(sigaction)(number, NULL, &action) && action.sa_handler == SIG_DFL)
			dpe_sched_note_crash(number);
}
