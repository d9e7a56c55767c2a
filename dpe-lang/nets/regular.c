/* A sequential machine as an expression of ; + *, by taking its states out one after another. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

struct maker {
	struct work *work;
	const struct regular **between; /* by two states: what leads from the one to the other */
	unsigned nstates;
	size_t most;
	bool large;
};

bool dpe_nets_regular_equal(const struct regular *a, const struct regular *b)
{
	if (a == b || !a || !b)
		return a == b;
	return a->kind == b->kind && a->symbol == b->symbol && a->size == b->size &&
	       dpe_nets_regular_equal(a->left, b->left) &&
	       dpe_nets_regular_equal(a->right, b->right);
}

static const struct regular *make(struct maker *m, enum regular_kind kind, unsigned symbol,
	const struct regular *left, const struct regular *right)
{
	struct regular *new;
	size_t size = left ? left->size + (right ? right->size : 0) : 1;

	if (size > m->most) {
		m->large = true;
		return left;
	}
	new = dpe_arena_alloc(m->work->arena, sizeof(*new));
	*new = (struct regular){kind, symbol, size, left, right};
	return new;
}

static const struct regular *star(struct maker *m, const struct regular *e)
{
	if (!e || e->kind == REGULAR_STAR)
		return e;
	return make(m, REGULAR_STAR, 0, e, NULL);
}

/* Where a is nothing at all, so is a; b. A star of nothing is left out by who calls. */
static const struct regular *seq(struct maker *m, const struct regular *a, const struct regular *b)
{
	return a && b ? make(m, REGULAR_SEQ, 0, a, b) : NO_WORDS;
}

static bool has_alternative(const struct regular *among, const struct regular *e)
{
	if (among->kind == REGULAR_ALT)
		return has_alternative(among->left, e) || has_alternative(among->right, e);
	return dpe_nets_regular_equal(among, e);
}

static const struct regular *alt(struct maker *m, const struct regular *a, const struct regular *b)
{
	if (!a || !b)
		return a ? a : b;
	return has_alternative(a, b) ? a : make(m, REGULAR_ALT, 0, a, b);
}

static const struct regular **at(struct maker *m, unsigned from, unsigned to)
{
	return &m->between[from * m->nstates + to];
}

/* a ; loop* ; b */
static const struct regular *through(struct maker *m, const struct regular *a,
	const struct regular *loop, const struct regular *b)
{
	if (!a || !b)
		return NO_WORDS;
	return seq(m, loop ? seq(m, a, star(m, loop)) : a, b);
}

static void take_out(struct maker *m, unsigned state)
{
	for (unsigned i = 0; i < m->nstates && !m->large; i++) {
		for (unsigned j = 0; j < m->nstates && !m->large; j++) {
			if (i == state || j == state)
				continue;
			*at(m, i, j) = alt(m, *at(m, i, j),
				through(m, *at(m, i, state), *at(m, state, state),
					*at(m, state, j)));
		}
	}
	for (unsigned i = 0; i < m->nstates; i++)
		*at(m, i, state) = *at(m, state, i) = NO_WORDS;
}

/* How much longer everything becomes when a state is taken out. */
static size_t cost(struct maker *m, unsigned state)
{
	size_t in = 0, out = 0, nin = 0, nout = 0;

	for (unsigned i = 0; i < m->nstates; i++) {
		if (i == state)
			continue;
		if (*at(m, i, state)) {
			in += (*at(m, i, state))->size;
			nin++;
		}
		if (*at(m, state, i)) {
			out += (*at(m, state, i))->size;
			nout++;
		}
	}
	return in * nout + out * nin;
}

static void reduce(struct maker *m, unsigned start, unsigned end)
{
	bool *gone = dpe_xcalloc(m->nstates, sizeof(*gone));

	while (!m->large) {
		unsigned best = UINT32_MAX;

		for (unsigned i = 0; i < m->nstates; i++) {
			if (i != start && i != end && !gone[i] &&
				(best == UINT32_MAX || cost(m, i) < cost(m, best)))
				best = i;
		}
		if (best == UINT32_MAX)
			break;
		take_out(m, best);
		gone[best] = true;
	}
	free(gone);
}

