/* sched_libgomp: libgomp waits by system calls of its own code, not by functions. Where it is loaded, the kernel sends a thread SIGSYS at a
 * system call from outside the C library (Documentation/admin-guide/syscall-user-dispatch.rst): a futex of libgomp is then an operation
 * like that of a program which calls syscall(2), and anything else is done for the caller. */
#include "explore/sched/control.h"
#include "explore/sched/libgomp.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH 2
#endif

static __thread uint64_t caller; /* of a function of OpenMP that is wrapped here; 0: none */

/* These return twice, elsewhere or not at all, so the thread does them itself, and is not observed from then on. */
static bool is_own(long number)
{
	switch (number) {
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
	case SYS_rt_sigreturn:
		return true;
	default:
		return false;
	}
}

static long call(const long *words, long number, uint64_t pc)
{
	long result;

	if (!dpe_sched_is_of_libgomp(pc) || !dpe_sched_futex(number, words, caller ? caller : pc, &result))
		result = REAL(syscall)(number, words[0], words[1], words[2], words[3], words[4], words[5]);
	return result < 0 && result >= -4095 ? -(long)errno : result;
}

static void on_call(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const long words[] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10], registers[REG_R8],
		registers[REG_R9]};
	int saved = errno;

	if (info->si_code != SYS_USER_DISPATCH) {
		dpe_sched_call_handler(number, info, context);
		return;
	}
	if (is_own(info->si_syscall)) {
		dpe_sched_libgomp_leave();
		registers[REG_RIP] -= 2;
		return;
	}
	registers[REG_RAX] = call(words, info->si_syscall, (uint64_t)registers[REG_RIP]);
	errno = saved;
}

/* ---- what waits only if another thread is there already -------------------------------------- */

static void arrive(enum dpe_sched_kind kind, const void *object, uint64_t pc)
{
	dpe_sched_point(&(struct dpe_sched_op){.kind = kind, .object = (uint64_t)object, .pc = pc});
}

#define POINT(name, kind, parameters, object, ...)                                                 \
	void name parameters;                                                                      \
	DPE_SCHED_EXPORTED void name parameters                                                    \
	{                                                                                          \
		arrive(DPE_SCHED_##kind, object, DPE_SCHED_HERE);                                  \
		caller = DPE_SCHED_HERE;                                                           \
		REAL(name)(__VA_ARGS__);                                                           \
		caller = 0;                                                                        \
	}
#define TEST(name, kind)                                                                           \
	int name(void *lock);                                                                      \
	DPE_SCHED_EXPORTED int name(void *lock)                                                    \
	{                                                                                          \
		int taken;                                                                         \
                                                                                                   \
		arrive(DPE_SCHED_##kind, lock, DPE_SCHED_HERE);                                    \
		taken = REAL(name)(lock);                                                          \
		if (taken)                                                                         \
			dpe_sched_changed();                                                       \
		return taken;                                                                      \
	}
static char unnamed; /* the one critical section without a name, and the barriers, by any address */
#define UNNAMED (&unnamed)
POINT(omp_set_lock, OMP_SET_LOCK, (void *lock), lock, lock)
POINT(omp_unset_lock, OMP_UNSET_LOCK, (void *lock), lock, lock)
POINT(omp_set_nest_lock, OMP_SET_NEST_LOCK, (void *lock), lock, lock)
POINT(omp_unset_nest_lock, OMP_UNSET_NEST_LOCK, (void *lock), lock, lock)
POINT(GOMP_critical_start, OMP_CRITICAL, (void), UNNAMED)
POINT(GOMP_critical_end, OMP_CRITICAL_END, (void), UNNAMED)
POINT(GOMP_critical_name_start, OMP_CRITICAL_NAME, (void **section), section, section)
POINT(GOMP_critical_name_end, OMP_CRITICAL_NAME_END, (void **section), section, section)
POINT(GOMP_barrier, OMP_BARRIER, (void), UNNAMED)
TEST(omp_test_lock, OMP_TEST_LOCK)
TEST(omp_test_nest_lock, OMP_TEST_NEST_LOCK)

/* ---- SIGSYS is the library's: a thread that blocks it would be killed ------------------------- */

#define WITHOUT_SIGSYS(name)                                                                       \
	DPE_SCHED_EXPORTED int name(int how, const sigset_t *set, sigset_t *before)                \
	{                                                                                          \
		sigset_t others;                                                                   \
                                                                                                   \
		if (!set || !dpe_sched || !dpe_sched_has_libgomp())                                            \
			return REAL(name)(how, set, before);                                       \
		others = *set;                                                                     \
		sigdelset(&others, SIGSYS);                                                        \
		return REAL(name)(how, &others, before);                                           \
	}
WITHOUT_SIGSYS(pthread_sigmask)
WITHOUT_SIGSYS(sigprocmask)

void dpe_sched_libgomp_look(void)
{
	const struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};

	if (dpe_sched_has_libgomp() || !dpe_sched_find_libgomp())
		return;
	REAL(sigaction)(SIGSYS, &action, NULL);
	dpe_sched_libgomp_thread();
}
