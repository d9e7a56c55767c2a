/* deadlocks: the wait-for graph and the order of locks. */
#ifndef DPE_RECOGNIZER_DEADLOCKS_DEADLOCKS_H
#define DPE_RECOGNIZER_DEADLOCKS_DEADLOCKS_H

#include "recognizer/recognizer.h"

struct dpe_wait_graph *dpe_wait_graph_new(void);
void dpe_wait_graph_free(struct dpe_wait_graph *waits); /* accepts NULL */
/* Values are copied, `since` is counted. Holding and waiting are counted, too: what was done twice
 * is over when it was undone twice. */
void dpe_wait_graph_hold(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since);
void dpe_wait_graph_unhold(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object);
void dpe_wait_graph_wait(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since);
void dpe_wait_graph_release(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value object);
/* The thread is over: what it holds it holds for ever. Whoever has its id later is another. */
void dpe_wait_graph_end(
	struct dpe_wait_graph *waits, struct dpe_value thread, const struct dpe_message *event);
/* What the thread holds and awaits is not known any more. */
void dpe_wait_graph_lose(struct dpe_wait_graph *waits, struct dpe_value thread);
/* The thread begins, and holds the name by which others await its end. */
void dpe_wait_graph_begin(struct dpe_wait_graph *waits, struct dpe_value thread, struct dpe_value name,
	const struct dpe_message *since);
/* The thread is there, which matters to a hang. */
void dpe_wait_graph_live(struct dpe_wait_graph *waits, struct dpe_value thread);
/* The object is no more: nobody holds what will have its address. */
void dpe_wait_graph_forget(struct dpe_wait_graph *waits, struct dpe_value object);
/* From now on a hang is told, once as long as it lasts. */
void dpe_wait_graph_check_hang(struct dpe_wait_graph *waits, const struct dpe_rule *rule);
/* Tells the sink of each cycle through a wait that began since the last check. */
void dpe_wait_graph_check(
	struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, const struct dpe_rule *rule);
/* Each wait that there is. */
void dpe_wait_graph_each(const struct dpe_wait_graph *waits,
	void (*each)(void *context, const struct dpe_wait *wait), void *context);
/* Tells of threads that have waited until `time` for themselves, or for one that has ended, and of
 * a hang; UINT64_MAX: the end. */
void dpe_wait_graph_report_due(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time);
/* The same before a thread ends: where a program that hangs is ended, its threads end while they
 * wait, and it need not have hung for as long to be believed. */
void dpe_wait_graph_report_at_end(
	struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time);

struct dpe_lock_order *dpe_lock_order_new(void);
void dpe_lock_order_free(struct dpe_lock_order *order); /* accepts NULL */
/* Values are copied, `since` is counted, as in the graph of waits. What is shared others may hold
 * as well, so it keeps nobody apart but from those who hold it alone. */
void dpe_lock_order_hold(struct dpe_lock_order *order, struct dpe_value thread,
	struct dpe_value object, const struct dpe_message *since, bool shared);
void dpe_lock_order_unhold(struct dpe_lock_order *order, struct dpe_value thread,
	struct dpe_value object, const struct dpe_message *event);
/* The thread goes on to take the object, and waits as long as it must. */
void dpe_lock_order_check(struct dpe_lock_order *order, const struct dpe_rule *rule,
	struct dpe_value thread, struct dpe_value object, const struct dpe_message *event);
/* The object is no more; what has its address later is another. */
void dpe_lock_order_forget(struct dpe_lock_order *order, struct dpe_value object);
/* The thread makes another one, known by that name; begins; ends; has awaited the end of one. */
void dpe_lock_order_create(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value name);
void dpe_lock_order_begin(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value name);
void dpe_lock_order_end(struct dpe_lock_order *order, struct dpe_value thread);
void dpe_lock_order_join(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value name);
/* What the thread holds is not known any more. */
void dpe_lock_order_lose(struct dpe_lock_order *order, struct dpe_value thread);
/* That one has closed, so it is no potential one any more. */
void dpe_lock_order_closed(struct dpe_lock_order *order, const struct dpe_deadlock *deadlock);
/* At the end: tells of each potential deadlock, and of what the bounds may have hidden. */
void dpe_lock_order_report(struct dpe_lock_order *order, struct dpe_recognizer *recognizer);

/* The message with the locks that its thread holds, the caller's; NULL: it holds none, or the message
 * has them. */
struct dpe_message *dpe_held_locks_add(
	const struct dpe_recognizer *recognizer, const struct dpe_message *message);

/* What the thread lost may have given back what it held. */
void dpe_deadlocks_lose(struct dpe_recognizer *recognizer, struct dpe_value thread);
/* Fills in why it is in doubt, counts and hands over. */
void dpe_deadlock_report(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	struct dpe_deadlock *deadlock);

#endif
