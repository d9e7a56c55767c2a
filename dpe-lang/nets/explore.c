/* The markings of a net, and whether there is an end to them. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct seen {
	const tokens *marking;
	unsigned number;
	UT_hash_handle hh;
};

static size_t size_of(const struct net *net)
{
	return net->nplaces * sizeof(tokens);
}

/* The number of a marking, which is added where it was not there before. */
static unsigned number_of(struct space *space, const struct net *net, const tokens *marking,
	unsigned parent, unsigned by)
{
	struct reached *reached;
	struct seen *seen;

	HASH_FIND(hh, space->seen, marking, size_of(net), seen);
	if (seen)
		return seen->number;
	seen = dpe_arena_alloc(space->arena, sizeof(*seen));
	seen->number = space->nreached;
	reached = DPE_GROW(space->reached, space->nreached, space->capreached);
	reached->marking = dpe_arena_alloc(space->arena, size_of(net) + sizeof(tokens));
	reached->parent = parent;
	reached->by = by;
	memcpy(reached->marking, marking, size_of(net));
	seen->marking = reached->marking;
	HASH_ADD_KEYPTR(hh, space->seen, seen->marking, size_of(net), seen);
	return seen->number;
}

bool dpe_nets_fire(
	const struct net *net, const struct transition *t, const tokens *before, tokens *after)
{
	for (unsigned i = 0; i < t->nin; i++) {
		if (!before[t->in[i]])
			return false;
	}
	memcpy(after, before, size_of(net));
	for (unsigned i = 0; i < t->nin; i++) {
		if (!after[t->in[i]])
			return false;
		after[t->in[i]]--;
	}
	for (unsigned i = 0; i < t->nout; i++) {
		if (after[t->out[i]] == UINT16_MAX)
			return false;
		after[t->out[i]]++;
	}
	return true;
}

/* ---- what shows that a net is not safe ----------------------------------------------------- */

/* An ancestor that the marking covers: what led from it here can go on for ever. */
static bool covers(const struct net *net, const tokens *more, const tokens *less, unsigned *place)
{
	bool covered = true, above = false;

	for (unsigned p = 0; p < net->nplaces && covered; p++) {
		if (more[p] > less[p] && !above) {
			above = true;
			*place = p;
		}
		covered = more[p] >= less[p];
	}
	return covered && above;
}

static void add_firings(struct dpe_text *to, const struct net *net, const struct space *space,
	unsigned from, unsigned marking)
{
	const struct reached *at = &space->reached[marking];
	const struct transition *t = &net->transitions[at->by];

	if (marking == from || at->parent == marking)
		return;
	add_firings(to, net, space, from, at->parent);
	dpe_text_printf(to, "%s%s", to->len ? " " : "", t->label ? t->label : t->id);
}

static void tell_unsafe(struct work *work, const struct net *net, const struct space *space,
	unsigned ancestor, unsigned marking, unsigned place)
{
	struct dpe_text before = {0}, again = {0};

	add_firings(&before, net, space, marking, ancestor);
	add_firings(&again, net, space, ancestor, marking);
	dpe_diag_at(work->diags, DPE_ERROR, work->file,
		"net '%s' is not safe, so no safe DPE has its behaviours: %s%s%s%s can occur again "
		"and "
		"again, and each time place '%s' has more tokens",
		net->name, before.len ? "after " : "", before.len ? before.at : "",
		before.len ? ", " : "", again.at, net->places[place]);
	dpe_text_free(&before);
	dpe_text_free(&again);
}

static bool is_unsafe(
	struct work *work, const struct net *net, const struct space *space, unsigned marking)
{
	unsigned at = marking, place = 0;

	while (space->reached[at].parent != at) {
		at = space->reached[at].parent;
		if (!covers(net, space->reached[marking].marking, space->reached[at].marking,
			    &place))
			continue;
		tell_unsafe(work, net, space, at, marking, place);
		return true;
	}
	return false;
}

/* ---- exploring ----------------------------------------------------------------------------- */

