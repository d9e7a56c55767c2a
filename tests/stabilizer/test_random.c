/* Thousands of small executions, arriving in any order, compared with a slow model: the same order of
 * release, the same causal order by stamps as by closure, the same edges. */
#include "tests/stabilizer/capture.h"

#include "stabilizer/stages.h"

#define MAX 14
#define RULES 4

struct item {
	struct dpe_message draft;
	struct dpe_value preds[MAX];
	char id[16];
	unsigned pred_items[MAX];
	struct dpe_value keys[2];
	struct dpe_role roles[2];
	unsigned nroles;
	unsigned base; /* its place in what really happened */
	/* The model's state; sets are masks of arrivals. */
	bool released, complete, paired, awaits, gave_up;
	unsigned sends, taken; /* taken: by rule */
	unsigned past, edges;  /* edges: enter after it */
	unsigned number;
	unsigned turn; /* since when it awaits */
};

struct model {
	struct item items[MAX]; /* in order of arrival */
	unsigned count, arrived, released, turns;
	bool ordered, finished;
	uint64_t watermark[2];
	unsigned long long seed;
};

static const enum dpe_sync_pairing pairings[RULES] = {
	DPE_SYNC_FIFO, DPE_SYNC_LAST, DPE_SYNC_ALL, DPE_SYNC_ONCE};

static unsigned dice(struct model *model, unsigned sides)
{
	model->seed = model->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(model->seed >> 33) % sides;
}

/* ---- the model --------------------------------------------------------------------------- */

static bool same_thread(const struct item *a, const struct item *b)
{
	return a->draft.thread.kind == DPE_INT && b->draft.thread.kind == DPE_INT &&
	       a->draft.thread.num == b->draft.thread.num && a->draft.host.num == b->draft.host.num;
}

static bool gated(const struct model *model, const struct item *a)
{
	return a->draft.has_time && !model->ordered;
}

static bool same_clock(const struct model *model, const struct item *a, const struct item *b)
{
	return gated(model, a) && gated(model, b) && a->draft.host.num == b->draft.host.num;
}

/* The message names its predecessors. */
static bool is_stated(const struct model *model, const struct item *a)
{
	return !model->ordered && !a->draft.has_time &&
	       (a->draft.has_seq || a->draft.thread.kind != DPE_INT);
}

/* i follows j in its thread. */
static bool follows(const struct model *model, unsigned i, unsigned j)
{
	const struct item *a = &model->items[i], *b = &model->items[j];

	if (!same_thread(a, b))
		return false;
	return a->draft.has_seq ? b->draft.seq < a->draft.seq : j < i;
}

static bool earlier(const struct model *model, unsigned i, unsigned j)
{
	return same_clock(model, &model->items[i], &model->items[j]) &&
	       model->items[i].draft.time < model->items[j].draft.time;
}

/* Has the message right before it in its thread arrived? */
static bool has_turn(const struct model *model, unsigned i)
{
	const struct item *item = &model->items[i];
	unsigned before = 0;

	if (!item->draft.has_seq)
		return true;
	for (unsigned j = 0; j < model->arrived; j++)
		before += follows(model, i, j);
	return before == item->draft.seq;
}

static bool blocked(const struct model *model, unsigned i)
{
	const struct item *item = &model->items[i];
	unsigned host = (unsigned)item->draft.host.num;

	if (!has_turn(model, i))
		return true;
	if (gated(model, item) && !model->finished && item->draft.time >= model->watermark[host])
		return true;
	for (unsigned p = 0; p < item->draft.npreds; p++) {
		if (item->pred_items[p] >= model->arrived ||
			!model->items[item->pred_items[p]].complete)
			return true;
	}
	for (unsigned j = 0; j < model->arrived; j++) {
		if (follows(model, i, j) && !model->items[j].complete)
			return true;
		if (earlier(model, j, i) && !model->items[j].released)
			return true;
	}
	return false;
}

static bool deferred(const struct item *item)
{
	bool receives = false;

	for (unsigned r = 0; r < item->nroles; r++)
		receives |= !item->roles[r].send;
	return receives && item->draft.phase != DPE_EXIT;
}

