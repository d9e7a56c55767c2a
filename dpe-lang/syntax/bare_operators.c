/* Names of operators of C++ without quotes, which are several tokens: one diagnostic, with what to write. */
#include "dpe-lang/syntax/classify_tokens.h"

static bool is_adjacent(const struct dpe_classifier *f, unsigned by)
{
	return dpe_token_ahead(f, by)->place.begin == dpe_token_ahead(f, by - 1)->place.end;
}

/* After template arguments, which the grammar reports together with the operator. */
static bool is_after_template(const struct dpe_classifier *f)
{
	int before = f->out->n > 1 ? f->out->at[f->out->n - 2].kind : T_ITEM;

	return dpe_token_kind_before(f) == T_SCOPE && (before == '>' || before == T_SHR);
}

bool dpe_take_bare_operator(struct dpe_classifier *f)
{
	const struct dpe_token *word = dpe_token_ahead(f, 0);
	int open = dpe_token_kind_at(f, 1), closer = open == '[' ? ']' : ')';

	if (!dpe_token_is_word(f, 0, "operator") || (open != '[' && open != '(') || dpe_token_kind_at(f, 2) != closer ||
		!is_adjacent(f, 1) || !is_adjacent(f, 2) || (open == '(' && dpe_token_kind_at(f, 3) != '('))
		return false;
	if (!is_after_template(f))
		dpe_diag(f->diags, DPE_ERROR, word->place, "the name of an operator is written in quotes: \"%s\"",
			dpe_name_around(f->arena, word, word->place.end));
	*DPE_GROW(f->out->at, f->out->n, f->out->cap) = *word;
	f->at += 3;
	return true;
}
