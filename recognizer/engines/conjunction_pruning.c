/* Drops partial matches that no future event can extend, and redundant ones:
 * docs/internals/conjunction.md. */
#include "recognizer/engines/conjunction.h"

#include <stdlib.h>
#include <string.h>

/* ---- one for another --------------------------------------------------------------------- */

static bool supersedes(const struct dpe_partial *new, const struct dpe_partial *old)
{
	if (new->mask != old->mask)
		return false;
	for (unsigned i = 0; i < new->first->count; i++) {
		if (!dpe_set_touches(old->first, new->first->at[i]))
			return false;
	}
	return true;
}

static bool has_like(const struct dpe_set *set, const struct dpe_occurrence *event)
{
	for (unsigned i = 0; i < set->count; i++) {
		const struct dpe_stamp *stamp = &set->at[i]->stamp;

		if (stamp->chain == event->stamp.chain && stamp->index <= event->stamp.index &&
			stamp->past == event->stamp.past)
			return true;
	}
	return false;
}

/* Nothing comes before the one that is independent of the other. */
static bool adds_no_past(const struct dpe_partial *new, const struct dpe_partial *old)
{
	if (dpe_set_same(new->last, old->last))
		return true;
	for (unsigned i = 0; i < new->last->count; i++) {
		if (!has_like(old->last, new->last->at[i]))
			return false;
	}
	return true;
}

bool dpe_partial_replaces(const struct dpe_run *run, const struct dpe_partial *new,
	const struct dpe_partial *old, enum dpe_partial_role role)
{
	const struct dpe_run *engine = run->conjunction->operands[new->operand].run;

	if (!old)
		return false;
	if (role == DPE_PARTIAL_ENDED)
		return adds_no_past(new, old) && supersedes(new, old);
	return (run->conjunction->whole || dpe_set_same(new->last, old->last)) &&
	       engine->follow->same(engine, &new->config, &old->config) && supersedes(new, old) &&
	       dpe_trail_same_named(run, new->trail, old->trail);
}

/* ---- without a future -------------------------------------------------------------------- */

struct horizon_view {
	const struct dpe_order *order, *shared; /* shared: of the events that all slices have; NULL: none */
	const struct dpe_horizon *horizon;
};

/* No event to come can have it as an immediate predecessor. */
static bool is_unseen(void *context, const struct dpe_occurrence *occurrence)
{
	const struct horizon_view *view = context;

	return dpe_order_bars(view->order, view->shared, view->horizon, occurrence);
}

static bool any_barred(const struct dpe_set *set, dpe_barred_fn *barred, void *context)
{
	for (unsigned i = 0; set && i < set->count; i++) {
		if (barred(context, set->at[i]))
			return true;
	}
	return false;
}

static bool is_dead(const struct dpe_run *run, const struct dpe_partial *partial,
	dpe_barred_fn *barred, void *context)
{
	const struct dpe_run *engine = run->conjunction->operands[partial->operand].run;

	return engine->follow->dead(engine, &partial->config, barred, context);
}

bool dpe_partial_is_passed(const struct dpe_run *run, const struct dpe_partial *partial,
	const struct dpe_occurrence *event)
{
	return (!partial->last || any_barred(partial->last, dpe_is_passed_by, (void *)event)) &&
	       is_dead(run, partial, dpe_is_passed_by, (void *)event);
}

struct pruning {
	struct dpe_run *run;
	struct dpe_slice *slice;
	struct horizon_view view;
};

static void drop(struct pruning *p, struct dpe_partial_list *partials, unsigned at)
{
	p->slice->matching->count--;
	dpe_partial_list_drop(p->run, partials, at);
}

static void drop_dead(struct pruning *p, struct dpe_partial_list *active)
{
	for (unsigned i = 0; i < active->count; i++) {
		if (active->at[i] && is_dead(p->run, active->at[i], is_unseen, &p->view))
			drop(p, active, i);
	}
	dpe_partial_list_close_gaps(active);
}

/* ---- several for several ----------------------------------------------------------------- */

struct dpe_peer {
	struct dpe_partial *partial;
	unsigned operand;
	unsigned to; /* what replaces it; itself at last */
	bool ended;
	bool changed;              /* … since it was compared with all others */
	struct dpe_partial_list *list;
	unsigned at; /* its place in the list */
};

struct dpe_peers {
	struct dpe_peer *at;
	unsigned count, cap, capindependent;
	bool of_two;       /* the rule has no more than two operands */
	bool *independent; /* of each with each */
};

static void add_peers(struct dpe_peers *peers, struct dpe_partial_list *partials, bool ended)
{
	for (unsigned i = 0; i < partials->count; i++) {
		struct dpe_peer *peer;

		if (!partials->at[i])
			continue;
		peer = DPE_GROW(peers->at, peers->count, peers->cap);
		*peer = (struct dpe_peer){
			.partial = partials->at[i],
			.operand = partials->at[i]->operand,
			.to = peers->count - 1,
			.ended = ended,
			.list = partials,
			.at = i,
		};
	}
}

/* Whether the two are independent. Where both operands of a rule have ended the match was
 * reported: in none to come are they together. */
static bool matters(
	const struct dpe_peers *peers, const struct dpe_peer *a, const struct dpe_peer *b)
{
	return a->operand != b->operand && !(a->ended && b->ended && peers->of_two);
}

