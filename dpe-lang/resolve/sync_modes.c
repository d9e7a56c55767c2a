/* The mode of a rule, and what each mode requires of it; the sides of sync rules. */
#include "dpe-lang/resolve/resolve.h"

static enum dpe_mode mode_of(const struct dpe_resolver *r)
{
	switch (r->item->mode) {
	case AST_EXPECT:
		return DPE_EXPECT;
	case AST_DETECT:
	case AST_MEASURE:
		return DPE_DETECT;
	case AST_PREDICT:
		return DPE_PREDICT;
	case AST_SYNC:
		return DPE_SYNC;
	case AST_NO_MODE:
		break;
	}
	return dpe_block_calls(r->item->action, "sync_event") ? DPE_SYNC : DPE_DETECT;
}

/* ---- the sides of a sync rule ----------------------------------------------------------- */

struct side {
	bool *patterns; /* by pattern: it is one of the side's alternatives */
	uint64_t binds; /* the variables that each alternative binds */
	unsigned count; /* of alternatives */
};

/* `a + b + c`: which of them occurs makes no difference, so all bind the same variables. */
static void collect_alternatives(
	struct dpe_resolver *r, const struct dpe_node *node, struct side *side)
{
	const struct dpe_rule *rule = r->rule;
	uint64_t binds;

	if (node->kind == DPE_NODE_ALT) {
		collect_alternatives(r, node->left, side);
		collect_alternatives(r, node->right, side);
		return;
	}
	if (node->kind != DPE_NODE_EVENT) {
		resolve_error(r, node->place,
			"a side of a sync rule is one event, or alternatives: (a + b) ; c");
		return;
	}
	binds = dpe_pattern_mask(dpe_node_pattern(rule, node));
	if (side->count++ && binds != side->binds)
		resolve_error(r, node->place,
			"the alternatives of a sync rule's side bind the same variables: this event binds "
			"other ones than the first");
	side->binds = binds;
	side->patterns[dpe_node_pattern(rule, node) - rule->patterns] = true;
}

/* A rule about accesses to data has one side only. */
static void resolve_access(struct dpe_resolver *r, struct side *access)
{
	const struct dpe_node *tree = r->rule->tree;

	if (tree->kind == DPE_NODE_SEQ) {
		resolve_error(r, tree->place,
			"'sync %s' has one side, the events that access the place: 'f(x)'",
			dpe_pairing_name(r->rule->pairing));
		return;
	}
	collect_alternatives(r, tree, access);
	r->rule->keys = access->binds;
}

static bool is_data(enum dpe_pairing pairing)
{
	return pairing == DPE_DATA_READS || pairing == DPE_DATA_WRITES;
}

static bool is_lock(enum dpe_pairing pairing)
{
	return pairing == DPE_EXCLUSIVE || pairing == DPE_SHARED;
}

/* `keep` adds predecessors to events of `predict` rules; locks and data have their own meaning there. */
static void check_keep(struct dpe_resolver *r)
{
	enum dpe_pairing pairing = r->item->pairing;

	if (r->item->keep && (is_data(pairing) || is_lock(pairing) || pairing == DPE_ROUNDS ||
				     pairing == DPE_DURING))
		resolve_error(r, r->item->place,
			"'sync keep' pairs by fifo, last, all or once, not by '%s'",
			dpe_pairing_name(pairing));
}

static void resolve_sides(struct dpe_resolver *r)
{
	struct dpe_rule *rule = r->rule;
	const struct dpe_node *tree = rule->tree;
	struct side send = {0}, receive = {0};

	send.patterns = dpe_arena_alloc(r->spec->arena, rule->npatterns * sizeof(*send.patterns));
	receive.patterns =
		dpe_arena_alloc(r->spec->arena, rule->npatterns * sizeof(*receive.patterns));
	rule->sends = send.patterns;
	rule->receives = receive.patterns;
	if (is_data(rule->pairing)) {
		resolve_access(r, &receive);
		return;
	}
	if (tree->kind != DPE_NODE_SEQ || tree->left->kind == DPE_NODE_SEQ ||
		tree->right->kind == DPE_NODE_SEQ) {
		resolve_error(r, tree->place,
			"a sync rule has two sides, the one that sends and the one that receives: 'a ; b'");
		return;
	}
	collect_alternatives(r, tree->left, &send);
	collect_alternatives(r, tree->right, &receive);
	rule->keys = send.binds & receive.binds;
	if (is_lock(rule->pairing) &&
		(__builtin_popcountll(rule->keys) > 1 || (!rule->keys && (send.binds | receive.binds))))
		resolve_error(r, tree->place,
			"a lock is identified by one value, which both sides bind; these bind %d",
			__builtin_popcountll(rule->keys));
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
				"the action of a sync rule is sync_event and nothing else: the "
				"rule orders events, and nothing runs");
	}
}

