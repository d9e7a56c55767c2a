/* System calls in which threads sleep until something outside the process comes, and the files that these are about. */
#include "probes/process/process.h"

#include <sys/syscall.h>
#include <unistd.h>

#define CALL(name, file) {SYS_##name, file, #name}

static const struct {
	long number;
	int file;
	const char *name;
} CALLS[] = {
	CALL(read, 0),
	CALL(write, 0),
	CALL(readv, 0),
	CALL(writev, 0),
	CALL(pread64, 0),
	CALL(accept, 0),
	CALL(accept4, 0),
	CALL(connect, 0),
	CALL(recvfrom, 0),
	CALL(recvmsg, 0),
	CALL(sendto, 0),
	CALL(sendmsg, 0),
	CALL(epoll_wait, 0),
	CALL(epoll_pwait, 0),
	CALL(epoll_pwait2, 0),
	CALL(flock, 0),
	CALL(fcntl, 0),
	CALL(ioctl, 0),
	CALL(mq_timedreceive, 0),
	CALL(mq_timedsend, 0),
	CALL(fsync, 0),
	CALL(openat, -1),
	CALL(poll, -1),
	CALL(ppoll, -1),
	CALL(select, -1),
	CALL(pselect6, -1),
	CALL(nanosleep, -1),
	CALL(clock_nanosleep, -1),
	CALL(pause, -1),
	CALL(rt_sigsuspend, -1),
	CALL(rt_sigtimedwait, -1),
	CALL(wait4, -1),
	CALL(waitid, -1),
	CALL(semop, -1),
	CALL(semtimedop, -1),
	CALL(msgrcv, -1),
	CALL(msgsnd, -1),
	CALL(io_getevents, -1),
	CALL(io_uring_enter, 0),
	CALL(sched_yield, -1),
	CALL(restart_syscall, -1),
	CALL(vfork, -1),
};

const char *dpe_blocking_call(long number, int *file)
{
	for (unsigned i = 0; i < DPE_COUNT(CALLS); i++) {
		if (CALLS[i].number == number) {
			*file = CALLS[i].file;
			return CALLS[i].name;
		}
	}
	return NULL;
}

char *dpe_descriptor_file(pid_t pid, unsigned number)
{
	char path[64], target[256];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/fd/%u", pid, number);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return NULL;
	target[length] = '\0';
	return dpe_xstrdup(target);
}
