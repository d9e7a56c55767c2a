/* The data of the lock order. Equal acquisitions are kept once: the same lock, at the same site,
 * while the same others are held; of each, the threads that did so, unless one precedes another.
 * Cycles are searched when an acquisition is new. Private to deadlocks/; see README.md. */
#ifndef DPE_RECOGNIZER_DEADLOCKS_LOCK_ORDER_H
#define DPE_RECOGNIZER_DEADLOCKS_LOCK_ORDER_H

#include "recognizer/deadlocks/deadlocks.h"

/* ---- thread_pasts.c ------------------------------------------------------------------------ */

/* The life of one thread. Counted. It is divided into epochs; a new one begins whenever another
 * thread may learn what this one did. */
struct dpe_strand {
	uint32_t refs, epoch;
	uint64_t serial;
	unsigned instances;   /* number of kept instances of this thread … */
	uint32_t first, last; /* … in these epochs */
	struct dpe_lock_past *begun; /* the past of the first of them */
	bool over;
	bool stranger; /* it may not follow what was dropped since everything to come followed it */
	uint64_t *nreaches;         /* total number of entries of all pasts */
	struct dpe_lock_past *past; /* what precedes the thread's next action; NULL: nothing */
};

/* How far a past reaches into each strand. Counted and immutable. */
struct dpe_lock_past {
	uint32_t refs;
	unsigned count;
	uint64_t *nreaches;
	struct dpe_reach {
		struct dpe_strand *strand;
		uint32_t epoch;
	} at[]; /* by serial number */
};

struct dpe_strand *dpe_strand_new(uint64_t serial, uint64_t *nreaches);
struct dpe_strand *dpe_strand_ref(struct dpe_strand *strand);
void dpe_strand_unref(struct dpe_strand *strand);                    /* accepts NULL */
struct dpe_lock_past *dpe_lock_past_ref(struct dpe_lock_past *past); /* both accept NULL */
void dpe_lock_past_unref(struct dpe_lock_past *past);
/* Returns the past of whatever follows the actions so far, and begins an epoch if need be. */
struct dpe_lock_past *dpe_strand_leave(struct dpe_strand *strand);
/* The union of both, of which `a` may be NULL and `b` comes from dpe_strand_leave; takes over the references. */
struct dpe_lock_past *dpe_lock_past_join(struct dpe_lock_past *a, struct dpe_lock_past *b);
/* The past precedes the next actions of the strand, too. */
void dpe_strand_follow(struct dpe_strand *strand, const struct dpe_lock_past *past);
/* True if the past includes the strand's actions in that epoch. */
bool dpe_lock_past_reaches(
	const struct dpe_lock_past *past, const struct dpe_strand *strand, uint32_t epoch);

/* ---- what is kept ------------------------------------------------------------------------ */

struct dpe_acquisitions {
	struct dpe_acquisition **at;
	unsigned count, cap;
};

/* A lock until it is destroyed; a later one with its address is another. Counted. */
struct dpe_lock {
	struct dpe_keyed keyed;
	uint32_t refs;
	bool forgotten;
	uint64_t serial;
	struct dpe_acquisitions in, out; /* where it is acquired, and where it is held meanwhile */
	uint64_t mark;              /* of the last search that visited it … */
	unsigned distance;          /* … and its distance from the end of that search */
	bool on_path;
};

/* Locks held at the same time; equal sets are shared. Counted. */
struct dpe_lock_set {
	UT_hash_handle hh;
	uint32_t refs;
	unsigned count;
	uintptr_t at[]; /* addresses of locks, or'ed with DPE_SHARED; by serial number */
};

#define DPE_SHARED ((uintptr_t)1)

static inline struct dpe_lock *dpe_lock_of(uintptr_t member)
{
	return (struct dpe_lock *)(member & ~DPE_SHARED);
}

/* A thread that made an acquisition, and when. */
struct dpe_instance {
	struct dpe_strand *strand;
	uint32_t epoch;
	struct dpe_lock_past *past;
	struct dpe_value thread;
	struct dpe_message *taken;  /* counted */
	struct dpe_message *held[]; /* when each lock of the set was acquired; counted; NULL: unknown */
};

/* The acquisition of a lock at a site while those of the set are held. */
struct dpe_acquisition {
	UT_hash_handle hh;
	struct dpe_acquisition_key {
		struct dpe_lock *lock;
		struct dpe_lock_set *held;
		uint64_t site;
	} key;
	uint64_t alias; /* hash of the first object that the event acquired */
	struct dpe_requests *requests; /* counted; NULL: none is known */
	struct dpe_instance **instances;
	unsigned ninstances, capinstances;
	unsigned sweep_at; /* number of instances */
	bool passed;  /* some were dropped since everything to come followed them */
	bool dropped; /* some instances were dropped */
	bool thinned; /* some were, which only cycles of three or more threads can miss */
};

