/* Cycles in the lock order (as of Goodlock): each thread holds what the one before it acquires. A
 * cycle is a potential deadlock where the threads are distinct, share no gate lock, and none of
 * their actions is ordered by creation, joining or sends alone. See README.md. */
#include "recognizer/deadlocks/lock_order.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>

struct cycle_search {
	struct dpe_lock_order *order;
	struct dpe_lock *end;
	struct step {
		struct dpe_acquisition *acquisition;
		struct dpe_instance *instance;
		struct dpe_instance *tried;  /* by an assignment that is not complete yet */
		const struct dpe_lock *held; /* the lock that the previous step acquires */
	} * steps;
	unsigned nsteps, length, longest;
	unsigned tries;
	bool longer; /* longer cycles may exist … */
	bool ended;  /* … beyond the limit */
	bool found;
	bool blind; /* instances that might have fitted were not kept … */
	bool late;  /* … since threads that begin were taken to follow them */
};

/* ---- what can be at the same time -------------------------------------------------------- */

/* A lock that both hold, at least one of them exclusively. */
static bool kept_apart(const struct dpe_lock_set *a, const struct dpe_lock_set *b)
{
	unsigned i = 0, j = 0;

	while (i < a->count && j < b->count) {
		const struct dpe_lock *x = dpe_lock_of(a->at[i]), *y = dpe_lock_of(b->at[j]);

		if (x == y && !(a->at[i] & b->at[j] & DPE_SHARED))
			return true;
		i += x->serial <= y->serial;
		j += y->serial <= x->serial;
	}
	return false;
}

static bool independent(const struct dpe_instance *a, const struct dpe_instance *b)
{
	return a->strand != b->strand && !dpe_lock_past_reaches(b->past, a->strand, a->epoch) &&
	       !dpe_lock_past_reaches(a->past, b->strand, b->epoch);
}

static bool acquisition_fits(const struct cycle_search *search, const struct dpe_acquisition *acquisition)
{
	for (unsigned i = 0; i < search->nsteps; i++) {
		if (kept_apart(search->steps[i].acquisition->key.held, acquisition->key.held))
			return false;
	}
	return true;
}

/* False once the search has taken as many steps as it may. */
static bool has_budget(const struct cycle_search *search)
{
	return search->tries <= DPE_MAX_SEARCH_STEPS;
}

static bool instance_fits(
	const struct cycle_search *search, unsigned at, const struct dpe_instance *instance)
{
	for (unsigned i = 0; i < at; i++) {
		if (!independent(search->steps[i].tried, instance))
			return false;
	}
	return true;
}

/* Finds instances for the steps from `at` on, independent of each other and of those before. */
static bool assign_from(struct cycle_search *search, unsigned at)
{
	const struct dpe_acquisition *acquisition = search->steps[at].acquisition;

	for (unsigned i = 0; i < acquisition->ninstances; i++) {
		search->tries++;
		if (!has_budget(search))
			return false;
		if (!instance_fits(search, at, acquisition->instances[i]))
			continue;
		search->steps[at].tried = acquisition->instances[i];
		if (at + 1 == search->nsteps || assign_from(search, at + 1))
			return true;
	}
	return false;
}

static void note_limits(struct cycle_search *search)
{
	for (unsigned i = 1; i < search->nsteps; i++) {
		const struct dpe_acquisition *acquisition = search->steps[i].acquisition;

		search->blind |= acquisition->dropped || (acquisition->thinned && search->length > 2);
		search->late |= acquisition->passed && search->steps[0].instance->strand->stranger;
	}
}

/* Finds instances for all steps: if possible, one for the last step that fits the others. */
static bool assign(struct cycle_search *search)
{
	bool found = assign_from(search, search->nsteps - 1) || assign_from(search, 1);

	for (unsigned i = 1; i < search->nsteps; i++) {
		struct step *step = &search->steps[i];

		if (found)
			step->instance = step->tried;
		else
			step->tried = step->instance;
	}
	if (!found)
		note_limits(search);
	return found;
}

/* ---- noting ------------------------------------------------------------------------------ */

/* Mixes 0 as well, since that is the hash of the lock with number 0. */
static uint64_t mix(uint64_t site)
{
	return dpe_splitmix(site + 0x9e3779b97f4a7c15ull);
}

