/* Tokens with a name of their own, where they are joined and parted.
 *
 * As in tokens.c a set of places becomes copies, one for each token. But a transition may take
 * several of its tokens, and leave fewer: the others are gone for good. It may leave more than it
 * takes, too, where it can only do so now and then: that many more copies are idle in the
 * beginning, and one of them is woken. All that a firing makes has the same past, so it does not
 * matter which copy it is made in. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

#define MANY_COPIES 8
#define MANY_CHOICES 10000
#define MANY_FIRINGS 3000 /* transitions of the new net */

struct threads {
	struct work *work;
	const struct net *old;
	const struct space *space; /* of the old net */
	bool *in;                  /* by place: one of the set */
	unsigned *often;           /* by transition: how often it fires at most; UNKNOWN */
	unsigned choices;
	unsigned tokens,
		copies;   /* the first ones have a token in the beginning; the others are idle */
	unsigned *number; /* by place: its number in the new net, or that of its first copy */
	struct net *new;
	/* One transition under construction. */
	const struct transition *t;
	unsigned *at; /* by copy: in which place it is taken; NO_PLACE, IDLE */
};

enum { UNKNOWN = UINT32_MAX, IDLE = UINT32_MAX - 1 };

static unsigned count_in(const struct threads *s, const unsigned *places, unsigned count)
{
	unsigned inside = 0;

	for (unsigned i = 0; i < count; i++)
		inside += s->in[places[i]];
	return inside;
}

static unsigned tokens_in(const struct threads *s, const tokens *marking)
{
	unsigned count = 0;

	for (unsigned p = 0; p < s->old->nplaces; p++)
		count += s->in[p] ? marking[p] : 0;
	return count;
}

/* How many more tokens of the set it leaves than it takes. */
static unsigned growth(const struct threads *s, const struct transition *t)
{
	unsigned takes = count_in(s, t->in, t->nin), gives = count_in(s, t->out, t->nout);

	return gives > takes ? gives - takes : 0;
}

/* The most of these weights that a way through the markings has; more than MANY_COPIES are
 * MANY_COPIES + 1. */
static unsigned most_on_a_way(const struct threads *s, const unsigned *weights)
{
	unsigned *most = dpe_xcalloc(s->space->nreached + 1, sizeof(*most)), all = 0;
	bool changed = true;

	while (changed && all <= MANY_COPIES) {
		changed = false;
		for (unsigned i = 0; i < s->space->nsteps && all <= MANY_COPIES; i++) {
			struct step step = s->space->steps[i];
			unsigned next = most[step.from] + weights[step.transition];

			if (next <= most[step.to])
				continue;
			most[step.to] = next;
			changed = true;
			all = next > all ? next : all;
		}
		s->work->tries += s->space->nsteps;
	}
	free(most);
	return all <= MANY_COPIES ? all : MANY_COPIES + 1;
}

static bool fires_often(struct threads *s, unsigned number)
{
	unsigned *weights;

	if (s->often[number] == UNKNOWN) {
		weights = dpe_xcalloc(s->old->ntransitions + 1, sizeof(*weights));
		weights[number] = 1;
		s->often[number] = most_on_a_way(s, weights);
		free(weights);
	}
	return s->often[number] > MANY_COPIES;
}

/* ---- which places --------------------------------------------------------------------------- */

/* Adds places until nothing that fires again and again leaves more tokens than it takes. */
static bool complete(struct threads *s)
{
	if (s->choices++ > MANY_CHOICES)
		return false;
	for (unsigned i = 0; i < s->old->ntransitions; i++) {
		const struct transition *t = &s->old->transitions[i];

		if (!growth(s, t) || !fires_often(s, i))
			continue;
		for (unsigned j = 0; j < t->nin; j++) {
			if (s->in[t->in[j]])
				continue;
			s->in[t->in[j]] = true;
			if (complete(s))
				return true;
			s->in[t->in[j]] = false;
		}
		return false;
	}
	return true;
}

