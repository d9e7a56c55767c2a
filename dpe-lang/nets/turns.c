/* Takes out a silent transition t whose inputs P are filled again before its outputs Q are taken.
 *
 * A place (p, q) for each p of P and each q of Q stands for a token that lies in p, or that t has
 * moved on to q (silent.c). Nothing else takes from P here, nor fills Q. The n-th filling of p
 * comes after the firing of t before it, and that after all of Q was taken that the firing before
 * left: so tokens of two rounds at most are in (p, q), and for that it is two places, which are
 * filled in turn. Whose turn it is, two more places tell for each p: what fills p is in order as it
 * is, so they order nothing. What takes q takes all (p, q) of one round, and with them what it
 * takes of other q: two of one marking come from the same firing of t, or t could have left a
 * second token beside one of them. */
#include "dpe-lang/nets/net.h"

#include <string.h>

struct turns {
	struct work *work;
	const struct net *old;
	struct net *new;
	const struct transition *t;
	unsigned *number; /* by old place: the new one, where it stays */
};

static unsigned pair(const struct turns *s, unsigned in, unsigned out, unsigned turn)
{
	return 2 * (in * s->t->nout + out) + turn;
}

/* Marked where the next filling is of that turn. */
static unsigned told_by(const struct turns *s, unsigned in, unsigned turn)
{
	return 2 * (s->t->nin * s->t->nout + in) + turn;
}

static bool is_input(const struct turns *s, unsigned place)
{
	return dpe_nets_has_place(s->t->in, s->t->nin, place);
}

static bool is_output(const struct turns *s, unsigned place)
{
	return dpe_nets_has_place(s->t->out, s->t->nout, place);
}

static void number_places(struct turns *s)
{
	unsigned next = told_by(s, s->t->nin, 0);

	s->number = dpe_arena_alloc(s->work->arena, (s->old->nplaces + 1) * sizeof(*s->number));
	s->new = dpe_nets_new(
		s->work, s->old->name, s->old->nplaces - s->t->nin - s->t->nout + next);
	for (unsigned i = 0; i < s->t->nin; i++) {
		for (unsigned turn = 0; turn < 2; turn++) {
			for (unsigned j = 0; j < s->t->nout; j++)
				s->new->places[pair(s, i, j, turn)] = s->old->places[s->t->in[i]];
			s->new->places[told_by(s, i, turn)] = s->old->places[s->t->in[i]];
		}
	}
	for (unsigned p = 0; p < s->old->nplaces; p++) {
		if (is_input(s, p) || is_output(s, p))
			continue;
		s->new->places[next] = s->old->places[p];
		s->number[p] = next++;
	}
}

static void fill(const struct turns *s, struct transition *to, unsigned in, unsigned turn)
{
	for (unsigned j = 0; j < s->t->nout; j++)
		dpe_nets_arc(to, true, pair(s, in, j, turn));
	dpe_nets_arc(to, false, told_by(s, in, turn));
	dpe_nets_arc(to, true, told_by(s, in, turn ^ 1));
}

static void take(const struct turns *s, struct transition *to, unsigned out, unsigned turn)
{
	for (unsigned i = 0; i < s->t->nin; i++)
		dpe_nets_arc(to, false, pair(s, i, out, turn));
}

/* `turns`: bit 0 of what it takes, the others of what it fills. */
static void add_way(const struct turns *s, const struct transition *t, uint64_t turns)
{
	struct transition *copy = dpe_nets_add(s->new, t);

	for (unsigned i = 0; i < t->nin; i++) {
		if (!is_output(s, t->in[i]))
			dpe_nets_arc(copy, false, s->number[t->in[i]]);
	}
	for (unsigned i = 0; i < t->nout; i++) {
		if (!is_input(s, t->out[i]))
			dpe_nets_arc(copy, true, s->number[t->out[i]]);
	}
	for (unsigned j = 0; j < s->t->nout; j++) {
		if (dpe_nets_has_place(t->in, t->nin, s->t->out[j]))
			take(s, copy, j, turns & 1);
	}
	for (unsigned i = 0; i < s->t->nin; i++) {
		if (!dpe_nets_has_place(t->out, t->nout, s->t->in[i]))
			continue;
		turns >>= 1;
		fill(s, copy, i, turns & 1);
	}
}

static bool add_ways(const struct turns *s, const struct transition *t)
{
	bool takes = false;
	unsigned fills = 0;

	for (unsigned i = 0; i < t->nin; i++)
		takes |= is_output(s, t->in[i]);
	for (unsigned i = 0; i < t->nout; i++)
		fills += is_input(s, t->out[i]);
	for (uint64_t turns = 0; turns >> fills < 2; turns++) {
		if (!takes && (turns & 1))
			continue;
		add_way(s, t, turns);
		if (dpe_nets_too_many(s->work, s->new, s->new->ntransitions))
			return false;
	}
	return true;
}

/* After rounds of which `turn` is the next. */
static tokens *marking_of(const struct turns *s, const tokens *old, unsigned turn)
{
	tokens *marking = dpe_nets_marking(s->work, s->new);

	for (unsigned p = 0; p < s->old->nplaces; p++) {
		if (!is_input(s, p) && !is_output(s, p))
			marking[s->number[p]] = old[p];
	}
	for (unsigned i = 0; i < s->t->nin; i++) {
		bool filled = old[s->t->in[i]];

		marking[told_by(s, i, turn ^ filled)] = 1;
		for (unsigned j = 0; j < s->t->nout; j++) {
			marking[pair(s, i, j, turn)] = filled;
			marking[pair(s, i, j, turn ^ 1)] = old[s->t->out[j]];
		}
	}
	return marking;
}

struct net *dpe_nets_take_turns(struct work *work, const struct net *net, unsigned number)
{
	struct turns s = {.work = work, .old = net, .t = &net->transitions[number]};

	number_places(&s);
	for (unsigned i = 0; i < net->ntransitions; i++) {
		if (i != number && !add_ways(&s, &net->transitions[i]))
			return NULL;
	}
	for (unsigned i = 0; i < net->initial.count; i++)
		dpe_nets_mark(&s.new->initial, marking_of(&s, net->initial.at[i], 0));
	for (unsigned i = 0; i < net->final.count; i++) {
		for (unsigned turn = 0; turn < 2; turn++)
			dpe_nets_mark(&s.new->final, marking_of(&s, net->final.at[i], turn));
	}
	return s.new;
}
