/* dpe check: checks specifications, and shows class, events and slices of each rule. */
#include "cli/report/report.h"

#include <string.h>

static void print_variables(struct dpe_text *to, const struct cli *cli, const struct dpe_rule *rule)
{
	if (!dpe_rule_nvariables(rule)) {
		dpe_text_puts(to, "  slices    one\n");
		return;
	}
	dpe_text_puts(to, "  slices    one for each");
	for (unsigned i = 0; i < dpe_rule_nvariables(rule); i++)
		dpe_text_printf(to, "%s %s", i ? "," : "",
			dpe_name_text(cli->names, dpe_rule_variable(rule, i)));
	dpe_text_puts(to, "\n");
}

static void print_alphabet(struct dpe_text *to, const struct dpe_rule *rule)
{
	dpe_text_puts(to, "  alphabet ");
	for (unsigned i = 0; i < dpe_rule_nliterals(rule); i++)
		dpe_text_printf(to, "%s %s", i ? "," : "", dpe_rule_literal(rule, i));
	for (unsigned i = 0; i < dpe_rule_nobserved(rule); i++)
		dpe_text_printf(to, "%s %s", i ? "," : "\n  observing", dpe_rule_observed(rule, i));
	dpe_text_puts(to, "\n");
}

static void print_rule(struct dpe_text *to, const struct cli *cli, const struct dpe_rule *rule)
{
	dpe_text_printf(to, "%s %s: ", dpe_rule_mode_name(rule), dpe_rule_name(rule));
	dpe_rule_print(to, rule);
	dpe_text_puts(to, "\n");
	if (dpe_rule_mode(rule) == DPE_SYNC)
		dpe_text_printf(to, "  pairing   %s\n", dpe_pairing_name(dpe_rule_pairing(rule)));
	else
		dpe_text_printf(to, "  class     %s: %s\n", dpe_class_name(dpe_rule_class(rule)),
			dpe_rule_class_reason(rule));
	print_alphabet(to, rule);
	print_variables(to, cli, rule);
}

static void print_rules(struct cli *cli, const struct dpe_spec *spec, struct dpe_text *to)
{
	unsigned left_out = 0;

	for (unsigned i = 0; i < dpe_spec_nrules(spec); i++) {
		const struct dpe_rule *rule = dpe_spec_rule(spec, i);

		if (!cli->all && !cli_rule_is_own(cli, rule)) {
			left_out++;
			continue;
		}
		if (cli->explain && cli->json) {
			cli_explain_json(cli, rule);
			continue;
		}
		print_rule(to, cli, rule);
		if (cli->explain)
			cli_explain(cli, rule, to);
	}
	if (left_out && !cli->json)
		dpe_text_printf(to, "and %u rule%s of included specifications (--all shows them)\n", left_out,
			left_out == 1 ? "" : "s");
}

int cli_check(struct cli *cli)
{
	struct dpe_text text = {0};
	struct dpe_spec *spec;
	bool good;

	spec = cli_compile_words(cli);
	if (!spec)
		return CLI_ERROR;
	if (cli->dump < 0)
		print_rules(cli, spec, &text);
	if (text.at)
		fputs(text.at, stdout);
	dpe_text_free(&text);
	good = dpe_spec_runnable(spec, false, cli->diags) &&
	       (cli->explain ? !dpe_diags_errors(cli->diags) : dpe_spec_check(spec, cli->diags));
	dpe_diags_print(cli->diags, stderr);
	dpe_spec_free(spec);
	return good ? CLI_GOOD : CLI_ERROR;
}
