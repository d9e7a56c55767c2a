/* Threads in the lock order: what they hold, which threads created them, which they joined, and from which they
 * received something. */
#include "recognizer/deadlocks/lock_order.h"

#include <stdlib.h>
#include <string.h>

struct dpe_lock_thread *dpe_lock_thread_find(struct dpe_lock_order *order, struct dpe_value value)
{
	return (struct dpe_lock_thread *)dpe_keyed_find(order->threads, value);
}

struct dpe_lock_thread *dpe_lock_thread_add(struct dpe_lock_order *order, struct dpe_value value)
{
	struct dpe_lock_thread *thread = dpe_lock_thread_find(order, value);

	if (thread)
		return thread;
	thread = dpe_xcalloc(1, sizeof(*thread));
	thread->strand = dpe_strand_new(order->serial++, &order->nreaches);
	thread->strand->stranger = order->any_passed;
	thread->unsure = true;
	dpe_keyed_add(&order->threads, &thread->keyed, value);
	return thread;
}

void dpe_lock_thread_change(struct dpe_lock_order *order, struct dpe_lock_thread *thread)
{
	dpe_lock_set_unref(order, thread->set);
	thread->set = NULL;
}

void dpe_lock_thread_drop(
	struct dpe_lock_order *order, struct dpe_lock_thread *thread, unsigned index)
{
	struct dpe_held_lock *held = &thread->held[index];

	dpe_message_unref(held->since);
	dpe_lock_unref(order, held->lock);
	thread->nheld--;
	memmove(held, held + 1, (thread->nheld - index) * sizeof(*held)); /* keeps the order of acquisition */
	dpe_lock_thread_change(order, thread);
}

int dpe_lock_thread_held(const struct dpe_lock_thread *thread, const struct dpe_lock *lock)
{
	for (unsigned i = thread->nheld; i--;) {
		if (thread->held[i].lock == lock)
			return (int)i;
	}
	return -1;
}

void dpe_lock_thread_free(struct dpe_lock_order *order, struct dpe_lock_thread *thread)
{
	while (thread->nheld)
		dpe_lock_thread_drop(order, thread, thread->nheld - 1);
	dpe_lock_thread_change(order, thread);
	dpe_lock_past_unref(thread->strand->past);
	thread->strand->past = NULL;
	dpe_strand_unref(thread->strand);
	dpe_value_drop(thread->keyed.value);
	free(thread->held);
	free(thread);
}

static struct dpe_lock_name *add_name(struct dpe_lock_order *order, struct dpe_value value)
{
	struct dpe_lock_name *name = (struct dpe_lock_name *)dpe_keyed_find(order->left, value);

	if (name)
		return name;
	name = dpe_xcalloc(1, sizeof(*name));
	dpe_keyed_add(&order->left, &name->keyed, value);
	return name;
}

/* The thread that had the name loses it. */
static void leave_at(struct dpe_lock_order *order, struct dpe_lock_name *name, struct dpe_lock_past *past)
{
	order->ncreated -= name->created;
	name->created = false;
	if (name->of)
		name->of->name = NULL;
	name->of = NULL;
	dpe_lock_past_unref(name->past);
	name->past = past;
}

void dpe_lock_name_free(struct dpe_lock_order *order, struct dpe_lock_name *name)
{
	leave_at(order, name, NULL);
	dpe_value_drop(name->keyed.value);
	free(name);
}

void dpe_lock_order_create(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value name)
{
	struct dpe_lock_thread *parent = dpe_lock_thread_add(order, thread);
	struct dpe_lock_name *child = add_name(order, name);

	leave_at(order, child, dpe_strand_leave(parent->strand));
	child->stranger = parent->strand->stranger;
	child->created = true;
	order->ncreated++;
}

