/* Expressions that are correct and rarely intended, or cannot be compiled. */
#include "dpe-lang/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

/* "s^(x).exit": one caret more. */
static char *with_caret(const char *text)
{
	size_t len = strcspn(text, "^([. {");

	return dpe_xasprintf("%.*s^%s", (int)len, text, text + len);
}

/* `a & a` is one event a; two different ones need a caret. */
static void warn_of_shared(const struct dpe_resolver *r, const struct dpe_node *node)
{
	const struct dpe_rule *rule = r->rule;
	const struct dpe_node *left, *right;
	const struct dpe_literal *literal;
	char *other;

	if (!node)
		return;
	left = node->left;
	right = node->right;
	warn_of_shared(r, left);
	warn_of_shared(r, right);
	if (node->kind != DPE_NODE_PAR || left->kind != DPE_NODE_EVENT ||
		right->kind != DPE_NODE_EVENT || dpe_node_literal(rule, left) != dpe_node_literal(rule, right))
		return;
	literal = &rule->literals[dpe_node_literal(rule, left)];
	if (rule->patterns[literal->pattern].kind != DPE_PATTERN_CONTROL)
		return;
	/* The same definition on both sides: its name is lost in expansion. */
	other = left->place.begin == right->place.begin ? dpe_xstrdup("a caret behind one name")
							: with_caret(literal->text);
	dpe_diag(r->spec->diags, DPE_WARNING, node->place,
		"both sides of & are the same event, which they share; for two different ones "
		"write %s",
		other);
	free(other);
}

static unsigned count_control(const struct dpe_node *node, const char *name)
{
	if (!node)
		return 0;
	return (node->control && !strcmp(node->control, name)) + count_control(node->left, name) +
	       count_control(node->right, name);
}

/* A control variable of one repetition has no effect. Of several, it counts rounds that the normal form leaves out if they are
 * empty. */
static void check_controls(
	const struct dpe_resolver *r, const struct dpe_node *node, const struct dpe_node *tree)
{
	if (!node)
		return;
	check_controls(r, node->left, tree);
	check_controls(r, node->right, tree);
	if (!node->control)
		return;
	if (count_control(tree, node->control) == 1)
		dpe_diag(r->spec->diags, DPE_WARNING, node->place,
			"the control variable '%s' belongs to one repetition only, so it compares nothing",
			node->control);
	else if (dpe_nullable(node->left))
		dpe_diag(r->spec->diags, DPE_ERROR, node->place,
			"not supported: control variable '%s' counts rounds that may have no event", node->control);
}

/* Variables that events bind together with those of `mask`, directly or through others. */
static uint64_t connected(const struct dpe_rule *rule, uint64_t mask)
{
	for (uint64_t before = 0; before != mask;) {
		before = mask;
		for (unsigned i = 0; i < rule->npatterns; i++) {
			uint64_t bound = dpe_pattern_mask(&rule->patterns[i]);

			mask |= bound & mask ? bound : 0;
		}
	}
	return mask;
}

/* Values that no event binds together are all combined with each other. */
void dpe_lint_product(const struct dpe_resolver *r)
{
	const struct dpe_rule *rule = r->rule;
	uint64_t all = 0, one;

	for (unsigned i = 0; i < rule->npatterns; i++)
		all |= dpe_pattern_mask(&rule->patterns[i]);
	one = connected(rule, all & -all);
	if (rule->mode == DPE_SYNC || one == all || dpe_diags_errors(r->spec->diags))
		return;
	dpe_diag(r->spec->diags, DPE_WARNING, rule->tree->place,
		"no event binds both '%s' and '%s': there is a slice for each value of the one with "
		"each value of the other, and an event costs as much as it has slices",
		dpe_name_text(r->names, rule->variables[__builtin_ctzll(one)]),
		dpe_name_text(r->names, rule->variables[__builtin_ctzll(all & ~one)]));
}

static bool is_one_event(const struct dpe_node *node)
{
	if (node->kind == DPE_NODE_ALT)
		return is_one_event(node->left) && is_one_event(node->right);
	return node->kind == DPE_NODE_EVENT;
}

/* The author usually means: not followed by. */
static void warn_of_lone_event(const struct dpe_resolver *r)
{
	const struct dpe_rule *rule = r->rule;
	unsigned within = 0;

	for (unsigned i = 0; i < rule->nobserving; i++)
		within += !rule->ends[i];
	if (rule->mode != DPE_DETECT || !within || !is_one_event(rule->tree))
		return;
	dpe_diag(r->spec->diags, DPE_WARNING, rule->tree->place,
		"a match of this rule is a single event, so 'without' has no effect; for an event that must be followed by "
		"another write expect a ; b, for one that must not be followed detect a ; b");
}

void dpe_lint(struct dpe_resolver *r)
{
	warn_of_lone_event(r);
	warn_of_shared(r, r->rule->tree);
	check_controls(r, r->rule->tree, r->rule->tree);
}
