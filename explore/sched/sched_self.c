/* sched_self: which thread calls. */
#include "explore/sched/sched_state.h"

#include "explore/sched/libgomp.h"

#include <unistd.h>

static __thread struct dpe_sched_thread *mine;
static __thread bool over; /* set if the thread's last operation was */
static pthread_key_t ending;

void dpe_sched_set_self(struct dpe_sched_thread *me)
{
	me->tid = (uint32_t)gettid();
	me->handle = (uint64_t)pthread_self();
	mine = me;
}

void dpe_sched_watch_ends(void (*round)(void *number))
{
	pthread_key_create(&ending, round);
}

void dpe_sched_watch_end(intptr_t round)
{
	pthread_setspecific(ending, (void *)round);
}

static struct dpe_sched_thread *adopt(void)
{
	struct dpe_sched_thread *me = NULL;

	dpe_sched_lock();
	if (dpe_sched->nthreads == DPE_SCHED_THREADS)
		dpe_sched_end(DPE_SCHED_TOO_MANY);
	me = &dpe_sched->threads[dpe_sched->nthreads++];
	me->state = DPE_SCHED_OUTSIDE;
	dpe_sched->kicks++;
	dpe_sched->unseen++;
	me->detached = true;
	dpe_sched->live++;
	dpe_sched_set_self(me);
	dpe_sched_unlock();
	dpe_sched_watch_end(1);
	dpe_sched_libgomp_thread();
	return me;
}

struct dpe_sched_thread *dpe_sched_self(void)
{
	if (!dpe_sched || over)
		return NULL;
	return mine ? mine : adopt();
}

struct dpe_sched_thread *dpe_sched_mine(void)
{
	return mine;
}

void dpe_sched_leave(void)
{
	over = true;
	mine = NULL;
}

struct dpe_sched_thread *dpe_sched_find(pthread_t handle)
{
	for (unsigned i = dpe_sched->nthreads; i--;) {
		struct dpe_sched_thread *thread = &dpe_sched->threads[i];

		if (thread->handle == (uint64_t)handle && !thread->joined)
			return thread;
	}
	return NULL;
}
