/* system_hooks: functions of the C library that write what the kernel says about files, processes and sockets to memory of
 * the program. */
#define __NO_INLINE__ 1
#include "probes/inside/string_hooks.h"

#include <arpa/inet.h>
#include <grp.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The kernel refuses NULL. The compiler is not to conclude from the headers that there is none. */
static size_t path_size(const char *path)
{
	__asm__("" : "+r"(path));
	return path ? with_end(path) : 0;
}

/* ---- files and descriptors -------------------------------------------------------- */

RESULT(char *, getcwd, (char *to, size_t size), (to, size), NOTHING, WRITES_IF(result && to, to, with_end(to)))
RESULT(char *, realpath, (const char *path, char *to), (path, to), READS(path, path_size(path)),
	WRITES_IF(result && to, to, with_end(to)))
RESULT(ssize_t, readlink, (const char *path, char *to, size_t size), (path, to, size), READS(path, path_size(path)),
	WRITES_IF(result > 0, to, (size_t)result))
RESULT(int, pipe, (int to[2]), (to), NOTHING, WRITES_IF(!result, to, 2 * sizeof(*to)))
RESULT(int, pipe2, (int to[2], int flags), (to, flags), NOTHING, WRITES_IF(!result, to, 2 * sizeof(*to)))
RESULT(int, socketpair, (int domain, int kind, int protocol, int to[2]), (domain, kind, protocol, to), NOTHING,
	WRITES_IF(!result, to, 2 * sizeof(*to)))
RESULT(ssize_t, getrandom, (void *to, size_t size, unsigned flags), (to, size, flags), NOTHING,
	WRITES_IF(result > 0, to, (size_t)result))

#define STATUS(name, kind, parameters, arguments, before)                                          \
	RESULT(int, name, parameters, arguments, before, WRITES_IF(!result, to, sizeof(kind)))
