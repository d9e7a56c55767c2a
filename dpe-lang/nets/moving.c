/* Which transitions can be on a way from a beginning to an end, as far as each machine can tell.
 *
 * That is found without a look at the net's markings, machine by machine, again while anything
 * changes: a transition is of no use if one of the machines that it moves does not come there, or
 * cannot go on from there to where it is to end. Some of those that are left may be of no use, too.
 */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

struct mover {
	const struct net *net;
	const struct machine *machine;
	const bool *used;
	bool *come, *go; /* by state: it can be come to, and gone on from */
};

static unsigned from_state(const struct mover *m, const struct transition *t)
{
	return dpe_nets_state_of(m->machine, t->in, t->nin);
}

static unsigned to_state(const struct mover *m, const struct transition *t)
{
	return dpe_nets_state_of(m->machine, t->out, t->nout);
}

static bool spread(struct mover *m)
{
	bool changed = false;

	for (unsigned i = 0; i < m->net->ntransitions; i++) {
		const struct transition *t = &m->net->transitions[i];
		unsigned from = from_state(m, t), to = to_state(m, t);

		if (!m->used[i] || (!from && !to))
			continue;
		changed |= (m->come[from] && !m->come[to]) || (m->go[to] && !m->go[from]);
		m->come[to] |= m->come[from];
		m->go[from] |= m->go[to];
	}
	return changed;
}

/* True where some are of no use. */
static bool drop_useless(const struct mover *m, bool *used)
{
	bool any = false;

	for (unsigned i = 0; i < m->net->ntransitions; i++) {
		const struct transition *t = &m->net->transitions[i];
		unsigned from = from_state(m, t), to = to_state(m, t);

		if (!used[i] || (!from && !to) || (m->come[from] && m->go[to]))
			continue;
		used[i] = false;
		any = true;
	}
	return any;
}

/* False where the machine has no way at all. */
static bool look_at(const struct net *net, const struct machine *machine, const bool *starts,
	const bool *ends, bool *used, bool *changed)
{
	bool come[machine->nplaces + 1], go[machine->nplaces + 1], any = false;
	struct mover m = {.net = net, .machine = machine, .used = used, .come = come, .go = go};

	memcpy(come, starts, sizeof(come));
	memcpy(go, ends, sizeof(go));
	while (spread(&m))
		;
	*changed |= drop_useless(&m, used);
	for (unsigned i = 0; i <= machine->nplaces; i++)
		any |= starts[i] && go[i];
	return any;
}

static void find_states(
	const struct products *products, unsigned which, unsigned m, unsigned count, bool *states)
{
	for (unsigned i = 0; i < count; i++)
		states[i] = dpe_nets_products_have(products, which, m, i);
}

bool dpe_nets_find_moving(const struct net *net, const struct machines *machines,
	const struct from_to *ends, bool *used)
{
	bool changed = true, any = true;

	memset(used, true, net->ntransitions);
	while (changed && any) {
		changed = false;
		for (unsigned m = 0; m < machines->count && any; m++) {
			unsigned count = machines->at[m].nplaces + 1;
			bool from[count], to[count];

			find_states(ends->initial, ends->which_initial, m, count, from);
			find_states(ends->final, ends->which_final, m, count, to);
			any = look_at(net, &machines->at[m], from, to, used, &changed);
		}
	}
	return any;
}
