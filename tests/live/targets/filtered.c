/* A program that lets the kernel filter its system calls: one that is not in the list kills it. By the first argument, `late`
 * installs the filter before it creates threads, by prctl; `call`, by syscall; `exec`, before it begins itself again. The
 * second one: `exit` ends while a thread runs, `fill` makes more events than a ring has room for. `around` begins the program
 * that is named next, with a filter that allows everything. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 100000 };

static const unsigned ALLOWED[] = {SYS_read, SYS_write, SYS_close, SYS_lseek, SYS_newfstatat, SYS_futex, SYS_exit, SYS_exit_group,
	SYS_mmap, SYS_munmap, SYS_mprotect, SYS_brk, SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_rseq, SYS_rt_sigprocmask,
	SYS_rt_sigreturn, SYS_rt_sigaction, SYS_execve, SYS_getrandom, SYS_madvise};
/* What the dynamic linker and the C library do before main. */
static const unsigned AT_BEGIN[] = {SYS_openat, SYS_pread64, SYS_access, SYS_arch_prctl, SYS_set_tid_address, SYS_prlimit64};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile bool begun;
static int counter;

static unsigned add(struct sock_filter *to, unsigned at, const unsigned *numbers, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		to[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
		to[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	return at;
}

static void install(const char *way)
{
	const unsigned otherwise = strcmp(way, "around") ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW;
	static struct sock_filter filter[128] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	struct sock_fprog program = {.filter = filter};
	unsigned at = add(filter, 1, ALLOWED, sizeof(ALLOWED) / sizeof(*ALLOWED));

	if (!strcmp(way, "exec"))
		at = add(filter, at, AT_BEGIN, sizeof(AT_BEGIN) / sizeof(*AT_BEGIN));
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
	program.len = (unsigned short)at;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		(strcmp(way, "call") ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
				     : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)))
		abort();
}

static void *work(void *ends)
{
	for (int i = 0; i < ROUNDS || !ends; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
		begun = true;
	}
	return ends;
}

int main(int argc, char **argv)
{
	bool fills = argc > 2 && !strcmp(argv[2], "fill");
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "within"))
		install(argv[1]);
	if (argc > 2 && !strcmp(argv[1], "around"))
		execv(argv[2], argv + 2);
	if (argc > 1 && !strcmp(argv[1], "exec"))
		execv("/proc/self/exe", (char *[]){argv[0], "within", argv[2], NULL});
	if (pthread_create(&thread, NULL, work, fills ? argv : NULL))
		return 1;
	while (!begun)
		;
	if (fills)
		pthread_join(thread, NULL);
	puts("ended");
	return 7;
}
