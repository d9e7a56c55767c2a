/* libgomp_code: where the code of libgomp is, and that the kernel sends a thread SIGSYS at a system call from outside the C library. */
#include "explore/sched/libgomp.h"

#include <gnu/libc-version.h>
#include <link.h>
#include <linux/prctl.h>
#include <string.h>
#include <sys/prctl.h>

struct code {
	uint64_t begin, end;
};

static struct code libc, libgomp;
static __thread char selector = SYSCALL_DISPATCH_FILTER_ALLOW;

static bool holds(const struct code *code, uint64_t pc)
{
	return pc - code->begin < code->end - code->begin;
}

static struct code code_of(const struct dl_phdr_info *object)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *at = &object->dlpi_phdr[i];
		uint64_t begin = object->dlpi_addr + at->p_vaddr;

		if (at->p_type == PT_LOAD && (at->p_flags & PF_X))
			return (struct code){begin, begin + at->p_memsz};
	}
	return (struct code){0, 0};
}

static int note_code(struct dl_phdr_info *object, size_t size, void *context)
{
	struct code code = code_of(object);

	(void)size, (void)context;
	if (holds(&code, (uint64_t)gnu_get_libc_version))
		libc = code;
	if (object->dlpi_name && strstr(object->dlpi_name, "libgomp.so"))
		libgomp = code;
	return 0;
}

bool dpe_sched_find_libgomp(void)
{
	dl_iterate_phdr(note_code, NULL);
	return dpe_sched_has_libgomp();
}

bool dpe_sched_is_of_libgomp(uint64_t pc)
{
	return holds(&libgomp, pc);
}

void dpe_sched_libgomp_leave(void)
{
	selector = SYSCALL_DISPATCH_FILTER_ALLOW;
}

void dpe_sched_libgomp_thread(void)
{
	if (!libgomp.end || prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, libc.begin, libc.end - libc.begin, &selector))
		return;
	selector = SYSCALL_DISPATCH_FILTER_BLOCK;
}

bool dpe_sched_has_libgomp(void)
{
	return libgomp.end != 0;
}
