/* lock_order: the order in which locks are taken, and what of it could close a circle. Private.
 *
 *	thread_pasts.c    what a thread has behind it: by beginning, and by awaiting ends
 *others acquisitions.c what is kept: locks, sets of them, and takings of one while a set is held
 *	lock_threads.c  threads: what they hold, who began them, whose end they awaited
 *	lock_order.c    who takes which lock while it holds which others
 *	lock_cycles.c   circles through what was taken last
 *	unseen_locks.c   locks that were taken before anybody looked
 *
 * Takings that look alike are kept once: the same lock, taken at the same place in the program by
 * one that holds the same others. Of each, the threads that did so are kept, each once, unless what
 * it did happened before what another did: whatever is independent of the one is so of the other.
 * A circle is looked for when a taking is new; so nothing needs to be kept for looking later. */
#ifndef DPE_RECOGNIZER_DEADLOCKS_LOCK_ORDER_H
#define DPE_RECOGNIZER_DEADLOCKS_LOCK_ORDER_H

#include "recognizer/recognizer.h"

/* ---- thread_pasts.c ------------------------------------------------------------------------ */

/* A thread from its beginning to its end. Counted. Its time is cut into epochs, of which the next
 * begins whenever another thread may come to know what it did. */
struct dpe_strand {
	uint32_t refs, epoch;
	uint64_t serial;
	unsigned instances;   /* what is kept that it did, within … */
	uint32_t first, last; /* … these epochs, */
	struct dpe_lock_past *begun; /* of which the first came after this */
	bool over;
	uint64_t *nreaches;         /* where those of all pasts are counted */
	struct dpe_lock_past *past; /* of others; NULL: nothing */
};

/* How far it reaches into each strand. Counted, and never changed. */
struct dpe_lock_past {
	uint32_t refs;
	unsigned count;
	uint64_t *nreaches;
	struct dpe_reach {
		struct dpe_strand *strand;
		uint32_t epoch;
	} at[]; /* by serial */
};

struct dpe_strand *dpe_strand_new(uint64_t serial, uint64_t *nreaches);
struct dpe_strand *dpe_strand_ref(struct dpe_strand *strand);
void dpe_strand_unref(struct dpe_strand *strand);                    /* accepts NULL */
struct dpe_lock_past *dpe_lock_past_ref(struct dpe_lock_past *past); /* both accept NULL */
void dpe_lock_past_unref(struct dpe_lock_past *past);
/* Its past with all that it did so far, the caller's; what it does next is not in it. */
struct dpe_lock_past *dpe_strand_leave(struct dpe_strand *strand);
/* From now on that is behind it, too. */
void dpe_strand_follow(struct dpe_strand *strand, const struct dpe_lock_past *past);
/* True where what the strand did in that epoch is in the past. */
bool dpe_lock_past_reaches(
	const struct dpe_lock_past *past, const struct dpe_strand *strand, uint32_t epoch);

/* ---- what is kept ------------------------------------------------------------------------ */

struct dpe_acquisitions {
	struct dpe_acquisition **at;
	unsigned count, cap;
};

/* A lock until it is forgotten; the next one of its address is another. Counted. */
struct dpe_lock {
	struct dpe_keyed keyed;
	uint32_t refs;
	bool forgotten;
	uint64_t serial;
	struct dpe_acquisitions in, out; /* where it is taken, and where it is held meanwhile */
	uint64_t mark;              /* of the last search that came here … */
	unsigned distance;          /* … and how far from there to its end */
	bool on_path;
};

/* Locks that are held at the same time; equal sets are one. Counted. */
struct dpe_lock_set {
	UT_hash_handle hh;
	uint32_t refs;
	unsigned count;
	uintptr_t at[]; /* a lock's address, and DPE_SHARED; by serial */
};

#define DPE_SHARED ((uintptr_t)1)

static inline struct dpe_lock *dpe_lock_of(uintptr_t member)
{
	return (struct dpe_lock *)(member & ~DPE_SHARED);
}

/* One thread that did it, and when. */
struct dpe_instance {
	struct dpe_strand *strand;
	uint32_t epoch;
	struct dpe_lock_past *past;
	struct dpe_value thread;
	struct dpe_message *taken;  /* counted */
	struct dpe_message *held[]; /* since when, as in the set; counted; NULL: unknown */
};

/* A lock that is taken while those of the set are held. */
struct dpe_acquisition {
	UT_hash_handle hh;
	struct dpe_acquisition_key {
		struct dpe_lock *lock;
		struct dpe_lock_set *held;
		uint64_t site;
	} key;
	uint64_t alias; /* of the lock: the hash of the first object that was taken at this event */
	struct dpe_instance **instances;
	unsigned ninstances, capinstances;
	bool dropped; /* there were more */
	bool thinned; /* there were, and who comes could have met them only with a third one */
};

/* A circle that was found, with copies of its values and counted messages. */
struct dpe_lock_cycle {
	UT_hash_handle hh;
	uint64_t signature;
	const struct dpe_rule *rule;
	struct dpe_wait *waits; /* NULL: it was told as a deadlock */
	unsigned nwaits;
	bool others; /* there are more through the same places, which were not kept */
};

/* The circles through the same places of the program, whatever locks they are of. */
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

/* A name by which threads are awaited. */
struct dpe_lock_name {
	struct dpe_keyed keyed;
	struct dpe_lock_past
		*past; /* left by who began the thread, or by itself at its end; or NULL */
	struct dpe_lock_thread *of; /* lives; or NULL */
};

struct dpe_lock_thread {
	struct dpe_keyed keyed;
	struct dpe_strand *strand;
	struct dpe_lock_name *name;
	struct dpe_held_lock *held;
	unsigned nheld, capheld;
	struct dpe_lock_set *set; /* of what is held; NULL: not looked for yet */
	bool unsure; /* it may hold what nobody saw it take */
};