#define STATUS_OF(suffix)                                                                          \
	STATUS(stat##suffix, struct stat##suffix, (const char *restrict path, struct stat##suffix *restrict to), (path, to), \
		READS(path, path_size(path)))                                                      \
	STATUS(lstat##suffix, struct stat##suffix, (const char *restrict path, struct stat##suffix *restrict to), (path, to), \
		READS(path, path_size(path)))                                                      \
	STATUS(fstat##suffix, struct stat##suffix, (int file, struct stat##suffix *to), (file, to), NOTHING) \
	STATUS(fstatat##suffix, struct stat##suffix,                                               \
		(int at, const char *restrict path, struct stat##suffix *restrict to, int flags), (at, path, to, flags), \
		READS(path, path_size(path)))
STATUS_OF()
STATUS_OF(64)

#define FILE_SYSTEM(name)                                                                          \
	STATUS(name, struct name, (const char *restrict path, struct name *restrict to), (path, to), \
		READS(path, path_size(path)))                                                      \
	STATUS(f##name, struct name, (int file, struct name *to), (file, to), NOTHING)
FILE_SYSTEM(statfs)
FILE_SYSTEM(statfs64)
FILE_SYSTEM(statvfs)
FILE_SYSTEM(statvfs64)

/* ---- queues of messages ------------------------------------------------------------------ */

#define MESSAGE(name, parameters, arguments)                                                       \
	RESULT(ssize_t, name, parameters, arguments, NOTHING, WRITES_IF(result > 0, to, (size_t)result))
MESSAGE(mq_receive, (mqd_t queue, char *to, size_t size, unsigned *priority), (queue, to, size, priority))
MESSAGE(mq_timedreceive, (mqd_t queue, char *to, size_t size, unsigned *priority, const struct timespec *until),
	(queue, to, size, priority, until))
RESULT(ssize_t, msgrcv, (int queue, void *to, size_t size, long kind, int flags), (queue, to, size, kind, flags), NOTHING,
	WRITES_IF(result >= 0, to, sizeof(long) + (size_t)result))

/* The template's end is replaced. */
#define MAKES(type, name, parameters, arguments, made)                                             \
	RESULT(type, name, parameters, arguments, READS(path, with_end(path)), WRITES_IF(made, path, with_end(path)))
MAKES(int, mkstemp, (char *path), (path), result >= 0)
MAKES(int, mkstemp64, (char *path), (path), result >= 0)
MAKES(int, mkostemp, (char *path, int flags), (path, flags), result >= 0)
MAKES(int, mkostemp64, (char *path, int flags), (path, flags), result >= 0)
MAKES(char *, mkdtemp, (char *path), (path), result)

/* ---- processes --------------------------------------------------------------------------- */

#define WAIT(name, parameters, arguments)                                                          \
	RESULT(pid_t, name, parameters, arguments, NOTHING, WRITES_IF(result > 0 && to, to, sizeof(*to)))
WAIT(wait, (int *to), (to))
WAIT(waitpid, (pid_t process, int *to, int options), (process, to, options))
WAIT(wait3, (int *to, int options, struct rusage *usage), (to, options, usage))
WAIT(wait4, (pid_t process, int *to, int options, struct rusage *usage), (process, to, options, usage))
RESULT(int, waitid, (idtype_t kind, id_t process, siginfo_t *to, int options), (kind, process, to, options), NOTHING,
	WRITES_IF(!result && to, to, sizeof(*to)))

STATUS(uname, struct utsname, (struct utsname * to), (to), NOTHING)
STATUS(sysinfo, struct sysinfo, (struct sysinfo * to), (to), NOTHING)
STATUS(getrusage, struct rusage, (__rusage_who_t who, struct rusage *to), (who, to), NOTHING)
STATUS(getrlimit, struct rlimit, (__rlimit_resource_t what, struct rlimit *to), (what, to), NOTHING)
STATUS(getrlimit64, struct rlimit64, (__rlimit_resource_t what, struct rlimit64 *to), (what, to), NOTHING)
STATUS(getitimer, struct itimerval, (__itimer_which_t which, struct itimerval *to), (which, to), NOTHING)
STATUS(timer_gettime, struct itimerspec, (timer_t timer, struct itimerspec *to), (timer, to), NOTHING)
STATUS(timerfd_gettime, struct itimerspec, (int file, struct itimerspec *to), (file, to), NOTHING)
STATUS(sem_getvalue, int, (sem_t *restrict semaphore, int *restrict to), (semaphore, to), NOTHING)
RESULT(int, sched_getaffinity, (pid_t process, size_t size, cpu_set_t *to), (process, size, to), NOTHING,
	WRITES_IF(!result, to, size))
RESULT(int, pthread_getaffinity_np, (pthread_t thread, size_t size, cpu_set_t *to), (thread, size, to), NOTHING,
	WRITES_IF(!result, to, size))
RESULT(int, pthread_getschedparam, (pthread_t thread, int *restrict policy, struct sched_param *restrict to),
	(thread, policy, to), NOTHING, WRITES_IF(!result, policy, sizeof(*policy)); WRITES_IF(!result, to, sizeof(*to)))
RESULT(int, getloadavg, (double to[], int count), (to, count), NOTHING, WRITES_IF(result > 0, to, (size_t)result * sizeof(*to)))
RESULT(int, getgroups, (int count, gid_t to[]), (count, to), NOTHING,
	WRITES_IF(count && result > 0, to, (size_t)result * sizeof(*to)))
RESULT(size_t, confstr, (int name, char *to, size_t size), (name, to, size), NOTHING,
	WRITES_IF(result && size, to, at_most(result, size)))

#define NAME(name, parameters, arguments)                                                          \
	RESULT(int, name, parameters, arguments, NOTHING, WRITES_IF(!result, to, with_end(to)))
NAME(gethostname, (char *to, size_t size), (to, size))
NAME(getlogin_r, (char *to, size_t size), (to, size))
NAME(ttyname_r, (int file, char *to, size_t size), (file, to, size))
NAME(pthread_getname_np, (pthread_t thread, char *to, size_t size), (thread, to, size))

#define ACCOUNT(name, type, key)                                                                    \
	RESULT(int, name, (key who, type *to, char *text, size_t size, type **found), (who, to, text, size, found), NOTHING, \
		WRITES(found, sizeof(*found)); WRITES_IF(!result && *found, to, sizeof(*to)))
ACCOUNT(getpwnam_r, struct passwd, const char *)
ACCOUNT(getpwuid_r, struct passwd, uid_t)
ACCOUNT(getgrnam_r, struct group, const char *)
ACCOUNT(getgrgid_r, struct group, gid_t)

/* The result is memory of the C library that all threads share. */
#define SHARED_RESULT(name, type, key)                                                             \
	RESULT(type *, name, (key who), (who), NOTHING, WRITES_IF(result, result, sizeof(*result)))
SHARED_RESULT(getpwnam, struct passwd, const char *)
SHARED_RESULT(getpwuid, struct passwd, uid_t)
SHARED_RESULT(getgrnam, struct group, const char *)
SHARED_RESULT(getgrgid, struct group, gid_t)
SHARED_RESULT(gethostbyname, struct hostent, const char *)

/* ---- addresses --------------------------------------------------------------------------- */

RESULT(const char *, inet_ntop, (int family, const void *restrict from, char *restrict to, socklen_t size),
	(family, from, to, size), READS(from, family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr)),
	WRITES_IF(result, to, with_end(to)))
RESULT(int, inet_pton, (int family, const char *restrict from, void *restrict to), (family, from, to),
	READS(from, with_end(from)),
	WRITES_IF(result == 1, to, family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr)))
RESULT(int, inet_aton, (const char *from, struct in_addr *to), (from, to), READS(from, with_end(from)),
	WRITES_IF(result && to, to, sizeof(*to)))
RESULT(int, getaddrinfo,
	(const char *restrict name, const char *restrict service, const struct addrinfo *restrict wanted,
		struct addrinfo **restrict to),
	(name, service, wanted, to), NOTHING, WRITES_IF(!result, to, sizeof(*to)))

/* `size` is the room before the call, and what there was to write after it. */
#define FILLS(name, parameters, arguments, to)                                                     \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		socklen_t room = size ? *size : 0;                                                 \
		int result;                                                                        \
                                                                                                   \
		READS(size, size ? sizeof(*size) : 0);                                             \
		result = REAL(name) arguments;                                                     \
		if (!result && size) {                                                             \
			WRITES(size, sizeof(*size));                                               \
			WRITES(to, at_most(*size, room));                                          \
		}                                                                                  \
		return result;                                                                     \
	}
FILLS(getsockname, (int file, struct sockaddr *restrict to, socklen_t *restrict size), (file, to, size), to)
FILLS(getpeername, (int file, struct sockaddr *restrict to, socklen_t *restrict size), (file, to, size), to)
FILLS(getsockopt, (int file, int level, int option, void *restrict to, socklen_t *restrict size),
	(file, level, option, to, size), to)
