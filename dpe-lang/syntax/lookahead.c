/* Questions about the tokens around the next one. */
#include "dpe-lang/syntax/classify_tokens.h"

#include <string.h>

const char *dpe_token_text(struct dpe_arena *arena, const struct dpe_token *token)
{
	size_t len;
	const char *text = dpe_source_text(token->place.source, &len);

	return dpe_arena_strndup(
		arena, text + token->place.begin, token->place.end - token->place.begin);
}

const struct dpe_token *dpe_token_ahead(const struct dpe_classifier *f, unsigned by)
{
	return &f->in[f->at + by < f->n ? f->at + by : f->n - 1];
}

int dpe_token_kind_at(const struct dpe_classifier *f, unsigned by)
{
	return dpe_token_ahead(f, by)->kind;
}

bool dpe_token_is_word(const struct dpe_classifier *f, unsigned by, const char *word)
{
	return dpe_token_kind_at(f, by) == T_NAME &&
	       !strcmp(dpe_token_ahead(f, by)->value.text, word);
}

const struct dpe_token *dpe_token_before(const struct dpe_classifier *f)
{
	return f->out->n ? &f->out->at[f->out->n - 1] : NULL;
}

int dpe_token_kind_before(const struct dpe_classifier *f)
{
	return f->out->n ? dpe_token_before(f)->kind : T_ITEM;
}

/* Outside of brackets, or inside groups of events only: where an expression of events may be. */
bool dpe_token_at_dpe(const struct dpe_classifier *f)
{
	return !f->nopen || f->open[f->nopen - 1].kind == GROUP;
}

bool dpe_token_in_braces(const struct dpe_classifier *f)
{
	for (unsigned i = 0; i < f->nopen; i++) {
		if (f->open[i].kind == BRACES)
			return true;
	}
	return false;
}

/* The last token ends an event, a group of events, or a list of observed events. */
bool dpe_token_after_operand(const struct dpe_classifier *f)
{
	switch (dpe_token_kind_before(f)) {
	case T_NAME:
	case T_QUOTED:
	case T_PHASE:
	case T_RESULT:
	case T_STRING:
	case T_NUMBER: /* f.exit = 0 */
	case T_ENDS:
	case ')':
	case ']':
	case '}':
	case '*':
	case '@':
	case '^':
		return true;
	case ';':
		return f->variables;
	default:
		return false;
	}
}

bool dpe_token_skip_header(const struct dpe_classifier *f, unsigned by, unsigned *next)
{
	if (dpe_token_kind_at(f, by++) != T_NAME)
		return false;
	if (dpe_token_kind_at(f, by) == '(') {
		for (by++; dpe_token_kind_at(f, by) == T_NAME || dpe_token_kind_at(f, by) == ',';
			by++)
			;
		if (dpe_token_kind_at(f, by++) != ')')
			return false;
	}
	*next = by;
	return true;
}

bool dpe_token_is_header(const struct dpe_classifier *f, unsigned by, int closer)
{
	unsigned next;

	return dpe_token_skip_header(f, by, &next) && dpe_token_kind_at(f, next) == closer;
}

bool dpe_token_starts_operand(const struct dpe_classifier *f, unsigned by)
{
	int kind = dpe_token_kind_at(f, by);

	return kind == T_NAME || kind == T_STRING || kind == '(' || kind == '[' || kind == '{';
}

bool dpe_token_is_assigned(const struct dpe_classifier *f)
{
	int before = dpe_token_kind_before(f);

	return (before == ':' || before == ';' || before == '+' || before == '&') && !dpe_token_ahead(f, 0)->first &&
	       !f->variables && dpe_token_is_header(f, 0, '=');
}

static bool is_mode_word(const struct dpe_classifier *f)
{
	return dpe_token_is_word(f, 0, "expect") || dpe_token_is_word(f, 0, "detect") ||
	       dpe_token_is_word(f, 0, "predict") || dpe_token_is_word(f, 0, "measure") ||
	       dpe_token_is_word(f, 0, "sync");
}

