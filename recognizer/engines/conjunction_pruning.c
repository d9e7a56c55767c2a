/* Fibres that can go: those that nothing to come can extend, and those for which others can stand.
 *
 * One for another. Let M and N be fibres of one operand, of the same variables, and let each minimal
 * event of M be, or come after, one of N. What comes later and is independent of N is independent of
 * M: if it came after an event of M, then after a minimal one, and so after one of N. As in detect.c,
 * where both stand in the same place M can take what N can. So M can stand for N in each match to
 * come but for what the other operands have of it already: a fibre that is independent of N
 * may come before an event of M. It cannot
 *
 *   - where both have the same maximal events: what comes before one of M's events comes before a
 *     maximal one of M, which is one of N;
 *   - where each maximal event m of M has one n of N in its thread, and what precedes m from other
 *     threads precedes n: an event before m is then before n, or in that thread, at n or after it.
 *
 * Several for several. Where threads synchronise neither may hold for any M, and yet all fibres of
 * the last round can stand for all of the round before. So let f give each fibre x one, f(x), that can
 * stand for it as above but for what is there already (or x itself), such that, whenever x and y of
 * different operands are independent, f(x) and f(y) are. Then f takes each match to come to one
 * with the same events to come: what is no f(x) can go. Such an f is found by beginning with the
 * latest fibre for each; as long as x and y violate the condition, the one of f(x) and f(y) that
 * follows the other gives way to the next earlier. It ends, as taking each for itself violates nothing.
 *
 * Without a future. A fibre that is not whole goes on with events that have some of its own as
 * immediate predecessors: see pruning.c. So do fibres that are kept for what follows them. */
#include "recognizer/engines/conjunction.h"
#include "recognizer/engines/engines.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DISSOLVED 100000 /* pairs of fibres that are looked at */
#define MOST_COMPARED 4096 /* fibres, each with each */

/* ---- one for another --------------------------------------------------------------------- */

static bool supersedes(const struct dpe_fibre *new, const struct dpe_fibre *old)
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
static bool adds_no_past(const struct dpe_fibre *new, const struct dpe_fibre *old)
{
	if (dpe_set_same(new->last, old->last))
		return true;
	for (unsigned i = 0; i < new->last->count; i++) {
		if (!has_like(old->last, new->last->at[i]))
			return false;
	}
	return true;
}

