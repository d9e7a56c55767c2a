/* The observed run, event by event: what must precede each event in every reordering, as a cut that
 * is shared with the event before it in its thread unless something joins. */
#include "recognizer/predict/reorder.h"
#include "recognizer/actions/actions.h"

#include <stdlib.h>
#include <string.h>

/* ---- making and freeing ------------------------------------------------------------------ */

static void begin_window(struct dpe_history *history, uint64_t first)
{
	history->first = first;
	history->nevents = 0;
	*DPE_GROW(history->events, history->nevents, history->capevents) =
		(struct dpe_past_event){0};
	history->observed = NULL;
	history->nobserved = history->nevents;
}

void dpe_history_begin(struct dpe_history *history, struct dpe_recognizer *recognizer)
{
	struct dpe_names *names = recognizer->spec->names;

	*history = (struct dpe_history){
		.recognizer = recognizer,
		.keeps_messages = dpe_spec_predicts(recognizer->spec),
		.arena = dpe_arena_new(),
		.sets_arena = dpe_arena_new(),
		.reads = {dpe_intern_string(names, "mem::read"), dpe_intern_string(names, "atomic::read")},
		.writes = {dpe_intern_string(names, "mem::write"), dpe_intern_string(names, "atomic::write")},
	};
	begin_window(history, 0);
}

static void free_chain(struct dpe_past_chain *chain)
{
	free(chain->events);
	free(chain->held);
	free(chain->acquires);
	free(chain->locks);
	free(chain->sources);
	dpe_value_drop(chain->moved_thread);
}

bool dpe_history_is_full(const struct dpe_history *history)
{
	return history->nevents > DPE_PREDICT_EVENTS || history->bytes + history->set_bytes > DPE_PREDICT_BYTES ||
	       history->chain_full;
}

/* What precedes the next event of the chain, for all that is known, in chain `of`. */
static uint32_t known_to(const struct dpe_past_chain *chain, unsigned of)
{
	return dpe_base_reach(chain->epoch ? chain->epoch->base : NULL, of);
}

uint32_t *dpe_history_passed(const struct dpe_history *history)
{
	uint32_t *passed = dpe_xcalloc(history->nchains + 1, sizeof(*passed));

	for (unsigned i = 0; i < history->nchains; i++)
		passed[i] = history->chains[i].nevents;
	for (unsigned j = 0; j < history->nchains; j++) {
		const struct dpe_past_chain *other = &history->chains[j];

		for (unsigned i = 0; !other->ended && i < history->nchains; i++) {
			if (i != j && known_to(other, i) < passed[i])
				passed[i] = known_to(other, i);
		}
	}
	return passed;
}

/* Frees what an ended thread needed for further events. It may have ended while it held locks. */
static void shrink(struct dpe_past_chain *chain)
{
	const struct dpe_past_chain left = {.earlier = chain->earlier, .found = chain->found, .ended = true};

	if (chain->nheld || chain->moved_thread.kind != DPE_NONE)
		return;
	free_chain(chain);
	*chain = left;
}

void dpe_history_restart(struct dpe_history *history, uint64_t first, bool keeps_sets)
{
	dpe_message_store_free(&history->messages);
	for (unsigned i = 0; i < history->nchains; i++) {
		struct dpe_past_chain *chain = &history->chains[i];

		chain->earlier += chain->nevents;
		chain->nevents = chain->nsources = 0;
		chain->epoch = NULL;
	}
	history->nincoming = 0;
	dpe_places_free(history);
	dpe_bytes_free(&history->memory);
	history->accesses.count = 0;
	history->nupdates = 0;
	dpe_sections_restart(history, keeps_sets);
	for (unsigned i = 0; i < history->nchains; i++) {
		if (history->chains[i].ended)
			shrink(&history->chains[i]);
	}
	dpe_arena_free(history->arena);
	history->arena = dpe_arena_new();
	history->bytes = 0;
	history->chain_full = false;
	begin_window(history, first);
}

void dpe_history_free(struct dpe_history *history)
{
	dpe_message_store_free(&history->messages);
	for (unsigned i = 0; i < history->nchains; i++)
		free_chain(&history->chains[i]);
	dpe_sections_free(history);
	dpe_places_free(history);
	dpe_bytes_free(&history->memory);
	free(history->accesses.at);
	free(history->updates);
	free(history->events);
	free(history->chains);
	free(history->incoming);
	free(history->meanings);
	dpe_arena_free(history->arena);
	dpe_arena_free(history->sets_arena);
}

