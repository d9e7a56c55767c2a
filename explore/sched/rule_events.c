/* rule_events: where rules are followed, the kernel sends a thread a signal at the entry of each function that is an event,
 * and its handler is a point. A thread function is one already. What the program does with the signal itself is kept. */
#include "explore/sched/control.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <ucontext.h>

static uint64_t own_begin, own_end; /* the library's code */

static void on_event(int number, siginfo_t *info, void *context)
{
	uint64_t pc = (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	int saved = errno; /* the function may be about to read it */

	if (info->si_code != SI_KERNEL)
		dpe_sched_call_handler(number, info, context);
	else if (dpe_sched && pc - own_begin >= own_end - own_begin)
		dpe_sched_point(&(struct dpe_sched_op){.kind = DPE_SCHED_EVENT, .pc = pc + 1});
	errno = saved;
}

static int note_own(struct dl_phdr_info *object, size_t size, void *context)
{
	uint64_t here = (uint64_t)note_own;

	(void)size, (void)context;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		uint64_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;

		if (object->dlpi_phdr[i].p_type != PT_LOAD || here - begin >= object->dlpi_phdr[i].p_memsz)
			continue;
		own_begin = begin;
		own_end = begin + object->dlpi_phdr[i].p_memsz;
		return 1;
	}
	return 0;
}

void dpe_sched_events_begin(void)
{
	const struct sigaction action = {.sa_sigaction = on_event, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};

	if (!dpe_sched->rules)
		return;
	dl_iterate_phdr(note_own, NULL);
	REAL(sigaction)(DPE_SCHED_SIGNAL, &action, NULL);
}
