/* object_messages: messages about watched objects. */
#include "probes/stream/access_values.h"

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

/* The entry of the object; a new one replaces the oldest, since no more objects are watched at a time. */
static struct dpe_last_update *last_update(struct dpe_object_watches *watches, unsigned kind, uint64_t object)
{
	struct dpe_object_updates *updates = watches->updates;

	for (unsigned i = 0; i < DPE_WATCHES; i++)
		if (updates[i].object == object && updates[i].kind == kind)
			return &updates[i].last;
	updates += watches->nupdates++ % DPE_WATCHES;
	*updates = (struct dpe_object_updates){.kind = kind, .object = object};
	return &updates->last;
}

void dpe_object_watch_fill_change(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args)
{
	const struct dpe_watched_object *wanted = &probes->plan->objects[record->site];
	uint64_t object = record->words[0], result = record->words[1];

	if (result == DPE_WATCH_BEGUN)
		*last_update(probes->object_watches, record->site, object) = (struct dpe_last_update){0};
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

void dpe_object_watch_fill_access(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args, struct dpe_var *vars,
	char (*texts)[DPE_NUMBER_TEXT])
{
	const struct dpe_watch *watch = &probes->object_watches->kinds[record->site].watch;
	uint64_t object = record->words[0];
	struct dpe_update update = {
		.watch = watch,
		.effect = dpe_access_at(probes, record->words[3]),
		.accessed = {record->words[3], object + watch->address, watch->variable.size,
			dpe_access_registers(record)},
		.all = true,
		.values = probes->plan->values,
		.priors = probes->plan->priors,
		.before = record->words[1],
		.read = record->words[2],
	};
	bool wrote = dpe_update_values(
		probes, record, last_update(probes->object_watches, record->site, object), &update);

	args[0] = dpe_value_pointer(object);
	draft->args = args;
	draft->nargs = 1;
	vars[draft->nvars++] = (struct dpe_var){
		watch->name, dpe_variable_value(&watch->variable, update.after, *texts++)};
	if (wrote && !(watch->access && !watch->update))
		vars[draft->nvars++] = (struct dpe_var){watch->prior,
			dpe_variable_value(&watch->variable, update.before, *texts)};
	draft->vars = vars;
	draft->ret = dpe_update_access(&update, wrote);
	draft->name = dpe_update_name(watch, wrote);
}
