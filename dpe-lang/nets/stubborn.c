/* Where a net can end, without a look at all its markings.
 *
 * Of what can fire at a marking often only some has to be: a set such that nothing outside of it
 * can take away what its members need, or bring what one of them lacks (a stubborn set; Valmari
 * 1989). Whatever happens outside, one of these is going to fire, and may as well fire now; so each
 * marking in which nothing can fire is still come to. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

struct stubborn {
	const struct net *net;
	struct around *around; /* by place */
	tokens *after;
	bool *chosen, *best; /* by transition */
	unsigned *todo, ntodo;
};

struct stubborn *dpe_nets_stubborn(const struct net *net)
{
	struct stubborn *s = dpe_xcalloc(1, sizeof(*s));

	s->net = net;
	s->around = dpe_nets_look_around_all(net);
	s->after = dpe_xcalloc(net->nplaces + 1, sizeof(*s->after));
	s->chosen = dpe_xcalloc(net->ntransitions + 1, sizeof(*s->chosen));
	s->best = dpe_xcalloc(net->ntransitions + 1, sizeof(*s->best));
	s->todo = dpe_xcalloc(net->ntransitions + 1, sizeof(*s->todo));
	return s;
}

void dpe_nets_stubborn_free(struct stubborn *s)
{
	for (unsigned p = 0; p < s->net->nplaces; p++)
		dpe_nets_around_free(&s->around[p]);
	free(s->around);
	free(s->after);
	free(s->chosen);
	free(s->best);
	free(s->todo);
	free(s);
}

static bool can_fire(struct stubborn *s, unsigned number, const tokens *marking)
{
	return dpe_nets_fire(s->net, &s->net->transitions[number], marking, s->after);
}

static void choose(struct stubborn *s, unsigned number)
{
	if (s->chosen[number])
		return;
	s->chosen[number] = true;
	s->todo[s->ntodo++] = number;
}

static void choose_all(struct stubborn *s, const unsigned *numbers, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		choose(s, numbers[i]);
}

/* A place that has not what the transition takes of it, and that the fewest fill. */
static unsigned find_lack(
	const struct stubborn *s, const struct transition *t, const tokens *marking)
{
	unsigned lack = NO_PLACE;

	for (unsigned i = 0; i < t->nin; i++) {
		unsigned takes = 0, place = t->in[i];

		for (unsigned j = 0; j < t->nin; j++)
			takes += t->in[j] == place;
		if (marking[place] >= takes)
			continue;
		if (lack == NO_PLACE || s->around[place].nmakers < s->around[lack].nmakers)
			lack = place;
	}
	return lack;
}

/* How many of the set that begins with this one can fire. */
static unsigned close(struct stubborn *s, unsigned first, const tokens *marking)
{
	unsigned enabled = 0;

	memset(s->chosen, 0, s->net->ntransitions);
	s->ntodo = 0;
	choose(s, first);
	for (unsigned next = 0; next < s->ntodo; next++) {
		const struct transition *t = &s->net->transitions[s->todo[next]];
		unsigned lack = find_lack(s, t, marking);

		if (lack != NO_PLACE) {
			choose_all(s, s->around[lack].makers, s->around[lack].nmakers);
			continue;
		}
		enabled++;
		for (unsigned i = 0; i < t->nin; i++)
			choose_all(s, s->around[t->in[i]].takers, s->around[t->in[i]].ntakers);
	}
	return enabled;
}

const bool *dpe_nets_stubborn_at(struct stubborn *s, const tokens *marking)
{
	unsigned fewest = UINT32_MAX;

	for (unsigned i = 0; i < s->net->ntransitions && fewest > 1; i++) {
		unsigned enabled;

		if (!can_fire(s, i, marking))
			continue;
		enabled = close(s, i, marking);
		if (enabled >= fewest)
			continue;
		fewest = enabled;
		memcpy(s->best, s->chosen, s->net->ntransitions);
	}
	return s->best;
}