static bool sends_complete(const struct model *model, const struct item *item)
{
	for (unsigned j = 0; j < model->arrived; j++) {
		if (item->sends >> j & 1 && !model->items[j].complete)
			return false;
	}
	return !item->awaits;
}

/* Everything that i waits for, transitively, as a mask, computed as a fixed point. */
static unsigned needs(const struct model *model, unsigned i, unsigned other)
{
	unsigned set = 1u << i, old;

	do {
		old = set;
		for (unsigned a = 0; a < model->arrived; a++) {
			const struct item *item = &model->items[a];

			if (!(set >> a & 1) || item->complete)
				continue;
			set |= item->sends;
			if (item->released)
				continue;
			for (unsigned p = 0; p < item->draft.npreds; p++)
				set |= item->pred_items[p] < model->arrived
					       ? 1u << item->pred_items[p]
					       : 0;
			for (unsigned b = 0; b < model->arrived; b++) {
				if (follows(model, a, b))
					set |= 1u << b;
				if (earlier(model, b, a) && !model->items[b].released &&
					(b != other || !deferred(&model->items[b])))
					set |= 1u << b;
			}
		}
	} while (set != old);
	return set;
}

static bool waits_for(const struct model *model, unsigned i, unsigned other)
{
	return !model->items[i].complete && needs(model, i, other) >> other & 1;
}

static bool is_before(const struct model *model, unsigned i, unsigned j)
{
	if (earlier(model, i, j))
		return true;
	return !earlier(model, j, i) && i < j;
}

static bool is_send(const struct item *item, unsigned rule, int64_t key)
{
	for (unsigned r = 0; r < item->nroles; r++) {
		if (item->roles[r].send && item->roles[r].rule == rule && item->keys[r].num == key)
			return true;
	}
	return false;
}

/* The first released send that is left, or the next one. */
static void pair_next(struct model *model, unsigned i, int64_t key)
{
	struct item *item = &model->items[i];
	int best = -1;

	for (unsigned j = 0; j < model->arrived; j++) {
		const struct item *send = &model->items[j];

		if (is_send(send, DPE_SYNC_FIFO, key) && send->released &&
			!(send->taken >> DPE_SYNC_FIFO & 1) && !waits_for(model, j, i) &&
			(best < 0 || send->number < model->items[best].number))
			best = (int)j;
	}
	item->awaits = best < 0;
	item->turn = model->turns++;
	if (best < 0)
		return;
	item->sends |= 1u << best;
	model->items[best].taken |= 1u << DPE_SYNC_FIFO;
}

static void pair_role(struct model *model, unsigned i, unsigned rule, int64_t key)
{
	struct item *item = &model->items[i];
	int best = -1, after = -1;

	if (rule == DPE_SYNC_FIFO && is_stated(model, item)) {
		pair_next(model, i, key);
		return;
	}
	for (unsigned j = 0; j < model->arrived; j++) {
		if (!is_send(&model->items[j], rule, key) || j == i ||
			model->items[j].taken >> rule & 1 || waits_for(model, j, i))
			continue;
		if (!is_before(model, j, i)) {
			if (after < 0 || is_before(model, j, (unsigned)after))
				after = (int)j;
			continue;
		}
		if (rule == DPE_SYNC_ALL)
			item->sends |= 1u << j;
		if (best < 0 || is_before(model, j, (unsigned)best) == (rule == DPE_SYNC_FIFO))
			best = (int)j;
	}
	if (rule == DPE_SYNC_ALL)
		return;
	if (best < 0 && rule == DPE_SYNC_ONCE)
		best = after;
	if (best < 0) {
		item->awaits |= rule == DPE_SYNC_ONCE;
		return;
	}
	item->sends |= 1u << best;
	if (rule == DPE_SYNC_FIFO)
		model->items[best].taken |= 1u << rule;
}

static void pair(struct model *model, unsigned i)
{
	struct item *item = &model->items[i];

	item->paired = true;
	for (unsigned r = 0; r < item->nroles; r++) {
		if (!item->roles[r].send)
			pair_role(model, i, item->roles[r].rule, item->keys[r].num);
	}
}

static unsigned edges_of(const struct model *model, unsigned set)
{
	unsigned edges = 0;

	for (unsigned i = 0; i < model->count; i++) {
		if (set >> i & 1)
			edges |= model->items[i].edges;
	}
	return edges;
}

