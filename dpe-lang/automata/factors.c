/* A rule as a tree of automata of moderate size: operands of & that share no event stay uncomposed.
 * Why that changes no verdict: docs/internals/automata.md, "Factors". */
#include "dpe-lang/automata/attributes.h"

#include <stdlib.h>
#include <string.h>

struct factoring {
	const struct dpe_rule *rule;
	struct dpe_factors *parts;
	bool finest;      /* divide even what is of moderate size */
	/* Only the outermost &; with automata or without. */
	bool operands, bare;
	bool too_many;    /* states of an indivisible factor, at … */
	struct dpe_place where;
};

/* ---- operands that share events -------------------------------------------------------- */

/* The operands of a &, and for each the first one that it is linked with by shared events. */
struct linked_operands {
	struct dpe_operands list;
	unsigned *first;
};

static void join(struct linked_operands *operands, unsigned a, unsigned b)
{
	unsigned low = a < b ? a : b, high = a < b ? b : a;

	for (unsigned i = 0; low != high && i < operands->list.count; i++) {
		if (operands->first[i] == high)
			operands->first[i] = low;
	}
}

/* Enters the owners of the literals; links the operand with the owner of a literal that has one. */
static void claim(struct linked_operands *operands, const struct dpe_rule *rule,
	const struct dpe_node *node, unsigned operand, unsigned *owner)
{
	unsigned literal;

	if (node->left)
		claim(operands, rule, node->left, operand, owner);
	if (node->right)
		claim(operands, rule, node->right, operand, owner);
	if (node->kind != DPE_NODE_EVENT)
		return;
	literal = dpe_node_literal(rule, node);
	if (owner[literal])
		join(operands, operands->first[operand], operands->first[owner[literal] - 1]);
	else
		owner[literal] = operand + 1;
}

/* For free_operands. */
static struct linked_operands operands_of(const struct dpe_rule *rule, const struct dpe_node *par)
{
	unsigned *owner = dpe_xcalloc(rule->nliterals + 1, sizeof(*owner));
	struct linked_operands operands = {0};

	dpe_collect_operands(&operands.list, par, DPE_NODE_PAR, true);
	operands.first = dpe_xcalloc(operands.list.count, sizeof(*operands.first));
	for (unsigned i = 0; i < operands.list.count; i++)
		operands.first[i] = i;
	for (unsigned i = 0; i < operands.list.count; i++)
		claim(&operands, rule, operands.list.at[i], i, owner);
	free(owner);
	return operands;
}

static void free_operands(struct linked_operands *operands)
{
	free(operands->list.at);
	free(operands->first);
}

/* ---- divisibility -------------------------------------------------------------------- */

/* An upper bound of the number of states, without registers. */
static double count_states(const struct dpe_node *node)
{
	switch (node->kind) {
	case DPE_NODE_EVENT:
		return 2;
	case DPE_NODE_SEQ:
	case DPE_NODE_ALT:
		return count_states(node->left) + count_states(node->right);
	case DPE_NODE_PAR:
		return count_states(node->left) * count_states(node->right);
	case DPE_NODE_ACTION:
		return 1;
	case DPE_NODE_STAR:
	case DPE_NODE_CLOSURE:
	case DPE_NODE_GROUP:
		break;
	}
	return count_states(node->left);
}

static bool is_moderate(const struct dpe_node *node)
{
	return count_states(node) <= DPE_MODERATE_STATES;
}

/* True if some & can be divided, other than inside of one that cannot. */
static bool divides(const struct dpe_rule *rule, const struct dpe_node *node)
{
	struct linked_operands operands;
	bool apart = false;

	if (!node || node->kind == DPE_NODE_EVENT)
		return false;
	if (node->kind != DPE_NODE_PAR)
		return divides(rule, node->left) || divides(rule, node->right);
	operands = operands_of(rule, node);
	for (unsigned i = 1; i < operands.list.count && !apart; i++)
		apart = operands.first[i] != operands.first[0];
	free_operands(&operands);
	return apart;
}

/* ---- building ----------------------------------------------------------------------- */

/* NULL if the language of the node is empty, or a factor has too many states. */
static struct dpe_factor *make(
	struct factoring *m, const struct dpe_node *node, bool last_wanted, unsigned height);

static struct dpe_factor *new_part(struct factoring *m, enum dpe_factor_kind kind, unsigned most_children)
{
	struct dpe_factor *part = dpe_arena_alloc(m->parts->arena, sizeof(*part));

