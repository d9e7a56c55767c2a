/* operations: which of them may change nothing. */
#include "explore/sched/sched_state.h"

bool dpe_sched_is_idle(const struct dpe_sched_op *op)
{
	switch (op->kind) {
	case DPE_SCHED_READ:
	case DPE_SCHED_ATOMIC_LOAD:
	case DPE_SCHED_MUTEX_TRYLOCK:
	case DPE_SCHED_SPIN_TRYLOCK:
	case DPE_SCHED_SEM_TRYWAIT:
	case DPE_SCHED_SEM_GETVALUE:
	case DPE_SCHED_OMP_TEST_LOCK:
	case DPE_SCHED_OMP_TEST_NEST_LOCK:
	case DPE_SCHED_RWLOCK_TRYRDLOCK:
	case DPE_SCHED_RWLOCK_TRYWRLOCK:
	case DPE_SCHED_ATOMIC_CHANGE:
	case DPE_SCHED_EVENT:
		return true;
	default:
		return false;
	}
}

static bool is_pause(const struct dpe_sched_op *op)
{
	return op->kind == DPE_SCHED_YIELD || op->kind == DPE_SCHED_SLEEP;
}

bool dpe_sched_looks(const struct dpe_sched_op *op)
{
	return dpe_sched_is_idle(op) || is_pause(op) || op->kind == DPE_SCHED_FENCE;
}
