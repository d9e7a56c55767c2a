/* sched_cancel: cancellation of threads. */
#include "explore/sched/control.h"

/* The C library does it, at a scheduling point of the thread itself. */
void dpe_sched_test_cancel(struct dpe_sched_thread *me)
{
	if (!me || !me->cancelled || me->cancel_off)
		return;
	me->cancelled = false;
	REAL(pthread_cancel)(pthread_self());
	REAL(pthread_testcancel)();
}

DPE_SCHED_EXPORTED int pthread_cancel(pthread_t handle)
{
	struct dpe_sched_thread *thread = dpe_sched_self() ? dpe_sched_find(handle) : NULL;

	if (!thread)
		return REAL(pthread_cancel)(handle);
	dpe_sched_point(&(struct dpe_sched_op){
		.kind = DPE_SCHED_CANCEL, .object = dpe_sched_number(thread), .pc = DPE_SCHED_HERE});
	thread->cancelled = true;
	dpe_sched_loop_wake(thread);
	dpe_sched_released(DPE_SCHED_CANCELLED, dpe_sched_number(thread), DPE_SCHED_HERE);
	return 0;
}

DPE_SCHED_EXPORTED void pthread_testcancel(void)
{
	dpe_sched_test_cancel(dpe_sched_self());
	REAL(pthread_testcancel)();
}

DPE_SCHED_EXPORTED int pthread_setcancelstate(int state, int *before)
{
	struct dpe_sched_thread *me = dpe_sched_self();
	int error = REAL(pthread_setcancelstate)(state, before);

	if (me && !error)
		me->cancel_off = state == PTHREAD_CANCEL_DISABLE;
	return error;
}

/* A thread with asynchronous cancellation is cancelled at its next scheduling point. */
DPE_SCHED_EXPORTED int pthread_setcanceltype(int type, int *before)
{
	if (!dpe_sched_self())
		return REAL(pthread_setcanceltype)(type, before);
	return REAL(pthread_setcanceltype)(PTHREAD_CANCEL_DEFERRED, before);
}
