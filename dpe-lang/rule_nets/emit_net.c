/* Nets as text, as a Graphviz drawing, and as PNML (ISO/IEC 15909-2, P/T nets). */
#include "dpe-lang/rule_nets/rule_nets.h"

#include <string.h>

#define PTNET "http://www.pnml.org/version-2009/grammar/ptnet"

static const char *label_of(const struct dpe_rule *rule, const struct dpe_transition *transition)
{
	return transition->literal == DPE_SILENT ? "(silent)"
						 : rule->literals[transition->literal].text;
}

static void add_places(
	struct dpe_text *to, const char *before, const unsigned *places, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		dpe_text_printf(to, "%s p%u", i ? "" : before, places[i]);
}

static void emit_text(const struct dpe_net *net, const struct dpe_rule *rule, struct dpe_text *to)
{
	dpe_text_printf(to, "%s: ", rule->name);
	dpe_rule_print(to, rule);
	dpe_text_printf(to, "\nplaces %u, transitions %u, %s, start p%u, end p%u\n", net->nplaces,
		net->ntransitions,
		net->extended	 ? "extended"
		: net->unbounded ? "unbounded"
				 : "1-safe",
		net->start, net->end);
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct dpe_transition *transition = &net->transitions[i];

		dpe_text_printf(to, "t%u %s:", i, label_of(rule, transition));
		add_places(to, "", transition->inputs, transition->ninputs);
		add_places(to, " -->", transition->outputs, transition->noutputs);
		add_places(to, " unless", transition->inhibitors, transition->ninhibitors);
		dpe_text_puts(to, "\n");
	}
}

/* ---- a drawing, in Graphviz's language --------------------------------------------------------- */

static void draw_arcs(struct dpe_text *to, unsigned transition, const unsigned *places,
	unsigned count, const char *how, bool out)
{
	for (unsigned i = 0; i < count; i++) {
		if (out)
			dpe_text_printf(to, "\tt%u -> p%u%s;\n", transition, places[i], how);
		else
			dpe_text_printf(to, "\tp%u -> t%u%s;\n", places[i], transition, how);
	}
}

static void emit_dot(const struct dpe_net *net, const struct dpe_rule *rule, struct dpe_text *to)
{
	dpe_text_printf(to, "digraph \"%s\" {\n\trankdir=LR;\n\tnode [shape=circle, label=\"\"];\n",
		rule->name);
	dpe_text_printf(to, "\tp%u [label=\"●\"];\n\tp%u [shape=doublecircle];\n", net->start,
		net->end);
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct dpe_transition *t = &net->transitions[i];
		const char *label = t->literal == DPE_SILENT ? "" : label_of(rule, t);

		dpe_text_printf(to, "\tt%u [shape=box, label=\"", i);
		for (; *label; label++)
			dpe_text_printf(to, *label == '"' || *label == '\\' ? "\\%c" : "%c", *label);
		dpe_text_printf(to, "\"%s];\n",
			t->literal == DPE_SILENT ? ", width=0.1, style=filled" : "");
		draw_arcs(to, i, t->inputs, t->ninputs, "", false);
		draw_arcs(to, i, t->outputs, t->noutputs, "", true);
		draw_arcs(to, i, t->inhibitors, t->ninhibitors, " [arrowhead=odot]", false);
	}
	dpe_text_puts(to, "}\n");
}

/* ---- PNML -------------------------------------------------------------------------------- */

/* Escapes text for XML; characters that XML does not allow become U+FFFD. */
static void add_escaped(struct dpe_text *to, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '<')
			dpe_text_puts(to, "&lt;");
		else if (c == '>')
			dpe_text_puts(to, "&gt;");
		else if (c == '&')
			dpe_text_puts(to, "&amp;");
		else if (c < 0x20 && c != '\t' && c != '\n')
			dpe_text_puts(to, "\xef\xbf\xbd");
		else
			dpe_text_add(to, text, 1);
	}
}

static void add_name(struct dpe_text *to, const char *name)
{
	dpe_text_puts(to, "<name><text>");
	add_escaped(to, name);
	dpe_text_puts(to, "</text></name>");
}

/* Ids are unique in a document: `number` is that of the net. */
static void add_arcs(struct dpe_text *to, unsigned number, unsigned transition,
	const unsigned *places, unsigned count, bool out)
{
	for (unsigned i = 0; i < count; i++) {
		dpe_text_printf(to, "      <arc id=\"n%u%c%u-%u\" ", number, out ? 'o' : 'i',
			transition, i);
		if (out)
			dpe_text_printf(to, "source=\"n%ut%u\" target=\"n%up%u\"/>\n", number,
				transition, number, places[i]);
		else
			dpe_text_printf(to, "source=\"n%up%u\" target=\"n%ut%u\"/>\n", number,
				places[i], number, transition);
	}
}

static void emit_pnml(const struct dpe_net *net, const struct dpe_rule *rule, unsigned number,
	struct dpe_text *to)
{
	dpe_text_printf(to, "  <net id=\"n%u\" type=\"" PTNET "\">\n    ", number);
	add_name(to, rule->name);
	dpe_text_printf(to, "\n    <page id=\"n%upage\">\n", number);
	for (unsigned i = 0; i < net->nplaces; i++) {
		dpe_text_printf(to, "      <place id=\"n%up%u\">", number, i);
		if (i == net->end)
			add_name(to, "end");
		if (i == net->start)
			dpe_text_puts(to, "<name><text>start</text></name>"
					  "<initialMarking><text>1</text></initialMarking>");
		dpe_text_puts(to, "</place>\n");
	}
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct dpe_transition *transition = &net->transitions[i];

		dpe_text_printf(to, "      <transition id=\"n%ut%u\">", number, i);
		add_name(to, transition->literal == DPE_SILENT ? "" : label_of(rule, transition));
		dpe_text_puts(to, "</transition>\n");
		add_arcs(to, number, i, transition->inputs, transition->ninputs, false);
		add_arcs(to, number, i, transition->outputs, transition->noutputs, true);
	}
	dpe_text_puts(to, "    </page>\n  </net>\n");
}

bool dpe_net_emit(const struct dpe_net *net, const struct dpe_rule *rule, enum dpe_emit emit,
	unsigned number, struct dpe_text *to, struct dpe_diags *diags)
{
	if (emit == DPE_EMIT_NET) {
		emit_text(net, rule, to);
		return true;
	}
	if (emit == DPE_EMIT_NET_DOT) {
		emit_dot(net, rule, to);
		return true;
	}
	if (net->extended) {
		dpe_diag(diags, DPE_ERROR, rule->place,
			"rule '%s' has no P/T net: an event after an '@' needs inhibitor arcs, "
			"which PNML's P/T nets do not have",
			rule->name);
		return false;
	}
	emit_pnml(net, rule, number, to);
	return true;
}
