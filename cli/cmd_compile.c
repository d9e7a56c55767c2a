/* dpe compile: automata as text, JSON or Graphviz; nets as text or PNML; and rules from nets. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

/* The rules that --rule asks for, or all that have another form. */
static unsigned choose_rules(const struct cli *cli, const struct dpe_spec *spec,
	const struct dpe_rule **rules)
{
	unsigned count = 0;

	for (unsigned i = 0; i < dpe_spec_nrules(spec); i++) {
		const struct dpe_rule *rule = dpe_spec_rule(spec, i);

		if (cli->rule ? !strcmp(cli->rule, dpe_rule_name(rule))
			      : dpe_rule_mode(rule) != DPE_SYNC)
			rules[count++] = rule;
	}
	return count;
}

static void report_no_rule(struct cli *cli, const struct dpe_spec *spec)
{
	unsigned nrules = dpe_spec_nrules(spec);
	const char *names[nrules + 1];
	struct dpe_text hint = {0};

	for (unsigned i = 0; i < nrules; i++)
		names[i] = dpe_rule_name(dpe_spec_rule(spec, i));
	cli_usage_error(cli, "no rule '%s'%s", cli->rule,
		cli_did_you_mean(&hint, cli->rule, names, nrules));
	dpe_text_free(&hint);
}

static bool emit_rules(struct cli *cli, const struct dpe_spec *spec)
{
	const struct dpe_rule *rules[dpe_spec_nrules(spec) + 1];
	unsigned count = choose_rules(cli, spec, rules);
	struct dpe_text text = {0};
	bool good;

	if (cli->rule && !count) {
		report_no_rule(cli, spec);
		return false;
	}
	good = dpe_rules_emit(
		rules, count, cli->emit < 0 ? DPE_EMIT_PA : (enum dpe_emit)cli->emit, cli->max_states, &text, cli->diags);
	if (text.len)
		fputs(text.at, stdout);
	dpe_text_free(&text);
	return good;
}

/* ---- nets → rules -------------------------------------------------------------------------- */

static bool is_pnml(const char *path)
{
	size_t len = strlen(path);

	return len > 5 && !strcmp(path + len - 5, ".pnml");
}

static unsigned count_nets(const struct cli *cli)
{
	unsigned count = 0;

	for (unsigned i = 0; i < cli->words.count; i++)
		count += is_pnml(cli->words.at[i]);
	return count;
}

static bool read_net(struct cli *cli, struct dpe_text *to, const char *path)
{
	struct dpe_arena *arena = dpe_arena_new();
	struct dpe_source *source = dpe_source_read(arena, path);
	const struct dpe_nets_options options = {.name_silent = cli->name_silent,
		.dump_to = cli->dump == CLI_DUMP_NETS ? stdout : NULL};
	const char *text;
	size_t len;
	bool good = source;

	if (source) {
		text = dpe_source_text(source, &len);
		good = dpe_nets_to_dpe(to, path, text, len, &options, cli->diags);
	} else {
		dpe_diag_at(
			cli->diags, DPE_ERROR, path, "cannot read this file: %s", strerror(errno));
	}
	dpe_arena_free(arena);
	return good;
}

/* Prints the rules of nets or, with --emit, compiles them like a specification. */
static bool compile_nets(struct cli *cli)
{
	struct dpe_text rules = {0};
	struct dpe_spec *spec = NULL;
	bool good = true;

	for (unsigned i = 0; i < cli->words.count; i++)
		good &= read_net(cli, &rules, cli->words.at[i]);
	if (good && cli->emit < 0)
		fputs(rules.at, stdout);
	if (good && cli->emit >= 0) {
		spec = dpe_spec_compile_text(cli->words.at[0], rules.at, rules.len, cli->names,
			&(struct dpe_compile_options){0}, cli->diags);
		good = spec && emit_rules(cli, spec);
	}
	dpe_diags_print(cli->diags, stderr);
	dpe_spec_free(spec);
	dpe_text_free(&rules);
	return good;
}

/* ---- rules --------------------------------------------------------------------------------- */

static bool compile_rules(struct cli *cli)
{
	struct dpe_spec *spec = cli_compile_words(cli);
	bool good;

	if (!spec)
		return false;
	good = dpe_spec_runnable(spec, false, cli->diags) && emit_rules(cli, spec);
	dpe_diags_print(cli->diags, stderr);
	dpe_spec_free(spec);
	return good;
}

int cli_compile_command(struct cli *cli)
{
	unsigned nets = count_nets(cli);

	if (nets && nets < cli->words.count) {
		cli_usage_error(cli, "nets (.pnml) and specifications together");
		return CLI_ERROR;
	}
	if (nets && cli->dump >= 0 && cli->dump != CLI_DUMP_NETS) {
		cli_usage_error(cli, "this dump is for specifications; for nets there is --dump=nets");
		return CLI_ERROR;
	}
	return (nets ? compile_nets(cli) : compile_rules(cli)) ? CLI_GOOD : CLI_ERROR;
}