/* What one event gives back. A lock may be several objects, of which the thread holds some. */
struct dpe_lock_release {
	struct dpe_message *event;  /* counted */
	bool known;                 /* some of it was held */
	struct dpe_strand *strand;  /* counted; gave back what it was not seen to take; or NULL */
	struct dpe_value thread;    /* of the strand */
};

struct dpe_lock_order {
	struct dpe_keyed *threads, *locks;
	struct dpe_keyed *left; /* what those who began or ended left for others, by their name */
	struct dpe_lock *spare; /* places of locks that there are no more, by keyed.same */
	struct dpe_lock_set *sets;
	struct dpe_acquisition *acquisitions;
	struct dpe_lock_cycle *cycles; /* in the order found */
	struct dpe_lock_places *places;
	unsigned ninstances, ncycles;
	unsigned nstrands; /* that did what is kept: no circle has more threads */
	uint64_t nreaches;
	uint64_t serial, mark;
	const struct dpe_rule *rule; /* that checked last … */
	struct dpe_message *event;   /* … at this, counted, beginning with … */
	uint64_t alias, site;        /* … an object of this hash, there */
	struct dpe_lock_release release;
	/* What was given up. */
	uint64_t acquisitions_dropped, cycles_dropped, searches_ended, searches_blind;
};

/* ---- acquisitions.c ---------------------------------------------------------------------- */

struct dpe_lock *dpe_lock_find(const struct dpe_lock_order *order, struct dpe_value value);
/* Without a reference, it stays until one is given up. */
struct dpe_lock *dpe_lock_add(struct dpe_lock_order *order, struct dpe_value value);
void dpe_lock_unref(struct dpe_lock_order *order, struct dpe_lock *lock);
/* Gives back what is kept for locks to come, once there are none. */
void dpe_lock_spare_free(struct dpe_lock_order *order);
/* The caller's reference. The members are sorted by this. */
struct dpe_lock_set *dpe_lock_set_find(
	struct dpe_lock_order *order, uintptr_t *members, unsigned count);
void dpe_lock_set_unref(struct dpe_lock_order *order, struct dpe_lock_set *set); /* accepts NULL */
/* The place of the program where it was taken; without stacks, the lock. */
uint64_t dpe_acquisition_site(const struct dpe_message *message, struct dpe_value lock);
struct dpe_acquisition *dpe_acquisition_find(
	struct dpe_lock_order *order, const struct dpe_acquisition_key *key); /* or NULL */
struct dpe_acquisition *dpe_acquisition_new(struct dpe_lock_order *order, const struct dpe_acquisition_key *key);
/* It is found no more, and then given up. */
void dpe_acquisition_unlink(struct dpe_lock_order *order, struct dpe_acquisition *acquisition);
void dpe_acquisition_free(struct dpe_lock_order *order, struct dpe_acquisition *acquisition);
/* Takes over the instance, which makes earlier ones superfluous. False where there was no room. */
bool dpe_acquisition_keep(
	struct dpe_lock_order *order, struct dpe_acquisition *acquisition, struct dpe_instance *instance);
/* The taking, which is found no more, goes on without that lock among those held; another one may
 * be like it then. */
void dpe_acquisition_strip(
	struct dpe_lock_order *order, struct dpe_acquisition *acquisition, const struct dpe_lock *lock);

/* Gives up all that the strand did. */
void dpe_acquisitions_drop_strand(struct dpe_lock_order *order, const struct dpe_strand *strand);

/* ---- unseen_locks.c ----------------------------------------------------------------------- */

/* The thread gives back an object at the event: one that it held, or (lock NULL: unknown) did not. */
void dpe_lock_released(struct dpe_lock_order *order, const struct dpe_message *event);
void dpe_lock_released_unseen(struct dpe_lock_order *order, const struct dpe_lock_thread *thread,
	const struct dpe_lock *lock, const struct dpe_message *event);
/* Draws the conclusions of events before this one; NULL: of all. */
void dpe_lock_release_settle(struct dpe_lock_order *order, const struct dpe_message *event);

/* ---- lock_threads.c ---------------------------------------------------------------------- */

struct dpe_lock_thread *dpe_lock_thread_find(struct dpe_lock_order *order, struct dpe_value value);
struct dpe_lock_thread *dpe_lock_thread_add(struct dpe_lock_order *order, struct dpe_value value);
/* Of one that is in the table no more. */
void dpe_lock_thread_free(struct dpe_lock_order *order, struct dpe_lock_thread *thread);
/* What it holds is about to change, or has: its set is looked for again. */
void dpe_lock_thread_change(struct dpe_lock_order *order, struct dpe_lock_thread *thread);
/* The index of a lock among those that it holds, or -1; and one that it holds no more. */
int dpe_lock_thread_held(const struct dpe_lock_thread *thread, const struct dpe_lock *lock);
void dpe_lock_thread_drop(
	struct dpe_lock_order *order, struct dpe_lock_thread *thread, unsigned index);
void dpe_lock_name_free(struct dpe_lock_name *name);

/* ---- lock_cycles.c ----------------------------------------------------------------------- */

/* Notes the circles that go through this instance, of what is not noted yet. */
void dpe_lock_cycles_find(
	struct dpe_lock_order *order, struct dpe_acquisition *acquisition, struct dpe_instance *instance);
void dpe_lock_cycles_free(struct dpe_lock_order *order);
/* The thread's part in circles was none: looks for those again that it was in. */
void dpe_lock_cycles_redo(struct dpe_lock_order *order, struct dpe_value thread);

#endif