static bool count_copies(struct threads *s)
{
	unsigned *weights = dpe_xcalloc(s->old->ntransitions + 1, sizeof(*weights));

	for (unsigned i = 0; i < s->old->ntransitions; i++)
		weights[i] = growth(s, &s->old->transitions[i]);
	s->tokens = tokens_in(s, s->old->initial.at[0]);
	s->copies = s->tokens + most_on_a_way(s, weights);
	free(weights);
	return s->copies <= MANY_COPIES;
}

/* ---- the new net ---------------------------------------------------------------------------- */

static unsigned idle_place(const struct threads *s, unsigned copy)
{
	return s->new->nplaces - s->copies + copy;
}

static void number_places(struct threads *s)
{
	const struct net *old = s->old;
	unsigned count = 0;

	s->number = dpe_arena_alloc(s->work->arena, (old->nplaces + 1) * sizeof(*s->number));
	for (unsigned p = 0; p < old->nplaces; p++) {
		s->number[p] = count;
		count += s->in[p] ? s->copies : 1;
	}
	s->new = dpe_nets_new(s->work, old->name, count + s->copies - s->tokens);
	for (unsigned p = 0; p < s->new->nplaces; p++)
		s->new->places[p] = old->name;
	for (unsigned p = 0; p < old->nplaces; p++) {
		for (unsigned i = 0; i < (s->in[p] ? s->copies : 1); i++)
			s->new->places[s->number[p] + i] = old->places[p];
	}
}

static void leave(struct threads *s, struct transition *new, unsigned copy, unsigned place)
{
	dpe_nets_arc(new, true, s->number[place] + copy);
	s->at[copy] = NO_PLACE;
}

/* Where the copy that is taken from a place can stay there, it does. */
static void leave_all(struct threads *s, struct transition *new)
{
	bool done[s->t->nout + 1];
	unsigned at[MANY_COPIES];

	memcpy(at, s->at, s->copies * sizeof(*at));
	for (unsigned i = 0; i < s->t->nout; i++) {
		done[i] = !s->in[s->t->out[i]];
		if (done[i])
			dpe_nets_arc(new, true, s->number[s->t->out[i]]);
		for (unsigned c = 0; c < s->copies && !done[i]; c++) {
			done[i] = s->at[c] == s->t->out[i];
			if (done[i])
				leave(s, new, c, s->t->out[i]);
		}
	}
	for (unsigned i = 0; i < s->t->nout; i++) {
		for (unsigned c = 0; c < s->copies && !done[i]; c++) {
			done[i] = s->at[c] != NO_PLACE;
			if (done[i])
				leave(s, new, c, s->t->out[i]);
		}
	}
	memcpy(s->at, at, s->copies * sizeof(*at));
}

static void add_firing(struct threads *s)
{
	struct transition *new;

	if (s->new->ntransitions > MANY_FIRINGS)
		return;
	new = dpe_nets_add(s->new, s->t);
	for (unsigned i = 0; i < s->t->nin; i++) {
		if (!s->in[s->t->in[i]])
			dpe_nets_arc(new, false, s->number[s->t->in[i]]);
	}
	for (unsigned c = 0; c < s->copies; c++) {
		if (s->at[c] == IDLE)
			dpe_nets_arc(new, false, idle_place(s, c));
		else if (s->at[c] != NO_PLACE)
			dpe_nets_arc(new, false, s->number[s->at[c]] + c);
	}
	leave_all(s, new);
}

static void wake(struct threads *s, unsigned want, unsigned from)
{
	if (!want) {
		add_firing(s);
		return;
	}
	for (unsigned c = from; c < s->copies; c++) {
		if (s->at[c] != NO_PLACE)
			continue;
		s->at[c] = IDLE;
		wake(s, want - 1, c + 1);
		s->at[c] = NO_PLACE;
	}
}

