/* Drops partial matches that no future event can extend, and those that others can replace:
 * docs/internals/conjunction.md. */
#include "recognizer/engines/conjunction.h"
#include "recognizer/engines/engines.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DISSOLVED 100000 /* pairs of partial matches that are looked at */
#define MOST_COMPARED 4096 /* partial matches, each with each */

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
	if (run->shape->whole)
		return old && new->config.state == old->config.state &&
		       dpe_config_same(run, &new->config, &old->config) && supersedes(new, old) &&
		       dpe_trail_same_named(run, new->trail, old->trail);
	if (!old || new->conjunction || old->conjunction)
		return false;
	if (role == DPE_PARTIAL_ENDED)
		return adds_no_past(new, old) && supersedes(new, old);
	if (!dpe_set_same(new->last, old->last))
		return false;
	if (role == DPE_PARTIAL_ACTIVE &&
		(new->leaf != old->leaf || !dpe_set_same(new->bound, old->bound) ||
			!dpe_config_same(new->leaf->run, &new->config, &old->config)))
		return false;
	return supersedes(new, old);
}

/* ---- without a future -------------------------------------------------------------------- */

struct view {
	const struct dpe_order *order;
	const struct dpe_horizon *horizon;
};

/* No event to come can have it as an immediate predecessor. */
static bool is_unseen(void *context, const struct dpe_occurrence *occurrence)
{
	const struct view *view = context;

	return dpe_order_bars(view->order, view->horizon, occurrence);
}

static bool any_barred(const struct dpe_set *set, dpe_barred_fn *barred, void *context)
{
	for (unsigned i = 0; set && i < set->count; i++) {
		if (barred(context, set->at[i]))
			return true;
	}
	return false;
}

static bool is_dead(const struct dpe_partial *partial, dpe_barred_fn *barred, void *context)
{
	struct dpe_run *engine = partial->leaf->run;

	if (!dpe_config_is_dead(engine, &partial->config, barred, context))
		return false;
	return !partial->leaf->nnext || any_barred(partial->last, barred, context) ||
	       !dpe_config_final(engine, &partial->config);
}

bool dpe_partial_is_passed(const struct dpe_partial *partial, const struct dpe_occurrence *event)
{
	return (!partial->last || any_barred(partial->last, dpe_is_passed_by, (void *)event)) &&
	       is_dead(partial, dpe_is_passed_by, (void *)event);
}

struct tidying {
	struct dpe_run *run;
	struct dpe_slice *slice;
	struct dpe_pool *pool;
	struct view view;
};

static void drop(struct tidying *t, struct dpe_partial_list *partials, unsigned at)
{
	struct dpe_partial *partial = partials->at[at];

	t->slice->matching->count -= 1 + (partial->conjunction ? dpe_conjunction_count(partial->conjunction) : 0);
	dpe_partial_unref(t->pool, partial);
	partials->at[at] = NULL;
}

static bool can_grow(const struct dpe_conjunction *conjunction)
{
	for (unsigned i = 0; i < conjunction->leaf->noperands; i++) {
		if (conjunction->lists[i].active.count)
			return true;
	}
	return false;
}

static bool has_closed(const struct dpe_conjunction *conjunction)
{
	for (unsigned i = 0; i < conjunction->leaf->noperands; i++) {
		if (conjunction->lists[i].closed.count)
			return true;
	}
	return false;
}

/* Some operand has nothing, and will never have. */
static bool lacks_one(const struct dpe_conjunction *conjunction)
{
	for (unsigned i = 0; i < conjunction->leaf->noperands; i++) {
		const struct dpe_lists *lists = &conjunction->lists[i];

		if (!lists->active.count && !lists->ended.count && !lists->closed.count &&
			!conjunction->leaf->operands[i].part->nullable)
			return true;
	}
	return false;
}

/* No operand elsewhere asks for what ended. */
static bool is_alone(const struct dpe_conjunction *conjunction)
{
	while ((conjunction = conjunction->outer)) {
		if (conjunction->leaf->noperands > 1)
			return false;
	}
	return true;
}

static bool is_over(const struct tidying *t, const struct dpe_partial *owner)
{
	return t->view.horizon && any_barred(owner->bound, is_unseen, (void *)&t->view) &&
	       !can_grow(owner->conjunction) && !has_closed(owner->conjunction);
}

static bool conjunction_is_dead(const struct tidying *t, const struct dpe_partial *owner)
{
	const struct dpe_conjunction *conjunction = owner->conjunction;

	if (dpe_conjunction_is_empty(conjunction))
		return true;
	if (!t->view.horizon || !any_barred(owner->bound, is_unseen, (void *)&t->view))
		return false;
	return lacks_one(conjunction) || is_over(t, owner);
}

static bool may_go(struct tidying *t, const struct dpe_partial *partial)
{
	if (partial->conjunction)
		return conjunction_is_dead(t, partial);
	return t->view.horizon && is_dead(partial, is_unseen, &t->view);
}

struct dissolving {
	struct tidying *tidying;
	struct dpe_partial *owner;
	struct dpe_partial_list *to;
};

