/* history: the observed run, as reorderings of it need it: threads, what must precede each event
 * whatever the locks do, sections of locks, and data. Private to predict. */
#ifndef DPE_RECOGNIZER_PREDICT_HISTORY_H
#define DPE_RECOGNIZER_PREDICT_HISTORY_H

#include "recognizer/predict/predict.h"

#define DPE_NO_EVENT UINT32_MAX

#define DPE_BASE_BITS 3
#define DPE_BASE_FAN (1u << DPE_BASE_BITS)

/* A cut: the number of first events that it has of each chain. Immutable and shared; NULL: it has none. */
struct dpe_base {
	uint32_t height; /* covers DPE_BASE_FAN to the power of height + 1 chains */
	uint32_t count;  /* of those below: what comes after them is empty */
	union {
		uint32_t at[DPE_BASE_FAN];                  /* height 0 */
		const struct dpe_base *part[DPE_BASE_FAN]; /* lower ones */
	};
};

struct dpe_set_lock {
	const struct dpe_reordered_lock *lock;
	uint64_t exclusive; /* 0 or 1: without padding, as sets are compared by their bytes */
};

/* The locks that a thread holds. Immutable; sets of the same locks in the same order are one. */
struct dpe_sections_set {
	UT_hash_handle hh;
	unsigned count;
	struct dpe_set_lock at[];
};

/* Consecutive events of a chain that have the same predecessors in other chains, and acquire and release no lock.
 * Immutable. */
struct dpe_epoch {
	uint32_t chain;
	const struct dpe_base *base; /* what must precede its events; of their own chain less than what does */
	const struct dpe_sections_set *held; /* sections that they are in; NULL: none */
};

struct dpe_past_event {
	const struct dpe_epoch *epoch;
	uint32_t index;   /* from 1, within the window */
	uint32_t message; /* in `messages`; 0: no rule predicts, so it is not needed */
};

/* A critical section, begun by an outermost acquire: from its gate on, the lock is held. */
struct dpe_lock_section {
	struct dpe_lock_sections *of;
	uint32_t gate, release; /* numbers of events; DPE_NO_EVENT: not released */
	uint32_t gate_index, release_index; /* of these in their chain; DPE_NO_EVENT */
	int last_exclusive : 30; /* the latest exclusive section up to this one; -1: none */
	bool exclusive : 1;
	bool unseen : 1; /* it began before the thread was observed */
	uint32_t place;  /* in the lock's `order` */
};

/* Within the first `index` events of its chain the section begins and does not end. */
static inline bool dpe_section_is_open(const struct dpe_lock_section *section, uint32_t index)
{
	return section->gate_index <= index && index < section->release_index;
}

/* The sections of one lock in one chain, in order. */
struct dpe_lock_sections {
	UT_hash_handle hh;
	uint64_t key; /* the numbers of lock and chain */
	struct dpe_reordered_lock *lock;
	uint32_t chain, by; /* the lock's `by_chain[by]` */
	struct dpe_lock_section *at;
	uint32_t *gates; /* their `gate_index`, close together for searches */
	unsigned count, cap;
};

struct dpe_reordered_lock {
	struct dpe_keyed keyed;
	struct dpe_lock_sections **by_chain; /* of the chains that acquired it */
	unsigned nchains, capchains;
	unsigned number;
	unsigned nopen; /* sections that have not ended */
	bool in_order; /* all sections are exclusive and seen, and in `order` */
	struct dpe_ordered_section {
		uint32_t by, section; /* `by_chain[by]->at[taking]` */
	} *order; /* in the order of their gates */
	unsigned norder, caporder;
};

/* A lock that a thread holds, or waits for. */
struct dpe_section_held {
	struct dpe_reordered_lock *lock;
	unsigned depth;
	bool exclusive;
	struct dpe_lock_sections *sections; /* NULL: not complete */
	unsigned section;
};

struct dpe_acquire {
	struct dpe_lock_sections *sections;
	unsigned section;
	uint32_t gate_index; /* of the section */
};

struct dpe_past_chain {
	uint32_t earlier; /* its events before the window */
	uint32_t *events; /* numbers, by index - 1 */
	unsigned nevents, capevents;
	const struct dpe_epoch *epoch; /* of its last event; NULL: it has none */
	struct dpe_section_held *held;
	unsigned nheld, capheld;
	struct dpe_acquire *acquires; /* its acquires, in order of their gates */
	unsigned nacquires, capacquires;
	struct dpe_lock_sections **locks; /* all that it ever acquired */
	unsigned nlocks, caplocks;
	uint64_t *sources; /* of its last event, due at the next one */
	unsigned nsources, capsources;
	const struct dpe_sections_set *lock_set; /* NULL: it holds none, or … */
	bool changed; /* … it has changed since */
	bool epoch_ends; /* the next event is of another one */
	bool found; /* the thread was already running when it was first observed */
	bool ended; /* nothing follows its last event */
	struct dpe_value moved_thread; /* the thread, which continues in another chain; DPE_NONE: it does not */
	bool asks; /* its last event is an acquire that is not complete: the last of `held` */
};