	part->kind = kind;
	part->literals = dpe_arena_alloc(
		m->parts->arena, (m->rule->nliterals + 1) * sizeof(*part->literals));
	part->children = dpe_arena_alloc(m->parts->arena, (most_children + 1) * sizeof(struct dpe_factor *));
	return part;
}

static unsigned count_positions(
	const struct dpe_rule *rule, const struct dpe_node *node, const bool *literals)
{
	if (!node)
		return 0;
	if (node->kind == DPE_NODE_EVENT)
		return literals[dpe_node_literal(rule, node)];
	return count_positions(rule, node->left, literals) +
	       count_positions(rule, node->right, literals);
}

/* True if the literals of the factor occur only in this node of the rule. */
static bool is_own(
	const struct factoring *m, const struct dpe_factor *part, const struct dpe_node *node)
{
	return count_positions(m->rule, node, part->literals) ==
	       count_positions(m->rule, m->rule->tree, part->literals);
}

static struct dpe_factor *make_automaton(
	struct factoring *m, const struct dpe_node *node, bool last_wanted)
{
	struct dpe_automaton *automaton;
	struct dpe_factor *part;

	if (!is_moderate(node)) {
		m->too_many = true;
		m->where = node->place;
		return NULL;
	}
	automaton = dpe_automaton_of(m->rule, node, last_wanted);
	if (!automaton)
		return NULL;
	*DPE_GROW(m->parts->automata, m->parts->nautomata, m->parts->capautomata) = automaton;
	part = new_part(m, DPE_FACTOR_AUTOMATON, 0);
	part->automaton = automaton;
	part->node = node;
	part->nullable = dpe_nullable(node);
	dpe_mark_literals(m->rule, node, part->literals);
	part->has_own_literals = is_own(m, part, node);
	return part;
}

static void add_child(struct factoring *m, struct dpe_factor *part, const struct dpe_factor *child)
{
	part->children[part->nchildren++] = child;
	for (unsigned i = 0; i < m->rule->nliterals; i++)
		part->literals[i] |= child->literals[i];
}

static const struct dpe_node *pair_of(struct factoring *m, enum dpe_node_kind kind,
	const struct dpe_node *left, const struct dpe_node *right, struct dpe_place place)
{
	struct dpe_node *both;

	if (!left)
		return right;
	both = dpe_arena_alloc(m->parts->arena, sizeof(*both));
	*both = (struct dpe_node){.kind = kind, .left = left, .right = right, .place = place};
	return both;
}

/* The operands of ; or +. Adjacent operands that are not divided count as one. */
static struct dpe_operands list_of(struct factoring *m, const struct dpe_node *node)
{
	struct dpe_operands all = {0}, list = {0};
	bool whole = false; /* the last of the list is not divided */

	dpe_collect_operands(&all, node, node->kind, true);
	for (unsigned i = 0; i < all.count; i++) {
		bool divided = divides(m->rule, all.at[i]);

		if (whole && !divided)
			list.at[list.count - 1] = pair_of(
				m, node->kind, list.at[list.count - 1], all.at[i], node->place);
		else
			*DPE_GROW(list.at, list.count, list.cap) = all.at[i];
		whole = !divided;
	}
	free(all.at);
	return list;
}

/* From this child on all are nullable. */
static unsigned tail_of(const struct dpe_factor *part)
{
	unsigned tail = part->nchildren;

	while (tail && part->children[tail - 1]->nullable)
		tail--;
	return tail;
}

static struct dpe_factor *make_seq(
	struct factoring *m, const struct dpe_node *node, bool last_wanted, unsigned height)
{
	struct dpe_operands list = list_of(m, node);
	struct dpe_factor *part = new_part(m, DPE_FACTOR_SEQ, list.count);
	bool whole = true;

	for (unsigned i = 0; i < list.count && whole; i++) {
		bool follows = i + 1 < list.count;
		struct dpe_factor *child = make(m, list.at[i], last_wanted || follows, height + 1);

		whole = child != NULL;
		if (child)
			add_child(m, part, child);
	}
	free(list.at);
	part->tail = tail_of(part);
	part->nullable = !part->tail;
	return whole ? part : NULL;
}

/* Without alternatives whose language is empty. */
static struct dpe_factor *make_alt(
	struct factoring *m, const struct dpe_node *node, bool last_wanted, unsigned height)
{
	struct dpe_operands list = list_of(m, node);
	struct dpe_factor *part = new_part(m, DPE_FACTOR_ALT, list.count);

	for (unsigned i = 0; i < list.count; i++) {
		struct dpe_factor *child = make(m, list.at[i], last_wanted, height + 1);

		if (!child)
			continue;
		add_child(m, part, child);
		part->nullable |= child->nullable;
	}
	free(list.at);
	return part->nchildren ? part : NULL;
}

