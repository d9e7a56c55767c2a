/* confirm: translates predicted runs into operations of the library. The rules know the threads and times of events; the
 * times at which threads reached their operations show between which two an event occurred. Of a race, its places suffice. */
#include "explore/runs.h"

#include <stdlib.h>
#include <string.h>

/* Its number; DPE_SCHED_NOBODY. */
static unsigned thread_of(const struct dpe_sched_header *memory, pid_t tid)
{
	for (unsigned i = 0; i < memory->nthreads && i < DPE_SCHED_THREADS; i++)
		if (memory->threads[i].tid == (uint32_t)tid)
			return i;
	return DPE_SCHED_NOBODY;
}

/* Operations that let other threads proceed. */
static bool is_release(unsigned kind)
{
	switch (kind) {
	case DPE_SCHED_CREATE:
	case DPE_SCHED_MUTEX_UNLOCK:
	case DPE_SCHED_RWLOCK_UNLOCK:
	case DPE_SCHED_SPIN_UNLOCK:
	case DPE_SCHED_COND_SIGNAL:
	case DPE_SCHED_COND_BROADCAST:
	case DPE_SCHED_COND_WAIT:
	case DPE_SCHED_COND_TIMEDWAIT:
	case DPE_SCHED_SEM_POST:
	case DPE_SCHED_BARRIER_WAIT:
	case DPE_SCHED_FUTEX_WAKE:
		return true;
	default:
		return false;
	}
}

/* The operation that the thread reaches after that time. If the event is a call that lets others proceed, and
 * this operation is that call, it is the next one. */
static uint32_t step_after(const struct dpe_sched_header *memory, unsigned thread,
	const struct dpe_explore_turn *turn)
{
	uint32_t step = 0;

	for (uint32_t i = 0; i < memory->nstamps && i < DPE_SCHED_STAMPS; i++) {
		const struct dpe_sched_stamp *stamp = &memory->stamped[i];

		if (stamp->thread != thread)
			continue;
		if (stamp->time > turn->time)
			return stamp->step + (turn->call && is_release(stamp->kind) &&
						     !strcmp(turn->call, dpe_sched_kind_name(stamp->kind)));
		step = stamp->step;
	}
	return step + 1;
}

static bool map_turn(const struct dpe_explore_turn *turn, const struct dpe_sched_header *memory,
	struct dpe_sched_turn *to)
{
	unsigned thread = thread_of(memory, turn->thread);

	if (thread == DPE_SCHED_NOBODY)
		return false;
	*to = (struct dpe_sched_turn){
		.step = step_after(memory, thread, turn) - turn->before,
		.thread = (uint16_t)thread,
		.may_wait = turn->may_wait,
	};
	return true;
}

static const char *map_turns(struct dpe_target *target, const struct dpe_explore_prediction *prediction,
	const struct dpe_sched_header *memory)
{
	if (prediction->unknown)
		return prediction->unknown;
	if (prediction->nturns > DPE_SCHED_TURNS || memory->stamps_lost)
		return "it has more operations than dpe follows";
	for (unsigned i = 0; i < prediction->nturns; i++) {
		target->objects[i] = prediction->turns[i].object;
		if (!map_turn(&prediction->turns[i], memory, &target->turns[i]))
			return "one of its threads is not controlled";
	}
	return NULL;
}

/* "function+0xOFFSET" in a text, and its length; or else the whole. */
static const char *code_of(const char *place, size_t *len)
{
	const char *offset = strstr(place, "+0x"), *begin = offset;

	*len = strlen(place);
	if (!offset)
		return place;
	while (begin > place && begin[-1] != ' ')
		begin--;
	*len = (size_t)(offset - begin) + strcspn(offset, " ");
	return begin;
}

static bool is_same_code(const char *a, const char *b)
{
	size_t len, other;

	a = code_of(a, &len);
	b = code_of(b, &other);
	return len == other && !memcmp(a, b, len);
}

/* An access to memory; `free` is one. */
static bool is_access(unsigned kind)
{
	return (kind >= DPE_SCHED_READ && kind <= DPE_SCHED_ATOMIC_CHANGE) || kind == DPE_SCHED_HEAP_FREE;
}