static bool add_whole(void *context, const struct dpe_chosen *chosen)
{
	struct dissolving *d = context;
	struct dpe_matching *matching = d->tidying->slice->matching;

	if (matching->count >= d->tidying->run->recognizer->options.max_instances) {
		d->tidying->slice->overflown = true;
		return false;
	}
	*DPE_GROW(d->to->at, d->to->count, d->to->cap) =
		dpe_partial_sum(d->tidying->pool, d->owner, chosen);
	matching->count++;
	return true;
}

/* Nothing can be added to the conjunction, nor follow it: what it may be at its end is kept, each choice as
 * one partial match. */
static void dissolve(struct tidying *t, struct dpe_partial *owner, struct dpe_partial_list *to)
{
	struct dissolving d = {t, owner, to};
	uint64_t work = MOST_DISSOLVED;

	dpe_choose_whole(owner->conjunction, NULL, add_whole, &d, &work);
	if (!work)
		t->slice->overflown = t->slice->searched = true;
}

/* Conjunctions within come first. */
static void drop_dead(void *context, struct dpe_conjunction *conjunction, unsigned operand)
{
	struct dpe_lists *lists = &conjunction->lists[operand];
	struct tidying *t = context;

	for (unsigned i = 0; i < lists->active.count; i++) {
		if (!may_go(t, lists->active.at[i]))
			continue;
		if (lists->active.at[i]->conjunction && !is_alone(lists->active.at[i]->conjunction))
			dissolve(t, lists->active.at[i], &lists->ended);
		drop(t, &lists->active, i);
	}
	for (unsigned i = 0; t->view.horizon && i < lists->closed.count; i++) {
		if (any_barred(lists->closed.at[i]->last, is_unseen, &t->view))
			drop(t, &lists->closed, i);
	}
	dpe_partial_list_close_gaps(&lists->active);
	dpe_partial_list_close_gaps(&lists->closed);
}

/* ---- several for several ----------------------------------------------------------------- */

struct dpe_peer {
	struct dpe_partial *partial;
	unsigned list;  /* which operand of which conjunction */
	bool of_two;    /* that of the rule, of no more than two */
	unsigned to;    /* what stands for it; itself at last */
	bool ended;
	bool changed;   /* … since it was held against all others */
	struct dpe_partial **slot; /* where it stands, of those that ended */
};

struct peers {
	struct dpe_peer *at;
	unsigned count, cap, nlists, capapart;
	bool *apart; /* of each with each */
};

static void add_peers(
	struct peers *peers, const struct dpe_conjunction *conjunction, struct dpe_partial_list *partials, bool ended)
{
	for (unsigned i = 0; i < partials->count; i++) {
		struct dpe_peer *peer = DPE_GROW(peers->at, peers->count, peers->cap);

		*peer = (struct dpe_peer){
			.partial = partials->at[i],
			.list = peers->nlists,
			.of_two = !conjunction->outer && conjunction->leaf->noperands <= 2,
			.to = peers->count - 1,
			.ended = ended,
			.slot = &partials->at[i],
		};
	}
}

static void collect_peers(void *context, struct dpe_conjunction *conjunction, unsigned operand)
{
	struct dpe_lists *lists = &conjunction->lists[operand];
	struct peers *peers = context;

	add_peers(peers, conjunction, &lists->active, false);
	add_peers(peers, conjunction, &lists->closed, false);
	add_peers(peers, conjunction, &lists->ended, true);
	peers->nlists++;
}

/* Whether the two are independent. Where both operands of a rule have ended the match was told: in none
 * to come do they stand together. */
static bool matters(const struct dpe_peer *a, const struct dpe_peer *b)
{
	return a->list != b->list && !(a->ended && b->ended && a->of_two && b->of_two);
}

static void compare_all(struct peers *peers)
{
	unsigned count = peers->count;

	if (count * count > peers->capapart) {
		free(peers->apart);
		peers->capapart = count * count;
		peers->apart = dpe_xmalloc(peers->capapart * sizeof(*peers->apart));
	}
	for (unsigned i = 0; i < count; i++) {
		peers->apart[(size_t)i * count + i] = false;
		for (unsigned j = 0; j < i; j++) {
			bool apart = matters(&peers->at[i], &peers->at[j]) &&
				     dpe_partials_independent(peers->at[i].partial, peers->at[j].partial);

			peers->apart[(size_t)i * count + j] = apart;
			peers->apart[(size_t)j * count + i] = apart;
		}
	}
}

static bool are_apart(const struct peers *peers, unsigned a, unsigned b)
{
	return peers->apart[(size_t)a * peers->count + b];
}

/* The latest before `from` that may stand for the peer, or itself. */
static unsigned next_for(const struct peers *peers, unsigned at, unsigned from)
{
	const struct dpe_peer *peer = &peers->at[at];

	while (from-- > at + 1) {
		const struct dpe_peer *other = &peers->at[from];

		if (other->ended && other->list == peer->list &&
			supersedes(other->partial, peer->partial))
			return from;
	}
	return at;
}