static struct dpe_lock_cycle *find_cycle(struct dpe_lock_order *order, uint64_t signature)
{
	struct dpe_lock_cycle *cycle;

	HASH_FIND(hh, order->cycles, &signature, sizeof(signature), cycle);
	return cycle;
}

static struct dpe_lock_cycle *add_cycle(struct dpe_lock_order *order, uint64_t signature)
{
	struct dpe_lock_cycle *cycle = dpe_xcalloc(1, sizeof(*cycle));

	cycle->signature = signature;
	HASH_ADD(hh, order->cycles, signature, sizeof(cycle->signature), cycle);
	return cycle;
}

static struct dpe_message *since_of(const struct step *step)
{
	const struct dpe_lock_set *set = step->acquisition->key.held;
	unsigned i = 0;

	while (dpe_lock_of(set->at[i]) != step->held)
		i++;
	return step->instance->held[i] ? dpe_message_ref(step->instance->held[i]) : NULL;
}

/* The holder is the thread of the previous step, as in any deadlock. */
static struct dpe_wait *copy_steps(const struct cycle_search *search)
{
	unsigned count = search->nsteps;
	struct dpe_wait *waits = dpe_xcalloc(count, sizeof(*waits));

	for (unsigned i = 0; i < count; i++) {
		const struct step *step = &search->steps[i];
		const struct step *next = &search->steps[(i + 1) % count];
		struct dpe_message *taken = step->instance->taken;

		waits[count - 1 - i] = (struct dpe_wait){
			.thread = dpe_value_copy(step->instance->thread),
			.object = dpe_value_copy(step->acquisition->key.lock->keyed.value),
			.holder = dpe_value_copy(next->instance->thread),
			.waits = taken ? dpe_message_ref(taken) : NULL,
			.holds = since_of(next),
		};
	}
	return waits;
}

static void drop_waits(struct dpe_lock_cycle *cycle)
{
	dpe_wait_copies_free(cycle->waits, cycle->nwaits); /* copy_steps counted the references */
	dpe_cycle_requests_free(cycle);
	cycle->waits = NULL;
	cycle->nwaits = 0;
}

static struct dpe_lock_places *find_places(struct dpe_lock_order *order, uint64_t signature)
{
	struct dpe_lock_places *places;

	HASH_FIND(hh, order->places, &signature, sizeof(signature), places);
	if (places)
		return places;
	places = dpe_xcalloc(1, sizeof(*places));
	places->signature = signature;
	HASH_ADD(hh, order->places, signature, sizeof(places->signature), places);
	return places;
}

static void add_requests(const struct cycle_search *search, struct dpe_lock_cycle *cycle)
{
	struct dpe_requests **at = dpe_xcalloc(search->nsteps, sizeof(struct dpe_requests *));

	for (unsigned i = 0; i < search->nsteps; i++)
		at[i] = search->steps[i].acquisition->requests;
	dpe_cycle_requests_add(cycle, at);
}

static void count_at_places(struct dpe_lock_order *order, struct dpe_lock_cycle *cycle)
{
	struct dpe_lock_places *places = find_places(order, cycle->site);

	order->ncycles++;
	if (!places->count++)
		places->first = cycle;
}

static void keep_cycle(const struct cycle_search *search, uint64_t signature, uint64_t site)
{
	struct dpe_lock_order *order = search->order;
	struct dpe_lock_places *places;
	struct dpe_lock_cycle *cycle;

	if (order->ncycles >= DPE_MAX_CYCLES) {
		order->cycles_dropped++;
		return;
	}
	places = find_places(order, site);
	if (places->count >= DPE_MAX_SAME_SITES) {
		places->first->others = true;
		return;
	}
	cycle = add_cycle(order, signature);
	cycle->site = site;
	cycle->rule = order->rule;
	cycle->waits = copy_steps(search);
	cycle->nwaits = search->nsteps;
	add_requests(search, cycle);
	count_at_places(order, cycle);
}

static uint64_t sign_acquisition(uint64_t site, uint64_t alias)
{
	return mix(site + mix(alias));
}

/* The contribution of two successive acquisitions to the signature of a cycle. */
static uint64_t sign_pair(uint64_t first, uint64_t second)
{
	return mix(3 * first + second);
}

