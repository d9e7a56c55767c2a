/* All behaviours of a net that has few, one by one.
 *
 * A run is followed with its events, their order, and for each token what is in its past: which of
 * several tokens in a place is taken makes another run of it, unless they are alike. Runs that
 * differ only in the names of events are followed once.
 *
 * Of what can happen next, often only some has to be looked at: transitions that compete with no
 * others for tokens, where nothing else can ever bring them more. One of these happens in every
 * behaviour that ends when nothing can happen any more, and may as well happen now. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define MANY_RUNS 20000
#define MANY_BEHAVIOURS 2000

struct known_run {
	struct pomset *run;
	UT_hash_handle hh;
};

struct follower {
	struct work *work;
	struct dpe_arena *arena;
	const struct net *net;
	struct known_run *runs;
	struct behaviours *behaviours;
	struct known_run *ended;
	bool *taken_from; /* by place: something takes from it */
	bool stops;       /* all ends are where nothing can happen */
	bool large;
	/* Where one run is followed further: */
	const struct pomset *run;
	tokens *marking;
	bool *chosen, *may; /* by transition */
	/* One firing under construction. */
	const struct transition *t;
	unsigned *taken;
};

/* True where it was not there before. */
static bool add_known(struct follower *f, struct known_run **known, struct pomset *run)
{
	size_t size = dpe_nets_pomset_size(run);
	struct known_run *found;

	HASH_FIND(hh, *known, run, size, found);
	if (found)
		return false;
	found = dpe_arena_alloc(f->arena, sizeof(*found));
	found->run = run;
	HASH_ADD_KEYPTR(hh, *known, run, size, found);
	return true;
}

static void add_run(struct follower *f, struct pomset *run)
{
	dpe_nets_pomset_sort(run);
	add_known(f, &f->runs, run);
	f->large |= HASH_COUNT(f->runs) > MANY_RUNS;
}

static struct pomset *new_run(struct follower *f, unsigned nevents, unsigned ntokens)
{
	struct pomset *run = dpe_arena_alloc(
		f->arena, sizeof(*run) + (nevents + ntokens + 1) * sizeof(*run->at));

	run->nevents = nevents;
	run->ntokens = ntokens;
	return run;
}

/* ---- one firing ----------------------------------------------------------------------------- */

/* The past of what nothing takes does not matter. */
static void put_token(struct follower *f, struct pomset *run, unsigned place, uint64_t past)
{
	run->at[run->nevents + run->ntokens++] =
		(struct in_run){place, f->taken_from[place] ? past : 0};
}

static void fire(struct follower *f)
{
	const struct pomset *old = f->run;
	unsigned nevents = old->nevents + (f->t->label ? 1 : 0), next = 0;
	struct pomset *run = new_run(f, nevents, old->ntokens - f->t->nin + f->t->nout);
	uint64_t past = 0;

	run->ntokens = 0;
	memcpy(run->at, old->at, old->nevents * sizeof(*run->at));
	for (unsigned i = 0; i < old->ntokens; i++) {
		const struct in_run *token = &old->at[old->nevents + i];

		if (next < f->t->nin && f->taken[next] == i) {
			past |= token->past;
			next++;
			continue;
		}
		put_token(f, run, (unsigned)token->what, token->past);
	}
	if (f->t->label) {
		run->at[old->nevents] =
			(struct in_run){dpe_nets_event_number(f->work->events, f->t->label), past};
		past |= UINT64_C(1) << old->nevents;
	}
	for (unsigned i = 0; i < f->t->nout; i++)
		put_token(f, run, f->t->out[i], past);
	add_run(f, run);
}

/* Inputs and tokens stand in the order of their places. Of tokens that are alike, the first ones
 * are taken. */
static void take(struct follower *f, unsigned at)
{
	const struct in_run *tokens_there = f->run->at + f->run->nevents;
	unsigned last = UINT32_MAX;

	if (at == f->t->nin) {
		fire(f);
		return;
	}
	for (unsigned i = at ? f->taken[at - 1] + 1 : 0; i < f->run->ntokens && !f->large; i++) {
		if (tokens_there[i].what != f->t->in[at])
			continue;
		if (last != UINT32_MAX && tokens_there[i].past == tokens_there[last].past)
			continue;
		last = i;
		f->taken[at] = i;
		take(f, at + 1);
	}
}

/* ---- what has to be looked at --------------------------------------------------------------- */

static bool can_fire(const struct net *net, const struct transition *t, const tokens *marking)
{
	tokens after[net->nplaces + 1];

	return dpe_nets_fire(net, t, marking, after);
}

static bool meet(const unsigned *a, unsigned na, const unsigned *b, unsigned nb)
{
	for (unsigned i = 0; i < na; i++) {
		if (dpe_nets_has_place(b, nb, a[i]))
			return true;
	}
	return false;
}

/* What may ever happen from here, or more. */
static void find_possible(struct follower *f)
{
	bool filled[f->net->nplaces + 1], changed = true;

	for (unsigned p = 0; p < f->net->nplaces; p++)
		filled[p] = f->marking[p];
	memset(f->may, 0, f->net->ntransitions);
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < f->net->ntransitions; i++) {
			const struct transition *t = &f->net->transitions[i];
			bool all = !f->may[i];

			for (unsigned j = 0; j < t->nin && all; j++)
				all = filled[t->in[j]];
			if (!all)
				continue;
			f->may[i] = changed = true;
			for (unsigned j = 0; j < t->nout; j++)
				filled[t->out[j]] = true;
		}
	}
}

