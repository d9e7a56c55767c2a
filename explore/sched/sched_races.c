/* sched_races: two threads that are about to access the same memory. All others that are controlled wait before their operations, so
 * both accesses could be made at this moment. */
#include "explore/sched/sched_races.h"

#include "explore/sched/dependence.h"

static bool met[DPE_SCHED_RACES]; /* in this run */

bool dpe_sched_is_at(const struct dpe_sched_thread *thread, unsigned which)
{
	return thread->state == DPE_SCHED_CONTROLLED && thread->op.pc == dpe_sched->race[which];
}

/* Whether two accesses conflict; `free` is one. */
static bool conflict(const struct dpe_sched_op *a, const struct dpe_sched_op *b)
{
	return a->object < b->object + b->size && b->object < a->object + a->size && !(dpe_op_reads(a) && dpe_op_reads(b));
}

static void end_at_race(struct dpe_sched_thread *me, struct dpe_sched_thread *other)
{
	bool are_there = (dpe_sched_is_at(me, 0) && dpe_sched_is_at(other, 1)) || (dpe_sched_is_at(me, 1) && dpe_sched_is_at(other, 0));

	if (!are_there || !conflict(&me->op, &other->op))
		return;
	me->stuck = other->stuck = true;
	dpe_sched_end(DPE_SCHED_RACE);
}

/* Its index; or `nraces`. */
static uint32_t find_race(uint64_t a, uint64_t b)
{
	uint32_t i;

	for (i = 0; i < dpe_sched->nraces; i++) {
		const struct dpe_sched_op *op = dpe_sched->races[i].op;

		if ((op[0].pc == a && op[1].pc == b) || (op[0].pc == b && op[1].pc == a))
			break;
	}
	return i;
}

static void note_race(const struct dpe_sched_thread *me, const struct dpe_sched_thread *other)
{
	uint32_t at = find_race(me->op.pc, other->op.pc);

	if (at == DPE_SCHED_RACES) {
		dpe_sched->races_lost = true;
		return;
	}
	if (at == dpe_sched->nraces) {
		dpe_sched->races[at] = (struct dpe_sched_race){
			.op = {me->op, other->op},
			.thread = {(uint16_t)dpe_sched_number(me), (uint16_t)dpe_sched_number(other)},
			.nswitches = dpe_sched->nswitches,
		};
		dpe_sched->nraces++;
	}
	dpe_sched->races[at].runs += !met[at];
	met[at] = true;
}

static bool is_in_race(const struct dpe_sched_thread *me, const struct dpe_sched_thread *other)
{
	return other->state == DPE_SCHED_CONTROLLED && other != me && dpe_ops_race(&me->op, &other->op);
}

void dpe_sched_meet(struct dpe_sched_thread *me, bool visible)
{
	bool seeks = dpe_sched->seeks_races && visible && dpe_op_accesses(&me->op) && me->state == DPE_SCHED_CONTROLLED;
	bool has_place = dpe_sched->race[0];

	for (unsigned i = 0; (has_place || seeks) && i < dpe_sched->nthreads; i++) {
		struct dpe_sched_thread *other = &dpe_sched->threads[i];

		if (has_place && other != me)
			end_at_race(me, other);
		else if (!has_place && is_in_race(me, other))
			note_race(me, other);
	}
}
