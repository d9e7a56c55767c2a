/* system_hooks: functions of the C library that write what the kernel says about files, processes and sockets to memory of
 * the program. */
#define __NO_INLINE__ 1
#include "probes/inside/string_hooks.h"

#include <arpa/inet.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
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
RESULT(int, gethostname, (char *to, size_t size), (to, size), NOTHING, WRITES_IF(!result, to, with_end(to)))

#define ACCOUNT(name, type, key)                                                                    \
	RESULT(int, name, (key who, type *to, char *text, size_t size, type **found), (who, to, text, size, found), NOTHING, \
		WRITES(found, sizeof(*found)); WRITES_IF(!result && *found, to, sizeof(*to)))
ACCOUNT(getpwnam_r, struct passwd, const char *)
ACCOUNT(getpwuid_r, struct passwd, uid_t)
ACCOUNT(getgrnam_r, struct group, const char *)
ACCOUNT(getgrgid_r, struct group, gid_t)

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
