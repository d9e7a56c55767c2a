/* record_messages: records as messages. */
#include "probes/stream/read_values.h"
#include "probes/stream/access_values.h"
#include "probes/stream/memory_accesses.h"

#include <string.h>

static bool has_result(const struct dpe_record *record)
{
	return record->kind == DPE_RECORD_EXIT;
}

/* The words of the call, and what follows them. */
static const uint64_t *words_at(const struct dpe_record *record)
{
	return (const uint64_t *)record->words + (has_result(record) ? DPE_RESULT_WORDS : 0);
}

static bool is_access(const struct dpe_record *record)
{
	return record->kind == DPE_RECORD_DATA || record->kind == DPE_RECORD_OBJECT;
}

static size_t count_words(const struct dpe_record *record)
{
	if (is_access(record))
		return DPE_ACCESS_WORDS;
	if (record->has_stack == DPE_STACK_WHOLE || record->nvalues)
		return DPE_WORDS;
	if (record->has_stack)
		return 2;
	if (record->nwords <= 2)
		return 2;
	return record->nwords <= DPE_WORD_REGISTERS ? DPE_WORD_REGISTERS : DPE_WORDS;
}

static bool is_sound(const struct dpe_probes *probes, const struct dpe_record *record, size_t size)
{
	size_t words;

	if (size < sizeof(*record) || (record->nwords > DPE_WORDS && !is_access(record)))
		return false;
	words = count_words(record);
	if (record->nwords > words)
		return false;
	if (has_result(record))
		words += DPE_RESULT_WORDS;
	if (record->has_stack)
		words += 1 + record->nstack;
	if (record->nvalues)
		words += (record->has_stack ? 0 : 1) + DPE_VALUES;
	if (record->ntexts)
		words += DPE_TEXTS * DPE_TEXT_WORDS;
	return size >= sizeof(*record) + words * sizeof(uint64_t) &&
	       record->nstack <= DPE_STACK_MAX && record->nvalues <= DPE_VALUES &&
	       (record->kind > DPE_RECORD_EXIT || record->site < probes->nsites) &&
	       (record->kind != DPE_RECORD_DATA || record->site < probes->nwatches) &&
	       ((record->kind != DPE_RECORD_OBJECT && record->kind != DPE_RECORD_WATCH) ||
		       record->site < probes->object_watches->nkinds);
}

/* ---- stacks ------------------------------------------------------------------------------- */

/* The function's own address first, then its caller's, whatever the kernel found: a caller without a frame
 * pointer is not among that. */
static unsigned collect_stack(
	const struct dpe_probes *probes, const struct dpe_record *record, uint64_t *pcs)
{
	const uint64_t *behind = words_at(record) + count_words(record), *found = behind + 1;
	uint64_t extra = *behind;
	unsigned count = 0, from = 0;
	unsigned max = probes->stack_depth < DPE_STACK_MAX ? probes->stack_depth : DPE_STACK_MAX;

	if (record->kind == DPE_RECORD_EXIT) {
		pcs[count++] = extra;
	} else if (record->nstack) {
		pcs[count++] = found[from++];
		if (count < max && extra && (record->nstack < 2 || found[1] != extra))
			pcs[count++] = extra;
	}
	while (from < record->nstack && count < max)
		pcs[count++] = found[from++];
	return count;
}

static void add_stack(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, uint64_t *pcs)
{
	unsigned count = collect_stack(probes, record, pcs);

	if (!count)
		return;
	/* The stack shows the function's beginning, whichever instruction was probed. */
	if (record->kind <= DPE_RECORD_EXIT)
		pcs[0] -= probes->sites[record->site].placement.distance;
	draft->pcs = pcs;
	draft->npcs = count;
	dpe_maps_note(probes, (pid_t)record->tgid, record->space,
		record->kind <= DPE_RECORD_EXIT ? &probes->sites[record->site] : NULL, pcs, count);
}

/* ---- kinds -------------------------------------------------------------------------------- */

/* Early, so that the user can start again. Only a program that dpe starts, without --follow, can load the library. */
static void note_cost(struct dpe_probes *probes, uint64_t now)
{
	if (!probes->preloadable++)
		probes->preloadable_since = now;
	if (probes->preloadable != DPE_CALLS_NOTED || !probes->child || probes->follow ||
		now - probes->preloadable_since > DPE_CALLS_NOTED_WITHIN)
		return;
	dpe_diag_at(probes->diags, DPE_NOTE, "dpe",
		"%d events of thread functions in %.2f s, and each stops its thread for microseconds: --preload observes them at a "
		"fraction of the cost",
		DPE_CALLS_NOTED, (double)(now - probes->preloadable_since) / 1e9);
}