static uint64_t sign_step(const struct cycle_search *search, unsigned at)
{
	const struct dpe_acquisition *acquisition =
		search->steps[at % search->nsteps].acquisition;

	return sign_acquisition(acquisition->key.site, acquisition->alias);
}

/* Cycles of the same locks in the same order at the same sites are one, whichever threads they
 * have. */
static void note_cycle(struct cycle_search *search)
{
	uint64_t signature = 0, site = 0;
	struct dpe_lock_cycle *cycle;

	search->found = true;
	for (unsigned i = 0; i < search->nsteps; i++) {
		signature += sign_pair(sign_step(search, i), sign_step(search, i + 1));
		site += mix(search->steps[i].acquisition->key.site);
	}
	cycle = find_cycle(search->order, signature);
	if (!cycle)
		keep_cycle(search, signature, site);
	else if (cycle->nwaits == search->nsteps)
		add_requests(search, cycle);
}

static uint64_t sign_wait(const struct dpe_lock_order *order, const struct dpe_wait *wait)
{
	const struct dpe_lock *lock = dpe_lock_find(order, wait->object);
	uint64_t hash = dpe_value_hash(wait->object);
	uint64_t site = dpe_acquisition_site(wait->waits, wait->object);

	for (unsigned i = 0; lock && i < lock->in.count; i++) {
		const struct dpe_acquisition *acquisition = lock->in.at[i];

		if (acquisition->key.site == site || (site == hash && acquisition->key.site == acquisition->alias))
			return sign_acquisition(acquisition->key.site, acquisition->alias);
	}
	return sign_acquisition(site, hash);
}

/* Waits are in the reverse order of steps. */
void dpe_lock_order_closed(struct dpe_lock_order *order, const struct dpe_deadlock *deadlock)
{
	struct dpe_lock_cycle *cycle;
	uint64_t signature = 0;

	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		const struct dpe_wait *next = &deadlock->waits[(i + 1) % deadlock->nwaits];

		signature += sign_pair(sign_wait(order, next), sign_wait(order, &deadlock->waits[i]));
	}
	cycle = find_cycle(order, signature);
	if (cycle)
		drop_waits(cycle);
	else
		add_cycle(order, signature);
}

static void free_cycle(struct dpe_lock_order *order, struct dpe_lock_cycle *cycle)
{
	HASH_DEL(order->cycles, cycle);
	drop_waits(cycle);
	free(cycle);
}

static void free_places(struct dpe_lock_order *order)
{
	struct dpe_lock_places *places, *next;

	HASH_ITER (hh, order->places, places, next) {
		HASH_DEL(order->places, places);
		free(places);
	}
}

void dpe_lock_cycles_free(struct dpe_lock_order *order)
{
	struct dpe_lock_cycle *cycle, *next;

	free_places(order);
	HASH_ITER (hh, order->cycles, cycle, next)
		free_cycle(order, cycle);
}

/* ---- searching --------------------------------------------------------------------------- */

/* Computes how far each lock is from the end of the search; breadth first, from there. */
static void measure(struct cycle_search *search)
{
	struct dpe_lock **queue = NULL;
	unsigned count = 0, cap = 0;

	search->order->mark++;
	search->end->mark = search->order->mark;
	search->end->distance = 0;
	*DPE_GROW(queue, count, cap) = search->end;
	for (unsigned at = 0; at < count; at++) {
		struct dpe_lock *to = queue[at];

		if (to->distance == search->longest) {
			search->ended |= search->longest == DPE_MAX_CYCLE_THREADS;
			break;
		}
		for (unsigned i = 0; i < to->in.count; i++) {
			const struct dpe_lock_set *from = to->in.at[i]->key.held;

			for (unsigned j = 0; j < from->count; j++) {
				struct dpe_lock *lock = dpe_lock_of(from->at[j]);

				if (lock->mark == search->order->mark)
					continue;
				lock->mark = search->order->mark;
				lock->distance = to->distance + 1;
				*DPE_GROW(queue, count, cap) = lock;
			}
		}
	}
	free(queue);
}

static void search_from(struct cycle_search *search, struct dpe_lock *from);