/* Acquisitions that make a cycle: the requests of each step, counted. */
struct dpe_cycle_requests {
	struct dpe_requests **at;
};

/* A cycle found; owns copies of values, counts messages. */
struct dpe_lock_cycle {
	UT_hash_handle hh;
	uint64_t signature, site; /* of its places */
	const struct dpe_rule *rule;
	struct dpe_wait *waits; /* NULL: reported as an actual deadlock */
	unsigned nwaits;
	bool others; /* there are more at the same sites that were not kept */
	struct dpe_cycle_requests *requests; /* of the same locks at the same sites; each has nwaits steps */
	unsigned nrequests, caprequests;
	bool more;                /* there are others */
	enum dpe_meeting meeting; /* the best of all so far */
};

/* Cycles at the same sites of the program, whatever their locks. */
struct dpe_lock_places {
	UT_hash_handle hh;
	uint64_t signature;
	unsigned count;
	struct dpe_lock_cycle *first;
};

struct dpe_held_lock {
	struct dpe_lock *lock;
	struct dpe_message *since; /* counted; NULL: unknown */
	unsigned count;
	bool shared;
};

/* A name by which the end of a thread is awaited. */
struct dpe_lock_name {
	struct dpe_keyed keyed;
	struct dpe_lock_past
		*past; /* left by its creator, or by itself at its end; or NULL */
	struct dpe_lock_thread *of; /* the living thread with this name; or NULL */
	bool created, stranger; /* its thread has not begun; it will be a stranger */
};

/* An object through which threads order each other. */
struct dpe_lock_channel {
	struct dpe_keyed keyed;
	struct dpe_lock_past *past; /* left by all senders; NULL: nothing */
	bool unordered;
};

struct dpe_lock_thread {
	struct dpe_keyed keyed;
	struct dpe_strand *strand;
	struct dpe_lock_name *name;
	struct dpe_held_lock *held;
	unsigned nheld, capheld;
	struct dpe_lock_set *set; /* of the held locks; NULL: not computed yet */
	bool unsure; /* it may hold locks whose acquisition was not observed */
};

/* What one event releases. A lock may consist of several objects, of which the thread may hold
 * some. */
struct dpe_lock_release {
	struct dpe_message *event;  /* counted */
	bool known;                 /* some of them were held */
	struct dpe_strand *strand;  /* counted; released what it was not seen to acquire; or NULL */
	struct dpe_value thread;    /* thread of the strand */
};

struct dpe_lock_order {
	struct dpe_keyed *threads, *locks;
	struct dpe_keyed *left; /* pasts left for other threads, by name */
	struct dpe_keyed *channels;
	struct dpe_lock *spare; /* for reuse, by keyed.same */
	struct dpe_lock_set *sets;
	struct dpe_acquisition *acquisitions;
	struct dpe_lock_cycle *cycles; /* in order of detection */
	struct dpe_lock_places *places;
	unsigned ninstances, ncycles;
	unsigned ncreated; /* number of threads that were created and have not begun */
	bool any_passed; /* of some acquisition */
	unsigned nstrands; /* number of strands with kept instances: the longest possible cycle */
	uint64_t nreaches;
	uint64_t serial, mark;
	const struct dpe_rule *rule; /* the rule that checked last … */
	struct dpe_message *event;   /* … at this event, counted, whose first object … */
	uint64_t alias, site;        /* … has this hash, at this site */
	struct dpe_lock_release release;
	unsigned ndecided; /* how often cycles were decided */
	bool any_unordered; /* `sync` rules may order more than a semaphore does that was not 0 at first */
	/* How often a limit was met. */
	uint64_t acquisitions_dropped, cycles_dropped, searches_ended, searches_blind, searches_late;
};

/* ---- acquisitions.c ---------------------------------------------------------------------- */

struct dpe_lock *dpe_lock_find(const struct dpe_lock_order *order, struct dpe_value value);
/* Not counted for the caller: it stays until a reference is dropped. */
struct dpe_lock *dpe_lock_add(struct dpe_lock_order *order, struct dpe_value value);
void dpe_lock_unref(struct dpe_lock_order *order, struct dpe_lock *lock);
/* Frees memory kept for reuse. */
void dpe_lock_spare_free(struct dpe_lock_order *order);
/* Returns a counted reference. Sorts the members. */
struct dpe_lock_set *dpe_lock_set_find(
	struct dpe_lock_order *order, uintptr_t *members, unsigned count);
