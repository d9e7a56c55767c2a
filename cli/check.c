/* dpe check: parses, classifies, and tells what each rule is about. */
#include "cli/explain.h"

#include <stdlib.h>

static void print_variables(struct dpe_text *to, const struct cli *cli, const struct dpe_rule *rule)
{
	if (!rule->nvariables) {
		dpe_text_puts(to, "  slices    one\n");
		return;
	}
	dpe_text_puts(to, "  slices    one for each");
	for (unsigned i = 0; i < rule->nvariables; i++)
		dpe_text_printf(
			to, "%s %s", i ? "," : "", dpe_name_text(cli->names, rule->variables[i]));
	dpe_text_puts(to, "\n");
}

static void print_alphabet(struct dpe_text *to, const struct dpe_rule *rule)
{
	dpe_text_puts(to, "  alphabet ");
	for (unsigned i = 0; i < rule->nliterals; i++)
		dpe_text_printf(to, "%s %s", i ? "," : "", rule->literals[i].text);
	for (unsigned i = 0; i < rule->nobserving; i++)
		dpe_text_printf(to, "%s %s", i ? "," : "\n  observing",
			rule->patterns[rule->observing[i]].text);
	dpe_text_puts(to, "\n");
}

static void print_rule(struct dpe_text *to, const struct cli *cli, const struct dpe_rule *rule)
{
	dpe_text_printf(to, "%s %s: ", dpe_mode_name(rule->mode), rule->name);
	dpe_rule_print(to, rule);
	dpe_text_puts(to, "\n");
	if (rule->mode == DPE_SYNC)
		dpe_text_printf(to, "  pairing   %s\n", dpe_pairing_name(rule->pairing));
	else
		dpe_text_printf(to, "  class     %s: %s\n", dpe_class_name(rule->class),
			rule->class_reason);
	print_alphabet(to, rule);
	print_variables(to, cli, rule);
}

/* What only the automaton knows: whether the rule accepts anything. */
static bool check_automata(struct cli *cli, const struct dpe_spec *spec)
{
	bool good = true;

	for (unsigned i = 0; i < spec->nrules; i++) {
		struct dpe_automaton *automaton;

		if (spec->rules[i].mode == DPE_SYNC || !dpe_rule_is_safe(&spec->rules[i]))
			continue;
		automaton = dpe_automaton_new(&spec->rules[i], cli->diags);
		good &= automaton != NULL;
		dpe_automaton_free(automaton);
	}
	return good;
}

int cli_check(struct cli *cli)
{
	struct dpe_text text = {0};
	struct dpe_spec *spec;
	bool good;

	spec = cli_compile_words(cli);
	if (!spec)
		return CLI_ERROR;
	for (unsigned i = 0; i < spec->nrules && !cli->dump; i++) {
		if (cli->explain && cli->json) {
			cli_explain_json(cli, &spec->rules[i]);
			continue;
		}
		print_rule(&text, cli, &spec->rules[i]);
		if (cli->explain)
			cli_explain(cli, &spec->rules[i], &text);
	}
	if (text.at)
		fputs(text.at, stdout);
	dpe_text_free(&text);
	good = dpe_spec_runnable(spec, false, cli->diags) &&
	       (cli->explain ? !dpe_diags_errors(cli->diags) : check_automata(cli, spec));
	dpe_diags_print(cli->diags, stderr);
	dpe_spec_free(spec);
	return good ? CLI_GOOD : CLI_ERROR;
}
