/* dpe compile: automata as text, JSON or a drawing; nets as text or PNML. */
#include "cli/cli.h"

#include <string.h>

static enum dpe_emit emit_of(const char *name)
{
	if (!name || !strcmp(name, "pa"))
		return DPE_EMIT_PA;
	return *name == 'j' ? DPE_EMIT_JSON : DPE_EMIT_DOT;
}

static bool emit_net(struct cli *cli, const struct dpe_rule *rule)
{
	enum dpe_net_emit emit = !strcmp(cli->emit, "net") ? DPE_EMIT_NET : DPE_EMIT_PNML;
	struct dpe_net *net = dpe_net_new(rule);
	struct dpe_text text = {0};
	bool good = dpe_net_emit(net, rule, emit, &text, cli->diags);

	if (good)
		fputs(text.at, stdout);
	dpe_text_free(&text);
	dpe_net_free(net);
	return good;
}

static bool emit_automaton(struct cli *cli, const struct dpe_rule *rule)
{
	struct dpe_automaton *automaton = dpe_automaton_new(rule, cli->diags);
	struct dpe_text text = {0};
	bool good;

	if (!automaton)
		return false;
	good = dpe_automaton_emit(
		automaton, rule, emit_of(cli->emit), cli->max_states, &text, cli->diags);
	if (good)
		fputs(text.at, stdout);
	dpe_text_free(&text);
	dpe_automaton_free(automaton);
	return good;
}

static bool emit_rule(struct cli *cli, const struct dpe_rule *rule)
{
	if (cli->emit && (!strcmp(cli->emit, "net") || !strcmp(cli->emit, "pnml")))
		return emit_net(cli, rule);
	return emit_automaton(cli, rule);
}

static bool emit_rules(struct cli *cli, const struct dpe_spec *spec)
{
	const char *names[spec->nrules + 1];
	struct dpe_text hint = {0};
	bool good = true, found = false;

	for (unsigned i = 0; i < spec->nrules; i++) {
		const struct dpe_rule *rule = &spec->rules[i];

		names[i] = rule->name;
		if (cli->rule && strcmp(cli->rule, rule->name))
			continue;
		found = true;
		if (rule->mode != DPE_SYNC)
			good &= emit_rule(cli, rule);
		else if (cli->rule)
			good = false;
		if (cli->rule && rule->mode == DPE_SYNC)
			cli_usage_error(cli,
				"rule '%s' is a synchronisation, which has neither automaton nor "
				"net",
				rule->name);
	}
	if (cli->rule && !found)
		cli_usage_error(cli, "no rule '%s'%s", cli->rule,
			cli_did_you_mean(&hint, cli->rule, names, spec->nrules));
	dpe_text_free(&hint);
	return good && (found || !cli->rule);
}

int cli_compile_command(struct cli *cli)
{
	struct dpe_spec *spec;
	bool good;

	spec = cli_compile_words(cli);
	if (!spec)
		return CLI_ERROR;
	good = dpe_spec_runnable(spec, false, cli->diags) && emit_rules(cli, spec);
	dpe_diags_print(cli->diags, stderr);
	dpe_spec_free(spec);
	return good ? CLI_GOOD : CLI_ERROR;
}