/* Each way to take tokens from different copies; in order where they are from the same place. */
static void take(struct threads *s, unsigned arc, unsigned from)
{
	unsigned place;

	while (arc < s->t->nin && !s->in[s->t->in[arc]])
		arc++;
	if (arc == s->t->nin) {
		wake(s, growth(s, s->t), s->tokens);
		return;
	}
	place = s->t->in[arc];
	for (unsigned c = from; c < s->copies && s->new->ntransitions <= MANY_FIRINGS; c++) {
		bool again = arc + 1 < s->t->nin && s->t->in[arc + 1] == place;

		if (s->at[c] != NO_PLACE)
			continue;
		s->at[c] = place;
		take(s, arc + 1, again ? c + 1 : 0);
		s->at[c] = NO_PLACE;
	}
}

static void mark_beginning(struct threads *s)
{
	tokens *marking = dpe_nets_marking(s->work, s->new);
	const tokens *old = s->old->initial.at[0];
	unsigned copy = 0;

	for (unsigned p = 0; p < s->old->nplaces; p++) {
		for (unsigned i = 0; s->in[p] && i < old[p]; i++)
			marking[s->number[p] + copy++] = 1;
		if (!s->in[p])
			marking[s->number[p]] = old[p];
	}
	for (copy = s->tokens; copy < s->copies; copy++)
		marking[idle_place(s, copy)] = 1;
	dpe_nets_mark(&s->new->initial, marking);
}

/* False after a diagnostic. */
static bool mark_ends(struct threads *s)
{
	struct space *space = dpe_nets_explore(s->work, s->new);
	tokens *old = dpe_nets_marking(s->work, s->old);

	for (unsigned i = 0; space && i < space->nreached; i++) {
		const tokens *marking = space->reached[i].marking;

		for (unsigned p = 0; p < s->old->nplaces; p++) {
			old[p] = 0;
			for (unsigned c = 0; c < (s->in[p] ? s->copies : 1); c++)
				old[p] += marking[s->number[p] + c];
		}
		if (dpe_nets_is_marked(s->old, &s->old->final, old))
			dpe_nets_mark(
				&s->new->final, memcpy(dpe_nets_marking(s->work, s->new), marking,
							s->new->nplaces * sizeof(*marking)));
	}
	dpe_nets_space_free(space);
	return space;
}

/* NULL where it would be large, or after a diagnostic. */
static struct net *copy(struct threads *s)
{
	number_places(s);
	for (unsigned i = 0; i < s->old->ntransitions; i++) {
		s->t = &s->old->transitions[i];
		take(s, 0, 0);
	}
	if (s->new->ntransitions > MANY_FIRINGS)
		return NULL;
	mark_beginning(s);
	return mark_ends(s) ? dpe_nets_trim(s->work, s->new) : NULL;
}

static struct net *try_from(struct threads *s, unsigned place)
{
	memset(s->in, 0, s->old->nplaces);
	s->in[place] = true;
	s->choices = 0;
	return complete(s) && count_copies(s) ? copy(s) : NULL;
}

struct net *dpe_nets_thread_tokens(struct work *work, struct net *net)
{
	struct threads s = {.work = work, .old = net};
	tokens *bounds = dpe_nets_marking(work, net);
	struct net *new = NULL;
	struct space *space;
	unsigned at[MANY_COPIES];

	if (!dpe_nets_bound(work, net, bounds))
		return NULL;
	s.space = space = dpe_nets_explore(work, net);
	s.in = dpe_arena_alloc(work->arena, net->nplaces + 1);
	s.often = dpe_arena_alloc(work->arena, (net->ntransitions + 1) * sizeof(*s.often));
	memset(s.often, 0xff, net->ntransitions * sizeof(*s.often));
	memset(at, 0xff, sizeof(at));
	s.at = at;
	for (unsigned p = 0; p < net->nplaces && !new; p++) {
		if (bounds[p] > 1)
			new = try_from(&s, p);
	}
	dpe_nets_space_free(space);
	return new ? dpe_nets_thread_tokens(work, new) : net;
}
