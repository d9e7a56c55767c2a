/* An expression as text of the language.
 *
 * Operands of & share the events that both name. So each operand that is to share nothing gets
 * events of its own, by carets: of each event those from `base` on, and beyond `top`, which is what
 * was used so far within the nearest &. What is not side by side may use the same ones. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

struct printer {
	struct work *work;
	struct dpe_text *to;
	unsigned nevents;
	unsigned *base, *top;    /* by event */
	const char **shared;     /* by number of what is shared: its text in the parts around */
	unsigned without_carets; /* an event that would need some; NO_PLACE */
	bool lines;              /* alternatives stand below each other */
};

static void print(struct printer *p, const struct expr *e, enum expr_kind within);

static const int binds[] = {[EXPR_ALT] = 0,
	[EXPR_PAR] = 1,
	[EXPR_KERNEL] = 1,
	[EXPR_SEQ] = 2,
	[EXPR_PARTS] = 1,
	[EXPR_STAR] = 3,
	[EXPR_EVENT] = 4,
	[EXPR_SHARED] = 4,
	[EXPR_EMPTY] = 4};

/* `offset`: beyond the first one that it may use. */
static const char *event_text(struct printer *p, unsigned event, unsigned offset)
{
	unsigned carets = p->base[event] + offset;
	const char *text =
		dpe_nets_events_with_carets(p->work, p->work->events->texts[event], carets);

	if (carets >= p->top[event])
		p->top[event] = carets + 1;
	if (text)
		return text;
	p->without_carets = event;
	return p->work->events->texts[event];
}

/* ---- side by side --------------------------------------------------------------------------- */

/* What was before an & whose operands are printed. */
struct sides {
	unsigned *base, *top;
};

static unsigned *copy_of(const struct printer *p, const unsigned *from)
{
	return memcpy(dpe_xcalloc(p->nevents + 1, sizeof(*from)), from, p->nevents * sizeof(*from));
}

static struct sides begin_sides(struct printer *p)
{
	struct sides before = {copy_of(p, p->base), copy_of(p, p->top)};

	memcpy(p->top, p->base, p->nevents * sizeof(*p->top));
	return before;
}

static void next_side(struct printer *p)
{
	memcpy(p->base, p->top, p->nevents * sizeof(*p->base));
}

static void end_sides(struct printer *p, struct sides before)
{
	for (unsigned i = 0; i < p->nevents; i++) {
		p->base[i] = before.base[i];
		if (p->top[i] < before.top[i])
			p->top[i] = before.top[i];
	}
	free(before.base);
	free(before.top);
}

/* ---- the empty word ------------------------------------------------------------------------- */

/* Some event that has a place for carets, of `e` if possible; NO_PLACE where there is none. */
static unsigned find_event(const struct printer *p, const struct expr *e)
{
	unsigned found = NO_PLACE;

	if (e && e->kind == EXPR_EVENT && dpe_nets_has_carets(p->work->events->texts[e->event]))
		return e->event;
	if (e)
		found = find_event(p, e->left);
	if (e && found == NO_PLACE)
		found = find_event(p, e->right);
	return found;
}

static unsigned find_any_event(const struct printer *p)
{
	for (unsigned i = 0; i < p->nevents; i++) {
		if (dpe_nets_has_carets(p->work->events->texts[i]))
			return i;
	}
	return NO_PLACE;
}