/* A mode, not an event or a rule of that name. */
bool dpe_token_is_mode(const struct dpe_classifier *f)
{
	return is_mode_word(f) && !dpe_token_is_header(f, 0, ':') &&
	       !dpe_token_is_header(f, 0, '=') && dpe_token_starts_operand(f, 1) &&
	       !dpe_token_is_word(f, 1, "by");
}

bool dpe_token_is_pairing(const struct dpe_classifier *f, enum dpe_pairing *pairing)
{
	for (*pairing = DPE_FIFO; *pairing <= DPE_DATA_WRITES; (*pairing)++) {
		if (dpe_token_is_word(f, 0, dpe_pairing_name(*pairing)))
			return !dpe_token_is_header(f, 0, ':') && dpe_token_starts_operand(f, 1);
	}
	return false;
}

bool dpe_token_is_keep(const struct dpe_classifier *f)
{
	return dpe_token_is_word(f, 0, "keep") && !dpe_token_is_header(f, 0, ':') &&
	       dpe_token_starts_operand(f, 1);
}

bool dpe_token_is_observing(const struct dpe_classifier *f)
{
	return (dpe_token_is_word(f, 0, "observing") || dpe_token_is_word(f, 0, "without")) &&
	       dpe_token_starts_operand(f, 1);
}

/* The word may also be an event, which `by T` or `else` can follow, or the header of a rule. */
bool dpe_token_is_absence(const struct dpe_classifier *f)
{
	static const char *const guesses[] = {"absent", "never", "no", "not", "unless"};
	static const char *const others[] = {"by", "ends", "else", "observing", "without"};
	bool guessed = false;

	if (dpe_token_kind_at(f, 0) == '!')
		return dpe_token_starts_operand(f, 1);
	for (unsigned i = 0; i < DPE_COUNT(guesses); i++)
		guessed = guessed || dpe_token_is_word(f, 0, guesses[i]);
	for (unsigned i = 0; i < DPE_COUNT(others); i++)
		guessed = guessed && !dpe_token_is_word(f, 1, others[i]);
	return guessed && (dpe_token_kind_at(f, 1) == T_NAME || dpe_token_kind_at(f, 1) == T_STRING) &&
	       !dpe_token_ahead(f, 1)->first && !dpe_token_is_header(f, 1, ':');
}

bool dpe_token_is_include(const struct dpe_classifier *f)
{
	return dpe_token_is_word(f, 0, "include") && dpe_token_kind_at(f, 1) == T_STRING;
}

bool dpe_token_is_variables(const struct dpe_classifier *f)
{
	int kind = dpe_token_kind_at(f, 2);

	if (dpe_token_is_word(f, 1, "by") && kind == T_NAME)
		return false; /* an event named var */
	return dpe_token_is_word(f, 0, "var") && dpe_token_kind_at(f, 1) == T_NAME &&
	       (!dpe_token_ahead(f, 1)->first || kind == '=' || kind == ',' || kind == ';' || kind == '(');
}

static bool dpe_token_is_mode_with_header(const struct dpe_classifier *f)
{
	unsigned by = 1;

	if (!is_mode_word(f))
		return false;
	if (dpe_token_is_word(f, 0, "sync") && dpe_token_kind_at(f, 1) == T_NAME &&
		dpe_token_kind_at(f, 2) == T_NAME)
		by = dpe_token_is_word(f, 1, "keep") && dpe_token_kind_at(f, 3) == T_NAME ? 3 : 2;
	return dpe_token_is_header(f, by, ':');
}

/* The next token can only begin an item. */
bool dpe_token_is_clear_start(const struct dpe_classifier *f)
{
	return dpe_token_is_header(f, 0, ':') || dpe_token_is_header(f, 0, '=') ||
	       dpe_token_is_include(f) || dpe_token_is_variables(f) ||
	       dpe_token_is_mode_with_header(f);
}

/* The same inside a bracket that was left open by mistake. */
bool dpe_token_is_start_in_brackets(const struct dpe_classifier *f)
{
	if (!dpe_token_ahead(f, 0)->first)
		return false;
	return dpe_token_is_mode_with_header(f) || dpe_token_is_include(f) ||
	       (!f->questions && dpe_token_kind_before(f) != T_SCOPE &&
		       dpe_token_is_header(f, 0, ':'));
}
