/* Signals to dpe in a live run. SIGTERM ends the run, and after a while dpe itself if the end of the run makes no progress. */
#include "cli/limits.h"
#include "cli/live_run.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Microseconds of processor time; unlike clock(), for signal handlers. */
static uint64_t processor_time(void)
{
	return dpe_clock(CLOCK_PROCESS_CPUTIME_ID) / 1000;
}

/* Runs each second after SIGTERM, so that a blocked write of the report or a log does not keep dpe from ending. */
static void end_if_blocked(int signal)
{
	static uint64_t last;
	static unsigned idle;
	uint64_t used = processor_time();

	(void)signal;
	idle = used - last < CLI_END_PROGRESS ? idle + 1 : 0;
	last = used;
	if (idle == CLI_END_TIME)
		raise(SIGTERM); /* its handler was for one call */
}

static void end_soon(int signal)
{
	const struct itimerval every_second = {{.tv_sec = 1}, {.tv_sec = 1}};

	(void)signal;
	setitimer(ITIMER_REAL, &every_second, NULL);
	kill(getpid(), SIGHUP);
}

void cli_live_leave_timer(void)
{
	const struct itimerval never = {0};

	setitimer(ITIMER_REAL, &never, NULL);
}

bool cli_live_ignores_hangup(void)
{
	struct sigaction now;

	return !sigaction(SIGHUP, NULL, &now) && now.sa_handler == SIG_IGN;
}

int cli_live_take_signals(void)
{
	const struct sigaction end = {
		.sa_handler = end_soon,
		.sa_flags = SA_RESTART | (int)SA_RESETHAND,
	};
	const struct sigaction tick = {.sa_handler = end_if_blocked, .sa_flags = SA_RESTART};
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGQUIT);
	sigaddset(&wanted, SIGHUP);
	sigaddset(&wanted, SIGUSR1);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	sigaction(SIGALRM, &tick, NULL);
	sigaction(SIGTERM, &end, NULL);
	return signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
}
