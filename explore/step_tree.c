/* step_tree: the execution tree (R. Lovas, thesis, BME 2005, 2.2.2) as far as it was visited. */
#include "explore/macrosteps.h"

#include <stdlib.h>
#include <string.h>

struct dpe_macrostep *dpe_macrostep_child(struct dpe_macrostep_tree *tree, struct dpe_macrostep *parent, unsigned thread)
{
	struct dpe_macrostep *child = parent ? parent->first : NULL;

	while (child && child->chosen != thread)
		child = child->next;
	if (child || tree->count == DPE_EXPLORE_TREE)
		return child;
	child = *DPE_GROW(tree->all, tree->count, tree->cap) = dpe_xcalloc(1, sizeof(*child));
	child->number = tree->count;
	child->chosen = (uint16_t)thread;
	if (!parent)
		return child;
	child->parent = parent;
	child->depth = parent->depth + 1;
	*(parent->last ? &parent->last->next : &parent->first) = child;
	return parent->last = child;
}

struct dpe_macrostep *dpe_macrostep_named(const struct dpe_macrostep_tree *tree, const char *name)
{
	unsigned number;
	int end = 0;

	if (sscanf(name, "#%u%n", &number, &end) == 1 && !name[end])
		return number && number <= tree->count ? tree->all[number - 1] : NULL;
	for (unsigned i = 0; i < tree->count; i++)
		if (tree->all[i]->name && !strcmp(tree->all[i]->name, name))
			return tree->all[i];
	return NULL;
}

void dpe_macrostep_name(const struct dpe_macrostep_tree *tree, struct dpe_macrostep *step, const char *name)
{
	struct dpe_macrostep *before = dpe_macrostep_named(tree, name);

	if (before) {
		free(before->name);
		before->name = NULL;
	}
	free(step->name);
	step->name = dpe_xstrdup(name);
}

void dpe_macrostep_tree_free(struct dpe_macrostep_tree *tree)
{
	for (unsigned i = 0; i < tree->count; i++) {
		free(tree->all[i]->end);
		free(tree->all[i]->name);
		free(tree->all[i]);
	}
	free(tree->all);
}

static unsigned count_children(const struct dpe_macrostep *step)
{
	unsigned count = 0;

	for (const struct dpe_macrostep *child = step->first; child; child = child->next)
		count++;
	return count;
}

/* ---- text -------------------------------------------------------------------------------- */

static void print_step(const struct dpe_macrostep *step, const struct dpe_symbols *symbols,
	const struct dpe_macrostep *here, struct dpe_text *to)
{
	unsigned visited = count_children(step);

	dpe_text_printf(to, "#%u ", step->number);
	if (step->parent) {
		dpe_text_printf(to, "thread %u: ", step->chosen + 1u);
		dpe_operation_print(symbols, &step->op, to);
	} else {
		dpe_text_puts(to, "the first choice");
	}
	if (step->end)
		dpe_text_printf(to, ": %s", step->end);
	else if (step->count > visited)
		dpe_text_printf(to, "  (%u of %u not visited)", step->count - visited, step->count);
	if (step->name)
		dpe_text_printf(to, "  [%s]", step->name);
	if (step == here)
		dpe_text_puts(to, "  <- here");
	dpe_text_puts(to, "\n");
}

/* The next node in the order of the text; *indent is its own. */
static const struct dpe_macrostep *next_in_text(const struct dpe_macrostep *step, unsigned *indent)
{
	if (step->first) {
		*indent += step->first->next != NULL;
		return step->first;
	}
	while (step && !step->next) {
		step = step->parent;
		*indent -= step && step->first->next;
	}
	return step ? step->next : NULL;
}

void dpe_macrostep_tree_print(const struct dpe_macrostep_tree *tree, const struct dpe_symbols *symbols,
	const struct dpe_macrostep *here, struct dpe_text *to)
{
	unsigned indent = 0;

	for (const struct dpe_macrostep *step = tree->all[0]; step; step = next_in_text(step, &indent)) {
		dpe_text_printf(to, "%*s", (int)(2 * indent), "");
		print_step(step, symbols, here, to);
	}
}

/* ---- Graphviz ---------------------------------------------------------------------------- */

static void add_quoted(struct dpe_text *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			dpe_text_puts(to, "\\");
		dpe_text_add(to, text, 1);
	}
}

static void draw_node(
	const struct dpe_macrostep *step, const struct dpe_macrostep *here, struct dpe_text *to)
{
	dpe_text_printf(to, "\tn%u [label=\"%u", step->number, step->number);
	if (step->name) {
		dpe_text_puts(to, "\\n");
		add_quoted(to, step->name);
	}
	if (step->end) {
		dpe_text_puts(to, "\\n");
		add_quoted(to, step->end);
	}
	dpe_text_printf(to, "\"%s%s%s];\n", step->end ? ", shape=box" : "",
		step->found ? ", color=red" : "", step == here ? ", style=bold" : "");
}

static void draw_edge(
	const struct dpe_macrostep *step, const struct dpe_symbols *symbols, struct dpe_text *to)
{
	struct dpe_text operation = {0};

	dpe_operation_print(symbols, &step->op, &operation);
	dpe_text_printf(to, "\tn%u -> n%u [label=\"%u: ", step->parent->number, step->number,
		step->chosen + 1u);
	add_quoted(to, operation.at);
	dpe_text_puts(to, "\"];\n");
	dpe_text_free(&operation);
}

static void draw_rest(const struct dpe_macrostep *step, struct dpe_text *to)
{
	unsigned visited = count_children(step);

	if (!step->end && step->count > visited)
		dpe_text_printf(to, "\tr%u [label=\"%u not visited\", shape=plaintext];\n\tn%u -> r%u [style=dashed];\n",
			step->number, step->count - visited, step->number, step->number);
}

void dpe_macrostep_tree_draw(const struct dpe_macrostep_tree *tree, const struct dpe_symbols *symbols,
	const struct dpe_macrostep *here, struct dpe_text *to)
{
	dpe_text_puts(to, "digraph execution {\n");
	for (unsigned i = 0; i < tree->count; i++) {
		draw_node(tree->all[i], here, to);
		if (tree->all[i]->parent)
			draw_edge(tree->all[i], symbols, to);
		draw_rest(tree->all[i], to);
	}
	dpe_text_puts(to, "}\n");
}
