/* Which value each update of a watched variable left there. What the probe reads may be a later one of another thread;
 * so it is used only if the instruction does not determine the value, and never again once any two values contradicted
 * each other. */
#include "probes/stream/access_values.h"

#include <stdlib.h>
#include <string.h>

/* Once for each variable: all verdicts from there on are inconclusive. */
static void doubt(struct dpe_probes *probes, const struct dpe_update *update, uint64_t since, uint64_t now)
{
	struct dpe_lost *lost = &probes->doubted;

	dpe_diag(probes->diags, DPE_WARNING, update->watch->place,
		"which values '%s' has is not certain: threads update it at the same moment, or the "
		"kernel does; verdicts from there on are inconclusive",
		dpe_name_text(probes->names, update->watch->name));
	if (!lost->count++ || since < lost->first)
		lost->first = since;
	lost->last = now;
}

/* Whether other threads' steps, a few more or fewer, explain the difference. */
static bool is_near(const struct dpe_access_outcome *outcome, uint64_t read, uint64_t size)
{
	unsigned unused = 64 - 8 * (unsigned)size;
	int64_t distance = (int64_t)((read - outcome->after) << unused) >> unused;
	int64_t step = (int64_t)(outcome->operand << unused) >> unused;

	if (!step || step == INT64_MIN || distance == INT64_MIN || distance % step)
		return false;
	return llabs(distance / step) <= DPE_UPDATES_IN_FLIGHT;
}

/* Whether the values do not depend on the order of the threads: all made the same step, and no step was lost. */
static bool is_counter(const struct dpe_last_update *last, const struct dpe_update *update,
	const struct dpe_access_outcome *outcome)
{
	enum dpe_access_value value = update->effect.value;

	return update->all && update->effect.locked && outcome->computed &&
	       (value == DPE_VALUE_ADDED || value == DPE_VALUE_SUBTRACTED) &&
	       (!last->known || (last->counts && last->how == (int)value && last->step == outcome->operand)) &&
	       is_near(outcome, update->read, update->accessed.size);
}

/* Whether another thread's update was observed in between. */
static bool is_contended(const struct dpe_last_update *last, const struct dpe_update *update,
	const struct dpe_access_outcome *outcome, uint32_t tid, uint64_t before)
{
	bool tells = outcome->tells_after || outcome->computed;
	bool other = last->known && last->tid != tid;

	if (outcome->tells_before && outcome->before != before)
		return true;
	if (tells && outcome->after != update->read)
		return true;
	if (last->known && update->all && last->read != update->before)
		return true;
	/* Both show what only one of them wrote. */
	return other && last->value == update->read && !(tells && last->tells);
}

/* Checked early, since it makes the program much slower. */
static void note_cost(struct dpe_probes *probes, const struct dpe_update *update, uint64_t now,
	struct dpe_last_update *last)
{
	if (!last->accesses++)
		last->began = now;
	if (last->accesses != DPE_ACCESSES_NOTED || now - last->began > DPE_ACCESSES_NOTED * DPE_ACCESS_RARE)
		return;
	dpe_diag(probes->diags, DPE_WARNING, update->watch->place,
		"'%s' was accessed %d times in %.2f s, and each access stops a thread, in a virtual machine for 20 to "
		"300 us; a program that is compiled with -fsanitize=thread and linked with libdpe-mem.so runs much "
		"faster (`dpe race -- COMMAND`, without variables)",
		dpe_name_text(probes->names, update->watch->name), DPE_ACCESSES_NOTED,
		(double)(now - last->began) / 1e9);
}

static bool has_written(const struct dpe_update *update, enum dpe_access access, uint64_t before)
{
	if (access == DPE_ACCESS_UNKNOWN)
		return !update->watch->access || before != update->read;
	return access == DPE_ACCESS_WRITE;
}

dpe_name dpe_update_name(const struct dpe_watch *watch, bool wrote)
{
	if (!wrote)
		return watch->reference;
	return watch->access && watch->update ? watch->update : watch->event;
}

struct dpe_value dpe_update_access(const struct dpe_update *update, bool wrote)
{
	static const char *const texts[2][2] = {{"read", "write"}, {"atomic read", "atomic write"}};
	const char *text = texts[update->effect.locked || update->watch->variable.is_atomic][wrote];

	return (struct dpe_value){.kind = DPE_STRING, .len = (uint32_t)strlen(text), .text = text};
}

bool dpe_update_values(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_last_update *last, struct dpe_update *update)
{
	uint64_t before = last->known && update->all ? last->value : update->before;
	struct dpe_access_outcome outcome = dpe_access_evaluate(&update->effect, &update->accessed, before);
	bool tells_all = outcome.access == DPE_ACCESS_READ || outcome.tells_after;
	bool counts = is_counter(last, update, &outcome), tells = outcome.tells_after || outcome.computed;

	note_cost(probes, update, record->time, last);
	if (update->skipped)
		update->read = outcome.tells_after ? outcome.after : last->current;
	update->known = !update->skipped || tells_all;
	update->after = last->current = update->read;
	if (!has_written(update, outcome.access, before))
		return false;
	if (record->time - last->time > DPE_UPDATE_STALL)
		last->unsure = 0; /* no earlier update is still to come */
	last->contended |= is_contended(last, update, &outcome, record->tid, before);
	if (update->values && !counts && !last->unsure && !(outcome.tells_after && (outcome.tells_before || !update->priors)))
		last->unsure = record->time;
	if (last->contended && last->unsure && !last->doubted) {
		doubt(probes, update, last->unsure, record->time);
		last->doubted = true;
	}
	if (tells)
		update->after = last->current = outcome.after;
	update->before = outcome.before;
	last->known = true;
	last->counts = counts;
	last->tells = tells;
	last->how = (int)update->effect.value;
	last->step = outcome.operand;
	last->tid = record->tid;
	last->time = record->time;
	last->read = update->read;
	last->value = update->after;
	return true;
}
