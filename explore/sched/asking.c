/* asking: a choice made by the command, or by the user of gdb. The run waits for it, with every thread at an
 * operation. */
#include "explore/sched/control.h"

static void note_waits(bool asked)
{
	for (unsigned i = 0; i < dpe_sched->nthreads; i++) {
		struct dpe_sched_thread *thread = &dpe_sched->threads[i];
		unsigned awaited = asked ? dpe_sched_awaited(thread) : DPE_SCHED_NOBODY;

		thread->held_by = awaited == DPE_SCHED_NOBODY ? 0 : (uint16_t)(awaited + 1);
	}
}

static void collect(struct dpe_sched_question *question)
{
	question->count = 0;
	for (unsigned i = 0; i < dpe_sched->nthreads; i++)
		if (dpe_sched_ready(&dpe_sched->threads[i]) != DPE_SCHED_BLOCKED)
			question->possible[question->count++] = (uint16_t)i;
}

static bool is_possible(const struct dpe_sched_question *question, unsigned thread)
{
	for (unsigned i = 0; i < question->count; i++)
		if (question->possible[i] == thread)
			return true;
	return false;
}

unsigned dpe_sched_ask(unsigned current, unsigned by_default)
{
	struct dpe_sched_question *question = &dpe_sched->question;

	question->current = (uint16_t)current;
	question->by_default = (uint16_t)by_default;
	collect(question);
	note_waits(true);
	__atomic_store_n(&question->state, DPE_SCHED_ASKED, __ATOMIC_RELEASE);
	dpe_sched_futex_wake(&question->state);
	while (__atomic_load_n(&question->state, __ATOMIC_ACQUIRE) == DPE_SCHED_ASKED)
		dpe_sched_futex_wait(&question->state, DPE_SCHED_ASKED);
	note_waits(false);
	return is_possible(question, question->answer) ? question->answer : by_default;
}

void dpe_sched_asking(void)
{
	__asm__ volatile("" : : : "memory");
}

unsigned dpe_sched_offer(unsigned current, unsigned by_default)
{
	struct dpe_sched_question *question = &dpe_sched->question;
	uint32_t index = dpe_sched->asked++;
	bool known = index < dpe_sched->nfollow && index < DPE_SCHED_CHOICES;

	question->current = (uint16_t)current;
	question->by_default = (uint16_t)by_default;
	question->answer = known ? dpe_sched->answers[index] : (uint16_t)by_default;
	collect(question);
	if (!known)
		dpe_sched_asking();
	if (is_possible(question, question->answer))
		by_default = question->answer;
	if (index < DPE_SCHED_CHOICES)
		dpe_sched->answers[index] = (uint16_t)by_default;
	return by_default;
}