static void begin_with_latest(struct peers *peers)
{
	for (unsigned at = 0; at < peers->count; at++) {
		unsigned end = at;

		while (end < peers->count && peers->at[end].list == peers->at[at].list)
			end++;
		if (peers->at[at].ended)
			peers->at[at].to = next_for(peers, at, end);
		peers->at[at].changed = peers->at[at].to != at;
	}
}

static bool comes_before(const struct dpe_partial *a, const struct dpe_partial *b)
{
	for (unsigned i = 0; i < b->last->count; i++) {
		if (dpe_set_touches(a->first, b->last->at[i]))
			return true;
	}
	return false;
}

static void give_way(struct peers *peers, unsigned a, unsigned b)
{
	struct dpe_peer *x = &peers->at[a], *y = &peers->at[b];
	bool second = x->to == a ||
		      (y->to != b && comes_before(peers->at[x->to].partial, peers->at[y->to].partial));

	if (second)
		y->to = next_for(peers, b, y->to);
	else
		x->to = next_for(peers, a, x->to);
	(second ? y : x)->changed = true;
}

/* True where any gave way that was looked at before. */
static bool mend(struct peers *peers)
{
	bool changed = false;

	for (unsigned a = 0; a < peers->count; a++) {
		if (!peers->at[a].changed)
			continue;
		peers->at[a].changed = false;
		for (unsigned b = 0; b < peers->count; b++) {
			while (are_apart(peers, a, b) &&
				!are_apart(peers, peers->at[a].to, peers->at[b].to)) {
				give_way(peers, a, b);
				changed = true;
			}
		}
	}
	return changed;
}

static void drop_others(struct tidying *t, struct peers *peers)
{
	bool kept[peers->count + 1];

	memset(kept, 0, sizeof(kept));
	for (unsigned i = 0; i < peers->count; i++)
		kept[peers->at[i].to] = true;
	for (unsigned i = 0; i < peers->count; i++) {
		if (kept[i])
			continue;
		dpe_partial_unref(t->pool, peers->at[i].partial);
		*peers->at[i].slot = NULL;
		t->slice->matching->count--;
	}
}

static void close_ended(void *context, struct dpe_conjunction *conjunction, unsigned operand)
{
	(void)context;
	dpe_partial_list_close_gaps(&conjunction->lists[operand].ended);
}

static void drop_redundant(struct tidying *t)
{
	struct dpe_conjunction *top = t->slice->matching->top;
	struct dpe_shape *shape = t->run->shape;
	struct peers peers = {
		.at = shape->peers,
		.cap = shape->cappeers,
		.apart = shape->apart,
		.capapart = shape->capapart,
	};

	dpe_conjunction_each(top, collect_peers, &peers);
	if (peers.count <= MOST_COMPARED) {
		begin_with_latest(&peers);
		compare_all(&peers);
		while (mend(&peers))
			;
		drop_others(t, &peers);
		dpe_conjunction_each(top, close_ended, NULL);
	}
	shape->peers = peers.at;
	shape->cappeers = peers.cap;
	shape->apart = peers.apart;
	shape->capapart = peers.capapart;
}

void dpe_matching_prune(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon)
{
	struct tidying t = {
		.run = run,
		.slice = slice,
		.pool = run->recognizer->pool,
		.view = {&slice->order, horizon},
	};

	dpe_conjunction_each(slice->matching->top, drop_dead, &t);
	if (!run->shape->whole)
		drop_redundant(&t);
}

struct newest {
	struct tidying *tidying;
	const struct dpe_occurrence *event;
	uint64_t most;
};

static void drop_made_by(struct newest *newest, struct dpe_partial_list *partials)
{
	struct tidying *t = newest->tidying;

	for (unsigned i = 0; i < partials->count && t->slice->matching->count > newest->most; i++) {
		const struct dpe_trail *trail = partials->at[i]->trail;

		if (!partials->at[i]->conjunction && trail->occurrence == newest->event)
			drop(t, partials, i);
	}
	dpe_partial_list_close_gaps(partials);
}

static void drop_newest(void *context, struct dpe_conjunction *conjunction, unsigned operand)
{
	drop_made_by(context, &conjunction->lists[operand].active);
	drop_made_by(context, &conjunction->lists[operand].ended);
	drop_made_by(context, &conjunction->lists[operand].closed);
}

void dpe_matching_make_room(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_occurrence *event)
{
	struct tidying t = {
		.run = run,
		.slice = slice,
		.pool = run->recognizer->pool,
		.view = {.order = &slice->order},
	};
	struct newest newest = {&t, event, run->recognizer->options.max_instances};
	struct dpe_matching *matching = slice->matching;

	if (!matching->full || event->number - matching->full > newest.most) {
		dpe_matching_prune(run, slice, NULL);
		matching->full = matching->count > newest.most ? event->number + 1 : 0;
	}
	if (matching->count <= newest.most)
		return;
	slice->overflown = true;
	dpe_conjunction_each(matching->top, drop_newest, &newest);
	dpe_conjunction_each(matching->top, drop_dead, &t); /* conjunctions that are empty now */
}

void dpe_detect_forget(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon)
{
	if (slice->matching)
		dpe_matching_prune(run, slice, horizon);
}
