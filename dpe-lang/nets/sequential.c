/* Sets of places of which one at most is marked at any time.
 *
 * All that touches such a set happens one after the other, and no order is added by saying so: were
 * x, which takes a token from the set, independent of y, which puts one there, y could come first
 * and two places of the set would be marked. So a set is a sequential machine. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

#define MANY_PLACES 10000

struct finder {
	const struct net *net;
	bool *together; /* by two places: some marking has both */
	bool *covered;
};

bool *dpe_nets_together(struct work *work, const struct net *net)
{
	struct space *space;
	bool *together;

	if (net->nplaces > MANY_PLACES) {
		dpe_diag_at(work->diags, DPE_ERROR, work->file,
			"net '%s' has more than %u places, which are too many to compare",
			net->name, MANY_PLACES);
		return NULL;
	}
	space = dpe_nets_explore(work, net);
	if (!space)
		return NULL;
	together = dpe_xcalloc((size_t)net->nplaces * net->nplaces + 1, sizeof(*together));
	for (unsigned i = 0; i < space->nreached; i++) {
		unsigned marked[net->nplaces + 1], count = 0;

		for (unsigned p = 0; p < net->nplaces; p++) {
			if (space->reached[i].marking[p])
				marked[count++] = p;
		}
		for (unsigned a = 0; a < count; a++) {
			for (unsigned b = 0; b < count; b++)
				together[(size_t)marked[a] * net->nplaces + marked[b]] = true;
		}
	}
	dpe_nets_space_free(space);
	return together;
}

static bool excludes_all(const struct finder *f, const struct machine *machine, unsigned place)
{
	for (unsigned i = 0; i < machine->nplaces; i++) {
		if (f->together[(size_t)place * f->net->nplaces + machine->places[i]])
			return false;
	}
	return true;
}

static bool touches(const struct machine *machine, const unsigned *places, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (dpe_nets_has_place(machine->places, machine->nplaces, places[i]))
			return true;
	}
	return false;
}

/* A place that takes the token of the machine on, or that it comes from; none: UINT32_MAX. */
static unsigned find_next(const struct finder *f, const struct machine *machine)
{
	for (unsigned i = 0; i < f->net->ntransitions; i++) {
		const struct transition *t = &f->net->transitions[i];
		bool takes = touches(machine, t->in, t->nin),
		     gives = touches(machine, t->out, t->nout);

		for (unsigned j = 0; takes && !gives && j < t->nout; j++) {
			if (!f->covered[t->out[j]] && excludes_all(f, machine, t->out[j]))
				return t->out[j];
		}
		for (unsigned j = 0; gives && !takes && j < t->nin; j++) {
			if (!f->covered[t->in[j]] && excludes_all(f, machine, t->in[j]))
				return t->in[j];
		}
	}
	return UINT32_MAX;
}

/* A place, of another machine perhaps, with which a transition that only gives a token to the
 * machine, or only takes one from it, moves one instead. */
static unsigned find_end(const struct finder *f, const struct machine *machine)
{
	for (unsigned i = 0; i < f->net->ntransitions; i++) {
		const struct transition *t = &f->net->transitions[i];
		bool takes = touches(machine, t->in, t->nin),
		     gives = touches(machine, t->out, t->nout);
		const unsigned *places = gives ? t->in : t->out;

		for (unsigned j = 0; takes != gives && j < (gives ? t->nin : t->nout); j++) {
			if (excludes_all(f, machine, places[j]))
				return places[j];
		}
	}
	return UINT32_MAX;
}

struct machine *dpe_nets_machine_new(struct machines *machines)
{
	struct machine *machine = DPE_GROW(machines->at, machines->count, machines->cap);

	*machine = (struct machine){0};
	return machine;
}

void dpe_nets_machine_add(struct machine *machine, unsigned place)
{
	*DPE_GROW(machine->places, machine->nplaces, machine->cap) = place;
}

static void cover(struct finder *f, const struct machine *machine)
{
	for (unsigned i = 0; i < machine->nplaces; i++)
		f->covered[machine->places[i]] = true;
}

/* True where the machine always holds a token: all that touches it moves it. */
static bool is_closed(const struct finder *f, const struct machine *machine)
{
	for (unsigned i = 0; i < f->net->ntransitions; i++) {
		const struct transition *t = &f->net->transitions[i];

		if (touches(machine, t->in, t->nin) != touches(machine, t->out, t->nout))
			return false;
	}
	return true;
}

static void grow(struct finder *f, struct machines *machines, unsigned place)
{
	struct machine *machine = dpe_nets_machine_new(machines);
	unsigned own;

	for (; place != UINT32_MAX; place = find_next(f, machine)) {
		dpe_nets_machine_add(machine, place);
		cover(f, machine);
	}
	own = machine->nplaces;
	while ((place = find_end(f, machine)) != UINT32_MAX)
		dpe_nets_machine_add(machine, place);
	if (!is_closed(f, machine)) /* then that was in vain */
		machine->nplaces = own;
	cover(f, machine);
}

bool dpe_nets_machines(struct work *work, const struct net *net, struct machines *machines)
{
	struct finder f = {.net = net, .together = dpe_nets_together(work, net)};

	if (!f.together)
		return false;
	f.covered = dpe_xcalloc(net->nplaces + 1, sizeof(*f.covered));
	for (unsigned initial = 0; initial < 2; initial++) {
		for (unsigned p = 0; p < net->nplaces; p++) {
			if (!f.covered[p] && (initial || net->initial.at[0][p]))
				grow(&f, machines, p);
		}
	}
	free(f.covered);
	free(f.together);
	return true;
}

unsigned dpe_nets_state_of(const struct machine *machine, const unsigned *places, unsigned count)
{
	for (unsigned i = 0; i < machine->nplaces; i++) {
		if (dpe_nets_has_place(places, count, machine->places[i]))
			return i + 1;
	}
	return 0;
}

static bool covers_more(const struct machine *machine, const bool *covered)
{
	for (unsigned i = 0; i < machine->nplaces; i++) {
		if (!covered[machine->places[i]])
			return true;
	}
	return false;
}

bool dpe_nets_known_machines(const struct net *net, struct machines *machines)
{
	bool *covered = dpe_xcalloc(net->nplaces + 1, sizeof(*covered)), all = true;

	for (unsigned m = 0; m < net->known.count; m++) {
		const struct machine *known = &net->known.at[m];
		struct machine *machine;

		if (!covers_more(known, covered))
			continue;
		machine = dpe_nets_machine_new(machines);
		for (unsigned i = 0; i < known->nplaces; i++) {
			dpe_nets_machine_add(machine, known->places[i]);
			covered[known->places[i]] = true;
		}
	}
	for (unsigned p = 0; p < net->nplaces && all; p++)
		all = covered[p];
	free(covered);
	return all;
}

void dpe_nets_split_machine(struct machines *machines, unsigned which)
{
	struct machine whole = machines->at[which];

	machines->at[which].places = NULL;
	for (unsigned i = 0; i < whole.nplaces; i++) {
		struct machine *one = &machines->at[which];

		if (i)
			one = dpe_nets_machine_new(machines);
		*one = (struct machine){0};
		dpe_nets_machine_add(one, whole.places[i]);
	}
	free(whole.places);
}

void dpe_nets_machines_free(struct machines *machines)
{
	for (unsigned i = 0; i < machines->count; i++)
		free(machines->at[i].places);
	free(machines->at);
}
