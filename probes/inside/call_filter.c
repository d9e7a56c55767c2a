/* call_filter: whether the kernel filters the system calls of the program (seccomp). A filter may kill it for a call that it
 * does not make itself, so the library makes none then. Filters come by prctl, by seccomp, for which the C library has no
 * function, or from the program that began this one. */
#include "probes/inside/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

bool dpe_preload_filtered;
static uint32_t id_at; /* where the C library has the thread's id in its description of the thread; 0: unknown */

/* ---- the program's own calls ------------------------------------------------------------- */

/* By the C library's function: explore forbids system calls from other code, so that it notices those of libgomp. */
static long call(long number, const unsigned long *words)
{
	static long (*real)(long, ...);

	if (number == SYS_seccomp || (number == SYS_prctl && words[0] == PR_SET_SECCOMP))
		dpe_preload_filtered = true;
	if (!real)
		real = dlsym(RTLD_NEXT, "syscall");
	return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

EXPORTED long syscall(long number, ...)
{
	unsigned long words[6];
	va_list more;

	va_start(more, number);
	for (unsigned i = 0; i < 6; i++)
		words[i] = va_arg(more, unsigned long);
	va_end(more);
	return call(number, words);
}

EXPORTED int prctl(int option, ...)
{
	unsigned long words[6] = {(unsigned long)option};
	va_list more;

	va_start(more, option);
	for (unsigned i = 1; i < 5; i++)
		words[i] = va_arg(more, unsigned long);
	va_end(more);
	return (int)call(SYS_prctl, words);
}

/* ---- the library's ----------------------------------------------------------------------- */

static unsigned number_of(const char *status, const char *member)
{
	const char *found = strstr(status, member);

	return found ? (unsigned)strtoul(found + strlen(member), NULL, 10) : 0;
}

/* The dynamic linker has made each of these calls before. */
unsigned dpe_preload_filters(void)
{
	char status[4096] = "";
	long file = syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return 0;
	if (syscall(SYS_read, file, status, sizeof(status) - 1) < 0)
		status[0] = '\0';
	syscall(SYS_close, file);
	return strstr(status, "\nSeccomp_filters:") ? number_of(status, "\nSeccomp_filters:") : number_of(status, "\nSeccomp:");
}

void dpe_preload_find_ids(void)
{
	const uint32_t *place = dlsym(RTLD_DEFAULT, "_thread_db_pthread_tid"); /* bits, elements, offset */

	id_at = place && place[0] == 32 ? place[2] : 0;
}

/* Without functions that the library wraps, which would report events. */
static void copy_name(char to[16], const char from[16])
{
	for (unsigned i = 0; i < 16; i++)
		to[i] = from[i];
}

/* A thread has the name of its creator until it has one of its own. */
void dpe_preload_own_name(char name[16])
{
	static char first[16];

	if (dpe_preload_filtered) {
		copy_name(name, first);
		return;
	}
	prctl(PR_GET_NAME, name);
	if (!first[0])
		copy_name(first, name);
}

uint32_t dpe_preload_own_id(void)
{
	if (!dpe_preload_filtered)
		return (uint32_t)syscall(SYS_gettid);
	return id_at ? *(const uint32_t *)((const char *)pthread_self() + id_at) : 0;
}
