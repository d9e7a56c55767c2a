/* Second pass over the tokens: decides which names are keywords, where items begin, and that brackets
 * are paired; all that needs more lookahead than the grammar's one token.
 * The rules: docs/internals/token-classification.md. */
#include "dpe-lang/syntax/classify_tokens.h"

#include <stdlib.h>
#include <string.h>

/* ---- writing -------------------------------------------------------------------------- */

static void put(struct dpe_classifier *f, int kind, struct dpe_token token)
{
	token.kind = kind;
	*DPE_GROW(f->out->at, f->out->n, f->out->cap) = token;
}

/* Inserts a token that is not in the text, at the end of the last one. */
static void insert(struct dpe_classifier *f, int kind)
{
	struct dpe_token token = {0};

	token.place =
		dpe_token_before(f) ? dpe_token_before(f)->place : dpe_token_ahead(f, 0)->place;
	token.place.begin = dpe_token_before(f) ? token.place.end : token.place.begin;
	token.place.end = token.place.begin;
	put(f, kind, token);
}

/* True if the action that begins here is followed by an operator, so it is an operand. */
static bool is_operand_action(const struct dpe_classifier *f)
{
	unsigned by = 0, level = 0;
	int kind;

	do {
		kind = dpe_token_kind_at(f, by++);
		level += kind == '{';
		level -= kind == '}';
	} while (level && kind != T_END);
	kind = dpe_token_kind_at(f, by);
	return kind == ';' || kind == '+' || kind == '&';
}

/* Takes the next token over as `kind`. */
static void take(struct dpe_classifier *f, int kind)
{
	f->bad += kind == T_BAD;
	put(f, kind, *dpe_token_ahead(f, 0));
	f->at++;
}

/* ---- brackets ------------------------------------------------------------------------- */

static void open_bracket(struct dpe_classifier *f, enum dpe_bracket_kind kind, char closer)
{
	*DPE_GROW(f->open, f->nopen, f->capopen) =
		(struct dpe_bracket){kind, closer, dpe_token_ahead(f, 0)->place, f->bad};
	if (f->nopen <= DPE_MAX_DEPTH || f->too_deep)
		return;
	dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
		"more than %d nested brackets", DPE_MAX_DEPTH);
	f->too_deep = true;
}

/* A statement may leave out its ';' before '}'. */
static void end_statement(struct dpe_classifier *f)
{
	int kind = dpe_token_kind_before(f);

	if (kind != ';' && kind != '{' && kind != T_RULE_BRACE && kind != '}' && kind != T_ELSE)
		insert(f, ';');
}

static void close_last(struct dpe_classifier *f, bool report)
{
	struct dpe_bracket *last = &f->open[f->nopen - 1];

	if (report && f->bad == last->bad)
		dpe_diag(f->diags, DPE_ERROR, last->place,
			"this bracket is never closed: write %c where it ends", last->closer);
	if (last->closer == '}')
		end_statement(f);
	insert(f, last->closer);
	f->nopen--;
}

static void close_all(struct dpe_classifier *f)
{
	for (bool report = true; f->nopen; report = false)
		close_last(f, report);
	f->questions = 0;
}

static void take_closer(struct dpe_classifier *f)
{
	char closer = (char)dpe_token_kind_at(f, 0);
	unsigned level = f->nopen;

	while (level && f->open[level - 1].closer != closer)
		level--;
	if (!level) {
		dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
			"this %c closes nothing: remove it", closer);
		f->at++;
		return;
	}
	while (f->nopen > level)
		close_last(f, true);
	if (closer == '}')
		end_statement(f);
	f->nopen--;
	take(f, closer);
	if (f->open[f->nopen].kind == CONDITION)
		f->conditions = f->out->n;
}

/* ---- items ---------------------------------------------------------------------------- */

static void begin_item(struct dpe_classifier *f)
{
	close_all(f);
	if (f->out->n)
		insert(f, T_ITEM);
	f->variables = f->observing = f->without = f->from = false;
}

static const char *nearest(const char *word, const char *const *candidates, unsigned n)
{
	const char *best;

	return n && dpe_nearest(word, candidates, n, &best, 1) ? best : NULL;
}

/* `expct R: …`, `sync lst R: …`: a word that is no mode or pairing. */
static bool is_wrong_word(const struct dpe_classifier *f)
{
	return dpe_token_kind_at(f, 0) == T_NAME && dpe_token_kind_at(f, 1) == T_NAME &&
	       !dpe_token_ahead(f, 1)->first && dpe_token_is_header(f, 1, ':');
}