static unsigned closed(const struct model *model, unsigned set)
{
	unsigned all = set;

	for (unsigned i = 0; i < model->count; i++) {
		if (set >> i & 1)
			all |= model->items[i].past;
	}
	return all;
}

/* The event before it in its thread, and the ones that it names. */
static unsigned direct_preds(const struct model *model, unsigned i)
{
	unsigned set = 0, last = 0;

	for (unsigned p = 0; p < model->items[i].draft.npreds; p++)
		set |= 1u << model->items[i].pred_items[p];
	for (unsigned j = 0; j < model->arrived; j++) {
		if (follows(model, i, j) && model->items[j].number >= last) {
			last = model->items[j].number + 1;
			set |= 1u << j;
		}
	}
	return set;
}

static void compare(
	const struct model *model, const struct capture *capture, unsigned i, unsigned added)
{
	const struct item *item = &model->items[i];
	const struct got *got;
	unsigned have = 0;

	assert_true(item->number < capture->ngot);
	got = &capture->got[item->number];
	assert_int_equal(got->message->place, i + 1);
	for (unsigned a = 0; a < got->nadded; a++)
		have |= 1u << (got->added[a]->place - 1);
	assert_int_equal(have, added);
	for (unsigned n = 0; n < item->number; n++) {
		unsigned j = (unsigned)capture->got[n].message->place - 1;

		assert_int_equal(
			dpe_precedes(&capture->got[n].stamp, &got->stamp), item->past >> j & 1);
		assert_false(dpe_precedes(&got->stamp, &capture->got[n].stamp));
	}
}

static void release(struct model *model, const struct capture *capture, unsigned i)
{
	struct item *item = &model->items[i];
	unsigned preds = direct_preds(model, i), base = closed(model, preds);
	unsigned fresh = edges_of(model, preds), added;

	if (!deferred(item))
		fresh |= item->sends | edges_of(model, item->sends);
	item->released = true;
	item->number = model->released++;
	item->past = base | closed(model, fresh);
	fresh &= ~base;
	added = fresh;
	for (unsigned j = 0; j < model->count; j++) {
		if (fresh >> j & 1)
			added &= ~model->items[j].past;
	}
	compare(model, capture, i, added);
}

static bool awaits(const struct item *item, unsigned rule, int64_t key)
{
	for (unsigned q = 0; q < item->nroles; q++) {
		if (item->awaits && !item->roles[q].send && item->roles[q].rule == rule &&
			item->keys[q].num == key)
			return true;
	}
	return false;
}

/* A send was released: the receive that waits longest gets it. */
static void offer(struct model *model, unsigned i, int64_t key)
{
	struct item *longest = NULL;

	if (!is_send(&model->items[i], DPE_SYNC_FIFO, key) ||
		model->items[i].taken >> DPE_SYNC_FIFO & 1)
		return;
	for (unsigned j = 0; j < model->arrived; j++) {
		struct item *item = &model->items[j];

		if (awaits(item, DPE_SYNC_FIFO, key) && !waits_for(model, i, j) &&
			(!longest || item->turn < longest->turn))
			longest = item;
	}
	if (!longest)
		return;
	longest->awaits = false;
	longest->sends |= 1u << i;
	model->items[i].taken |= 1u << DPE_SYNC_FIFO;
}

static bool complete_some(struct model *model)
{
	bool changed = false;

	for (unsigned i = 0; i < model->arrived; i++) {
		struct item *item = &model->items[i];

		if (!item->released || item->complete || !sends_complete(model, item))
			continue;
		item->complete = changed = true;
		if (deferred(item))
			item->edges = item->sends | edges_of(model, item->sends);
	}
	return changed;
}

static bool step(struct model *model, const struct capture *capture)
{
	for (unsigned i = 0; i < model->arrived; i++) {
		struct item *item = &model->items[i];

		if (item->released || blocked(model, i))
			continue;
		if (item->paired && !sends_complete(model, item))
			continue;
		if (!item->paired)
			pair(model, i);
		if (deferred(item) || sends_complete(model, item))
			release(model, capture, i);
		for (int64_t key = 0; key < 2 && item->released; key++)
			offer(model, i, key);
		return true;
	}
	return false;
}