/* ---- what must precede an event ---------------------------------------------------------- */

void dpe_history_edge(struct dpe_history *history, uint64_t from, uint64_t to)
{
	struct dpe_past_chain *chain;

	if (history->reason || from < history->first)
		return;
	from = from - history->first + 1;
	to = to - history->first + 1;
	if (from >= history->nevents)
		return;
	if (to >= history->nevents) {
		*DPE_GROW(history->incoming, history->nincoming, history->capincoming) = from;
		return;
	}
	chain = &history->chains[history->events[to].epoch->chain];
	*DPE_GROW(chain->sources, chain->nsources, chain->capsources) = from;
}

static const struct dpe_base *update_base(const struct dpe_history *history, uint64_t number)
{
	unsigned low = DPE_PARTITION_POINT(i, 0, history->nupdates, history->updates[i].number < number);

	return low < history->nupdates && history->updates[low].number == number ? history->updates[low].base : NULL;
}

/* The cut with these events and what must precede them, and what they wrote. */
static const struct dpe_base *join_some(struct dpe_history *history, const struct dpe_base *base,
	const uint64_t *sources, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const struct dpe_past_event *event = &history->events[sources[i]];

		base = dpe_bases_join(history, base, event->epoch->base);
		base = dpe_bases_join(history, base, update_base(history, sources[i]));
		base = dpe_base_raise(history, base, event->epoch->chain, event->index);
	}
	return base;
}

static inline const struct dpe_base *join_all(struct dpe_history *history, const struct dpe_base *base,
	const uint64_t *sources, unsigned count)
{
	return count ? join_some(history, base, sources, count) : base;
}

/* A thread that was already running follows all that was observed before. Costs the fewer of chains and new events. */
static void follow_observed(struct dpe_history *history, struct dpe_past_chain *found)
{
	const struct dpe_base **observed = &history->observed;
	unsigned known = history->nobserved;

	if (history->nevents - known > history->nchains) {
		for (unsigned i = 0; i < history->nchains; i++)
			*observed = dpe_base_raise(history, *observed, i, history->chains[i].nevents);
	} else {
		for (; known < history->nevents; known++)
			*observed = dpe_base_raise(history, *observed, history->events[known].epoch->chain,
				history->events[known].index);
	}
	history->nobserved = history->nevents;
	found->found = history->orders_too_much = true;
}

/* ---- what an event is to locks and data -------------------------------------------------- */

static struct dpe_value key_of(const struct dpe_rule *rule, const struct dpe_binding *binding)
{
	if (!rule->keys)
		return dpe_value_int(0);
	return binding->values[__builtin_ctzll(rule->keys)];
}

struct meaning {
	struct dpe_history *history;
	const struct dpe_message *message;
	uint64_t number;
	bool released, acquired, reads, writes, updates;
	struct dpe_sources seen; /* writes that it sees */
	struct dpe_sources kept; /* sources of `sync keep` */
};

static void release(struct meaning *m, const struct dpe_run *run, const struct dpe_binding *binding)
{
	const struct dpe_rule *rule = run->rule;

	if (!m->released && rule->sends[binding->pattern])
		dpe_sections_release(m->history, m->number, key_of(rule, binding),
			rule->pairing == DPE_EXCLUSIVE, &m->released);
}

static void acquire(struct meaning *m, const struct dpe_run *run, const struct dpe_binding *binding)
{
	const struct dpe_rule *rule = run->rule;

	if (m->acquired || !rule->receives[binding->pattern])
		return;
	m->acquired = true;
	dpe_sections_acquire(
		m->history, m->number, key_of(rule, binding), rule->pairing == DPE_EXCLUSIVE);
}

static void add_access(struct dpe_recent_accesses *accesses, const struct dpe_data_access *access)
{
	if (!accesses->at)
		accesses->at = dpe_xcalloc(DPE_REORDER_ACCESSES, sizeof(*accesses->at));
	accesses->at[accesses->count++ % DPE_REORDER_ACCESSES] = *access;
}