/* `{ sync_event($2, $1); }`: the second of two events sends. */
static void resolve_direction(struct dpe_resolver *r)
{
	const struct dpe_stmt *call = dpe_find_call(r->rule->action, DPE_CALL_SYNC_EVENT);
	struct dpe_rule *rule = r->rule;
	const bool *sends = rule->sends;

	if (!call || call->nargs != 2 || call->args[0]->kind != DPE_EXPR_POSITION ||
		call->args[1]->kind != DPE_EXPR_POSITION)
		return;
	if (rule->npositions != 2)
		resolve_error(r, call->place,
			"sync_event names two events, and this rule has %u: leave it out, or reverse the sides",
			rule->npositions);
	else if (call->args[0]->index == call->args[1]->index)
		resolve_error(r, call->place, "an event cannot synchronise with itself");
	else if (call->args[0]->index == 2) {
		rule->sends = rule->receives;
		rule->receives = sends;
	}
}

/* `observing destroy(m) ends`: what the sends of an object are forgotten at. */
static void check_observed(struct dpe_resolver *r)
{
	const struct dpe_rule *rule = r->rule;
	const struct ast_dpe *place = r->item->observing;

	for (unsigned i = 0; i < rule->nobserving; i++) {
		unsigned pattern = rule->observing[i];

		if (!rule->ends[i])
			resolve_error(r, place->place,
				"a sync rule observes the events of its sides, and events that end an object: "
				"'observing destroy(m) ends'");
		else if (dpe_rule_pairs_nothing(rule) || rule->pairing == DPE_DURING)
			resolve_error(r, place->place, "no event ends an object of 'sync %s%s'",
				rule->keep ? "keep " : "", dpe_pairing_name(rule->pairing));
		else if (rule->keys & ~dpe_pattern_mask(&rule->patterns[pattern]))
			resolve_error(r, place->place,
				"an event that ends an object binds all variables that both sides bind");
		else if (rule->sends[pattern] || (rule->receives[pattern] && rule->pairing != DPE_LAST))
			resolve_error(r, place->place,
				"an event of a side cannot end the object, unless it is what 'sync last' receives");
	}
}

static void resolve_sync(struct dpe_resolver *r)
{
	check_keep(r);
	resolve_sides(r);
	check_only_call(r, r->rule->action);
	resolve_direction(r);
	for (unsigned i = 0; i < r->rule->npositions; i++) {
		if (r->rule->positions[i].action)
			resolve_error(r, r->rule->positions[i].place,
				"the events of a sync rule have no actions");
	}
	check_observed(r);
}

void dpe_resolve_mode(struct dpe_resolver *r)
{
	struct dpe_rule *rule = r->rule;
	const struct dpe_stmt *call;

	rule->mode = mode_of(r);
	rule->pairing = r->item->pairing;
	rule->keep = r->item->keep;
	rule->measures = r->item->mode == AST_MEASURE;
	if (rule->measures && !r->unknown_call && !dpe_rule_calls_measure(rule))
		resolve_error(r, rule->place,
			"a rule that measures needs an action that calls count, sum, hist or quantiles");
	if (rule->mode != DPE_EXPECT && rule->otherwise)
		resolve_error(r, r->item->otherwise->place,
			"'else' belongs to expect: it runs where the expectation fails");
	if (rule->mode == DPE_SYNC) {
		resolve_sync(r);
		return;
	}
	if (rule->mode == DPE_PREDICT)
		dpe_resolve_prediction(r);
	call = dpe_find_call(rule->action, DPE_CALL_SYNC_EVENT);
	if (!call)
		call = dpe_find_call(rule->otherwise, DPE_CALL_SYNC_EVENT);
	if (call)
		resolve_error(r, call->place,
			"sync_event belongs to a sync rule: write 'sync' instead of '%s'",
			dpe_rule_mode_name(rule));
}