void dpe_lock_order_end(struct dpe_lock_order *order, struct dpe_value value)
{
	struct dpe_lock_thread *thread = dpe_lock_thread_find(order, value);

	if (!thread)
		return;
	thread->strand->over = true;
	if (thread->name)
		leave_at(order, thread->name, dpe_strand_leave(thread->strand));
	dpe_keyed_remove(&order->threads, &thread->keyed);
	dpe_lock_thread_free(order, thread);
}

void dpe_lock_order_begin(
	struct dpe_lock_order *order, struct dpe_value value, struct dpe_value name_value)
{
	struct dpe_lock_name *name = add_name(order, name_value);
	struct dpe_lock_thread *thread;

	dpe_lock_order_end(order, value); /* an earlier thread whose end was not observed */
	thread = dpe_lock_thread_add(order, value);
	thread->unsure = false;
	if (name->created)
		thread->strand->stranger = name->stranger;
	dpe_strand_follow(thread->strand, name->past);
	leave_at(order, name, NULL);
	name->of = thread;
	thread->name = name;
}

/* The end of a thread may be observed after the join. */
void dpe_lock_order_join(
	struct dpe_lock_order *order, struct dpe_value value, struct dpe_value name_value)
{
	struct dpe_lock_name *name =
		(struct dpe_lock_name *)dpe_keyed_find(order->left, name_value);
	struct dpe_lock_thread *thread = dpe_lock_thread_add(order, value);

	if (!name)
		return;
	if (name->of)
		leave_at(order, name, dpe_strand_leave(name->of->strand));
	dpe_strand_follow(thread->strand, name->past);
	dpe_keyed_remove(&order->left, &name->keyed);
	dpe_lock_name_free(order, name);
}

void dpe_lock_channel_free(struct dpe_lock_channel *channel)
{
	dpe_lock_past_unref(channel->past);
	dpe_value_drop(channel->keyed.value);
	free(channel);
}

static struct dpe_lock_channel *find_channel(const struct dpe_lock_order *order, struct dpe_value object)
{
	return (struct dpe_lock_channel *)dpe_keyed_find(order->channels, object);
}

static struct dpe_lock_channel *add_channel(struct dpe_lock_order *order, struct dpe_value object)
{
	struct dpe_lock_channel *channel = find_channel(order, object);

	if (channel)
		return channel;
	channel = dpe_xcalloc(1, sizeof(*channel));
	dpe_keyed_add(&order->channels, &channel->keyed, object);
	return channel;
}

void dpe_lock_channel_forget(struct dpe_lock_order *order, struct dpe_value object)
{
	struct dpe_lock_channel *channel = find_channel(order, object);

	if (!channel)
		return;
	dpe_keyed_remove(&order->channels, &channel->keyed);
	dpe_lock_channel_free(channel);
}

void dpe_lock_order_unordered(struct dpe_lock_order *order, struct dpe_value object)
{
	struct dpe_lock_channel *channel = add_channel(order, object);

	order->any_unordered = true;
	dpe_lock_past_unref(channel->past);
	channel->past = NULL;
	channel->unordered = true;
}

void dpe_lock_order_send(struct dpe_lock_order *order, struct dpe_value value, struct dpe_value object)
{
	struct dpe_lock_channel *channel = add_channel(order, object);

	if (!channel->unordered)
		channel->past = dpe_lock_past_join(channel->past,
			dpe_strand_leave(dpe_lock_thread_add(order, value)->strand));
}

void dpe_lock_order_receive(
	struct dpe_lock_order *order, struct dpe_value value, struct dpe_value object)
{
	const struct dpe_lock_channel *channel = find_channel(order, object);

	if (channel)
		dpe_strand_follow(dpe_lock_thread_add(order, value)->strand, channel->past);
}

void dpe_lock_order_lose(struct dpe_lock_order *order, struct dpe_value value)
{
	struct dpe_lock_thread *thread = dpe_lock_thread_find(order, value);

	if (thread)
		thread->unsure = true;
	while (thread && thread->nheld)
		dpe_lock_thread_drop(order, thread, thread->nheld - 1);
}