/* With those that compete for tokens with chosen ones. */
static void choose_competing(struct follower *f)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (unsigned i = 0; i < f->net->ntransitions; i++) {
			const struct transition *t = &f->net->transitions[i];

			for (unsigned j = 0; j < f->net->ntransitions; j++) {
				const struct transition *other = &f->net->transitions[j];

				if (!f->chosen[i] || f->chosen[j] || !f->may[j] ||
					!meet(t->in, t->nin, other->in, other->nin))
					continue;
				f->chosen[j] = changed = true;
			}
		}
	}
}

/* Whether others can bring tokens that chosen ones could take. */
static bool are_fed(const struct follower *f)
{
	for (unsigned i = 0; i < f->net->ntransitions; i++) {
		const struct transition *t = &f->net->transitions[i];

		for (unsigned j = 0; j < f->net->ntransitions; j++) {
			const struct transition *other = &f->net->transitions[j];

			if (f->chosen[i] && !f->chosen[j] && f->may[j] &&
				meet(t->in, t->nin, other->out, other->nout))
				return true;
		}
	}
	return false;
}

static void choose(struct follower *f)
{
	find_possible(f);
	for (unsigned i = 0; f->stops && i < f->net->ntransitions; i++) {
		if (!can_fire(f->net, &f->net->transitions[i], f->marking))
			continue;
		memset(f->chosen, 0, f->net->ntransitions);
		f->chosen[i] = true;
		choose_competing(f);
		if (!are_fed(f))
			return;
	}
	memcpy(f->chosen, f->may, f->net->ntransitions);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void end_run(struct follower *f)
{
	struct pomset *whole = dpe_nets_pomset_part(f->arena, f->run,
		f->run->nevents == 64 ? UINT64_MAX : (UINT64_C(1) << f->run->nevents) - 1);

	if (!add_known(f, &f->ended, whole))
		return;
	*DPE_GROW(f->behaviours->at, f->behaviours->count, f->behaviours->cap) = whole;
	f->large |= f->behaviours->count > MANY_BEHAVIOURS;
}

static void follow(struct follower *f, const struct pomset *run)
{
	f->run = run;
	memset(f->marking, 0, f->net->nplaces * sizeof(*f->marking));
	for (unsigned i = 0; i < run->ntokens; i++)
		f->marking[run->at[run->nevents + i].what]++;
	if (dpe_nets_is_marked(f->net, &f->net->final, f->marking))
		end_run(f);
	choose(f);
	for (unsigned i = 0; i < f->net->ntransitions && !f->large; i++) {
		f->t = &f->net->transitions[i];
		if (!f->chosen[i] || !can_fire(f->net, f->t, f->marking))
			continue;
		f->taken = dpe_xcalloc(f->t->nin + 1, sizeof(*f->taken));
		take(f, 0);
		free(f->taken);
	}
}

static void begin(struct follower *f)
{
	for (unsigned i = 0; i < f->net->initial.count; i++) {
		const tokens *marking = f->net->initial.at[i];
		unsigned count = 0;
		struct pomset *run;

		for (unsigned p = 0; p < f->net->nplaces; p++)
			count += marking[p];
		run = new_run(f, 0, count);
		run->ntokens = 0;
		for (unsigned p = 0; p < f->net->nplaces; p++) {
			for (unsigned j = 0; j < marking[p]; j++)
				put_token(f, run, p, 0);
		}
		add_run(f, run);
	}
}

static void look_at_net(struct follower *f)
{
	const struct net *net = f->net;

	f->stops = true;
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		for (unsigned j = 0; j < t->nin; j++)
			f->taken_from[t->in[j]] = true;
		for (unsigned j = 0; j < net->final.count && f->stops; j++)
			f->stops = !can_fire(net, t, net->final.at[j]);
	}
}

static void follow_all(struct follower *f)
{
	unsigned n = f->net->nplaces, nt = f->net->ntransitions;

	f->taken_from = dpe_arena_alloc(f->arena, n + 1);
	f->marking = dpe_arena_alloc(f->arena, (n + 1) * sizeof(*f->marking));
	f->chosen = dpe_arena_alloc(f->arena, nt + 1);
	f->may = dpe_arena_alloc(f->arena, nt + 1);
	look_at_net(f);
	begin(f);
	for (struct known_run *r = f->runs; r && !f->large; r = r->hh.next)
		follow(f, r->run);
	HASH_CLEAR(hh, f->runs);
	HASH_CLEAR(hh, f->ended);
}

/* Whether no behaviour has more than so many events: else firings go round. */
static bool are_short(const struct net *net, const struct space *space)
{
	unsigned *most = dpe_xcalloc(space->nreached + 1, sizeof(*most));
	bool changed = true, within = true;

	while (changed && within) {
		changed = false;
		for (unsigned i = 0; i < space->nsteps && within; i++) {
			struct step s = space->steps[i];
			unsigned next = most[s.from] + (net->transitions[s.transition].label != 0);

			if (next <= most[s.to])
				continue;
			most[s.to] = next;
			changed = true;
			within = next <= MANY_RUN_EVENTS;
		}
	}
	free(most);
	return within;
}

bool dpe_nets_follow_runs(struct work *work, const struct net *net, struct dpe_arena *arena,
	struct behaviours *behaviours)
{
	struct follower f = {.work = work, .arena = arena, .net = net, .behaviours = behaviours};
	struct space *space = dpe_nets_explore(work, net);
	bool within = space && space->nreached <= MANY_RUNS && are_short(net, space);

	dpe_nets_space_free(space);
	if (within)
		follow_all(&f);
	return within && !f.large;
}
