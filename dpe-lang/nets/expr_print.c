/* Writes an expression as text of the language. Operands of & share the events that both name, so
 * an operand that shares nothing gets events of its own, by carets: of each event those from `base`
 * on, beyond `top`, the first that is unused within the nearest &. */
#include "dpe-lang/nets/expr.h"

#include "dpe-lang/nets/event_names.h"

#include <stdlib.h>
#include <string.h>

struct expr_printer {
	struct translation *tr;
	struct dpe_text *to;
	unsigned nevents;
	unsigned *base, *top;    /* by event */
	const char **shared;     /* by shared event: its text within the enclosing & */
	unsigned without_carets; /* an event that needs carets and cannot have them; NO_PLACE */
};

static void print(struct expr_printer *p, const struct expr *e, enum expr_kind within);

static const int binds[] = {[EXPR_ALT] = 0,
	[EXPR_PAR] = 1,
	[EXPR_SEQ] = 2,
	[EXPR_SYNC] = 1,
	[EXPR_STAR] = 3,
	[EXPR_EVENT] = 4,
	[EXPR_SHARED] = 4,
	[EXPR_EMPTY] = 4};

/* The event with `offset` carets more than the first that it may use. */
static const char *event_text(struct expr_printer *p, unsigned event, unsigned offset)
{
	unsigned carets = p->base[event] + offset;
	const char *text = dpe_nets_with_carets(p->tr, event, carets);

	if (carets >= p->top[event])
		p->top[event] = carets + 1;
	if (text)
		return text;
	p->without_carets = event;
	return p->tr->events->at[event].text;
}

/* The state before an &, while its operands are printed. */
struct saved_carets {
	unsigned *base, *top;
};

static unsigned *copy_of(const struct expr_printer *p, const unsigned *from)
{
	return memcpy(dpe_xcalloc(p->nevents + 1, sizeof(*from)), from, p->nevents * sizeof(*from));
}

static struct saved_carets begin_sides(struct expr_printer *p)
{
	struct saved_carets before = {copy_of(p, p->base), copy_of(p, p->top)};

	memcpy(p->top, p->base, p->nevents * sizeof(*p->top));
	return before;
}

static void next_side(struct expr_printer *p)
{
	memcpy(p->base, p->top, p->nevents * sizeof(*p->base));
}

static void end_sides(struct expr_printer *p, struct saved_carets before)
{
	for (unsigned i = 0; i < p->nevents; i++) {
		p->base[i] = before.base[i];
		if (p->top[i] < before.top[i])
			p->top[i] = before.top[i];
	}
	free(before.base);
	free(before.top);
}

/* An event that can have carets; NO_PLACE if there is none. */
static unsigned find_event(const struct expr_printer *p)
{
	for (unsigned i = 0; i < p->nevents; i++) {
		if (p->tr->events->at[i].name)
			return i;
	}
	return NO_PLACE;
}

/* There is no sign for it. This accepts nothing else: its operands disagree on the first event. */
static void print_nothing(struct expr_printer *p)
{
	unsigned event = find_event(p);
	const char *one, *other;

	if (event == NO_PLACE) {
		p->without_carets = 0;
		return;
	}
	one = event_text(p, event, 0);
	other = event_text(p, event, 1);
	dpe_text_printf(p->to, "(%s;%s)*&(%s;%s)*", one, other, other, one);
}

/* Shared events come first; those of each operand begin beyond them. */
static void print_sync(struct expr_printer *p, const struct synced_operands *sync)
{
	struct saved_carets before = begin_sides(p);

	for (unsigned i = 0; i < sync->nshared; i++) {
		p->shared[sync->shared[i]->shared] = event_text(p, sync->shared[i]->event, 0);
		next_side(p);
	}
	for (unsigned i = 0; i < sync->noperands; i++) {
		dpe_text_puts(p->to, i ? " & " : "");
		print(p, sync->operands[i], EXPR_PAR);
		next_side(p);
	}
	end_sides(p, before);
}

static void print_par(struct expr_printer *p, const struct expr *e)
{
	struct saved_carets before = begin_sides(p);

	print(p, e->left, EXPR_PAR);
	dpe_text_puts(p->to, " & ");
	next_side(p);
	print(p, e->right, EXPR_PAR);
	end_sides(p, before);
}

static void print_both(
	struct expr_printer *p, const struct expr *e, enum expr_kind kind, const char *operator)
{
	print(p, e->left, kind);
	dpe_text_puts(p->to, operator);
	print(p, e->right, kind);
}

static void print_alt(struct expr_printer *p, const struct expr *e)
{
	if (e->left->kind != EXPR_EMPTY) {
		print_both(p, e, EXPR_ALT, "+");
		return;
	}
	print(p, e->right, EXPR_ALT);
	dpe_text_puts(p->to, " + ");
	print_nothing(p);
}

/* Outside of its &, where only a dump prints it, a shared event has its number. */
static void print_shared(struct expr_printer *p, const struct expr *e)
{
	if (p->shared[e->shared])
		dpe_text_puts(p->to, p->shared[e->shared]);
	else
		dpe_text_printf(p->to, "%s#%u", event_text(p, e->event, 0), e->shared);
}

static void print_inner(struct expr_printer *p, const struct expr *e)
{
	switch (e->kind) {
	case EXPR_EMPTY:
		print_nothing(p);
		return;
	case EXPR_EVENT:
		dpe_text_puts(p->to, event_text(p, e->event, 0));
		return;
	case EXPR_SHARED:
		print_shared(p, e);
		return;
	case EXPR_SEQ:
		print_both(p, e, EXPR_SEQ, ";");
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
	case EXPR_SYNC:
		print_sync(p, e->sync);
	}
}

static void print(struct expr_printer *p, const struct expr *e, enum expr_kind within)
{
	bool parens = binds[e->kind] < binds[within];

	dpe_text_puts(p->to, parens ? "(" : "");
	print_inner(p, e);
	dpe_text_puts(p->to, parens ? ")" : "");
}

bool dpe_nets_print(struct translation *tr, struct dpe_text *to, const struct expr *e)
{
	struct expr_printer p = {
		.tr = tr, .to = to, .nevents = tr->events->count, .without_carets = NO_PLACE};

	p.base = dpe_xcalloc(p.nevents + 1, sizeof(*p.base));
	p.top = dpe_xcalloc(p.nevents + 1, sizeof(*p.top));
	p.shared = dpe_xcalloc(tr->nshared + 1, sizeof(*p.shared));
	print(&p, e, EXPR_ALT);
	free(p.shared);
	free(p.base);
	free(p.top);
	if (p.without_carets == NO_PLACE)
		return true;
	dpe_diag_at(tr->diags, DPE_ERROR, tr->file,
		"not supported: the rule would have to distinguish several transitions %s by "
		"carets; but data events have none",
		tr->events->at[p.without_carets].text);
	return false;
}