bool dpe_fibre_replaces(const struct dpe_run *run, const struct dpe_fibre *new,
	const struct dpe_fibre *old, enum dpe_fibre_role role)
{
	if (run->shape->whole)
		return old && new->config.state == old->config.state &&
		       dpe_config_same(run, &new->config, &old->config) && supersedes(new, old) &&
		       dpe_trail_same_named(run, new->trail, old->trail);
	if (!old || new->braid || old->braid)
		return false;
	if (role == DPE_FIBRE_ENDED)
		return adds_no_past(new, old) && supersedes(new, old);
	if (!dpe_set_same(new->last, old->last))
		return false;
	if (role == DPE_FIBRE_ACTIVE &&
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

static bool is_dead(const struct dpe_fibre *fibre, dpe_barred_fn *barred, void *context)
{
	struct dpe_run *engine = fibre->leaf->run;

	if (!dpe_config_is_dead(engine, &fibre->config, barred, context))
		return false;
	return !fibre->leaf->nnext || any_barred(fibre->last, barred, context) ||
	       !dpe_config_final(engine, &fibre->config);
}

bool dpe_fibre_is_passed(const struct dpe_fibre *fibre, const struct dpe_occurrence *event)
{
	return (!fibre->last || any_barred(fibre->last, dpe_is_passed_by, (void *)event)) &&
	       is_dead(fibre, dpe_is_passed_by, (void *)event);
}

struct tidying {
	struct dpe_run *run;
	struct dpe_slice *slice;
	struct dpe_pool *pool;
	struct view view;
};

static void drop(struct tidying *t, struct dpe_fibres *fibres, unsigned at)
{
	struct dpe_fibre *fibre = fibres->at[at];

	t->slice->weave->count -= 1 + (fibre->braid ? dpe_braid_count(fibre->braid) : 0);
	dpe_fibre_unref(t->pool, fibre);
	fibres->at[at] = NULL;
}

static bool can_grow(const struct dpe_braid *braid)
{
	for (unsigned i = 0; i < braid->leaf->noperands; i++) {
		if (braid->lists[i].active.count)
			return true;
	}
	return false;
}

static bool has_closed(const struct dpe_braid *braid)
{
	for (unsigned i = 0; i < braid->leaf->noperands; i++) {
		if (braid->lists[i].closed.count)
			return true;
	}
	return false;
}

/* Some operand has nothing, and will never have. */
static bool lacks_one(const struct dpe_braid *braid)
{
	for (unsigned i = 0; i < braid->leaf->noperands; i++) {
		const struct dpe_lists *lists = &braid->lists[i];

		if (!lists->active.count && !lists->ended.count && !lists->closed.count &&
			!braid->leaf->operands[i].part->nullable)
			return true;
	}
	return false;
}

/* No operand elsewhere asks for what ended. */
static bool is_alone(const struct dpe_braid *braid)
{
	while ((braid = braid->outer)) {
		if (braid->leaf->noperands > 1)
			return false;
	}
	return true;
}

static bool is_over(const struct tidying *t, const struct dpe_fibre *owner)
{
	return t->view.horizon && any_barred(owner->bound, is_unseen, (void *)&t->view) &&
	       !can_grow(owner->braid) && !has_closed(owner->braid);
}

static bool braid_is_dead(const struct tidying *t, const struct dpe_fibre *owner)
{
	const struct dpe_braid *braid = owner->braid;

	if (dpe_braid_is_empty(braid))
		return true;
	if (!t->view.horizon || !any_barred(owner->bound, is_unseen, (void *)&t->view))
		return false;
	return lacks_one(braid) || is_over(t, owner);
}

static bool may_go(struct tidying *t, const struct dpe_fibre *fibre)
{
	if (fibre->braid)
		return braid_is_dead(t, fibre);
	return t->view.horizon && is_dead(fibre, is_unseen, &t->view);
}

struct dissolving {
	struct tidying *tidying;
	struct dpe_fibre *owner;
	struct dpe_fibres *to;
};

static bool add_whole(void *context, const struct dpe_chosen *chosen)
{
	struct dissolving *d = context;
	struct dpe_weave *weave = d->tidying->slice->weave;

	if (weave->count >= d->tidying->run->recognizer->options.max_instances) {
		d->tidying->slice->overflown = true;
		return false;
	}
	*DPE_GROW(d->to->at, d->to->count, d->to->cap) =
		dpe_fibre_sum(d->tidying->pool, d->owner, chosen);
	weave->count++;
	return true;
}

/* Nothing can be added to the braid, nor follow it: what it may be at its end is kept, each choice as
 * one fibre. */
static void dissolve(struct tidying *t, struct dpe_fibre *owner, struct dpe_fibres *to)
{
	struct dissolving d = {t, owner, to};
	uint64_t work = MOST_DISSOLVED;

	dpe_choose_whole(owner->braid, NULL, add_whole, &d, &work);
	if (!work)
		t->slice->overflown = t->slice->searched = true;
}

/* Braids within come first. */
static void drop_dead(void *context, struct dpe_braid *braid, unsigned operand)
{
	struct dpe_lists *lists = &braid->lists[operand];
	struct tidying *t = context;

	for (unsigned i = 0; i < lists->active.count; i++) {
		if (!may_go(t, lists->active.at[i]))
			continue;
		if (lists->active.at[i]->braid && !is_alone(lists->active.at[i]->braid))
			dissolve(t, lists->active.at[i], &lists->ended);
		drop(t, &lists->active, i);
	}
	for (unsigned i = 0; t->view.horizon && i < lists->closed.count; i++) {
		if (any_barred(lists->closed.at[i]->last, is_unseen, &t->view))
			drop(t, &lists->closed, i);
	}
	dpe_fibres_close_gaps(&lists->active);
	dpe_fibres_close_gaps(&lists->closed);
}

/* ---- several for several ----------------------------------------------------------------- */

struct dpe_peer {
	struct dpe_fibre *fibre;
	unsigned list;  /* which operand of which braid */
	bool of_two;    /* that of the rule, of no more than two */
	unsigned to;    /* what stands for it; itself at last */
	bool ended;
	bool changed;   /* … since it was held against all others */
	struct dpe_fibre **slot; /* where it stands, of those that ended */
};

struct peers {
	struct dpe_peer *at;
	unsigned count, cap, nlists, capapart;
	bool *apart; /* of each with each */
};

static void add_peers(
	struct peers *peers, const struct dpe_braid *braid, struct dpe_fibres *fibres, bool ended)
{
	for (unsigned i = 0; i < fibres->count; i++) {
		struct dpe_peer *peer = DPE_GROW(peers->at, peers->count, peers->cap);

		*peer = (struct dpe_peer){
			.fibre = fibres->at[i],
			.list = peers->nlists,
			.of_two = !braid->outer && braid->leaf->noperands <= 2,
			.to = peers->count - 1,
			.ended = ended,
			.slot = &fibres->at[i],
		};
	}
}

static void collect_peers(void *context, struct dpe_braid *braid, unsigned operand)
{
	struct dpe_lists *lists = &braid->lists[operand];
	struct peers *peers = context;

	add_peers(peers, braid, &lists->active, false);
	add_peers(peers, braid, &lists->closed, false);
	add_peers(peers, braid, &lists->ended, true);
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
				     dpe_fibres_apart(peers->at[i].fibre, peers->at[j].fibre);

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
			supersedes(other->fibre, peer->fibre))
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

static bool comes_before(const struct dpe_fibre *a, const struct dpe_fibre *b)
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
		      (y->to != b && comes_before(peers->at[x->to].fibre, peers->at[y->to].fibre));

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
		dpe_fibre_unref(t->pool, peers->at[i].fibre);
		*peers->at[i].slot = NULL;
		t->slice->weave->count--;
	}
}