/* There is no sign for it: nothing can come first here. */
static void print_nothing(struct printer *p, const struct expr *like)
{
	unsigned event = find_event(p, like);
	const char *one, *other;

	if (event == NO_PLACE)
		event = find_any_event(p);
	if (event == NO_PLACE) {
		p->without_carets = 0;
		return;
	}
	one = event_text(p, event, 0);
	other = event_text(p, event, 1);
	dpe_text_printf(p->to, "(%s;%s)*&(%s;%s)*", one, other, other, one);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static char *symbol_text(struct printer *p, const struct expr *symbol)
{
	struct dpe_text text = {0}, *to = p->to;

	p->to = &text;
	print(p, symbol, EXPR_EVENT);
	p->to = to;
	return text.at;
}

static void print_operand(
	struct printer *p, const struct kernel *kernel, unsigned which, const char *const *texts)
{
	bool parens = kernel->or_nothing[which] || kernel->operands[which]->kind == REGULAR_ALT;

	dpe_text_puts(p->to, which ? " & " : "");
	dpe_text_puts(p->to, parens ? "(" : "");
	dpe_nets_regular_print(p->to, kernel->operands[which], texts);
	if (kernel->or_nothing[which]) {
		dpe_text_puts(p->to, " + ");
		print_nothing(p, NULL);
		next_side(p);
	}
	dpe_text_puts(p->to, parens ? ")" : "");
}

/* Each symbol is an event, or an expression, of its own. */
static void print_kernel(struct printer *p, const struct kernel *kernel)
{
	struct sides before = begin_sides(p);
	char **texts = dpe_xcalloc(kernel->nsymbols + 1, sizeof(*texts));

	for (unsigned i = 0; i < kernel->nsymbols; i++) {
		texts[i] = symbol_text(p, kernel->symbols[i]);
		next_side(p);
	}
	for (unsigned i = 0; i < kernel->noperands; i++)
		print_operand(p, kernel, i, (const char *const *)texts);
	for (unsigned i = 0; i < kernel->nsymbols; i++)
		free(texts[i]);
	free(texts);
	end_sides(p, before);
}

/* What is shared has events of its own, beyond which those of each operand begin. */
static void print_parts(struct printer *p, const struct parts *parts)
{
	struct sides before = begin_sides(p);

	for (unsigned i = 0; i < parts->nshared; i++) {
		p->shared[parts->shared[i]->shared] = event_text(p, parts->shared[i]->event, 0);
		next_side(p);
	}
	for (unsigned i = 0; i < parts->noperands; i++) {
		dpe_text_puts(p->to, i ? " & " : "");
		print(p, parts->operands[i], EXPR_PAR);
		next_side(p);
	}
	end_sides(p, before);
}

/* ---- the others ----------------------------------------------------------------------------- */

static void print_par(struct printer *p, const struct expr *e)
{
	struct sides before = begin_sides(p);

	print(p, e->left, EXPR_PAR);
	dpe_text_puts(p->to, " & ");
	next_side(p);
	print(p, e->right, EXPR_PAR);
	end_sides(p, before);
}

/* What stands between operators of one kind. */
struct row {
	const struct expr **at;
	unsigned count, cap;
};

static bool is_or_nothing(const struct expr *e)
{
	return e->kind == EXPR_ALT && e->left->kind == EXPR_EMPTY;
}

static void collect(struct row *row, const struct expr *e, enum expr_kind kind)
{
	for (; e->kind == kind && !is_or_nothing(e); e = e->right)
		collect(row, e->left, kind);
	*DPE_GROW(row->at, row->count, row->cap) = e;
}

static void print_row(struct printer *p, const struct expr **at, unsigned count,
	enum expr_kind kind, const char *operator)
{
	unsigned each = count > MANY_IN_A_ROW ? MANY_IN_A_ROW : 1;

	for (unsigned i = 0; i < count; i += each) {
		unsigned some = count - i < each ? count - i : each;

		dpe_text_puts(p->to, i ? operator : "");
		if (some == 1) {
			print(p, at[i], kind);
			continue;
		}
		dpe_text_puts(p->to, "(");
		print_row(p, at + i, some, kind, operator);
		dpe_text_puts(p->to, ")");
	}
}

static void print_all(
	struct printer *p, const struct expr *e, enum expr_kind kind, const char *operator)
{
	struct row row = {0};

	collect(&row, e, kind);
	print_row(p, row.at, row.count, kind, operator);
	free(row.at);
}

static void print_alt(struct printer *p, const struct expr *e)
{
	bool lines = p->lines;

	p->lines = false;
	if (is_or_nothing(e)) {
		print(p, e->right, EXPR_ALT);
		dpe_text_puts(p->to, " + ");
		print_nothing(p, e->right);
	} else {
		print_all(p, e, EXPR_ALT, lines ? "\n\t+ " : "+");
	}
	p->lines = lines;
}

static void print_inner(struct printer *p, const struct expr *e)
{
	switch (e->kind) {
	case EXPR_EMPTY:
		print_nothing(p, NULL);
		return;
	case EXPR_EVENT:
		dpe_text_puts(p->to, event_text(p, e->event, 0));
		return;
	case EXPR_SHARED:
		dpe_text_puts(p->to, p->shared[e->shared]);
		return;
	case EXPR_SEQ:
		print_all(p, e, EXPR_SEQ, ";");
		return;
	case EXPR_ALT:
		print_alt(p, e);
		return;
	case EXPR_STAR:
		print(p, e->left, EXPR_STAR);
		dpe_text_puts(p->to, "*");
		return;
	case EXPR_PAR:
		print_par(p, e);
		return;
	case EXPR_KERNEL:
		print_kernel(p, e->kernel);
		return;
	case EXPR_PARTS:
		print_parts(p, e->parts);
	}
}

static void print(struct printer *p, const struct expr *e, enum expr_kind within)
{
	bool parens = binds[e->kind] < binds[within], lines = p->lines;

	p->lines = lines && !parens && e->kind == EXPR_ALT;
	dpe_text_puts(p->to, parens ? "(" : "");
	print_inner(p, e);
	dpe_text_puts(p->to, parens ? ")" : "");
	p->lines = lines;
}

static bool has_sides(const struct expr *e)
{
	return e && (e->kind == EXPR_PAR || e->kernel || e->parts || has_sides(e->left) ||
			    has_sides(e->right));
}

bool dpe_nets_print(struct work *work, struct dpe_text *to, const struct expr *e)
{
	struct printer p = {.work = work,
		.to = to,
		.nevents = work->events->count,
		.without_carets = NO_PLACE,
		.lines = has_sides(e)};

	p.base = dpe_xcalloc(p.nevents + 1, sizeof(*p.base));
	p.top = dpe_xcalloc(p.nevents + 1, sizeof(*p.top));
	p.shared = dpe_xcalloc(work->nshared + 1, sizeof(*p.shared));
	print(&p, e, EXPR_ALT);
	free(p.shared);
	free(p.base);
	free(p.top);
	if (p.without_carets == NO_PLACE)
		return true;
	dpe_diag_at(work->diags, DPE_ERROR, work->file,
		"not supported: the rule would have to tell several transitions %s apart by "
		"carets; but data events have none",
		work->events->texts[p.without_carets]);
	return false;
}