static bool fill_call(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args, char (*texts)[DPE_NUMBER_TEXT])
{
	const struct dpe_site *site = &probes->sites[record->site];
	bool exit = record->kind == DPE_RECORD_EXIT;
	const uint64_t *words = words_at(record);
	uint64_t placed[DPE_WORDS];

	if (site->preloadable)
		note_cost(probes, record->time);
	if (probes->follow) {
		words = memcpy(placed, words, record->nwords * sizeof(*placed));
		if (!dpe_addresses_tag(
			    probes, record, dpe_signature_addresses(site->signature), placed))
			return false;
	}
	draft->name = site->event;
	draft->phase = dpe_site_phase(site, exit);
	draft->module = site->module_name;
	draft->args = args;
	draft->nargs = dpe_signature_args(
		site->signature, words, record->nwords, args, DPE_CALL_ARGS, texts + 1);
	if (exit)
		draft->ret = dpe_signature_ret(
			site->signature, record->words[0], record->words[1], *texts);
	return draft->ret.kind != DPE_POINTER ||
	       dpe_signature_type_of(site->signature, DPE_SIGNATURE_RESULT) != DPE_TYPE_POINTER ||
	       dpe_address_tag(
		       probes, record->space, (pid_t)record->tgid, (uint64_t *)&draft->ret.num);
}

/* The last event of a goroutine, from which on it takes no memory: its state changes from running to dead. */
static bool ends_goroutine(const struct dpe_probes *probes, const struct dpe_record *record)
{
	enum { OLD = 1, NEW = 2, RUNNING = 2, DEAD = 6 };

	return probes->go_status && probes->sites[record->site].event == probes->go_status && record->kind == DPE_RECORD_ENTER &&
	       record->nwords > NEW && (uint32_t)record->words[OLD] == RUNNING && (uint32_t)record->words[NEW] == DEAD;
}

static bool fill_thread_event(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args, struct dpe_thread_id_text *thread)
{
	pid_t process = (pid_t)record->words[2];
	uint64_t pthread = record->words[1];

	if (process == (pid_t)record->words[0] && (record->kind == DPE_RECORD_START || record->kind == DPE_RECORD_CREATE))
		dpe_address_spaces_fork(probes, process, (uint32_t)record->words[3],
			record->kind == DPE_RECORD_CREATE ? (pid_t)record->tgid : 0);
	if (!dpe_address_tag(probes, (uint32_t)record->words[3], process, &pthread))
		return false;
	args[0] = dpe_thread_id_value(probes, (uint32_t)record->words[0], thread);
	args[1] = dpe_value_pointer(pthread);
	args[2] = dpe_value_int(process);
	draft->args = args;
	draft->nargs = 3;
	switch (record->kind) {
	case DPE_RECORD_CREATE:
		draft->name = probes->create;
		break;
	case DPE_RECORD_START:
		draft->name = probes->start;
		break;
	case DPE_RECORD_FOUND:
		draft->name = probes->found;
		break;
	default:
		draft->name = probes->end;
	}
	return true;
}

static void fill_wait(const struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args)
{
	args[0] = dpe_value_int((int64_t)record->words[0]);
	draft->args = args;
	draft->nargs = 1;
	draft->name = probes->waited;
}

/* The variables as the access left them, and what the accessed one was before. */
static void fill_access(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_var *vars, char (*texts)[DPE_NUMBER_TEXT])
{
	struct dpe_watch *accessed = &probes->watches[record->site];
	struct dpe_update update = {
		.watch = accessed,
		.effect = dpe_access_at(probes, record->words[1 + DPE_WATCHES]),
		.accessed = {record->words[1 + DPE_WATCHES], accessed->address,
			accessed->variable.size, dpe_access_registers(record)},
		.all = !probes->dynamic,
		.values = probes->plan->values,
		.priors = probes->plan->priors,
		.skipped = !record->nwords,
		.before = record->words[0],
		.read = record->words[1 + record->site],
	};
	bool wrote = dpe_update_values(probes, record, &accessed->last, &update);

	for (unsigned i = 0; i < probes->nwatches; i++) {
		const struct dpe_watch *watch = &probes->watches[i];
		uint64_t value = watch == accessed  ? update.after
				 : update.skipped ? watch->last.current
						  : record->words[1 + i];

		vars[i] = (struct dpe_var){
			watch->name, dpe_variable_value(&watch->variable, value, *texts++)};
	}
	draft->nvars = update.known ? (uint16_t)probes->nwatches : 0;
	if (wrote && !(accessed->access && !accessed->update))
		vars[draft->nvars++] = (struct dpe_var){accessed->prior,
			dpe_variable_value(&accessed->variable, update.before, *texts)};
	draft->ret = dpe_update_access(&update, wrote);
	draft->name = dpe_update_name(accessed, wrote);
	draft->module = accessed->module;
	draft->vars = vars;
}

static void add_values(const struct dpe_probes *probes, const struct dpe_record *record,
	size_t size, struct dpe_message *draft, struct dpe_var *vars,
	struct dpe_value_texts *texts)
{
	uint64_t reads;