/* `chosen`: what to look at, by transition; NULL: all. */
static bool visit(struct work *work, const struct net *net, struct space *space, unsigned from,
	const bool *chosen)
{
	tokens after[net->nplaces + 1];

	for (unsigned i = 0; i < net->ntransitions; i++) {
		unsigned before = space->nreached, to;

		if (chosen && !chosen[i])
			continue;
		if (!dpe_nets_fire(net, &net->transitions[i], space->reached[from].marking, after))
			continue;
		to = number_of(space, net, after, from, i);
		*DPE_GROW(space->steps, space->nsteps, space->capsteps) =
			(struct step){from, i, to};
		if (space->nreached > before && is_unsafe(work, net, space, to))
			return false;
	}
	return true;
}

bool dpe_nets_too_long(struct work *work, const struct net *net)
{
	work->tries += net->ntransitions;
	if (work->tries <= MANY_TRIES)
		return false;
	dpe_diag_at(work->diags, DPE_ERROR, work->file,
		"net '%s' is safe, but has too much to look at: given up after %u steps, with %u "
		"places and %u transitions",
		net->name, MANY_TRIES, net->nplaces, net->ntransitions);
	return true;
}

static bool is_too_much(struct work *work, const struct net *net, const struct space *space)
{
	if (space->nreached <= MANY_MARKINGS)
		return dpe_nets_too_long(work, net);
	dpe_diag_at(work->diags, DPE_ERROR, work->file,
		"net '%s' has more than %u markings, which are too many to look at", net->name,
		MANY_MARKINGS);
	return true;
}

static struct space *explore(struct work *work, const struct net *net, struct stubborn *stubborn)
{
	struct space *space = dpe_xcalloc(1, sizeof(*space));

	space->arena = dpe_arena_new();
	for (unsigned i = 0; i < net->initial.count; i++)
		number_of(space, net, net->initial.at[i], space->nreached, 0);
	for (unsigned at = 0; at < space->nreached; at++) {
		const bool *chosen = NULL;

		if (stubborn)
			chosen = dpe_nets_stubborn_at(stubborn, space->reached[at].marking);
		if (!is_too_much(work, net, space) && visit(work, net, space, at, chosen))
			continue;
		dpe_nets_space_free(space);
		return NULL;
	}
	return space;
}

struct space *dpe_nets_explore(struct work *work, const struct net *net)
{
	return explore(work, net, NULL);
}

struct space *dpe_nets_explore_ends(struct work *work, const struct net *net)
{
	struct stubborn *stubborn = dpe_nets_stubborn(net);
	struct space *space = explore(work, net, stubborn);

	dpe_nets_stubborn_free(stubborn);
	return space;
}

bool dpe_nets_can_explore(struct work *work, const struct net *net)
{
	struct dpe_diags *diags;
	struct space *space;
	uint64_t tries = work->tries;

	diags = dpe_nets_hush(work);
	space = dpe_nets_explore(work, net);
	dpe_nets_speak(work, diags);
	work->tries = tries;
	dpe_nets_space_free(space);
	return space != NULL;
}

void dpe_nets_space_free(struct space *space)
{
	if (!space)
		return;
	HASH_CLEAR(hh, space->seen);
	free(space->reached);
	free(space->steps);
	dpe_arena_free(space->arena);
	free(space);
}

unsigned dpe_nets_bound(struct work *work, const struct net *net, tokens *bounds)
{
	struct space *space = dpe_nets_explore(work, net);
	unsigned most = 1;

	if (!space)
		return 0;
	for (unsigned i = 0; i < space->nreached; i++) {
		for (unsigned p = 0; p < net->nplaces; p++) {
			if (space->reached[i].marking[p] > bounds[p])
				bounds[p] = space->reached[i].marking[p];
			if (bounds[p] > most)
				most = bounds[p];
		}
	}
	dpe_nets_space_free(space);
	return most;
}

bool dpe_nets_is_one_safe(struct work *work, const struct net *net)
{
	tokens *bounds = dpe_nets_marking(work, net);
	struct dpe_diags *diags;
	bool safe;

	diags = dpe_nets_hush(work);
	safe = dpe_nets_bound(work, net, bounds) == 1;
	dpe_nets_speak(work, diags);
	return safe;
}

/* ---- trimming ------------------------------------------------------------------------------ */