static void note_access(struct meaning *m, uint64_t place, uint8_t bytes, bool write)
{
	if (m->history->keeps_messages)
		add_access(&m->history->accesses,
			&(struct dpe_data_access){.place = place,
				.number = (uint32_t)m->number,
				.bytes = bytes,
				.write = write,
				.at_once = m->message->phase == DPE_EXIT});
}

/* No address of memory has the highest bit once it is divided. */
static void note_place(struct meaning *m, const void *place, bool write)
{
	note_access(m, (uintptr_t)place | UINT64_C(1) << 63, 1, write);
}

static void note_memory(struct meaning *m, uint64_t address, uint64_t size, bool write)
{
	for (uint64_t byte = address; byte - address < size;) {
		unsigned first = byte % 8, count = 8 - first;

		if (count > address + size - byte)
			count = (unsigned)(address + size - byte);
		note_access(m, byte / 8, (uint8_t)(((1u << count) - 1) << first), write);
		byte += count;
	}
}

static void read_place(struct meaning *m, const struct dpe_run *run, const struct dpe_binding *binding)
{
	if (run->rule->pairing == DPE_DATA_READS) {
		m->reads = true;
		note_place(m, dpe_place_read(m->history, key_of(run->rule, binding), &m->seen), false);
	}
	if (run->rule->keep && run->rule->receives[binding->pattern])
		dpe_kept_receive(m->history, run->sync, run->rule->pairing,
			key_of(run->rule, binding), &m->kept);
}

static void write_place(struct meaning *m, const struct dpe_run *run, const struct dpe_binding *binding)
{
	if (run->rule->pairing == DPE_DATA_WRITES) {
		m->writes = true;
		note_place(m, dpe_place_write(m->history, key_of(run->rule, binding), m->number), true);
	}
	if (run->rule->keep && run->rule->sends[binding->pattern])
		dpe_kept_send(m->history, run->sync, run->rule->pairing, key_of(run->rule, binding),
			m->number);
}

static bool is_one_of(const dpe_name names[2], dpe_name name)
{
	return name == names[0] || name == names[1];
}

/* Accesses of a watched variable: "[X']" updates it, "[X]" is any other. Those of objects, which have
 * arguments, are not looked at. */
static bool is_variable(const char *text, size_t len)
{
	return *text == '[' && len >= 3 && text[len - 1] == ']';
}

static void access_variable(struct meaning *m)
{
	struct dpe_names *names = m->history->recognizer->spec->names;
	const char *text = dpe_name_text(names, m->message->name);
	size_t len = strlen(text);
	struct dpe_value place;

	if (m->message->nargs)
		return;
	m->writes = text[len - 2] == '\'';
	place = dpe_value_string(dpe_name_text(names, dpe_intern(names, text, len - 1 - m->writes)));
	if (m->writes)
		note_place(m, dpe_place_write(m->history, place, m->number), true);
	else
		note_place(m, dpe_place_read(m->history, place, &m->seen), false);
}

/* Accesses of a program that reports them; one access is of eight bytes at most. */
static void access_memory(struct meaning *m)
{
	struct dpe_history *history = m->history;
	const struct dpe_message *message = m->message;
	bool read = is_one_of(history->reads, message->name);
	bool write = is_one_of(history->writes, message->name);
	int64_t address, size;

	m->updates = write && history->recognizer->expects_updates;
	read |= m->updates;
	if ((!read && !write) || message->nargs < 2 || !dpe_value_as_int(message->args[0], &address) ||
		!dpe_value_as_int(message->args[1], &size) || size < 1 || size > 8)
		return;
	if (read) {
		m->reads = true;
		note_memory(m, (uint64_t)address, (uint64_t)size, false);
		dpe_bytes_read(&history->memory, (uint64_t)address, (uint64_t)size, &m->seen);
	}
	if (write) {
		m->writes = true;
		note_memory(m, (uint64_t)address, (uint64_t)size, true);
		dpe_bytes_write(&history->memory, (uint64_t)address, (uint64_t)size, m->number);
	}
}

typedef void meaning_fn(
	struct meaning *m, const struct dpe_run *run, const struct dpe_binding *binding);