/* Two states are left, or one. */
static const struct regular *last_two(struct maker *m, unsigned start, unsigned end, bool *empty)
{
	const struct regular *first = *at(m, start, start), *path = *at(m, start, end), *after;

	if (start == end) {
		*empty |= !first;
		return first ? star(m, first) : NO_WORDS;
	}
	if (first)
		path = seq(m, star(m, first), path);
	after = alt(m, *at(m, end, end), through(m, *at(m, end, start), first, *at(m, start, end)));
	return after ? seq(m, path, star(m, after)) : path;
}

static const struct regular *from_to(struct maker *m, const struct move *moves, unsigned nmoves,
	unsigned start, unsigned end, bool *empty)
{
	memset(m->between, 0, (size_t)m->nstates * m->nstates * sizeof(*m->between));
	for (unsigned i = 0; i < nmoves; i++)
		*at(m, moves[i].from, moves[i].to) = alt(m, *at(m, moves[i].from, moves[i].to),
			make(m, REGULAR_SYMBOL, moves[i].symbol, NULL, NULL));
	reduce(m, start, end);
	return last_two(m, start, end, empty);
}

const struct regular *dpe_nets_regular(struct work *work, unsigned nstates,
	const struct move *moves, unsigned nmoves, const bool *starts, const bool *ends,
	size_t most, bool *empty, bool *large)
{
	struct maker m = {.work = work, .nstates = nstates, .most = most};
	const struct regular *all = NO_WORDS;

	m.between = dpe_xcalloc((size_t)nstates * nstates, sizeof(*m.between));
	*empty = false;
	for (unsigned i = 0; i < nstates * nstates && !m.large; i++) {
		if (starts[i / nstates] && ends[i % nstates])
			all = alt(&m, all,
				from_to(&m, moves, nmoves, i / nstates, i % nstates, empty));
	}
	free(m.between);
	*large = m.large;
	return all;
}

bool dpe_nets_regular_nullable(const struct regular *e)
{
	if (!e || e->kind == REGULAR_SYMBOL)
		return false;
	if (e->kind == REGULAR_ALT)
		return dpe_nets_regular_nullable(e->left) || dpe_nets_regular_nullable(e->right);
	return e->kind == REGULAR_STAR ||
	       (dpe_nets_regular_nullable(e->left) && dpe_nets_regular_nullable(e->right));
}

static void print(struct dpe_text *to, const struct regular *e, const char *const *symbols,
	enum regular_kind within);

/* What stands between operators of one kind. */
struct row {
	const struct regular **at;
	unsigned count, cap;
};

static void collect(struct row *row, const struct regular *e, enum regular_kind kind)
{
	for (; e->kind == kind; e = e->right)
		collect(row, e->left, kind);
	*DPE_GROW(row->at, row->count, row->cap) = e;
}

static void print_row(struct dpe_text *to, const struct regular **at, unsigned count,
	const char *const *symbols, enum regular_kind kind)
{
	unsigned each = count > MANY_IN_A_ROW ? MANY_IN_A_ROW : 1;

	for (unsigned i = 0; i < count; i += each) {
		unsigned some = count - i < each ? count - i : each;

		dpe_text_puts(to, i == 0 ? "" : kind == REGULAR_SEQ ? ";" : "+");
		if (some == 1) {
			print(to, at[i], symbols, kind);
			continue;
		}
		dpe_text_puts(to, "(");
		print_row(to, at + i, some, symbols, kind);
		dpe_text_puts(to, ")");
	}
}

static void print(struct dpe_text *to, const struct regular *e, const char *const *symbols,
	enum regular_kind within)
{
	static const int binds[] = {
		[REGULAR_SYMBOL] = 4, [REGULAR_STAR] = 3, [REGULAR_SEQ] = 2, [REGULAR_ALT] = 0};
	bool parens = binds[e->kind] < binds[within];
	struct row row = {0};

	dpe_text_puts(to, parens ? "(" : "");
	if (e->kind == REGULAR_SYMBOL) {
		dpe_text_puts(to, symbols[e->symbol]);
	} else if (e->kind == REGULAR_STAR) {
		print(to, e->left, symbols, e->kind);
		dpe_text_puts(to, "*");
	} else {
		collect(&row, e, e->kind);
		print_row(to, row.at, row.count, symbols, e->kind);
		free(row.at);
	}
	dpe_text_puts(to, parens ? ")" : "");
}

/* As an operand of &, or alone. */
void dpe_nets_regular_print(
	struct dpe_text *to, const struct regular *e, const char *const *symbols)
{
	print(to, e, symbols, REGULAR_ALT);
}