static void compare_all(struct dpe_peers *peers)
{
	unsigned count = peers->count;

	if (count * count > peers->capindependent) {
		free(peers->independent);
		peers->capindependent = count * count;
		peers->independent =
			dpe_xmalloc(peers->capindependent * sizeof(*peers->independent));
	}
	for (unsigned i = 0; i < count; i++) {
		peers->independent[(size_t)i * count + i] = false;
		for (unsigned j = 0; j < i; j++) {
			const struct dpe_peer *a = &peers->at[i], *b = &peers->at[j];
			bool independent = matters(peers, a, b) &&
					   dpe_partials_independent(a->partial, b->partial);

			peers->independent[(size_t)i * count + j] = independent;
			peers->independent[(size_t)j * count + i] = independent;
		}
	}
}

static bool are_independent(const struct dpe_peers *peers, unsigned a, unsigned b)
{
	return peers->independent[(size_t)a * peers->count + b];
}

/* The latest before `from` that may replace the peer, or itself. */
static unsigned next_for(const struct dpe_peers *peers, unsigned at, unsigned from)
{
	const struct dpe_peer *peer = &peers->at[at];

	while (from-- > at + 1) {
		const struct dpe_peer *other = &peers->at[from];

		if (other->ended && other->operand == peer->operand &&
			supersedes(other->partial, peer->partial))
			return from;
	}
	return at;
}

static void begin_with_latest(struct dpe_peers *peers)
{
	for (unsigned at = 0; at < peers->count; at++) {
		unsigned end = at;

		while (end < peers->count && peers->at[end].operand == peers->at[at].operand)
			end++;
		if (peers->at[at].ended)
			peers->at[at].to = next_for(peers, at, end);
		peers->at[at].changed = peers->at[at].to != at;
	}
}

static void try_next_peer(struct dpe_peers *peers, unsigned a, unsigned b)
{
	struct dpe_peer *x = &peers->at[a], *y = &peers->at[b];
	bool second = x->to == a || (y->to != b && dpe_partial_precedes(peers->at[x->to].partial,
							   peers->at[y->to].partial));

	if (second)
		y->to = next_for(peers, b, y->to);
	else
		x->to = next_for(peers, a, x->to);
	(second ? y : x)->changed = true;
}

/* True if any gave way that was looked at before. */
static bool repair(struct dpe_peers *peers)
{
	bool changed = false;

	for (unsigned a = 0; a < peers->count; a++) {
		if (!peers->at[a].changed)
			continue;
		peers->at[a].changed = false;
		for (unsigned b = 0; b < peers->count; b++) {
			while (are_independent(peers, a, b) &&
				!are_independent(peers, peers->at[a].to, peers->at[b].to)) {
				try_next_peer(peers, a, b);
				changed = true;
			}
		}
	}
	return changed;
}

static void drop_replaced(struct pruning *p, struct dpe_peers *peers)
{
	bool kept[peers->count + 1];

	memset(kept, 0, sizeof(kept));
	for (unsigned i = 0; i < peers->count; i++)
		kept[peers->at[i].to] = true;
	for (unsigned i = 0; i < peers->count; i++) {
		if (!kept[i])
			drop(p, peers->at[i].list, peers->at[i].at);
	}
}

static void drop_redundant(struct pruning *p)
{
	struct dpe_matching *matching = p->slice->matching;
	struct dpe_conjunction *conjunction = p->run->conjunction;
	struct dpe_peers peers = {
		.at = conjunction->peers,
		.cap = conjunction->cappeers,
		.of_two = matching->noperands <= 2,
		.independent = conjunction->independent,
		.capindependent = conjunction->capindependent,
	};

	for (unsigned i = 0; i < matching->noperands; i++) {
		add_peers(&peers, &matching->lists[i].active, false);
		add_peers(&peers, &matching->lists[i].ended, true);
	}
	if (peers.count <= DPE_PRUNED_PEERS) {
		begin_with_latest(&peers);
		compare_all(&peers);
		while (repair(&peers))
			;
		drop_replaced(p, &peers);
		for (unsigned i = 0; i < matching->noperands; i++)
			dpe_partial_list_close_gaps(&matching->lists[i].ended);
	}
	conjunction->peers = peers.at;
	conjunction->cappeers = peers.cap;
	conjunction->independent = peers.independent;
	conjunction->capindependent = peers.capindependent;
}

void dpe_matching_prune(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon)
{
	struct pruning p = {run, slice, {&slice->order, run->shared ? &run->shared->order : NULL, horizon}};

	for (unsigned i = 0; horizon && i < slice->matching->noperands; i++)
		drop_dead(&p, &slice->matching->lists[i].active);
	if (!run->conjunction->whole)
		drop_redundant(&p);
}

/* ---- too many ------------------------------------------------------------------------------ */

static void drop_made_by(
	struct pruning *p, struct dpe_partial_list *partials, const struct dpe_occurrence *event)
{
	const struct dpe_matching *matching = p->slice->matching;
	uint64_t max = p->run->recognizer->options.max_instances;

	for (unsigned i = 0; i < partials->count && matching->count > max; i++) {
		if (partials->at[i] && partials->at[i]->trail->occurrence == event)
			drop(p, partials, i);
	}
	dpe_partial_list_close_gaps(partials);
}

void dpe_matching_make_room(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_occurrence *event)
{
	struct pruning p = {.run = run, .slice = slice};
	struct dpe_matching *matching = slice->matching;
	uint64_t max = run->recognizer->options.max_instances;

	if (!matching->full || event->number - matching->full > max) {
		dpe_matching_prune(run, slice, NULL);
		matching->full = matching->count > max ? event->number + 1 : 0;
	}
	if (matching->count <= max)
		return;
	slice->overflown = true;
	for (unsigned i = 0; i < matching->noperands; i++) {
		drop_made_by(&p, &matching->lists[i].active, event);
		drop_made_by(&p, &matching->lists[i].ended, event);
	}
}

void dpe_detect_forget(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon)
{
	if (slice->matching)
		dpe_matching_prune(run, slice, horizon);
}