/* Calls for each `sync` rule of locks, or of data and `keep`, that the event matches. */
static void each_rule(struct meaning *m, bool locks, meaning_fn *each)
{
	const struct dpe_recognizer *recognizer = m->history->recognizer;
	const struct dpe_name_watchers *watch;

	watch = &recognizer->by_name[m->message->name];
	for (unsigned i = 0; i < watch->count; i++) {
		const struct dpe_watcher *watcher = &watch->at[i];
		const struct dpe_rule *rule = watcher->run->rule;
		struct dpe_binding binding;

		if (rule->mode != DPE_SYNC || dpe_rule_is_lock(rule) != locks ||
			!dpe_watcher_match(watcher, watcher->run, m->message, &binding))
			continue;
		each(m, watcher->run, &binding);
	}
}

enum { LOOKED_AT = 1, LOCKS = 2, DATA = 4, VARIABLE = 8, MEMORY = 16 };

static uint8_t find_meaning(const struct dpe_history *history, dpe_name name)
{
	const struct dpe_recognizer *recognizer = history->recognizer;
	const char *text = dpe_name_text(recognizer->spec->names, name);
	uint8_t meaning = LOOKED_AT;

	if (is_variable(text, strlen(text)))
		meaning |= VARIABLE;
	if (is_one_of(history->reads, name) || is_one_of(history->writes, name))
		meaning |= MEMORY;
	for (unsigned i = 0; name < recognizer->nnames && i < recognizer->by_name[name].count; i++) {
		const struct dpe_rule *rule = recognizer->by_name[name].at[i].run->rule;

		if (rule->mode == DPE_SYNC)
			meaning |= dpe_rule_is_lock(rule) ? LOCKS : DATA;
	}
	return meaning;
}

static uint8_t meaning_of(struct dpe_history *history, dpe_name name)
{
	while (history->nmeanings <= name)
		*DPE_GROW(history->meanings, history->nmeanings, history->capmeanings) = 0;
	if (!history->meanings[name])
		history->meanings[name] = find_meaning(history, name);
	return history->meanings[name];
}

bool dpe_history_may_change(const struct dpe_history *history, uint64_t number)
{
	struct dpe_message *message = dpe_history_message(history, number);
	bool may = message->name < history->nmeanings && history->meanings[message->name] & (DATA | VARIABLE);

	dpe_message_unref(message);
	return may;
}

/* ---- events ------------------------------------------------------------------------------ */

/* A new chain may be that of a thread whose one was full. The window began after that. */
static void take_over(struct dpe_history *history, struct dpe_past_chain *chain, const struct dpe_message *message)
{
	for (unsigned i = 0; history->nmoved && i < history->nchains; i++) {
		struct dpe_past_chain *full = &history->chains[i];

		if (full->moved_thread.kind == DPE_NONE || !dpe_value_equal(full->moved_thread, message->thread))
			continue;
		dpe_value_drop(full->moved_thread);
		full->moved_thread = (struct dpe_value){0};
		full->ended = true;
		history->nmoved--;
		dpe_sections_move(history, full, chain);
		return;
	}
}

static struct dpe_past_chain *chain_of(struct dpe_history *history, uint32_t number)
{
	while (history->nchains <= number)
		*DPE_GROW(history->chains, history->nchains, history->capchains) =
			(struct dpe_past_chain){0};
	return &history->chains[number];
}

static void add_sources(struct dpe_past_chain *chain, const struct dpe_sources *sources)
{
	for (unsigned i = 0; i < sources->count; i++)
		*DPE_GROW(chain->sources, chain->nsources, chain->capsources) = sources->at[i];
}

/* The epoch of the event that is the chain's last one now. */
static void set_epoch(struct dpe_history *history, struct dpe_past_chain *chain, struct dpe_past_event *event,
	const struct dpe_base *base, const struct dpe_sections_set *held)
{
	struct dpe_epoch *epoch;

	if (!chain->epoch || chain->epoch_ends || chain->epoch->base != base || chain->epoch->held != held) {
		chain->epoch = epoch = dpe_arena_alloc(history->arena, sizeof(*epoch));
		*epoch = (struct dpe_epoch){(uint32_t)(chain - history->chains), base, held};
		history->bytes += sizeof(*epoch);
		chain->epoch_ends = false;
	}
	event->epoch = chain->epoch;
}