/* Where the run had the access; 0: nowhere. */
static uint64_t find_access(const struct dpe_server *server, const char *place)
{
	const struct dpe_sched_header *memory = server->memory;
	uint64_t found = 0, before = 0;

	for (uint32_t i = 0; !found && i < memory->nstamps && i < DPE_SCHED_STAMPS; i++) {
		const struct dpe_sched_stamp *stamp = &memory->stamped[i];
		char *text;

		if (!is_access(stamp->kind) || stamp->pc == before)
			continue;
		before = stamp->pc;
		text = dpe_place_text(&server->symbols, stamp->pc - 1); /* reports have the last byte of the call */
		found = text && is_same_code(text, place) ? stamp->pc : 0;
		free(text);
	}
	return found;
}

static const char *find_accesses(struct dpe_target *target, const struct dpe_explore_prediction *prediction,
	const struct dpe_server *server)
{
	for (unsigned i = 0; i < DPE_COUNT(target->race); i++) {
		target->race[i] = find_access(server, prediction->accesses[i]);
		if (!target->race[i])
			return "no observed run has its accesses, compiled with -fsanitize=thread";
	}
	return NULL;
}

static void take(struct dpe_targets *targets, const struct dpe_explore_prediction *prediction,
	const struct dpe_server *server)
{
	struct dpe_target *target = DPE_GROW(targets->at, targets->count, targets->cap);

	*target = (struct dpe_target){
		.what = dpe_xstrdup(prediction->what),
		.turns = dpe_xcalloc(prediction->nturns + 1, sizeof(*target->turns)),
		.objects = dpe_xcalloc(prediction->nturns + 1, sizeof(*target->objects)),
		.nturns = prediction->nturns,
		.cause = prediction->cause ? dpe_xstrdup(prediction->cause) : NULL,
	};
	target->unknown = prediction->accesses[0] && !prediction->unknown
		? find_accesses(target, prediction, server)
		: map_turns(target, prediction, server->memory);
}

void dpe_targets_take(struct dpe_targets *targets, const struct dpe_explore_prediction *predictions,
	unsigned count, const struct dpe_server *server)
{
	unsigned taken = count < DPE_EXPLORE_PREDICTIONS ? count : DPE_EXPLORE_PREDICTIONS;

	for (unsigned i = 0; i < taken; i++)
		take(targets, &predictions[i], server);
	targets->left_out = count - taken;
}

/* Each thread of a deadlock comes first in some runs: it may need a lock, before its place, that another holds at its own. */
void dpe_target_give(const struct dpe_target *target, struct dpe_sched_header *memory, unsigned n)
{
	unsigned first = target->cause ? 0 : n - 1;

	memory->strategy = DPE_SCHED_STEER;
	memory->nforced = 0;
	memory->depth = n == 1 ? 0 : 1 + n % 4;
	memory->seed = memory->seed << 32 | n;
	memory->nturns = target->nturns;
	for (unsigned i = 0; i < target->nturns; i++)
		memory->turns[i] = target->turns[(i + first) % target->nturns];
	memcpy(memory->race, target->race, sizeof(target->race));
}

/* A writer of a read-write lock waits for its second object, one byte further. */
static bool is_deadlock_met(const struct dpe_target *target, const struct dpe_sched_header *memory)
{
	for (unsigned i = 0; i < target->nturns; i++) {
		const struct dpe_sched_thread *thread = &memory->threads[target->turns[i].thread];

		if (!thread->stuck || target->objects[i] - thread->op.object > 1)
			return false;
	}
	return true;
}

bool dpe_target_is_met(const struct dpe_target *target, const struct dpe_finding *finding,
	const struct dpe_server *server)
{
	if (!finding->found)
		return false;
	if (target->race[0])
		return !strcmp(finding->kind, "race");
	if (target->cause)
		return server->rules->shows(server->rules->context, target->cause);
	return !strcmp(finding->kind, "deadlock") && is_deadlock_met(target, server->memory);
}

void dpe_targets_free(struct dpe_targets *targets)
{
	for (unsigned i = 0; i < targets->count; i++) {
		free(targets->at[i].what);
		free(targets->at[i].cause);
		free(targets->at[i].turns);
		free(targets->at[i].objects);
	}
	free(targets->at);
}