/* The latest write of each byte of memory. */
struct dpe_written_bytes {
	struct dpe_written_unit *units;
	size_t count, size;
};

/* An access to data. Bytes of memory are accessed in units of eight. */
struct dpe_data_access {
	uint64_t place;
	uint32_t number; /* of the event */
	uint8_t bytes;   /* of the unit, a bit each */
	bool write;
	bool at_once; /* a read that is complete with its event */
};

/* The latest accesses, in a ring. */
struct dpe_recent_accesses {
	struct dpe_data_access *at; /* NULL: there was none */
	uint64_t count;        /* of all that there were in the window */
};

/* A write whose event is a read as well. Others may do at once what it does, whatever it reads; but who sees what it wrote
 * follows what it read. */
struct dpe_past_update {
	uint64_t number; /* of the event */
	const struct dpe_base *base; /* of its sources */
};

/* A long run is looked at in windows: what came before one happens as it was observed. Numbers of events
 * count from 1 within the window; 0 stands for all before it. */
struct dpe_history {
	struct dpe_recognizer *recognizer;
	uint64_t first;                /* number in the run of the window's first event */
	struct dpe_past_event *events; /* by number */
	unsigned nevents, capevents;
	struct dpe_past_chain *chains;
	unsigned nchains, capchains;
	struct dpe_keyed *locks, *places, *kept; /* tables */
	struct dpe_written_bytes memory;
	struct dpe_recent_accesses accesses;
	unsigned waiting; /* matches that wait for the end of a section: see reorder.h */
	dpe_name reads[2], writes[2]; /* names of accesses to memory, plain and atomic */
	struct dpe_past_update *updates; /* by number */
	unsigned nupdates, capupdates;
	uint8_t *meanings; /* by name: what its events may be to locks and data; 0: not looked at */
	unsigned nmeanings, capmeanings;
	uint64_t *incoming; /* sources of the next event, due at it */
	unsigned nincoming, capincoming;
	struct dpe_message_store messages;
	struct dpe_sections_set *sets; /* a hash table */
	struct dpe_lock_sections *sections;   /* a hash table */
	struct dpe_set_lock *set;      /* scratch space */
	unsigned nset, capset;
	struct dpe_arena *arena; /* of bases and epochs */
	struct dpe_arena *sets_arena;
	size_t bytes, set_bytes; /* of these two; `bytes` also of sweeps */
	const struct dpe_base *observed; /* the cut with the first `nobserved` of `events` */
	unsigned nobserved;
	unsigned nlocks;
	bool keeps_messages;
	/* Some edges may not hold in every run: of `during`, or to threads that were already running and were
	 * found after events of others. */
	bool orders_too_much;
	bool chain_full;    /* a thread continues in another chain */
	unsigned nmoved;  /* such threads that have not come yet */
	bool stranger;      /* nothing of its window precedes a thread that begins: it may follow nothing of earlier ones */
	const char *reason; /* why nothing is predicted from here on; NULL: it is */
};

void dpe_history_begin(struct dpe_history *history, struct dpe_recognizer *recognizer);
void dpe_history_free(struct dpe_history *history);
/* True if the window is as long as it may become, or a thread continues in another chain. */
bool dpe_history_is_full(const struct dpe_history *history);
/* Begins another window with event `first` of the run. All events are forgotten; locks stay held, and sets of locks
 * stay valid if so asked. */
void dpe_history_restart(struct dpe_history *history, uint64_t first, bool keeps_sets);
/* The events of each chain that precede all future events of other chains, as a cut; the caller frees it. */
uint32_t *dpe_history_passed(const struct dpe_history *history);
/* An edge that holds in every run. */
void dpe_history_edge(struct dpe_history *history, uint64_t from, uint64_t to);
void dpe_history_add(struct dpe_history *history, const struct dpe_event *event);

/* The message of an event, or an equal one; the caller gets a reference. */
static inline struct dpe_message *dpe_history_message(const struct dpe_history *history, uint64_t number)
{
	return dpe_message_store_get(&history->messages, history->events[number].message);
}

/* Whether a rule about data, or a variable, makes the event one that may read and write. */
bool dpe_history_may_change(const struct dpe_history *history, uint64_t number);

/* dpe_value_equal, whose usual case is decided here. */
static inline bool dpe_keys_equal(const struct dpe_value *a, const struct dpe_value *b)
{
	return (a->num == b->num && a->kind == b->kind) || dpe_value_equal(*a, *b);
}

/* ---- shared_cuts.c ------------------------------------------------------------------------ */

