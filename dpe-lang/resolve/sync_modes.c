/* The mode of a rule, and what each mode asks of it. */
#include "dpe-lang/resolve/resolve.h"

static enum dpe_mode mode_of(const struct dpe_resolver *r)
{
	switch (r->item->mode) {
	case AST_EXPECT:
		return DPE_EXPECT;
	case AST_DETECT:
		return DPE_DETECT;
	case AST_SYNC:
		return DPE_SYNC;
	case AST_NO_MODE:
		break;
	}
	return dpe_block_calls(r->item->action, "sync_event") ? DPE_SYNC : DPE_DETECT;
}

static void check_two_events(struct dpe_resolver *r)
{
	const struct dpe_node *tree = r->rule->tree;

	if (r->rule->npositions != 2)
		resolve_error(r, r->rule->place,
			"a sync rule is of two events, the one that sends and the one that "
			"receives: "
			"'a ; b'; this has %u",
			r->rule->npositions);
	else if (tree->kind != DPE_NODE_SEQ || tree->left->kind != DPE_NODE_EVENT ||
		 tree->right->kind != DPE_NODE_EVENT)
		resolve_error(r, tree->place, "a sync rule joins its two events with ';'");
}

static void check_only_call(struct dpe_resolver *r, const struct dpe_stmt *stmt)
{
	unsigned ncalls = 0;

	for (; stmt; stmt = stmt->next) {
		bool call = stmt->kind == DPE_STMT_CALL && stmt->call == DPE_CALL_SYNC_EVENT;

		ncalls += call;
		if (call && ncalls > 1)
			resolve_error(r, stmt->place, "a sync rule has one sync_event");
		else if (!call && (stmt->kind != DPE_STMT_BLOCK || stmt->body))
			resolve_error(r, stmt->place,
				"the action of a sync rule is sync_event and nothing else: it "
				"tells "
				"how to order events, and nothing runs");
	}
}

static void resolve_edge(struct dpe_resolver *r)
{
	const struct dpe_stmt *call = dpe_find_call(r->rule->action, DPE_CALL_SYNC_EVENT);
	struct dpe_rule *rule = r->rule;

	rule->send = 1;
	rule->receive = 2;
	if (!call || call->nargs != 2 || call->args[0]->kind != DPE_EXPR_POSITION ||
		call->args[1]->kind != DPE_EXPR_POSITION)
		return;
	rule->send = call->args[0]->index;
	rule->receive = call->args[1]->index;
	if (rule->send == rule->receive)
		resolve_error(r, call->place, "an event cannot synchronise with itself");
}

static void resolve_sync(struct dpe_resolver *r)
{
	check_two_events(r);
	check_only_call(r, r->rule->action);
	resolve_edge(r);
	for (unsigned i = 0; i < r->rule->npositions; i++) {
		if (r->rule->positions[i].action)
			resolve_error(r, r->rule->positions[i].place,
				"the events of a sync rule have no actions");
	}
	if (r->rule->nobserving)
		resolve_error(
			r, r->item->observing->place, "a sync rule observes its two events only");
}

void dpe_resolve_mode(struct dpe_resolver *r)
{
	struct dpe_rule *rule = r->rule;
	const struct dpe_stmt *call;

	rule->mode = mode_of(r);
	rule->pairing = r->item->pairing;
	if (rule->mode != DPE_EXPECT && rule->otherwise)
		resolve_error(r, r->item->otherwise->place,
			"'else' belongs to expect: it runs where the expectation fails");
	if (rule->mode == DPE_SYNC) {
		resolve_sync(r);
		return;
	}
	call = dpe_find_call(rule->action, DPE_CALL_SYNC_EVENT);
	if (!call)
		call = dpe_find_call(rule->otherwise, DPE_CALL_SYNC_EVENT);
	if (call)
		resolve_error(r, call->place,
			"sync_event belongs to a sync rule: write 'sync' instead of '%s'",
			dpe_mode_name(rule->mode));
}