/* What is due at the event: what its predecessor waited for, and its own edges. */
static const struct dpe_base *base_of(struct dpe_history *history, struct dpe_past_chain *chain,
	const struct dpe_event *event)
{
	const struct dpe_base *base = chain->epoch ? chain->epoch->base : NULL;

	if (event->message->name == history->recognizer->thread_found)
		base = history->observed;
	base = join_all(history, base, chain->sources, chain->nsources);
	chain->nsources = 0;
	base = join_all(history, base, history->incoming, history->nincoming);
	history->nincoming = 0;
	return base;
}

/* Locks first: what completes at the event completes before its own release. Sources of a read are
 * due where it completes: at itself if what it writes depends on it, or if it is an .exit. */
static void give_meaning(struct dpe_history *history, const struct dpe_message *message,
	struct dpe_past_event *past, struct dpe_past_chain *chain, uint8_t meaning)
{
	struct meaning m = {
		.history = history,
		.message = message,
		.number = history->nevents - 1,
	};
	const struct dpe_base *base = past->epoch->base;
	const struct dpe_sections_set *held = past->epoch->held;

	if (meaning & LOCKS) {
		each_rule(&m, true, release);
		each_rule(&m, true, acquire);
	}
	if (meaning & DATA) {
		each_rule(&m, false, read_place);
		each_rule(&m, false, write_place);
	}
	if (meaning & VARIABLE)
		access_variable(&m);
	if (meaning & MEMORY)
		access_memory(&m);
	base = join_all(history, base, m.kept.at, m.kept.count);
	if (m.updates && m.seen.count)
		*DPE_GROW(history->updates, history->nupdates, history->capupdates) =
			(struct dpe_past_update){m.number, join_all(history, NULL, m.seen.at, m.seen.count)};
	if ((m.reads && m.writes && !m.updates) || message->phase == DPE_EXIT)
		base = join_all(history, base, m.seen.at, m.seen.count);
	else
		add_sources(chain, &m.seen);
	if (m.acquired && chain->asks && message->phase == DPE_EXIT) {
		dpe_sections_complete(history, chain, m.number);
		held = dpe_sections_held(history, chain);
	}
	if (base != past->epoch->base || held != past->epoch->held)
		set_epoch(history, chain, past, base, held);
	free(m.seen.at);
	free(m.kept.at);
}

void dpe_history_add(struct dpe_history *history, const struct dpe_event *event)
{
	struct dpe_past_chain *chain;
	struct dpe_past_event *past;
	const struct dpe_base *base;
	uint32_t number = history->nevents;
	uint8_t meaning;

	history->recognizer->latest.message = NULL;
	if (history->reason)
		return;
	chain = chain_of(history, event->stamp.chain);
	if (event->stamp.index == 1)
		take_over(history, chain, event->message);
	if (event->message->name == history->recognizer->thread_found)
		follow_observed(history, chain);
	past = DPE_GROW(history->events, history->nevents, history->capevents);
	*DPE_GROW(chain->events, chain->nevents, chain->capevents) = number;
	*past = (struct dpe_past_event){.index = event->stamp.index - chain->earlier};
	if (history->keeps_messages)
		past->message = dpe_message_store_add(&history->messages, event->message);
	base = base_of(history, chain, event);
	if (chain->asks)
		dpe_sections_complete(history, chain, number);
	set_epoch(history, chain, past, base, dpe_sections_held(history, chain));
	meaning = meaning_of(history, event->message->name);
	if (meaning != LOOKED_AT)
		give_meaning(history, event->message, past, chain, meaning);
	chain->ended |= event->message->name == history->recognizer->ends_thread;
	history->stranger |= past->index == 1 && !chain->earlier && history->first && !base;
	history->recognizer->latest = (struct dpe_latest){
		.message = event->message,
		.number = number,
		.chain = event->stamp.chain,
		.nlocks = past->epoch->held ? past->epoch->held->count : 0,
	};
	if (dpe_stamp_fills_chain(&event->stamp)) {
		history->chain_full = true;
		chain->moved_thread = dpe_value_copy(event->message->thread);
		history->nmoved += chain->moved_thread.kind != DPE_NONE;
	}
}