/* From which markings an end can be reached. Steps are looked at from the last on, again while
 * anything changes. */
static bool *find_useful(
	const struct net *net, const struct space *space, const struct markings *final)
{
	bool *useful = dpe_xcalloc(space->nreached + 1, sizeof(*useful)), changed = true;

	for (unsigned i = 0; i < space->nreached; i++)
		useful[i] = dpe_nets_is_marked(net, final, space->reached[i].marking);
	while (changed) {
		changed = false;
		for (unsigned i = space->nsteps; i-- > 0;) {
			if (useful[space->steps[i].from] || !useful[space->steps[i].to])
				continue;
			useful[space->steps[i].from] = changed = true;
		}
	}
	return useful;
}

static void add_used(const struct space *space, const bool *useful, bool *used)
{
	for (unsigned i = 0; i < space->nsteps; i++)
		used[space->steps[i].transition] |=
			useful[space->steps[i].from] && useful[space->steps[i].to];
}

bool dpe_nets_find_used(struct work *work, const struct net *net, const struct markings *initial,
	const struct markings *final, bool *used)
{
	struct net part = *net;
	struct space *space;
	bool *useful;

	part.initial = *initial;
	space = dpe_nets_explore(work, &part);
	if (!space)
		return false;
	useful = find_useful(net, space, final);
	add_used(space, useful, used);
	free(useful);
	dpe_nets_space_free(space);
	return true;
}

static tokens *without_places(struct work *work, const struct net *old, const struct net *new,
	const tokens *marking, const unsigned *number)
{
	tokens *kept = dpe_nets_marking(work, new);

	for (unsigned p = 0; p < old->nplaces; p++) {
		if (number[p] != UINT32_MAX)
			kept[number[p]] = marking[p];
	}
	return kept;
}

static struct net *keep(struct work *work, const struct net *net, const struct space *space,
	const bool *useful, const bool *used, unsigned *number)
{
	struct net *kept;
	unsigned count = 0;

	for (unsigned p = 0; p < net->nplaces; p++) {
		bool marked = false;

		for (unsigned i = 0; i < space->nreached && !marked; i++)
			marked = useful[i] && space->reached[i].marking[p];
		number[p] = marked ? count++ : UINT32_MAX;
	}
	kept = dpe_nets_new(work, net->name, count);
	for (unsigned p = 0; p < net->nplaces; p++) {
		if (number[p] != UINT32_MAX)
			kept->places[number[p]] = net->places[p];
	}
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];
		struct transition *copy;

		if (!used[i])
			continue;
		copy = dpe_nets_add(kept, t);
		for (unsigned j = 0; j < t->nin; j++)
			dpe_nets_arc(copy, false, number[t->in[j]]);
		for (unsigned j = 0; j < t->nout; j++)
			dpe_nets_arc(copy, true, number[t->out[j]]);
	}
	for (unsigned i = 0; i < space->nreached; i++) {
		if (!useful[i])
			continue;
		if (dpe_nets_is_marked(net, &net->initial, space->reached[i].marking))
			dpe_nets_mark(&kept->initial,
				without_places(work, net, kept, space->reached[i].marking, number));
		if (dpe_nets_is_marked(net, &net->final, space->reached[i].marking))
			dpe_nets_mark(&kept->final,
				without_places(work, net, kept, space->reached[i].marking, number));
	}
	return kept;
}

struct net *dpe_nets_trim(struct work *work, struct net *net)
{
	struct space *space = dpe_nets_explore(work, net);
	struct net *kept = NULL;
	bool *useful, *used;
	unsigned *number;

	if (!space)
		return NULL;
	useful = find_useful(net, space, &net->final);
	used = dpe_xcalloc(net->ntransitions + 1, sizeof(*used));
	number = dpe_xcalloc(net->nplaces + 1, sizeof(*number));
	add_used(space, useful, used);
	kept = keep(work, net, space, useful, used, number);
	free(useful);
	free(used);
	free(number);
	dpe_nets_space_free(space);
	if (kept->initial.count)
		return kept;
	dpe_diag_at(
		work->diags, DPE_ERROR, work->file, "net '%s' can never reach its end", net->name);
	return NULL;
}
