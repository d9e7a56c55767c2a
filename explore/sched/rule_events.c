/* rule_events: where rules are followed, the kernel sends a thread a signal where a function that is an event begins or returns,
 * and its handler is a point. A function of threads is one already. What the program does with the signal itself is kept. */
#include "explore/sched/control.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <ucontext.h>

static uint64_t own_begin, own_end; /* the library's code */

/* Since Linux 6.11 a function returns through the kernel's code for that, whose end is pop %r11; pop %rcx; ret. */
static bool is_kernels(uint64_t pc)
{
	const uint8_t *code = (const uint8_t *)pc;

	return code[0] == 0x41 && code[1] == 0x5b && code[2] == 0x59 && code[3] == 0xc3;
}

/* In a function of the library, or where it returns: that is an operation already. Its place may be the beginning of the
 * kernel's code, at that of a page, to which the function was about to return. */
static bool is_operation(uint64_t pc, uint64_t diverted)
{
	struct dpe_sched_thread *me = dpe_sched_self();

	if (me && diverted && me->op.pc == (diverted & ~(uint64_t)4095))
		me->op.pc = pc; /* once: a function around it returns the same way */
	return pc - own_begin < own_end - own_begin || (me && me->op.kind != DPE_SCHED_EVENT && me->op.pc == pc);
}

static void on_event(int number, siginfo_t *info, void *context)
{
	const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t at = (uint64_t)registers[REG_RIP];
	uint64_t diverted = is_kernels(at) ? at : 0;
	uint64_t pc = diverted ? ((const uint64_t *)registers[REG_RSP])[2] : at;
	int saved = errno; /* the function may be about to read it */

	if (info->si_code != SI_KERNEL)
		dpe_sched_call_handler(number, info, context);
	else if (dpe_sched && !is_operation(pc, diverted))
		dpe_sched_point(&(struct dpe_sched_op){.kind = DPE_SCHED_EVENT, .pc = pc});
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