static struct dpe_factor *make_star(struct factoring *m, const struct dpe_node *node, unsigned height)
{
	struct dpe_factor *part = new_part(m, DPE_FACTOR_STAR, 1);
	struct dpe_factor *child = make(m, node->left, true, height + 1);

	if (child)
		add_child(m, part, child);
	part->nullable = true;
	return part;
}

/* Linked operands as one operand. */
static const struct dpe_node *join_operands(struct factoring *m, const struct linked_operands *operands,
	unsigned first, const struct dpe_node *par)
{
	const struct dpe_node *all = operands->list.at[first];

	for (unsigned i = first + 1; i < operands->list.count; i++) {
		if (operands->first[i] == first)
			all = pair_of(m, DPE_NODE_PAR, all, operands->list.at[i], par->place);
	}
	return all;
}

/* The last child before this one that is interchangeable with it; its own node is behind theirs. */
static uint32_t find_interchangeable(const struct factoring *m, const struct dpe_factor *part,
	const struct dpe_factor *child, const struct dpe_node *const *nodes)
{
	for (uint32_t i = part->nchildren; child->has_own_literals && i-- > 0;) {
		if (part->children[i]->has_own_literals &&
			dpe_operands_interchangeable(m->rule, nodes[i], nodes[part->nchildren]))
			return i;
	}
	return DPE_NO_CHILD;
}

static struct dpe_factor *make_par(
	struct factoring *m, const struct dpe_node *node, bool last_wanted, unsigned height)
{
	struct linked_operands operands = operands_of(m->rule, node);
	struct dpe_factor *part = new_part(m, DPE_FACTOR_PAR, operands.list.count);
	uint32_t *child_of =
		dpe_arena_alloc(m->parts->arena, (m->rule->nliterals + 1) * sizeof(*child_of));
	uint32_t *interchangeable_with =
		dpe_arena_alloc(m->parts->arena, operands.list.count * sizeof(*interchangeable_with));
	const struct dpe_node *nodes[operands.list.count];
	bool whole = true;

	for (unsigned i = 0; i < operands.list.count && whole; i++) {
		struct dpe_factor *child;

		if (operands.first[i] != i)
			continue;
		nodes[part->nchildren] = join_operands(m, &operands, i, node);
		child = make(m, nodes[part->nchildren], last_wanted, height + 1);
		whole = child != NULL;
		if (!child)
			continue;
		child->has_own_literals = is_own(m, child, nodes[part->nchildren]);
		interchangeable_with[part->nchildren] = find_interchangeable(m, part, child, nodes);
		add_child(m, part, child);
	}
	free_operands(&operands);
	for (unsigned literal = 0; literal < m->rule->nliterals; literal++) {
		child_of[literal] = DPE_NO_CHILD;
		for (unsigned i = 0; i < part->nchildren; i++) {
			if (part->children[i]->literals[literal])
				child_of[literal] = i;
		}
	}
	part->child_of = child_of;
	part->interchangeable_with = interchangeable_with;
	part->nullable = dpe_nullable(node);
	return whole ? part : NULL;
}

static struct dpe_factor *make_operand(struct factoring *m, const struct dpe_node *node)
{
	struct dpe_factor *part = new_part(m, DPE_FACTOR_AUTOMATON, 0);

	part->node = node;
	part->nullable = dpe_nullable(node);
	dpe_mark_literals(m->rule, node, part->literals);
	return part;
}

static struct dpe_factor *make(
	struct factoring *m, const struct dpe_node *node, bool last_wanted, unsigned height)
{
	if (height > m->parts->height)
		m->parts->height = height;
	if (m->operands && m->bare)
		return make_operand(m, node);
	if (m->operands)
		return make_automaton(m, node, last_wanted);
	if ((!m->finest && is_moderate(node)) || !divides(m->rule, node))
		return make_automaton(m, node, last_wanted);
	switch (node->kind) {
	case DPE_NODE_PAR:
		return make_par(m, node, last_wanted, height);
	case DPE_NODE_SEQ:
		return make_seq(m, node, last_wanted, height);
	case DPE_NODE_ALT:
		return make_alt(m, node, last_wanted, height);
	default:
		return make_star(m, node, height);
	}
}

static struct dpe_factors *make_parts(struct factoring *m)
{
	m->parts = dpe_xcalloc(1, sizeof(*m->parts));
	m->parts->arena = dpe_arena_new();
	m->parts->root = make(m, dpe_normal_form(m->parts->arena, m->rule, m->rule->tree), false, 1);
	if (m->parts->root && !m->too_many)
		return m->parts;
	dpe_factors_free(m->parts);
	return NULL;
}