static inline bool dpe_base_covers(unsigned height, uint32_t chain)
{
	return !(chain >> DPE_BASE_BITS * height >> DPE_BASE_BITS);
}

/* Which part of a base of that height has the chain, and the chain's number within it. */
static inline unsigned dpe_base_place(unsigned height, uint32_t chain)
{
	return chain >> DPE_BASE_BITS * height & (DPE_BASE_FAN - 1);
}

static inline uint32_t dpe_base_rest(unsigned height, uint32_t chain)
{
	return chain & ((1u << DPE_BASE_BITS * height) - 1);
}

/* How many events of the chain the cut has. */
static inline uint32_t dpe_base_reach(const struct dpe_base *base, uint32_t chain)
{
	while (base && dpe_base_covers(base->height, chain)) {
		unsigned place = dpe_base_place(base->height, chain);

		if (place >= base->count)
			return 0;
		if (!base->height)
			return base->at[place];
		chain = dpe_base_rest(base->height, chain);
		base = base->part[place];
	}
	return 0;
}

const struct dpe_base *dpe_bases_join(
	struct dpe_history *history, const struct dpe_base *a, const struct dpe_base *b);
/* The cut that has the first `index` events of the chain, too. */
const struct dpe_base *dpe_base_raise(
	struct dpe_history *history, const struct dpe_base *base, uint32_t chain, uint32_t index);

/* The events of `count` chains from `first` on; false ends the visit. */
typedef bool dpe_base_fn(void *context, uint32_t first, const uint32_t *at, unsigned count);
/* `first` is the number of the first chain that the base covers. False if the visit was ended. */
bool dpe_base_each(const struct dpe_base *base, uint32_t first, dpe_base_fn *each, void *context);

/* ---- sections.c --------------------------------------------------------------------------- */

/* The last event of the chain is followed by event `gate`: what it asked for, it holds. */
void dpe_sections_complete(struct dpe_history *history, struct dpe_past_chain *chain, uint64_t gate);
void dpe_sections_release(struct dpe_history *history, uint64_t number, struct dpe_value lock,
	bool exclusive, bool *released);
void dpe_sections_acquire(
	struct dpe_history *history, uint64_t number, struct dpe_value lock, bool exclusive);
/* The thread of a chain continues in another one, which holds its locks. */
void dpe_sections_move(struct dpe_history *history, struct dpe_past_chain *from, struct dpe_past_chain *to);
/* Forgets all acquires but for those of locks that are held, and the sets of locks unless these are kept. */
void dpe_sections_restart(struct dpe_history *history, bool keeps_sets);
/* The general case of dpe_sections_held. */
const struct dpe_sections_set *dpe_sections_look(struct dpe_history *history, struct dpe_past_chain *chain);
/* The locks that the chain holds now. */
static inline const struct dpe_sections_set *dpe_sections_held(struct dpe_history *history, struct dpe_past_chain *chain)
{
	return chain->changed ? dpe_sections_look(history, chain) : chain->lock_set;
}
/* The locks of both sets. */
const struct dpe_sections_set *dpe_sections_common(struct dpe_history *history,
	const struct dpe_sections_set *a, const struct dpe_sections_set *b);
/* True if no run has both threads in their sections. */
bool dpe_sections_conflict(const struct dpe_sections_set *a, const struct dpe_sections_set *b);
void dpe_sections_free(struct dpe_history *history);

/* ---- data_places.c ------------------------------------------------------------------------ */

struct dpe_sources {
	uint64_t *at;
	unsigned count, cap;
};

/* Adds the write that a read of the place sees, if any, to the sources. Both return an address that is the place's own. */
const void *dpe_place_read(struct dpe_history *history, struct dpe_value place, struct dpe_sources *sources);
const void *dpe_place_write(struct dpe_history *history, struct dpe_value place, uint64_t number);
/* Sends and receives of `sync keep` rules, paired in the order of the events. */
void dpe_kept_send(struct dpe_history *history, unsigned rule, enum dpe_pairing pairing,
	struct dpe_value key, uint64_t number);
void dpe_kept_receive(struct dpe_history *history, unsigned rule, enum dpe_pairing pairing,
	struct dpe_value key, struct dpe_sources *sources);
void dpe_places_free(struct dpe_history *history);

/* ---- written_bytes.c ------------------------------------------------------------------------- */

/* Up to 8 bytes, at most a few more: each by itself. */
void dpe_bytes_write(
	struct dpe_written_bytes *memory, uint64_t address, uint64_t size, uint64_t number);
/* Adds the writes that a read sees. */
void dpe_bytes_read(const struct dpe_written_bytes *memory, uint64_t address, uint64_t size,
	struct dpe_sources *sources);
void dpe_bytes_free(struct dpe_written_bytes *memory);

#endif