static void settle(struct model *model, const struct capture *capture)
{
	do {
		while (complete_some(model))
			;
	} while (step(model, capture));
	assert_int_equal(model->released, capture->ngot);
}

/* A send has arrived: receives that wait for any send now wait for it. */
static void answer(struct model *model, unsigned i)
{
	const struct item *send = &model->items[i];

	for (unsigned r = 0; r < send->nroles; r++) {
		if (!send->roles[r].send || send->roles[r].rule != DPE_SYNC_ONCE)
			continue;
		for (unsigned j = 0; j < i; j++) {
			struct item *item = &model->items[j];

			if (awaits(item, DPE_SYNC_ONCE, send->keys[r].num) &&
				!waits_for(model, i, j)) {
				item->awaits = false;
				item->sends |= 1u << i;
			}
		}
	}
}

static bool give_up(struct model *model)
{
	for (unsigned i = 0; i < model->count; i++) {
		if (model->items[i].awaits) {
			model->items[i].awaits = false;
			return true;
		}
	}
	return false;
}

/* ---- making executions ------------------------------------------------------------------- */

enum world { UNTIMED, TIMED, ORDERED, MIXED, WORLDS };

static void make_roles(struct model *model, struct item *item, enum world world, bool seqs)
{
	unsigned first = world == MIXED ? DPE_SYNC_ALL : DPE_SYNC_FIFO;

	item->nroles = dice(model, 3) ? 1 : dice(model, 3);
	for (unsigned r = 0; r < item->nroles; r++) {
		unsigned rule = first + dice(model, world == MIXED ? 2 : RULES);

		/* Where some messages are in order of arrival, all of a queue are. */
		if (rule == DPE_SYNC_FIFO && !seqs && is_stated(model, item))
			rule = DPE_SYNC_LAST;
		/* A message waits for one value at most. */
		if (r && (rule == DPE_SYNC_ONCE || rule == DPE_SYNC_FIFO))
			rule = DPE_SYNC_ALL;
		item->keys[r] = dpe_value_int(dice(model, 2));
		item->roles[r] = (struct dpe_role){
			.rule = rule, .send = dice(model, 2), .nkeys = 1, .keys = &item->keys[r]};
		/* Where clocks and arrival disagree, several sends need not have a latest one. */
		if (world == MIXED && rule == DPE_SYNC_ONCE)
			item->roles[r].send = item->base == item->keys[r].num;
	}
	if (item->nroles == 2 && item->roles[0].rule == item->roles[1].rule)
		item->nroles = 1;
}

static void make_item(struct model *model, unsigned base, enum world world, bool seqs,
	unsigned *next, uint64_t *time)
{
	struct item *item = &model->items[base];
	unsigned host = world == MIXED ? dice(model, 2) : 0, thread = dice(model, 4);

	*item = (struct item){.base = base};
	item->draft.host = dpe_value_int(host);
	if (thread) {
		item->draft.thread = dpe_value_int(thread);
		item->draft.has_seq = seqs;
		item->draft.seq = next[host * 4 + thread]++;
	}
	*time += dice(model, 3);
	/* Either all messages of a thread have times or none. */
	item->draft.has_time = world == TIMED || world == ORDERED ||
			       (world == MIXED && (thread ? (thread + host) % 3 : dice(model, 2)));
	item->draft.time = *time;
	item->draft.phase = (enum dpe_phase)dice(model, 3);
	if (dice(model, 2) || item->draft.has_seq)
		snprintf(item->id, sizeof(item->id), "m%u", base);
	make_roles(model, item, world, seqs);
}

/* Shuffles, but messages that have no number keep the order of their thread. */
static void shuffle(struct model *model, bool wild)
{
	unsigned swaps = wild ? 100 : dice(model, 6);

	while (swaps--) {
		unsigned i = dice(model, model->count - 1);
		struct item swapped = model->items[i];

		if (same_thread(&swapped, &model->items[i + 1]) && !swapped.draft.has_seq)
			continue;
		model->items[i] = model->items[i + 1];
		model->items[i + 1] = swapped;
	}
}