void dpe_lock_set_unref(struct dpe_lock_order *order, struct dpe_lock_set *set); /* accepts NULL */
/* The site of the program, or the lock if there is no stack. */
uint64_t dpe_acquisition_site(const struct dpe_message *message, struct dpe_value lock);
struct dpe_acquisition *dpe_acquisition_find(
	struct dpe_lock_order *order, const struct dpe_acquisition_key *key); /* or NULL */
struct dpe_acquisition *dpe_acquisition_new(struct dpe_lock_order *order, const struct dpe_acquisition_key *key);
/* Removes it from the tables; then free it. */
void dpe_acquisition_unlink(struct dpe_lock_order *order, struct dpe_acquisition *acquisition);
void dpe_acquisition_free(struct dpe_lock_order *order, struct dpe_acquisition *acquisition);
/* Takes over the instance and drops redundant ones. False if there was no room. */
bool dpe_acquisition_keep(
	struct dpe_lock_order *order, struct dpe_acquisition *acquisition, struct dpe_instance *instance);
/* Removes a lock from the set of an unlinked acquisition, and merges it with one that is then
 * equal. */
void dpe_acquisition_strip(
	struct dpe_lock_order *order, struct dpe_acquisition *acquisition, const struct dpe_lock *lock);

/* Drops all instances of the strand. */
void dpe_acquisitions_drop_strand(struct dpe_lock_order *order, const struct dpe_strand *strand);

/* ---- unseen_locks.c ----------------------------------------------------------------------- */

/* The thread releases an object at the event: one that it held, or one that it was not seen to
 * acquire (lock NULL: unknown). */
void dpe_lock_released(struct dpe_lock_order *order, const struct dpe_message *event);
void dpe_lock_released_unseen(struct dpe_lock_order *order, const struct dpe_lock_thread *thread,
	const struct dpe_lock *lock, const struct dpe_message *event);
/* Completes the release of events before this one; NULL: of all. */
void dpe_lock_release_settle(struct dpe_lock_order *order, const struct dpe_message *event);

/* ---- lock_threads.c ---------------------------------------------------------------------- */

struct dpe_lock_thread *dpe_lock_thread_find(struct dpe_lock_order *order, struct dpe_value value);
struct dpe_lock_thread *dpe_lock_thread_add(struct dpe_lock_order *order, struct dpe_value value);
/* The thread is no longer in the table. */
void dpe_lock_thread_free(struct dpe_lock_order *order, struct dpe_lock_thread *thread);
/* The held locks change: their set is computed again. */
void dpe_lock_thread_change(struct dpe_lock_order *order, struct dpe_lock_thread *thread);
/* The index of a held lock, or -1; and dropping one. */
int dpe_lock_thread_held(const struct dpe_lock_thread *thread, const struct dpe_lock *lock);
void dpe_lock_thread_drop(
	struct dpe_lock_order *order, struct dpe_lock_thread *thread, unsigned index);
void dpe_lock_name_free(struct dpe_lock_order *order, struct dpe_lock_name *name);
/* Drops what was sent through the object. */
void dpe_lock_channel_forget(struct dpe_lock_order *order, struct dpe_value object);
void dpe_lock_channel_free(struct dpe_lock_channel *channel);

/* ---- requests.c -------------------------------------------------------------------------- */

/* The thread makes the acquisition at the latest event, unless the history has another one. */
void dpe_requests_add(struct dpe_acquisition *acquisition, const struct dpe_lock_thread *thread,
	const struct dpe_message *event, const struct dpe_latest *latest);
void dpe_requests_drop_strand(struct dpe_requests *requests, const struct dpe_strand *strand);
void dpe_requests_unref(struct dpe_requests *requests); /* accepts NULL */
/* The acquisitions are another instance of the cycle. Takes over `at`, and counts references to its elements. */
void dpe_cycle_requests_add(struct dpe_lock_cycle *cycle, struct dpe_requests **at);
void dpe_cycle_requests_free(struct dpe_lock_cycle *cycle);
/* False if the cycle cannot close in any run. */
bool dpe_lock_cycle_may_close(const struct dpe_lock_order *order, const struct dpe_lock_cycle *cycle);

/* ---- lock_cycles.c ----------------------------------------------------------------------- */

/* Finds the cycles through this instance. */
void dpe_lock_cycles_find(
	struct dpe_lock_order *order, struct dpe_acquisition *acquisition, struct dpe_instance *instance);
void dpe_lock_cycles_free(struct dpe_lock_order *order);
/* Actions of the thread were dropped: searches again for the cycles that it was part of. */
void dpe_lock_cycles_redo(struct dpe_lock_order *order, struct dpe_value thread);

#endif
