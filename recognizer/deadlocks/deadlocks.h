/* deadlocks: the wait-for graph (paper 5.2), hangs, and the lock order with its potential
 * deadlocks. */
#ifndef DPE_RECOGNIZER_DEADLOCKS_DEADLOCKS_H
#define DPE_RECOGNIZER_DEADLOCKS_DEADLOCKS_H

#include "recognizer/recognizer.h"

/* A wait is long after `hang_after` ns; UINT64_MAX: never. */
struct dpe_wait_graph *dpe_wait_graph_new(uint64_t hang_after);
void dpe_wait_graph_free(struct dpe_wait_graph *waits); /* accepts NULL */
/* The graph. Values are copied, `since` is counted. Holding and waiting nest: what was done twice
 * ends when it was undone twice. */
void dpe_wait_graph_hold(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since);
void dpe_wait_graph_unhold(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object);
void dpe_wait_graph_wait(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since);
void dpe_wait_graph_release(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object);
/* The thread has ended, and holds what it holds for ever. A later thread with its id is another. */
void dpe_wait_graph_end(
	struct dpe_wait_graph *waits, struct dpe_value thread, const struct dpe_message *event);
/* Messages were lost: what the thread holds and awaits is unknown. */
void dpe_wait_graph_lose(struct dpe_wait_graph *waits, struct dpe_value thread);
/* The thread begins, and holds the name by which others await its end. */
void dpe_wait_graph_begin(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value name,
	const struct dpe_message *since);
/* Notes that the thread lives, which matters for hangs. */
void dpe_wait_graph_live(struct dpe_wait_graph *waits, struct dpe_value thread);
/* The object was destroyed: a later one with its address is another. */
void dpe_wait_graph_forget(struct dpe_wait_graph *waits, struct dpe_value object);
/* From now on hangs are reported, each once. */
void dpe_wait_graph_check_hang(struct dpe_wait_graph *waits, const struct dpe_rule *rule);
/* Reports each cycle through a wait that began since the last check. */
void dpe_wait_graph_check(
	struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, const struct dpe_rule *rule);
/* Calls for each wait in the graph. */
void dpe_wait_graph_each(const struct dpe_wait_graph *waits,
	void (*each)(void *context, const struct dpe_wait *wait), void *context);
/* Reports threads that have waited until `time` for themselves or for an ended thread, hangs, and long waits.
 * UINT64_MAX: the end of the input. */
void dpe_wait_graph_report_due(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time);
/* The same before a thread ends. When a hanging program is killed its threads end while they wait,
 * so the hang is believed sooner. */
void dpe_wait_graph_report_at_end(
	struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time);

/* Notes the time of an event. */
void dpe_wait_graph_pass(struct dpe_wait_graph *waits, uint64_t time);

struct dpe_lock_order *dpe_lock_order_new(void);
void dpe_lock_order_free(struct dpe_lock_order *order); /* accepts NULL */
/* The lock order. Values are copied, `since` is counted. A shared lock does not exclude other
 * shared holders. */
void dpe_lock_order_hold(struct dpe_lock_order *order, struct dpe_value thread,
	struct dpe_value object, const struct dpe_message *since, bool shared);
void dpe_lock_order_unhold(struct dpe_lock_order *order, struct dpe_value thread,
	struct dpe_value object, const struct dpe_message *event);
/* The thread is about to acquire the object, at the event, which may be the latest of the history. */
void dpe_lock_order_check(struct dpe_lock_order *order, const struct dpe_rule *rule,
	struct dpe_value thread, struct dpe_value object, const struct dpe_message *event,
	const struct dpe_latest *latest);
/* The object was destroyed; a later one with its address is another. */
void dpe_lock_order_forget(struct dpe_lock_order *order, struct dpe_value object);
/* The thread creates another one, known by that name; begins; ends; has joined one. */
void dpe_lock_order_create(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value name);
void dpe_lock_order_begin(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value name);
void dpe_lock_order_end(struct dpe_lock_order *order, struct dpe_value thread);
void dpe_lock_order_join(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value name);
/* What the thread did so far precedes what follows a receive of the object by any thread. */
void dpe_lock_order_send(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value object);
void dpe_lock_order_receive(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value object);
/* Until the object is forgotten, a receive may need no send, and follows none. */
void dpe_lock_order_unordered(struct dpe_lock_order *order, struct dpe_value object);
/* Messages were lost: what the thread holds is unknown. */
void dpe_lock_order_lose(struct dpe_lock_order *order, struct dpe_value thread);
/* The deadlock was reported as an actual one, so it is no longer potential. */
void dpe_lock_order_closed(struct dpe_lock_order *order, const struct dpe_deadlock *deadlock);
/* ---- requests.c: whether the requests of a cycle can all wait at once, which predict/ knows ---- */

/* The requests of one thread, as numbers of events, in order. */
struct dpe_thread_requests {
	uint64_t strand; /* serial number of the thread */
	uint32_t chain;
	uint64_t *at;
	unsigned count, cap;
};

/* The requests of a lock at a site while the same others are held. Counted. */
struct dpe_requests {
	unsigned refs;
	bool more; /* there are some that are not in it */
	struct dpe_thread_requests *of;
	unsigned count, cap;
};

enum dpe_meeting {
	DPE_MEET_NEVER, /* what holds in every run orders them */
	DPE_MEET_PERHAPS,
	DPE_MEET, /* another order of the threads has one of each wait at once */
};

typedef enum dpe_meeting dpe_meet_fn(
	void *context, struct dpe_requests *const *requests, unsigned count);
/* Asks that of each cycle, then forgets the requests: events are numbered afresh. */
void dpe_lock_order_decide(struct dpe_lock_order *order, dpe_meet_fn *meet, void *context);

/* At the end: reports each potential deadlock, and whether limits may have hidden some. */
void dpe_lock_order_report(struct dpe_lock_order *order, struct dpe_recognizer *recognizer);

/* A copy of the message with the locks that its thread holds, owned by the caller. NULL if it
 * holds none, or the message has them. */
struct dpe_message *dpe_held_locks_add(
	struct dpe_recognizer *recognizer, const struct dpe_message *message);

/* Messages of the thread were lost, and may have released what it holds. */
static inline void dpe_deadlocks_lose(struct dpe_recognizer *recognizer, struct dpe_value thread)
{
	dpe_wait_graph_lose(recognizer->waits, thread);
	dpe_lock_order_lose(recognizer->lock_order, thread);
}
/* Fills in the reason for doubt, counts the deadlock and passes it to the sink. */
void dpe_deadlock_report(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	struct dpe_deadlock *deadlock);

#endif
