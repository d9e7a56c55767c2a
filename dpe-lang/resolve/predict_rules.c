/* `predict` rules: what they may contain, and their behaviours as partial orders: ⟦R⟧ of
 * docs/semantics.md, which is finite without repetition. */
#include "dpe-lang/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a predict rule may contain ---------------------------------------------------- */

static void check_condition(struct dpe_resolver *r, const struct dpe_expr *expr)
{
	if (!expr)
		return;
	switch (expr->kind) {
	case DPE_EXPR_GLOBAL:
	case DPE_EXPR_TARGET:
	case DPE_EXPR_PRIOR:
		resolve_error(r, expr->place,
			"a predict rule has no conditions on the value of data or of a `var`: another order "
			"of the threads may change it");
		return;
	case DPE_EXPR_FIELD:
	case DPE_EXPR_POSITION:
		if (expr->index)
			resolve_error(r, expr->place,
				"a condition of a predict rule names its own event and the rule's "
				"variables, not events at other positions");
		break;
	default:
		break;
	}
	check_condition(r, expr->left);
	check_condition(r, expr->right);
	check_condition(r, expr->third);
}

static void check_patterns(struct dpe_resolver *r)
{
	const struct dpe_rule *rule = r->rule;

	for (unsigned i = 0; i < rule->npatterns; i++) {
		const struct dpe_pattern *pattern = &rule->patterns[i];

		if (pattern->kind == DPE_PATTERN_CONDITION)
			resolve_error(r, pattern->place,
				"a predict rule has no events on the value of data: another order of the "
				"threads may change it");
		else
			check_condition(r, pattern->cond);
	}
}

static void check_actions(struct dpe_resolver *r)
{
	const struct dpe_rule *rule = r->rule;

	for (unsigned i = 0; i < rule->npositions; i++) {
		if (rule->positions[i].action)
			resolve_error(r, rule->positions[i].place,
				"events of a predict rule have no actions: the match did not happen in this "
				"run; the rule itself can have one");
	}
	if (rule->action && dpe_find_call(rule->action, DPE_CALL_BREAK))
		resolve_error(r, rule->place,
			"a predict rule has no break: the match did not happen in this run");
}

/* ---- behaviours ------------------------------------------------------------------------- */

struct pomsets {
	struct dpe_pomset *at;
	unsigned count, cap;
	bool refused; /* after a diagnostic */
};

/* Closes `before` transitively; false if an event would precede itself. */
static bool close_order(struct dpe_pomset *pomset)
{
	for (unsigned k = 0; k < pomset->nevents; k++) {
		for (unsigned i = 0; i < pomset->nevents; i++) {
			if (pomset->before[i] >> k & 1)
				pomset->before[i] |= pomset->before[k];
		}
	}
	for (unsigned i = 0; i < pomset->nevents; i++) {
		if (pomset->before[i] >> i & 1)
			return false;
	}
	return true;
}

static void add(struct dpe_resolver *r, struct pomsets *to, const struct dpe_pomset *pomset)
{
	for (unsigned i = 0; i < to->count; i++) {
		const struct dpe_pomset *other = &to->at[i];
		size_t n = pomset->nevents;

		if (other->nevents == n &&
			!memcmp(other->literals, pomset->literals, n * sizeof(*other->literals)) &&
			!memcmp(other->before, pomset->before, n))
			return;
	}
	if (to->count == DPE_MAX_POMSETS && !to->refused)
		resolve_error(r, r->rule->place, "the predict rule has more than %d alternatives",
			DPE_MAX_POMSETS);
	to->refused |= to->count == DPE_MAX_POMSETS;
	if (!to->refused)
		*DPE_GROW(to->at, to->count, to->cap) = *pomset;
}

static bool has_room(struct dpe_resolver *r, struct pomsets *to, unsigned nevents)
{
	if (nevents <= DPE_POMSET_EVENTS)
		return true;
	if (!to->refused)
		resolve_error(r, r->rule->place, "a predict rule has at most %d events in a match",
			DPE_POMSET_EVENTS);
	to->refused = true;
	return false;
}

static void add_sequence(struct dpe_resolver *r, struct pomsets *to, const struct dpe_pomset *a,
	const struct dpe_pomset *b)
{
	struct dpe_pomset both = *a;

	if (!has_room(r, to, a->nevents + b->nevents))
		return;
	for (unsigned i = 0; i < b->nevents; i++) {
		unsigned at = both.nevents++;

		both.literals[at] = b->literals[i];
		both.positions[at] = b->positions[i];
		both.before[at] = (uint8_t)(b->before[i] << a->nevents |
					    ((1u << a->nevents) - 1));
	}
	add(r, to, &both);
}

/* The composition of two behaviours: events of shared literals are one. */
struct composition {
	struct dpe_resolver *r;
	struct pomsets *to;
	const struct dpe_pomset *a, *b;
	const bool *shared;               /* by literal */
	int place[DPE_POMSET_EVENTS];     /* of each event of b: one of a, or -1 */
	unsigned taken;                   /* events of a, one bit each */
};