static void report_wrong_word(
	struct dpe_classifier *f, const char *what, const char *const *words, unsigned n)
{
	const char *word = dpe_token_ahead(f, 0)->value.text, *best = nearest(word, words, n);
	struct dpe_text list = {0};

	for (unsigned i = 0; i < n; i++)
		dpe_text_printf(&list, "%s%s", i ? i + 1 < n ? ", " : " or " : "", words[i]);
	if (!n)
		dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
			"unexpected '%s' before the rule's name: remove it", word);
	else if (best)
		dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
			"unknown %s '%s'; did you mean '%s'?", what, word, best);
	else
		dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
			"unknown %s '%s': write %s", what, word, list.at);
	dpe_text_free(&list);
	f->at++;
}

/* `expect R a; b`, `expect R(x) a(x); b(x)` */
static bool lacks_colon(const struct dpe_classifier *f)
{
	static const char *const others[] = {"by", "observing", "without", "else", "ends"};
	unsigned next;

	if (!dpe_token_skip_header(f, 0, &next) || dpe_token_kind_at(f, next) != T_NAME || dpe_token_ahead(f, next)->first)
		return false;
	for (unsigned i = 0; i < DPE_COUNT(others); i++) {
		if (dpe_token_is_word(f, next, others[i]))
			return false;
	}
	return next == 1 || dpe_token_kind_at(f, next + 1) != T_NAME; /* `f(x) then g(x)` has no name */
}

static void missing_colon(struct dpe_classifier *f)
{
	dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
		"a ':' is missing after the rule's name '%s'", dpe_token_ahead(f, 0)->value.text);
	take(f, T_RULE_NAME);
	if (dpe_token_kind_at(f, 0) == '(') {
		do
			take(f, dpe_token_kind_at(f, 0));
		while (dpe_token_kind_before(f) != ')');
	}
	insert(f, ':');
}

static int mode_token(const struct dpe_classifier *f)
{
	if (dpe_token_is_word(f, 0, "sync"))
		return T_SYNC;
	if (dpe_token_is_word(f, 0, "expect"))
		return T_EXPECT;
	if (dpe_token_is_word(f, 0, "measure"))
		return T_MEASURE;
	return dpe_token_is_word(f, 0, "predict") ? T_PREDICT : T_DETECT;
}

static void take_mode(struct dpe_classifier *f)
{
	static const char *const modes[] = {"expect", "detect", "predict", "measure", "sync"};
	static const char *const pairings[] = {"keep", "fifo", "last", "all", "once", "rounds",
		"during", "exclusive", "shared", "reads", "writes"};
	enum dpe_pairing pairing;
	bool sync = dpe_token_is_word(f, 0, "sync");

	if (!dpe_token_is_mode(f)) {
		if (is_wrong_word(f))
			report_wrong_word(f, "mode", modes, DPE_COUNT(modes));
		return;
	}
	take(f, mode_token(f));
	if (sync && dpe_token_is_keep(f))
		take(f, T_KEEP);
	if (sync && dpe_token_is_pairing(f, &pairing)) {
		take(f, T_PAIRING);
		f->out->at[f->out->n - 1].value.pairing = pairing;
	} else if (is_wrong_word(f)) {
		report_wrong_word(f, sync ? "pairing" : "word before the rule's name",
			sync ? pairings : NULL, sync ? DPE_COUNT(pairings) : 0);
	}
	if (lacks_colon(f))
		missing_colon(f);
}

/* The beginning of an item, up to its expression. */
static void take_beginning(struct dpe_classifier *f)
{
	if (dpe_token_is_include(f)) {
		take(f, T_INCLUDE);
		take(f, T_STRING);
		return;
	}
	if (dpe_token_is_variables(f)) {
		take(f, T_VAR);
		f->variables = true;
		return;
	}
	if (dpe_token_is_header(f, 0, '=')) {
		f->header = dpe_token_kind_at(f, 1) == '(';
		take(f, T_DEF_NAME);
		return;
	}
	take_mode(f);
	if (dpe_token_is_header(f, 0, ':')) {
		f->header = dpe_token_kind_at(f, 1) == '(';
		take(f, T_RULE_NAME);
	}
}

