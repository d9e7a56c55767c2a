/* The state of a slice in words: what its configurations, or its partial matches, accept next. */
#include "recognizer/engines/conjunction.h"

#include <stdlib.h>

static void add_text(struct dpe_expected *texts, struct dpe_text *text)
{
	for (unsigned i = 0; i < texts->count; i++) {
		if (!strcmp(texts->at[i], text->at)) {
			dpe_text_free(text);
			return;
		}
	}
	*DPE_GROW(texts->at, texts->count, texts->cap) = text->at;
}

void dpe_expected_free(struct dpe_expected *expected)
{
	for (unsigned i = 0; i < expected->count; i++)
		free(expected->at[i]);
	free(expected->at);
	*expected = (struct dpe_expected){0};
}

/* "c after a and b": a step in words. */
static void describe_step(const struct dpe_run *run, const struct dpe_config_step *step,
	unsigned literal, bool first, struct dpe_text *to)
{
	const struct dpe_literal *literals = run->rule->literals;

	dpe_text_puts(to, literals[literal].text);
	if (!step->npreds)
		dpe_text_puts(to, first ? " first" : " independent of all earlier events");
	for (unsigned i = 0; i < step->npreds; i++)
		dpe_text_printf(
			to, "%s %s", i ? " and" : " after", literals[step->preds[i].literal].text);
}

void dpe_expected_add(struct dpe_run *run, const struct dpe_config *config, bool first, struct dpe_expected *expected)
{
	for (unsigned literal = 0; literal < run->rule->nliterals; literal++) {
		unsigned count = run->follow->steps(run, config, literal, NULL, NULL);

		for (unsigned i = 0; i < count; i++) {
			struct dpe_text text = {0};

			describe_step(run, &run->steps[i], literal, first, &text);
			add_text(expected, &text);
		}
	}
}

/* ---- whole slices ---------------------------------------------------------------------------- */

static void add_partials(struct dpe_run *run, const struct dpe_partial_list *partials, struct dpe_expected *expected)
{
	for (unsigned i = 0; i < partials->count; i++) {
		if (partials->at[i])
			dpe_expected_add(run, &partials->at[i]->config, false, expected);
	}
}

static void describe_matching(const struct dpe_run *run, const struct dpe_slice *slice, struct dpe_text *to)
{
	const struct dpe_matching *matching = slice->matching;
	struct dpe_expected expected = {0};
	uint64_t ended = 0;

	for (unsigned i = 0; matching && i < matching->noperands; i++) {
		add_partials(run->conjunction->operands[i].run, &matching->lists[i].active, &expected);
		ended += matching->lists[i].ended.count - matching->lists[i].ended.gaps;
	}
	if (run->shared && run->shared != slice && run->shared->matching)
		add_partials(run->conjunction->operands[0].run, &run->shared->matching->lists[0].active, &expected);
	dpe_text_puts(to, !expected.count && !ended ? "no partial match" : "");
	for (unsigned i = 0; i < expected.count; i++)
		dpe_text_printf(to, "%s%s", i ? ", " : "next ", expected.at[i]);
	if (ended)
		dpe_text_printf(to, "%soperands of & that are complete", expected.count ? "; " : "");
	dpe_expected_free(&expected);
}

static void describe_branches(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_text *to)
{
	struct dpe_expected expected = {0};
	bool final = false;

	for (unsigned i = 0; i < slice->nbranches; i++) {
		final |= run->follow->final(run, &slice->branches[i].config);
		dpe_expected_add(run, &slice->branches[i].config, !slice->order.nchains, &expected);
	}
	dpe_text_puts(to, final ? "may end" : "");
	for (unsigned i = 0; i < expected.count; i++)
		dpe_text_printf(to, "%s%s", i ? ", " : final ? "; next " : "next ", expected.at[i]);
	dpe_expected_free(&expected);
}

void dpe_slice_describe(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_text *to)
{
	if (slice->overflown)
		dpe_text_puts(to, "inconclusive: a limit was met");
	else if (run->conjunction)
		describe_matching(run, slice, to);
	else
		describe_branches(run, slice, to);
}
