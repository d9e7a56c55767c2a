/* What the expression of a `detect` rule implies about the order of its events in time: which may be
 * first in a match, which may complete one, and what must have occurred by then. Conservative: sets
 * of first and last patterns may be too large, prerequisites too few. */
#include "dpe-lang/automata/automata.h"
#include "dpe-lang/normal/normal.h"

#include <string.h>

/* Facts about all behaviours of a node. */
struct facts {
	uint64_t all;   /* patterns that occur in it */
	uint64_t first; /* … whose events may have nothing before them in it */
	uint64_t last;  /* … nothing after them */
	uint64_t must;  /* … that each behaviour has */
	uint64_t need[DPE_PREREQUISITE_PATTERNS]; /* by one of `last`: what each behaviour has that it ends */
};

static uint64_t without(uint64_t set, unsigned pattern)
{
	return set & ~(UINT64_C(1) << pattern);
}

static bool has(uint64_t set, unsigned pattern)
{
	return set >> pattern & 1;
}

static void find(const struct dpe_rule *rule, const struct dpe_node *node, struct facts *facts);

static void of_event(
	const struct dpe_rule *rule, const struct dpe_node *node, struct facts *facts)
{
	unsigned literal = dpe_node_literal(rule, node);

	facts->all = UINT64_C(1) << rule->literals[literal].pattern;
	facts->first = facts->last = facts->must = facts->all;
}

/* By last pattern: what all behaviours that end with it require. */
static void join_needs(struct facts *to, const struct facts *left, uint64_t more_left,
	const struct facts *right, uint64_t more_right)
{
	for (unsigned i = 0; i < DPE_PREREQUISITE_PATTERNS; i++) {
		uint64_t needed = UINT64_MAX;

		if (has(left->last, i))
			needed &= left->need[i] | more_left;
		if (has(right->last, i))
			needed &= right->need[i] | more_right;
		to->need[i] = without(needed & to->all, i);
	}
}

static void of_two(const struct dpe_rule *rule, const struct dpe_node *node, struct facts *facts)
{
	struct facts left, right;

	find(rule, node->left, &left);
	find(rule, node->right, &right);
	facts->all = left.all | right.all;
	facts->first = left.first | right.first;
	facts->last = left.last | right.last;
	facts->must = left.must | right.must;
	switch (node->kind) {
	case DPE_NODE_SEQ:
		if (!dpe_nullable(node->left))
			facts->first = left.first;
		if (!dpe_nullable(node->right)) {
			facts->last = right.last;
			left.last = 0;
		}
		join_needs(facts, &left, 0, &right, left.must);
		return;
	case DPE_NODE_ALT:
		facts->must = left.must & right.must;
		join_needs(facts, &left, 0, &right, 0);
		return;
	default: /* & */
		join_needs(facts, &left, right.must, &right, left.must);
	}
}

static void find(const struct dpe_rule *rule, const struct dpe_node *node, struct facts *facts)
{
	memset(facts, 0, sizeof(*facts));
	switch (node->kind) {
	case DPE_NODE_EVENT:
		of_event(rule, node, facts);
		return;
	case DPE_NODE_ACTION:
		return;
	case DPE_NODE_STAR:
	case DPE_NODE_CLOSURE:
		find(rule, node->left, facts);
		facts->must = 0;
		return;
	default:
		of_two(rule, node, facts);
	}
}

/* ---- actions ----------------------------------------------------------------------------- */

static bool breaks(const struct dpe_stmt *stmt)
{
	for (; stmt; stmt = stmt->next) {
		if (stmt->kind == DPE_STMT_CALL && stmt->call == DPE_CALL_BREAK)
			return true;
		if (breaks(stmt->body) || breaks(stmt->otherwise))
			return true;
	}
	return false;
}

/* Actions inside the expression, except those of single events. */
static bool node_breaks(const struct dpe_node *node)
{
	return node && (breaks(node->action) || node_breaks(node->left) ||
			       node_breaks(node->right));
}

/* ---- the rule ---------------------------------------------------------------------------- */

bool dpe_rule_breaks(const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->npositions; i++) {
		if (breaks(rule->positions[i].action))
			return true;
	}
	return breaks(rule->action) || breaks(rule->otherwise) ||
	       node_breaks(rule->tree);
}

static uint64_t patterns_of_breaking_events(const struct dpe_rule *rule)
{
	uint64_t patterns = 0;

	for (unsigned i = 0; i < rule->npositions; i++) {
		if (breaks(rule->positions[i].action))
			patterns |= UINT64_C(1)
				    << rule->literals[rule->positions[i].literal].pattern;
	}
	return patterns;
}

bool dpe_rule_prerequisites(const struct dpe_rule *rule, struct dpe_prerequisites *needs)
{
	struct facts facts;

	*needs = (struct dpe_prerequisites){0};
	if (rule->mode != DPE_DETECT || rule->npatterns > DPE_PREREQUISITE_PATTERNS ||
		rule->npositions > DPE_PREREQUISITE_POSITIONS)
		return false;
	find(rule, rule->tree, &facts);
	needs->first = facts.first;
	needs->breaking = patterns_of_breaking_events(rule);
	if (breaks(rule->action)) {
		needs->breaking |= facts.last;
		memcpy(needs->needed, facts.need, sizeof(needs->needed));
	}
	if (node_breaks(rule->tree))
		needs->breaking = facts.all;
	for (unsigned i = 0; i < DPE_PREREQUISITE_PATTERNS; i++) {
		if (node_breaks(rule->tree) || has(patterns_of_breaking_events(rule), i))
			needs->needed[i] = 0;
	}
	return true;
}