static void close_ended(void *context, struct dpe_braid *braid, unsigned operand)
{
	(void)context;
	dpe_fibres_close_gaps(&braid->lists[operand].ended);
}

static void drop_redundant(struct tidying *t)
{
	struct dpe_braid *top = t->slice->weave->top;
	struct dpe_shape *shape = t->run->shape;
	struct peers peers = {
		.at = shape->peers,
		.cap = shape->cappeers,
		.apart = shape->apart,
		.capapart = shape->capapart,
	};

	dpe_braid_each(top, collect_peers, &peers);
	if (peers.count <= MOST_COMPARED) {
		begin_with_latest(&peers);
		compare_all(&peers);
		while (mend(&peers))
			;
		drop_others(t, &peers);
		dpe_braid_each(top, close_ended, NULL);
	}
	shape->peers = peers.at;
	shape->cappeers = peers.cap;
	shape->apart = peers.apart;
	shape->capapart = peers.capapart;
}

void dpe_weave_tidy(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon)
{
	struct tidying t = {
		.run = run,
		.slice = slice,
		.pool = run->recognizer->pool,
		.view = {&slice->order, horizon},
	};

	dpe_braid_each(slice->weave->top, drop_dead, &t);
	if (!run->shape->whole)
		drop_redundant(&t);
}

struct newest {
	struct tidying *tidying;
	const struct dpe_occurrence *event;
	uint64_t most;
};

static void drop_made_by(struct newest *newest, struct dpe_fibres *fibres)
{
	struct tidying *t = newest->tidying;

	for (unsigned i = 0; i < fibres->count && t->slice->weave->count > newest->most; i++) {
		const struct dpe_trail *trail = fibres->at[i]->trail;

		if (!fibres->at[i]->braid && trail->occurrence == newest->event)
			drop(t, fibres, i);
	}
	dpe_fibres_close_gaps(fibres);
}

static void drop_newest(void *context, struct dpe_braid *braid, unsigned operand)
{
	drop_made_by(context, &braid->lists[operand].active);
	drop_made_by(context, &braid->lists[operand].ended);
	drop_made_by(context, &braid->lists[operand].closed);
}

void dpe_weave_make_room(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_occurrence *event)
{
	struct tidying t = {
		.run = run,
		.slice = slice,
		.pool = run->recognizer->pool,
		.view = {.order = &slice->order},
	};
	struct newest newest = {&t, event, run->recognizer->options.max_instances};
	struct dpe_weave *weave = slice->weave;

	if (!weave->full || event->number - weave->full > newest.most) {
		dpe_weave_tidy(run, slice, NULL);
		weave->full = weave->count > newest.most ? event->number + 1 : 0;
	}
	if (weave->count <= newest.most)
		return;
	slice->overflown = true;
	dpe_braid_each(weave->top, drop_newest, &newest);
	dpe_braid_each(weave->top, drop_dead, &t); /* braids that are empty now */
}

void dpe_detect_forget(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon)
{
	if (slice->weave)
		dpe_weave_tidy(run, slice, horizon);
}
