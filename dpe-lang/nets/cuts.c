/* A net in which some transitions take all that is marked.
 *
 * All that was before such a firing comes before all that is after it, where no other firing lets
 * tokens vanish: what left none would not be before anything. So a behaviour is a sequence
 * of what leads from one marking to another without such transitions, and of these in between: a
 * sequential machine, whose states are the markings that they take and leave. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

#define MANY_WAYS 400 /* from a marking to a marking */

struct cutter {
	struct work *work;
	const struct net *net;
	bool *full; /* by transition: takes all that is marked */
	struct markings after, before;
	struct net *machine; /* places: those of `after`, then those of `before` */
};

/* ---- which transitions ------------------------------------------------------------------------
 */

static bool takes_all(const struct net *net, const struct transition *t, const tokens *marking)
{
	unsigned count = 0;

	for (unsigned p = 0; p < net->nplaces; p++)
		count += marking[p];
	return count == t->nin;
}

static bool find_full(struct cutter *c)
{
	struct space *space = dpe_nets_explore(c->work, c->net);
	bool any = false;

	if (!space)
		return false;
	for (unsigned i = 0; i < c->net->ntransitions; i++)
		c->full[i] = true;
	for (unsigned i = 0; i < space->nsteps; i++) {
		const struct step *step = &space->steps[i];

		c->full[step->transition] &= takes_all(c->net,
			&c->net->transitions[step->transition], space->reached[step->from].marking);
	}
	dpe_nets_space_free(space);
	for (unsigned i = 0; i < c->net->ntransitions; i++) {
		if (!c->net->transitions[i].nout && !c->full[i])
			return false;
		any |= c->full[i];
	}
	return any;
}

/* ---- markings -----------------------------------------------------------------------------------
 */

/* Its number in the set, where it is once. */
static unsigned add_marking(struct cutter *c, struct markings *set, tokens *marking)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (!memcmp(set->at[i], marking, c->net->nplaces * sizeof(*marking)))
			return i;
	}
	dpe_nets_mark(set, marking);
	return set->count - 1;
}

static unsigned add_places(
	struct cutter *c, struct markings *set, const unsigned *places, unsigned count)
{
	tokens *marking = dpe_nets_marking(c->work, c->net);

	for (unsigned i = 0; i < count; i++)
		marking[places[i]] = 1;
	return add_marking(c, set, marking);
}

static void find_markings(struct cutter *c)
{
	for (unsigned i = 0; i < c->net->initial.count; i++)
		add_marking(c, &c->after, c->net->initial.at[i]);
	for (unsigned i = 0; i < c->net->final.count; i++)
		add_marking(c, &c->before, c->net->final.at[i]);
	for (unsigned i = 0; i < c->net->ntransitions; i++) {
		const struct transition *t = &c->net->transitions[i];

		if (!c->full[i])
			continue;
		add_places(c, &c->before, t->in, t->nin);
		add_places(c, &c->after, t->out, t->nout);
	}
}

/* ---- the machine --------------------------------------------------------------------------------
 */

static void add_move(struct cutter *c, unsigned from, unsigned to, const struct expr *words)
{
	struct transition *t =
		dpe_nets_add(c->machine, &(struct transition){.words = words, .id = c->net->name});

	dpe_nets_arc(t, false, from);
	dpe_nets_arc(t, true, to);
}

/* The net between two markings, without what takes everything. */
static struct net *net_between(struct cutter *c, tokens *from, tokens *to)
{
	struct net *new = dpe_nets_new(c->work, c->net->name, c->net->nplaces);

	memcpy(new->places, c->net->places, new->nplaces * sizeof(*new->places));
	for (unsigned i = 0; i < c->net->ntransitions; i++) {
		const struct transition *t = &c->net->transitions[i];
		struct transition *copy;

		if (c->full[i])
			continue;
		copy = dpe_nets_add(new, t);
		for (unsigned j = 0; j < t->nin; j++)
			dpe_nets_arc(copy, false, t->in[j]);
		for (unsigned j = 0; j < t->nout; j++)
			dpe_nets_arc(copy, true, t->out[j]);
	}
	dpe_nets_mark(&new->initial, from);
	dpe_nets_mark(&new->final, to);
	return new;
}

/* False where what leads there is refused. */
static bool add_way(struct cutter *c, const struct space *space, unsigned from, unsigned to)
{
	const struct expr *words = NULL;
	bool reached = false;

	for (unsigned i = 0; i < space->nreached && !reached; i++)
		reached = !memcmp(space->reached[i].marking, c->before.at[to],
			c->net->nplaces * sizeof(tokens));
	if (!reached)
		return true;
	words = dpe_nets_words_quietly(
		c->work, net_between(c, c->after.at[from], c->before.at[to]));
	if (words)
		add_move(c, from, c->after.count + to, words);
	return words;
}

static bool add_ways(struct cutter *c, unsigned from)
{
	struct net *net = net_between(c, c->after.at[from], c->after.at[from]);
	struct space *space = dpe_nets_explore(c->work, net);
	bool good = space;

	for (unsigned to = 0; to < c->before.count && good; to++)
		good = add_way(c, space, from, to);
	dpe_nets_space_free(space);
	return good;
}

static bool make_machine(struct cutter *c)
{
	unsigned count = c->after.count + c->before.count;

	c->machine = dpe_nets_new(c->work, c->net->name, count);
	for (unsigned p = 0; p < count; p++)
		c->machine->places[p] = c->net->name;
	for (unsigned i = 0; i < c->net->ntransitions; i++) {
		const struct transition *t = &c->net->transitions[i];

		if (c->full[i])
			add_move(c, c->after.count + add_places(c, &c->before, t->in, t->nin),
				add_places(c, &c->after, t->out, t->nout), t->words);
	}
	for (unsigned i = 0; i < c->net->initial.count; i++) {
		tokens *marking = dpe_nets_marking(c->work, c->machine);

		marking[add_marking(c, &c->after, c->net->initial.at[i])] = 1;
		dpe_nets_mark(&c->machine->initial, marking);
	}
	for (unsigned i = 0; i < c->net->final.count; i++) {
		tokens *marking = dpe_nets_marking(c->work, c->machine);

		marking[c->after.count + add_marking(c, &c->before, c->net->final.at[i])] = 1;
		dpe_nets_mark(&c->machine->final, marking);
	}
	for (unsigned i = 0; i < c->after.count; i++) {
		if (!add_ways(c, i))
			return false;
	}
	return true;
}

const struct expr *dpe_nets_cuts(struct work *work, struct net *net)
{
	struct cutter c = {.work = work, .net = net};
	struct dpe_diags *diags;
	const struct expr *words = NULL;

	diags = dpe_nets_hush(work);
	c.full = dpe_xcalloc(net->ntransitions + 1, sizeof(*c.full));
	if (find_full(&c)) {
		find_markings(&c);
		if (c.after.count * c.before.count <= MANY_WAYS && make_machine(&c))
			words = dpe_nets_words(work, c.machine);
	}
	free(c.full);
	dpe_nets_markings_free(&c.after);
	dpe_nets_markings_free(&c.before);
	dpe_nets_speak(work, diags);
	return words;
}
