/* The short way: a message that waits for nothing, and that nothing can wait for or name later,
 * leaves as it comes. Its thread's last node becomes its own, so nothing is allocated.
 *
 * It is the long way (push, hold, release, complete) with all that happens there for such a
 * message: the tests hold the one against the other. */
#include "stabilizer/stable.h"

static bool is_plain(const struct dpe_stabilizer *stabilizer, const struct dpe_message *message)
{
	if (message->npreds || message->id.kind != DPE_NONE)
		return false;
	if (!message->has_seq && message->place && !message->unnamed)
		return false;
	if (message->has_time && !stabilizer->ordered)
		return false;
	return message->name != stabilizer->ends_thread &&
	       message->name != stabilizer->finds_thread;
}

/* True where the message is the next of its thread, without a gap. */
static bool is_next(const struct dpe_thread *thread, const struct dpe_message *message)
{
	if (thread->parked.count)
		return false;
	return !message->has_seq ||
	       (!thread->exhausted && message->seq == thread->next && message->seq != UINT64_MAX);
}

/* The thread's last node, where only the thread and its chain know it. */
static struct dpe_node *find_tail(
	const struct dpe_stabilizer *stabilizer, const struct dpe_thread *thread)
{
	struct dpe_node *tail = thread->tail;

	if (!tail || tail->hold || tail->refs != 2 || tail->nedges || tail->known ||
		thread->chain == DPE_NO_CHAIN || stabilizer->chains[thread->chain].tail != tail ||
		tail->stamp.index >= stabilizer->chain_max)
		return NULL;
	return tail;
}

bool dpe_pass_through(
	struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, struct dpe_message *message)
{
	struct dpe_event event = {.message = message};
	struct dpe_node *tail;

	if (stabilizer->first || stabilizer->ready.count || !thread ||
		!is_plain(stabilizer, message) || !is_next(thread, message))
		return false;
	tail = find_tail(stabilizer, thread);
	if (!tail)
		return false;
	event.number = stabilizer->released++;
	event.stamp = tail->stamp;
	event.stamp.index++;
	event.stamp.told = stabilizer->chains[thread->chain].told;
	event.doubtful = stabilizer->doubt;
	stabilizer->sink.event(stabilizer->sink.context, &event);
	tail->stamp = event.stamp;
	tail->number = event.number;
	tail->arrival = stabilizer->arrivals++;
	thread->turns++;
	if (message->has_seq)
		thread->next = message->seq + 1;
	if (message->has_seq && stabilizer->ordered && thread->closed < message->seq)
		thread->closed = message->seq;
	dpe_message_unref(message);
	return true;
}
