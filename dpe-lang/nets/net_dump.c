/* Prints a net between two passes, as comments of the language. */
#include "dpe-lang/nets/expr.h"

static void dump_places(FILE *to, const struct net *net, const unsigned *places, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fprintf(to, " %s.%u", net->places[places[i]], places[i]);
}

static void dump_markings(
	FILE *to, const char *what, const struct net *net, const struct markings *markings)
{
	for (unsigned i = 0; i < markings->count; i++) {
		fprintf(to, "//   %s", what);
		for (unsigned p = 0; p < net->nplaces; p++) {
			for (unsigned j = 0; j < markings->at[i][p]; j++)
				dump_places(to, net, &p, 1);
		}
		fputs("\n", to);
	}
}

static void dump_transition(
	struct translation *tr, const struct net *net, const struct transition *t)
{
	bool silent = t->expr ? t->expr->kind == EXPR_EMPTY : !t->label;
	struct dpe_text text = {0};

	if (t->expr && !silent)
		dpe_nets_print(tr, &text, t->expr);
	fprintf(tr->dump, "//   %s %s:", t->id,
		silent     ? "(silent)"
		: text.len ? text.at
			   : t->label);
	dump_places(tr->dump, net, t->in, t->nin);
	fputs(" -->", tr->dump);
	dump_places(tr->dump, net, t->out, t->nout);
	fputs("\n", tr->dump);
	dpe_text_free(&text);
}

void dpe_nets_dump(struct translation *tr, const char *pass, const struct net *net)
{
	struct dpe_diags *diags;

	if (!tr->dump)
		return;
	diags = dpe_nets_divert_diags(tr); /* an expression that cannot be printed is reported later */
	fprintf(tr->dump, "// %s: %u places, %u transitions\n", pass, net->nplaces,
		net->ntransitions);
	for (unsigned i = 0; i < net->ntransitions; i++)
		dump_transition(tr, net, &net->transitions[i]);
	dump_markings(tr->dump, "initial", net, &net->initial);
	dump_markings(tr->dump, "final", net, &net->final);
	dpe_nets_restore_diags(tr, diags);
}
