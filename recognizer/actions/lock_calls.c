/* The calls of actions about threads that hold and await objects or each other. Each updates both
 * the wait-for graph and the lock order. */
#include "recognizer/actions/actions.h"
#include "recognizer/deadlocks/deadlocks.h"

static void change_holders(const struct dpe_recognizer *recognizer, enum dpe_call call,
	struct dpe_value thread, struct dpe_value object, const struct dpe_message *event)
{
	if (recognizer->sink.holds)
		recognizer->sink.holds(recognizer->sink.context, thread, object, call != DPE_CALL_UNHOLD);
	if (call == DPE_CALL_UNHOLD) {
		dpe_wait_graph_unhold(recognizer->waits, thread, object);
		dpe_lock_order_unhold(recognizer->lock_order, thread, object, event);
		return;
	}
	dpe_wait_graph_hold(recognizer->waits, thread, object, event);
	dpe_lock_order_hold(recognizer->lock_order, thread, object, event, call == DPE_CALL_SHARE);
}

/* Calls about another thread, known by that name. */
static void change_threads(const struct dpe_recognizer *recognizer, enum dpe_call call,
	struct dpe_value thread, struct dpe_value name, const struct dpe_message *event)
{
	if (call == DPE_CALL_BEGINS) {
		dpe_wait_graph_begin(recognizer->waits, thread, name, event);
		dpe_lock_order_begin(recognizer->lock_order, thread, name);
		return;
	}
	dpe_wait_graph_live(recognizer->waits, thread);
	if (call == DPE_CALL_CREATES)
		dpe_lock_order_create(recognizer->lock_order, thread, name);
	else
		dpe_lock_order_join(recognizer->lock_order, thread, name);
}

static void call_with_two(const struct dpe_env *env, const struct dpe_stmt *call)
{
	const struct dpe_recognizer *recognizer = env->recognizer;
	struct dpe_value thread = dpe_eval(env, call->args[0]);
	struct dpe_value object = dpe_eval(env, call->args[1]);

	if (thread.kind == DPE_NONE || object.kind == DPE_NONE)
		return;
	switch (call->call) {
	case DPE_CALL_WAIT_FOR:
		dpe_wait_graph_wait(recognizer->waits, thread, object, env->event);
		return;
	case DPE_CALL_RELEASE:
		dpe_wait_graph_release(recognizer->waits, thread, object);
		return;
	case DPE_CALL_CHECK_ORDER:
		dpe_lock_order_check(
			recognizer->lock_order, env->run->rule, thread, object, env->event,
			&recognizer->latest);
		return;
	case DPE_CALL_SENDS:
		dpe_lock_order_send(recognizer->lock_order, thread, object);
		return;
	case DPE_CALL_RECEIVES:
		dpe_lock_order_receive(recognizer->lock_order, thread, object);
		return;
	case DPE_CALL_CREATES:
	case DPE_CALL_BEGINS:
	case DPE_CALL_JOINED:
		change_threads(recognizer, call->call, thread, object, env->event);
		return;
	default:
		change_holders(recognizer, call->call, thread, object, env->event);
		return;
	}
}

static void call_with_one(const struct dpe_env *env, const struct dpe_stmt *call)
{
	struct dpe_recognizer *recognizer = env->recognizer;
	struct dpe_value value = dpe_eval(env, call->args[0]);

	if (value.kind == DPE_NONE)
		return;
	if (call->call == DPE_CALL_FORGET) {
		dpe_wait_graph_forget(recognizer->waits, value);
		dpe_lock_order_forget(recognizer->lock_order, value);
		return;
	}
	if (call->call == DPE_CALL_UNORDERED) {
		dpe_lock_order_unordered(recognizer->lock_order, value);
		return;
	}
	if (env->event && env->event->has_time)
		dpe_wait_graph_report_at_end(recognizer->waits, recognizer, env->event->time);
	dpe_wait_graph_end(recognizer->waits, value, env->event);
	dpe_lock_order_end(recognizer->lock_order, value);
}

void dpe_wait_call(const struct dpe_env *env, const struct dpe_stmt *call)
{
	struct dpe_recognizer *recognizer = env->recognizer;

	if (env->event && env->event->has_time)
		dpe_wait_graph_pass(recognizer->waits, env->event->time);
	if (call->call == DPE_CALL_CHECK_DEADLOCK)
		dpe_wait_graph_check(recognizer->waits, recognizer, env->run->rule);
	else if (call->call == DPE_CALL_CHECK_HANG)
		dpe_wait_graph_check_hang(recognizer->waits, env->run->rule);
	else if (call->nargs == 2)
		call_with_two(env, call);
	else
		call_with_one(env, call);
}