/* `b within 5ms`, or a number that is no result: the grammar reports it. */
static bool is_misplaced_number(const struct dpe_classifier *f)
{
	int before = f->out->n > 1 ? f->out->at[f->out->n - 2].kind : T_ITEM;
	bool result = before == '=' || before == '-';

	return dpe_token_is_time(f->arena, dpe_token_ahead(f, 1)) || (dpe_token_kind_before(f) == T_NUMBER && !result);
}

static void missing_operator(struct dpe_classifier *f)
{
	const char *last = dpe_token_text(f->arena, dpe_token_before(f)),
		   *next = dpe_token_text(f->arena, dpe_token_ahead(f, 0));

	if (!is_misplaced_number(f))
		dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
			"an operator is missing between '%s' and '%s': write ; (then), & (independently) "
			"or + (either)",
			last, next);
	insert(f, ';');
}

static bool in_variables(const struct dpe_classifier *f)
{
	return f->variables && dpe_token_kind_before(f) != ';';
}

/* At a token that may begin an item. */
static void maybe_begin(struct dpe_classifier *f)
{
	int kind = dpe_token_kind_at(f, 0);

	bool begins = !f->out->n;

	if (kind == T_NAME && !begins && !dpe_token_is_assigned(f))
		begins = f->nopen || in_variables(f) ? dpe_token_is_start_in_brackets(f)
						     : dpe_token_is_clear_start(f);
	if (begins) {
		begin_item(f);
		take_beginning(f);
	}
}

/* ---- between events ------------------------------------------------------------------- */

static void take_phase(struct dpe_classifier *f)
{
	static const char *const phases[] = {"enter", "exit"};
	const char *word, *best;

	take(f, '.');
	if (dpe_token_kind_at(f, 0) != T_NAME)
		return;
	word = dpe_token_ahead(f, 0)->value.text;
	if (f->from && !strcmp(word, "ret")) {
		take(f, T_RESULT);
		return;
	}
	best = word;
	if (strcmp(word, "enter") && strcmp(word, "exit")) {
		best = nearest(word, phases, DPE_COUNT(phases));
		dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
			best ? "unknown phase '%s'; did you mean '%s'?"
			     : "unknown phase '%s': an event is .enter or .exit, and a name with a dot is quoted, as in \"main.work\"",
			word, best);
	}
	take(f, T_PHASE);
	f->out->at[f->out->n - 1].value.phase =
		best && !strcmp(best, "exit") ? DPE_EXIT : DPE_ENTER;
}

/* Absence in a place that the grammar does not have. The token is taken as `kind` to continue, or left out. */
static void misplaced_absence(struct dpe_classifier *f, int kind)
{
	dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
		"unexpected '%s': write what must not occur within a match after the whole "
		"expression, as in a ; b without c",
		dpe_token_text(f->arena, dpe_token_ahead(f, 0)));
	if (kind)
		take(f, kind);
	else
		f->at++;
}

/* After an operand: `observing c`, `without c`, or a word that is likely meant as one of these. */
static void take_observing(struct dpe_classifier *f)
{
	bool guessed = dpe_token_is_absence(f);

	f->observing = !f->nopen;
	f->without = f->observing && (guessed || dpe_token_is_word(f, 0, "without"));
	if (f->nopen || guessed)
		misplaced_absence(f, f->nopen ? ';' : T_OBSERVING);
	else
		take(f, T_OBSERVING);
}

/* What is absent from a match cannot end its slice. */
static void take_ends(struct dpe_classifier *f)
{
	if (!f->without) {
		take(f, T_ENDS);
		return;
	}
	dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
		"'ends' follows events after 'observing' only: write 'observing … ends' for what "
		"ends a slice");
	f->at++;
}

/* `f.exit = value`: the value is not an event. */
static void take_result(struct dpe_classifier *f)
{
	take(f, '=');
	if (dpe_token_kind_at(f, 0) == '-')
		take(f, '-');
	if (dpe_token_kind_at(f, 0) == T_NAME || dpe_token_kind_at(f, 0) == T_STRING)
		take(f, dpe_token_kind_at(f, 0));
}

/* `x = f(y)` by mistake for `f(y).exit = x`: the event is taken without its result. */
static bool take_reversed_result(struct dpe_classifier *f)
{
	const struct dpe_token *name = dpe_token_before(f), *call = dpe_token_ahead(f, 1);

	if (dpe_token_kind_before(f) != T_NAME || call->kind != T_NAME || call->first || dpe_token_kind_at(f, 2) != '(')
		return false;
	dpe_diag(f->diags, DPE_ERROR, dpe_token_ahead(f, 0)->place,
		"unexpected '=': what a call returns follows it: write %s(…).exit = %s", dpe_token_text(f->arena, call),
		dpe_token_text(f->arena, name));
	f->out->n--;
	f->at++;
	return true;
}

