/* Registers of a sleeping thread, by ptrace. */
#include "probes/waits/waits.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

/* A signal may arrive first: it is passed on. Nothing is taken from others who wait for the thread's end. False if
 * that has come. */
static bool await_stop(pid_t thread, int *signal)
{
	siginfo_t info = {0};

	while (waitid(P_PID, (id_t)thread, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL))
		if (errno != EINTR)
			return false;
	if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
		return false;
	*signal = info.si_status >> 8 == PTRACE_EVENT_STOP ? 0 : info.si_status & 0x7f;
	return true;
}

/* Unlike PTRACE_ATTACH this sends no signal. */
bool dpe_sleeper_registers(pid_t thread, struct dpe_registers *registers)
{
	struct user_regs_struct user;
	int signal = 0;
	bool read;

	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL))
		return false;
	if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) || !await_stop(thread, &signal))
		return false;
	read = !ptrace(PTRACE_GETREGS, thread, NULL, &user);
	ptrace(PTRACE_DETACH, thread, NULL, (void *)(long)signal);
	if (read)
		*registers = (struct dpe_registers){user.rip, user.rsp, user.rbp, true};
	return read;
}