/* Continues the search with the acquisition as the next step, if threads can make all of them. */
static void search_with(
	struct cycle_search *search, struct dpe_lock *from, struct dpe_acquisition *acquisition)
{
	search->steps[search->nsteps++] = (struct step){.acquisition = acquisition, .held = from};
	if (assign(search) && acquisition->key.lock == search->end)
		note_cycle(search);
	else if (search->steps[search->nsteps - 1].instance)
		search_from(search, acquisition->key.lock);
	search->nsteps--;
}

static bool leads_back(const struct cycle_search *search, const struct dpe_lock *to)
{
	return to->mark == search->order->mark && !to->on_path;
}

/* False if the cycle would be longer or shorter than the length looked for. */
static bool has_length(struct cycle_search *search, const struct dpe_lock *to)
{
	unsigned left = search->length - search->nsteps - 1;

	if (to == search->end)
		return !left;
	if (left && to->distance <= left)
		return true;
	search->longer = true;
	return false;
}

static void search_from(struct cycle_search *search, struct dpe_lock *from)
{
	from->on_path = true;
	for (unsigned i = 0; i < from->out.count && has_budget(search); i++) {
		struct dpe_acquisition *acquisition = from->out.at[i];

		if (leads_back(search, acquisition->key.lock) && acquisition_fits(search, acquisition) &&
			has_length(search, acquisition->key.lock))
			search_with(search, from, acquisition);
	}
	from->on_path = false;
}

/* Finds the cycles from the acquisition back to one of the locks held during it, shorter ones
 * first. Once a search was too long the rule is inconclusive, and the shortest ones do. */
static void find_to(struct cycle_search *search, struct dpe_lock *end)
{
	struct dpe_lock *taken = search->steps[0].acquisition->key.lock;

	search->end = end;
	search->steps[0].held = end;
	search->found = false;
	measure(search);
	if (taken->mark != search->order->mark)
		return;
	for (unsigned length = taken->distance + 1; length <= search->longest; length++) {
		search->length = length;
		search->longer = false;
		search_from(search, taken);
		if (!search->longer || !has_budget(search) ||
			(search->found && search->order->searches_ended))
			return;
	}
	search->ended |= search->longest == DPE_MAX_CYCLE_THREADS;
}

void dpe_lock_cycles_find(
	struct dpe_lock_order *order, struct dpe_acquisition *acquisition, struct dpe_instance *instance)
{
	struct cycle_search search = {.order = order, .nsteps = 1, .longest = order->nstrands};

	if (!acquisition->key.lock->out.count)
		return;
	if (search.longest > DPE_MAX_CYCLE_THREADS)
		search.longest = DPE_MAX_CYCLE_THREADS;
	search.steps = dpe_xcalloc(search.longest + 1, sizeof(*search.steps));
	search.steps[0] = (struct step){acquisition, instance, instance, NULL};
	for (unsigned i = 0; i < acquisition->key.held->count; i++)
		find_to(&search, dpe_lock_of(acquisition->key.held->at[i]));
	free(search.steps);
	order->searches_ended += search.ended || !has_budget(&search);
	order->searches_blind += search.blind;
	order->searches_late += search.late;
}

static bool is_in(const struct dpe_lock_cycle *cycle, struct dpe_value thread)
{
	for (unsigned i = 0; i < cycle->nwaits; i++) {
		if (dpe_value_equal(cycle->waits[i].thread, thread))
			return true;
	}
	return false;
}

void dpe_lock_cycles_redo(struct dpe_lock_order *order, struct dpe_value thread)
{
	struct dpe_lock_cycle *cycle, *next;
	struct dpe_acquisition *acquisition, *following;
	bool any = false;

	HASH_ITER (hh, order->cycles, cycle, next) {
		if (!is_in(cycle, thread))
			continue;
		any = true;
		free_cycle(order, cycle);
	}
	if (!any)
		return;
	order->searches_late += order->any_passed;
	free_places(order);
	order->ncycles = 0;
	for (cycle = order->cycles; cycle; cycle = cycle->hh.next) {
		if (cycle->waits) /* else reported as an actual deadlock */
			count_at_places(order, cycle);
	}
	HASH_ITER (hh, order->acquisitions, acquisition, following) {
		for (unsigned i = 0; i < acquisition->ninstances; i++)
			dpe_lock_cycles_find(order, acquisition, acquisition->instances[i]);
	}
}