	if (!record->nvalues)
		return;
	if (record->kind == DPE_RECORD_DATA)
		reads = probes->watches[record->site].reads;
	else if (record->kind == DPE_RECORD_OBJECT)
		reads = probes->object_watches->kinds[record->site].watch.reads;
	else
		reads = probes->sites[record->site].reads;
	draft->vars = vars;
	draft->nvars += (uint16_t)dpe_reads_fill(
		probes, reads, record, size, vars + draft->nvars, texts);
}

static void fill_origin(const struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_thread_id_text *thread, const char *comm)
{
	draft->thread = dpe_thread_id_value(probes, record->tid, thread);
	draft->process = dpe_value_int(record->tgid);
	draft->has_seq = draft->has_time = true;
	draft->seq = dpe_thread_id_seq(probes, record->tid, record->seq);
	draft->time = record->time;
	draft->comm = comm;
}

/* ---- in one step -------------------------------------------------------------------------- */

static bool has_text(const struct dpe_message *message)
{
	for (unsigned i = 0; i < message->nargs; i++)
		if (dpe_value_has_own_text(message->args[i]))
			return true;
	return dpe_value_has_own_text(message->ret);
}

/* Most records: those of a call, with no value that has text. The message is built in place, without a copy.
 * NULL if it is not such a record. */
static struct dpe_message *make_call(
	struct dpe_probes *probes, const struct dpe_record *record, const char *comm)
{
	char texts[1 + DPE_WORDS][DPE_NUMBER_TEXT];
	struct dpe_message *message;
	struct dpe_message_space room;
	unsigned nargs;

	if (record->kind > DPE_RECORD_EXIT || record->nvalues || probes->follow || probes->go)
		return NULL;
	nargs = dpe_signature_count(probes->sites[record->site].signature);
	if (nargs > DPE_CALL_ARGS)
		return NULL;
	message = dpe_message_reserve(probes->pool, nargs,
		record->has_stack ? record->nstack + 1 : 0, DPE_COMM_SIZE, &room);
	fill_origin(probes, record, message, NULL, memcpy(room.text, comm, DPE_COMM_SIZE));
	fill_call(probes, record, message, room.args, texts);
	if (has_text(message)) {
		dpe_message_unref(message);
		return NULL;
	}
	if (!nargs)
		message->args = NULL;
	if (record->has_stack)
		add_stack(probes, record, message, room.pcs);
	return message;
}

/* ---- in two ------------------------------------------------------------------------------- */

static struct dpe_message *make_any(
	struct dpe_probes *probes, const struct dpe_record *record, size_t size, const char *comm)
{
	struct dpe_value args[DPE_CALL_ARGS];
	struct dpe_var vars[DPE_WATCHES + 1 + DPE_VALUES];
	char texts[1 + DPE_WORDS][DPE_NUMBER_TEXT]; /* of a result and arguments, or of what is watched */
	struct dpe_value_texts read;
	uint64_t pcs[DPE_STACK_MAX + 2];
	struct dpe_message draft = {0};
	struct dpe_thread_id_text thread, other;
	bool complete = true;

	if (record->kind >= DPE_RECORD_CREATE && record->kind <= DPE_RECORD_END)
		dpe_thread_ids_note(probes, record);
	fill_origin(probes, record, &draft, &thread, comm);
	if (record->kind <= DPE_RECORD_EXIT && ends_goroutine(probes, record))
		draft.name = probes->end;
	else if (record->kind <= DPE_RECORD_EXIT)
		complete = fill_call(probes, record, &draft, args, texts);
	else if (record->kind == DPE_RECORD_MEMORY)
		dpe_memory_fill(probes, record, &draft, args);
	else if (record->kind == DPE_RECORD_WAITED)
		fill_wait(probes, record, &draft, args);
	else if (record->kind == DPE_RECORD_DATA)
		fill_access(probes, record, &draft, vars, texts);
	else if (record->kind == DPE_RECORD_OBJECT)
		dpe_object_watch_fill_access(probes, record, &draft, args, vars, texts);
	else if (record->kind == DPE_RECORD_WATCH)
		dpe_object_watch_fill_change(probes, record, &draft, args);
	else
		complete = fill_thread_event(probes, record, &draft, args, &other);
	if (!complete)
		return NULL;
	add_values(probes, record, size, &draft, vars, &read);
	if (record->has_stack)
		add_stack(probes, record, &draft, pcs);
	return dpe_message_new_in(probes->pool, &draft);
}

struct dpe_message *dpe_message_of_record(
	struct dpe_probes *probes, const struct dpe_record *record, size_t size, const char *comm)
{
	struct dpe_message *message;

	if (!is_sound(probes, record, size))
		return NULL;
	message = make_call(probes, record, comm);
	return message ? message : make_any(probes, record, size, comm);
}