/* `[p->x] from f(p) to g(p)` */
static bool take_moment(struct dpe_classifier *f)
{
	bool data = dpe_token_kind_before(f) == ']' && f->conditions != f->out->n;
	bool from = data && dpe_token_is_word(f, 0, "from");

	if (!from && !(f->from && dpe_token_is_word(f, 0, "to")))
		return false;
	if (dpe_token_kind_at(f, 1) != T_NAME && dpe_token_kind_at(f, 1) != T_STRING)
		return false;
	f->from = from;
	take(f, from ? T_FROM : T_TO);
	return true;
}

/* The last token ends an event, which `by`, a condition, arguments or an action may follow; not a group or a
 * repetition. */
static bool is_after_event(const struct dpe_classifier *f)
{
	int last = dpe_token_kind_before(f);
	bool control =
		last == T_NAME && f->out->n > 1 && f->out->at[f->out->n - 2].kind == T_CONTROL_STAR;

	return last != '}' && last != '*' && last != '@' && last != T_ENDS && !control;
}

/* A keyword that continues the rule. */
static bool take_keyword(struct dpe_classifier *f, bool event)
{
	bool same_line = !dpe_token_ahead(f, 0)->first, next_same_line = !dpe_token_ahead(f, 1)->first;
	int next = dpe_token_kind_at(f, 1);

	if (event && take_moment(f))
		return true;
	if (event && dpe_token_is_word(f, 0, "by") && next == T_NAME && next_same_line)
		take(f, T_BY);
	else if (dpe_token_is_observing(f) || dpe_token_is_absence(f))
		take_observing(f);
	else if (event && f->observing && same_line && dpe_token_is_word(f, 0, "ends"))
		take_ends(f);
	else if (dpe_token_is_word(f, 0, "else") && next == '{')
		take(f, T_ELSE);
	else
		return false;
	return true;
}

static bool begins_arguments(const struct dpe_classifier *f)
{
	int last = dpe_token_kind_before(f);

	return last == T_NAME || last == T_QUOTED || last == '^';
}

/* Arguments, a condition or an action. */
static bool take_bracket(struct dpe_classifier *f, bool event)
{
	int kind = dpe_token_kind_at(f, 0);

	if (kind == '(' && event && begins_arguments(f)) {
		open_bracket(f, ARGS, ')');
		take(f, '(');
	} else if (kind == '[' && event && f->conditions != f->out->n) {
		open_bracket(f, CONDITION, ']');
		take(f, '[');
	} else if (kind == '{' && (event || f->nopen || !is_operand_action(f))) {
		open_bracket(f, BRACES, '}');
		take(f, f->observing || !event ? T_RULE_BRACE : '{');
	} else {
		return false;
	}
	return true;
}

/* After the variables or the file of an item that no bracket can continue. */
static bool is_after_declaration(const struct dpe_classifier *f)
{
	bool file = f->out->n > 1 && f->out->at[f->out->n - 2].kind == T_INCLUDE;

	return file || (f->variables && dpe_token_kind_before(f) == ';');
}

static bool is_next_item(const struct dpe_classifier *f)
{
	int last = dpe_token_kind_before(f);

	return !f->nopen && (last == '}' || last == T_STRING || last == ';' || dpe_token_ahead(f, 0)->first);
}

/* A name, '(' , '[' or '{' that follows a complete operand: a keyword, a condition, an action,
 * arguments; else the next item. False after a missing operator was reported. */
static bool take_after_operand(struct dpe_classifier *f)
{
	bool event = is_after_event(f);

	if (dpe_token_kind_at(f, 0) == T_NAME && take_keyword(f, event))
		return true;
	if (!is_after_declaration(f) && take_bracket(f, event))
		return true;
	if (is_next_item(f)) {
		begin_item(f);
		take_beginning(f);
		return true;
	}
	if (dpe_token_kind_before(f) != T_ENDS)
		missing_operator(f);
	return false;
}

/* A bracket where an operand begins. */
static void take_opener(struct dpe_classifier *f, int kind)
{
	if (kind == '(')
		open_bracket(f, GROUP, ')');
	else if (kind == '[')
		open_bracket(f, DATA, ']');
	else
		open_bracket(f, BRACES, '}');
	take(f, kind == '{' && dpe_token_kind_before(f) == T_ELSE ? T_RULE_BRACE : kind);
}

