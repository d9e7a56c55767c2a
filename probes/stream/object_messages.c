/* object_messages: what happens to objects that are watched, as messages. */
#include "probes/stream/stream.h"

static const char *reason_of(uint64_t result)
{
	switch (result) {
	case DPE_WATCH_NO_REGISTER:
		return "all watchpoints were in use";
	case DPE_WATCH_OVERLAP:
		return "another watchpoint is on it";
	case DPE_WATCH_UNALIGNED:
		return "it is not aligned";
	default:
		return "the kernel refused";
	}
}

static void warn_once(struct dpe_probes *probes, const struct dpe_watched_object *wanted,
	uint64_t object, const char *reason)
{
	if (!probes->object_watches->refused++)
		dpe_diag(probes->diags, DPE_WARNING, wanted->place,
			"the object at 0x%llx is not watched: %s; verdicts about it are "
			"inconclusive",
			(unsigned long long)object, reason);
}

void dpe_object_watch_fill_change(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args)
{
	const struct dpe_watched_object *wanted = &probes->plan->objects[record->site];
	uint64_t object = record->words[0], result = record->words[1];

	args[0] = dpe_value_pointer(object);
	args[1] = dpe_value_string(dpe_name_text(probes->names, wanted->object->update));
	draft->args = args;
	draft->nargs = 2;
	draft->name = result == DPE_WATCH_BEGUN	? probes->object_watches->begin
		      : result == DPE_WATCH_ENDED ? probes->object_watches->end
						: probes->object_watches->refusal;
	if (draft->name != probes->object_watches->refusal)
		return;
	args[draft->nargs++] = dpe_value_string(reason_of(result));
	warn_once(probes, wanted, object, reason_of(result));
}

static bool has_written(
	struct dpe_probes *probes, const struct dpe_watch *watch, const struct dpe_record *record)
{
	enum dpe_access access;

	if (!watch->access || !watch->update)
		return !watch->access;
	access = dpe_access_at(probes, record->words[3]);
	return access == DPE_ACCESS_UNKNOWN ? record->words[1] != record->words[2]
					    : access == DPE_ACCESS_WRITE;
}

void dpe_object_watch_fill_access(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args, struct dpe_var *vars,
	char (*texts)[DPE_NUMBER_TEXT])
{
	const struct dpe_watch *watch = &probes->object_watches->kinds[record->site].watch;
	bool wrote = has_written(probes, watch, record);

	args[0] = dpe_value_pointer(record->words[0]);
	draft->args = args;
	draft->nargs = 1;
	vars[draft->nvars++] = (struct dpe_var){watch->name,
		dpe_variable_value(&watch->variable, record->words[2], *texts++)};
	if (wrote)
		vars[draft->nvars++] = (struct dpe_var){watch->prior,
			dpe_variable_value(&watch->variable, record->words[1], *texts)};
	draft->vars = vars;
	draft->name = wrote && watch->access ? watch->update : watch->event;
}