static void add_composed(const struct composition *c)
{
	struct dpe_pomset both = *c->a;
	unsigned at[DPE_POMSET_EVENTS], nevents = both.nevents;

	for (unsigned i = 0; i < c->b->nevents; i++)
		at[i] = c->place[i] >= 0 ? (unsigned)c->place[i] : nevents++;
	if (!has_room(c->r, c->to, nevents))
		return;
	both.nevents = nevents;
	for (unsigned i = 0; i < c->b->nevents; i++) {
		if (c->place[i] >= 0)
			continue;
		both.literals[at[i]] = c->b->literals[i];
		both.positions[at[i]] = c->b->positions[i];
		both.before[at[i]] = 0;
	}
	for (unsigned i = 0; i < c->b->nevents; i++) {
		for (unsigned j = 0; j < c->b->nevents; j++) {
			if (c->b->before[i] >> j & 1)
				both.before[at[i]] |= (uint8_t)(1u << at[j]);
		}
	}
	if (close_order(&both))
		add(c->r, c->to, &both);
}

/* Assigns places to the events of b from `i` on; each shared event of a has to be one of b's. */
static void compose_from(struct composition *c, unsigned i)
{
	if (i == c->b->nevents) {
		for (unsigned j = 0; j < c->a->nevents; j++) {
			if (c->shared[c->a->literals[j]] && !(c->taken >> j & 1))
				return;
		}
		add_composed(c);
		return;
	}
	c->place[i] = -1;
	if (!c->shared[c->b->literals[i]]) {
		compose_from(c, i + 1);
		return;
	}
	for (unsigned j = 0; j < c->a->nevents; j++) {
		if (c->a->literals[j] != c->b->literals[i] || c->taken >> j & 1)
			continue;
		c->place[i] = (int)j;
		c->taken |= 1u << j;
		compose_from(c, i + 1);
		c->taken &= ~(1u << j);
	}
}

static struct pomsets expand(struct dpe_resolver *r, const struct dpe_node *node);

static void combine(struct dpe_resolver *r, const struct dpe_node *node, struct pomsets *to)
{
	const struct dpe_rule *rule = r->rule;
	struct pomsets left = expand(r, node->left), right = expand(r, node->right);
	bool *in_left = dpe_xcalloc(rule->nliterals + 1, sizeof(bool));
	bool *shared = dpe_xcalloc(rule->nliterals + 1, sizeof(bool));

	dpe_mark_literals(rule, node->left, in_left);
	dpe_mark_literals(rule, node->right, shared);
	for (unsigned i = 0; i < rule->nliterals; i++)
		shared[i] &= in_left[i];
	to->refused = left.refused || right.refused;
	for (unsigned i = 0; i < left.count && !to->refused; i++) {
		for (unsigned j = 0; j < right.count && !to->refused; j++) {
			struct composition c = {.r = r, .to = to, .a = &left.at[i],
				.b = &right.at[j], .shared = shared};

			if (node->kind == DPE_NODE_SEQ)
				add_sequence(r, to, &left.at[i], &right.at[j]);
			else
				compose_from(&c, 0);
		}
	}
	free(in_left);
	free(shared);
	free(left.at);
	free(right.at);
}

static void unite(struct dpe_resolver *r, const struct dpe_node *node, struct pomsets *to)
{
	const struct dpe_node *const sides[] = {node->left, node->right};

	for (unsigned i = 0; i < 2; i++) {
		struct pomsets side = expand(r, sides[i]);

		to->refused |= side.refused;
		for (unsigned j = 0; j < side.count && !to->refused; j++)
			add(r, to, &side.at[j]);
		free(side.at);
	}
}

static void add_event(struct dpe_resolver *r, const struct dpe_node *node, struct pomsets *to)
{
	const struct dpe_pomset event = {
		.nevents = 1,
		.literals = {(uint16_t)dpe_node_literal(r->rule, node)},
		.positions = {(uint16_t)(node->position - 1)},
	};

	add(r, to, &event);
}

static struct pomsets expand(struct dpe_resolver *r, const struct dpe_node *node)
{
	struct pomsets result = {0};

	switch (node->kind) {
	case DPE_NODE_EVENT:
		add_event(r, node, &result);
		break;
	case DPE_NODE_ALT:
		unite(r, node, &result);
		break;
	case DPE_NODE_SEQ:
	case DPE_NODE_PAR:
		combine(r, node, &result);
		break;
	default:
		resolve_error(r, node->place,
			node->kind == DPE_NODE_ACTION
				? "a predict rule has no actions within its expression: give the rule one"
				: "a predict rule has no '*' and no '@': write each event that a match has");
		result.refused = true;
	}
	if (node->action && node->kind != DPE_NODE_ACTION) {
		resolve_error(r, node->place,
			"a predict rule has no actions within its expression: give the rule one");
		result.refused = true;
	}
	return result;
}

void dpe_resolve_prediction(struct dpe_resolver *r)
{
	struct dpe_rule *rule = r->rule;
	struct pomsets pomsets;
	struct dpe_pomset *kept;

	check_patterns(r);
	check_actions(r);
	pomsets = expand(r, rule->tree);
	if (!pomsets.refused && !pomsets.count)
		resolve_error(r, rule->place, "the predict rule matches nothing: no events can have "
			"the order that it asks for");
	kept = dpe_arena_alloc(r->spec->arena, (pomsets.count + 1) * sizeof(*kept));
	if (pomsets.count)
		memcpy(kept, pomsets.at, pomsets.count * sizeof(*kept));
	rule->pomsets = kept;
	rule->npomsets = pomsets.count;
	free(pomsets.at);
}