/* Predecessors are named once the places of all messages are known. */
static void make_preds(struct model *model)
{
	for (unsigned i = 0; i < model->count; i++) {
		struct item *item = &model->items[i];

		for (unsigned r = 0; r < item->nroles; r++)
			item->roles[r].keys = &item->keys[r];
		if (item->id[0])
			item->draft.id = dpe_value_string(item->id);
		for (unsigned tries = dice(model, 4); tries--;) {
			unsigned j = dice(model, model->count);

			if (model->items[j].base >= item->base)
				continue;
			item->pred_items[item->draft.npreds] = j;
			item->preds[item->draft.npreds++] =
				model->items[j].id[0] ? dpe_value_string(model->items[j].id)
						      : dpe_value_int(j + 1);
		}
		item->draft.preds = item->preds;
	}
}

static void make(struct model *model, enum world world)
{
	unsigned next[8] = {0};
	uint64_t time = 1;
	bool seqs = dice(model, 2);

	model->count = 2 + dice(model, MAX - 1);
	model->ordered = world == ORDERED;
	for (unsigned i = 0; i < model->count; i++)
		make_item(model, i, world, seqs, next, &time);
	/* An ordered input keeps the order of its threads, or messages would be lost. */
	if (world != ORDERED)
		shuffle(model, dice(model, 2));
	make_preds(model);
}

/* The highest watermark that the rest of the input allows. */
static void raise_watermark(struct model *model, struct capture *capture, int64_t host)
{
	uint64_t time = UINT64_MAX;

	for (unsigned i = model->arrived; i < model->count; i++) {
		const struct dpe_message *draft = &model->items[i].draft;

		if (draft->has_time && draft->host.num == host && draft->time < time)
			time = draft->time;
	}
	if (time > model->watermark[host])
		model->watermark[host] = time;
	dpe_stabilizer_watermark(capture->stabilizer, dpe_value_int(host), time);
	settle(model, capture);
}

static void feed(struct model *model, struct capture *capture)
{
	for (unsigned i = 0; i < model->count; i++) {
		const struct item *item = &model->items[i];

		assert_true(push_draft(capture, &item->draft, item->roles, item->nroles));
		model->arrived++;
		answer(model, i);
		settle(model, capture);
		if (!dice(model, 4))
			raise_watermark(model, capture, dice(model, 2));
	}
}

/* Everything was released by now; the model catches up, and gives up where it must. Where later arrivals made a
 * cycle of a pairing by arrival, the rest has to be in doubt, and is not compared. */
static void follow_to_the_end(struct model *model, const struct capture *capture)
{
	model->finished = true;
	do {
		do {
			while (complete_some(model))
				;
		} while (step(model, capture));
	} while (give_up(model));
	assert_int_equal(capture->ngot, model->count);
	if (!capture->cycles)
		assert_int_equal(model->released, model->count);
	for (unsigned i = model->released; i < model->count; i++)
		assert_true(capture->got[i].doubtful);
}

static void run(enum world world, unsigned cases)
{
	unsigned cycles = 0;

	for (unsigned seed = 0; seed < cases; seed++) {
		struct model *model = dpe_xcalloc(1, sizeof(*model));
		struct capture capture;

		model->seed = seed * 2654435761u + world;
		make(model, world);
		capture_open(&capture, pairings, RULES, model->ordered);
		capture.quiet = true;
		if (!(seed % 4))
			capture.stabilizer->chain_max = 2;
		feed(model, &capture);
		if (seed % 8) {
			dpe_stabilizer_finish(capture.stabilizer);
			follow_to_the_end(model, &capture);
		}
		assert_int_equal(dpe_diags_errors(capture.diags), 0);
		cycles += capture.cycles != 0;
		capture_close(&capture);
		free(model);
	}
	print_message("%u executions, of which %u had a cycle\n", cases, cycles);
	assert_true(cycles < cases / 10);
}

static void untimed(void **state)
{
	(void)state;
	run(UNTIMED, 20000);
}

static void timed(void **state)
{
	(void)state;
	run(TIMED, 20000);
}

static void ordered(void **state)
{
	(void)state;
	run(ORDERED, 10000);
}

static void several_hosts(void **state)
{
	(void)state;
	run(MIXED, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(untimed),
		cmocka_unit_test(timed),
		cmocka_unit_test(ordered),
		cmocka_unit_test(several_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