struct dpe_factors *dpe_factors_new(const struct dpe_rule *rule, struct dpe_diags *diags)
{
	struct factoring f = {.rule = rule, .finest = true};
	struct dpe_factors *parts;

	if (dpe_automaton_refused(rule, diags))
		return NULL;
	parts = make_parts(&f);
	if (f.too_many)
		dpe_diag(diags, DPE_ERROR, f.where,
			"rule '%s' cannot be divided into automata of moderate size: operands that "
			"share events may have more than %d states here",
			rule->name, DPE_MODERATE_STATES);
	else if (!parts)
		dpe_automaton_report_empty(rule, diags);
	return parts;
}

struct dpe_factors *dpe_factors_if_wide(const struct dpe_rule *rule)
{
	struct factoring f = {.rule = rule};

	if (!dpe_rule_is_safe(rule) || rule->npositions >= DPE_NEW_EVENT ||
		is_moderate(rule->tree) || !divides(rule, rule->tree))
		return NULL;
	return make_parts(&f);
}

/* An action or a control variable inside, which has effects beyond its operand. */
static bool has_side_effects(const struct dpe_node *node)
{
	return node && (node->action || node->control || node->kind == DPE_NODE_ACTION ||
			       has_side_effects(node->left) || has_side_effects(node->right));
}

struct dpe_factors *dpe_factors_of_operands(const struct dpe_rule *rule, bool automata)
{
	struct factoring f = {.rule = rule, .operands = true, .bare = !automata};
	const struct dpe_node *root = rule->tree;

	if (root->kind != DPE_NODE_PAR || has_side_effects(root) || !divides(rule, root) ||
		(automata && rule->npositions >= DPE_NEW_EVENT))
		return NULL;
	f.parts = dpe_xcalloc(1, sizeof(*f.parts));
	f.parts->arena = dpe_arena_new();
	if (automata)
		root = dpe_normal_form(f.parts->arena, rule, root);
	f.parts->root = root->kind == DPE_NODE_PAR ? make_par(&f, root, false, 1) : NULL;
	if (f.parts->root && !f.too_many)
		return f.parts;
	dpe_factors_free(f.parts);
	return NULL;
}

bool dpe_rule_is_small(const struct dpe_rule *rule)
{
	return count_states(rule->tree) <= DPE_SMALL_STATES;
}

bool dpe_rule_is_moderate(const struct dpe_rule *rule)
{
	return is_moderate(rule->tree);
}

/* Operands of some & share an event. */
static bool synchronises(const struct dpe_rule *rule, const struct dpe_node *node)
{
	bool left[rule->nliterals + 1], right[rule->nliterals + 1], shared = false;

	if (!node)
		return false;
	memset(left, 0, sizeof(left));
	memset(right, 0, sizeof(right));
	if (node->kind == DPE_NODE_PAR) {
		dpe_mark_literals(rule, node->left, left);
		dpe_mark_literals(rule, node->right, right);
	}
	for (unsigned i = 0; i < rule->nliterals; i++)
		shared |= left[i] && right[i];
	return shared || synchronises(rule, node->left) || synchronises(rule, node->right);
}

bool dpe_rule_suits_automaton(const struct dpe_rule *rule)
{
	return dpe_rule_is_safe(rule) &&
	       (is_moderate(rule->tree) || synchronises(rule, rule->tree));
}

void dpe_factors_free(struct dpe_factors *parts)
{
	if (!parts)
		return;
	for (unsigned i = 0; i < parts->nautomata; i++)
		dpe_automaton_free(parts->automata[i]);
	free(parts->automata);
	dpe_arena_free(parts->arena);
	free(parts);
}

static void fold(const struct dpe_factor *part)
{
	if (part->automaton && part->has_own_literals)
		dpe_automaton_reduce_symmetry(part->automaton);
	for (unsigned i = 0; i < part->nchildren; i++)
		fold(part->children[i]);
}

void dpe_factors_reduce_symmetry(const struct dpe_factors *parts)
{
	fold(parts->root);
}

bool dpe_factors_given_up(const struct dpe_factors *parts)
{
	for (unsigned i = 0; i < parts->nautomata; i++) {
		if (dpe_automaton_given_up(parts->automata[i]))
			return true;
	}
	return false;
}

uint64_t dpe_factors_built(const struct dpe_factors *parts)
{
	uint64_t built = 0;

	for (unsigned i = 0; i < parts->nautomata; i++)
		built += dpe_automaton_built(parts->automata[i]);
	return built;
}