/* `*n`, where nothing else can begin. */
static bool is_control_star(const struct dpe_classifier *f)
{
	return dpe_token_kind_at(f, 0) == '*' && dpe_token_kind_at(f, 1) == T_NAME &&
	       dpe_token_ahead(f, 0)->place.end == dpe_token_ahead(f, 1)->place.begin &&
	       !dpe_token_is_clear_start(f);
}

/* False if the token is no sign of absence, or after `without` none of a choice. */
static bool take_absence(struct dpe_classifier *f)
{
	int kind = dpe_token_kind_at(f, 0);

	if (kind == '!' && dpe_token_is_absence(f) && dpe_token_after_operand(f))
		take_observing(f);
	else if (dpe_token_is_absence(f))
		misplaced_absence(f, 0);
	else if (f->without && (kind == ';' || kind == '&' || kind == '+'))
		misplaced_absence(f, ',');
	else
		return false;
	return true;
}

/* The token after an operator, or one that is not part of an operand. */
static void take_at_dpe(struct dpe_classifier *f)
{
	int kind = dpe_token_kind_at(f, 0);

	if (kind == '(' || kind == '[' || kind == '{')
		take_opener(f, kind);
	else if (is_control_star(f))
		take(f, T_CONTROL_STAR);
	else if (kind == '.')
		take_phase(f);
	else if (kind == '=' && dpe_token_kind_before(f) == T_PHASE)
		take_result(f);
	else if (kind == '=' && take_reversed_result(f))
		return;
	else if (!take_absence(f))
		take(f, kind == T_STRING && !in_variables(f) ? T_QUOTED : kind);
}

/* ---- within brackets ------------------------------------------------------------------ */

static void take_inside(struct dpe_classifier *f)
{
	int kind = dpe_token_kind_at(f, 0);

	if (kind == '(' || kind == '[')
		open_bracket(f, INNER, kind == '(' ? ')' : ']');
	else if (kind == '{')
		open_bracket(f, BRACES, '}');
	f->questions += kind == '?';
	if (kind == ':' && f->questions)
		f->questions--;
	if (kind == ';') { /* ends a statement, even with brackets open in it */
		f->questions = 0;
		while (dpe_token_in_braces(f) && f->open[f->nopen - 1].kind != BRACES)
			close_last(f, true);
	}
	if (kind == T_NAME && dpe_token_in_braces(f) && dpe_token_is_word(f, 0, "if"))
		kind = T_IF;
	else if (kind == T_NAME && dpe_token_in_braces(f) && dpe_token_is_word(f, 0, "else"))
		kind = T_ELSE;
	else if (kind == '=' && !dpe_token_in_braces(f))
		kind = T_EQUALS;
	take(f, kind);
}

static void take_header(struct dpe_classifier *f)
{
	int kind = dpe_token_kind_at(f, 0);

	if (kind == ')')
		f->header = false;
	take(f, kind);
}

static void take_next(struct dpe_classifier *f)
{
	int kind = dpe_token_kind_at(f, 0);

	if (f->header) {
		take_header(f);
		return;
	}
	maybe_begin(f);
	if (f->header || f->at >= f->n)
		return;
	kind = dpe_token_kind_at(f, 0);
	if (kind == T_END)
		return;
	if (kind == ')' || kind == ']' || kind == '}')
		take_closer(f);
	else if (!dpe_token_at_dpe(f))
		take_inside(f);
	else if (!dpe_token_starts_operand(f, 0) || in_variables(f) ||
		 !dpe_token_after_operand(f) || !take_after_operand(f))
		take_at_dpe(f);
}

void dpe_classify_tokens(struct dpe_arena *arena, struct dpe_diags *diags,
	const struct dpe_tokens *in, struct dpe_tokens *out)
{
	struct dpe_classifier f = {
		.arena = arena, .diags = diags, .in = in->at, .n = in->n, .out = out};

	while (dpe_token_kind_at(&f, 0) != T_END && !f.too_deep &&
		dpe_diags_errors(diags) <= DPE_MAX_ERRORS)
		take_next(&f);
	if (f.too_deep)
		out->n = f.nopen = 0;
	begin_item(&f);
	f.at = f.n - 1;
	take(&f, T_END);
	free(f.open);
}
