/* The fast path of messages that wait for nothing, compared with the general path: the same events in the
 * same order, with the same causal order. Messages that others can name take the general path. */
#include "tests/stabilizer/capture.h"

#include "stabilizer/stages.h"

enum { EVENTS = 120, THREADS = 4, RUNS = 1000 };

static const enum dpe_sync_pairing pairings[] = {
	DPE_SYNC_LAST, DPE_SYNC_FIFO, DPE_SYNC_ALL, DPE_SYNC_ROUNDS, DPE_SYNC_ONCE};

static unsigned dice(uint64_t *seed, unsigned sides)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(*seed >> 33) % sides;
}

/* The paths of messages: the general path, as others can name them; the fast path; the fast path without a
 * sink for edges; a random one of these; and without the sink, where that is enough. */
enum way { HELD, THROUGH, UNTOLD, MIXED, COUNTED, WAYS };

static bool can_be_named(enum way way, unsigned i)
{
	return way == HELD || (way == MIXED && i * 2654435761u >> 29 == 0);
}

/* The message as a reader of logs would make it, in a block where no more can be than it has. */
static struct dpe_message *new_plain(const struct dpe_message *draft)
{
	struct dpe_value *args;
	struct dpe_message *message = dpe_message_begin(NULL, 0, &args);

	message->name = draft->name;
	message->place = draft->place;
	message->thread = draft->thread;
	message->phase = draft->phase;
	message->unreferenced = draft->unreferenced;
	message->has_seq = draft->has_seq;
	message->seq = draft->seq;
	message->host = draft->host;
	message->has_time = draft->has_time;
	message->time = draft->time;
	return message;
}

static void note_edge(void *context, uint64_t from, uint64_t to, unsigned rule)
{
	struct capture *capture = context;

	if (rule)
		dpe_text_printf(&capture->edges, "%u>%u:%u ", (unsigned)from, (unsigned)to, rule);
}

/* Somebody learns of edges, and on the fast path of all but those of the first pairing. */
static void ask_for_edges(struct capture *capture, enum way way)
{
	capture->stabilizer->sink.edge = note_edge;
	for (unsigned i = 0; i < DPE_COUNT(pairings); i++)
		capture->stabilizer->reports[i] = i || way == HELD;
}

/* Messages that later ones name, in any order of arrival: the same on each path. */
static bool is_named(unsigned i)
{
	return i * 2246822519u >> 29 == 0;
}

/* Some earlier message that can be named; false if there is none. */
static bool draw_pred(uint64_t *seed, unsigned i, struct dpe_value *pred)
{
	unsigned place = i ? dice(seed, i) : 0;

	*pred = dpe_value_int(place + 1);
	return i && is_named(place);
}

/* In the place of an event that the sink did not get. */
static bool is_counted(
	struct capture *capture, struct dpe_message *message, const struct dpe_role *roles, unsigned nroles)
{
	const char *name = dpe_name_text(capture->names, message->name);

	if (!(nroles || message->place % 3 ? dpe_stabilizer_count(capture->stabilizer, message, roles, nroles)
					   : dpe_stabilizer_count_some(capture->stabilizer, &message, 1, message->name, false)))
		return false;
	*DPE_GROW(capture->got, capture->ngot, capture->capgot) = (struct got){0};
	dpe_text_printf(&capture->story, "%s ", name);
	return true;
}

/* Taken in place of the sink, which gets it here. */
static bool is_passed(struct capture *capture, struct dpe_message *message)
{
	struct dpe_event event;
	struct dpe_thread *thread = dpe_stabilizer_next(capture->stabilizer, message, &event);

	if (!thread)
		return false;
	capture->stabilizer->sink.event(capture->stabilizer->sink.context, &event);
	dpe_stabilizer_passed(capture->stabilizer, thread, &event);
	return true;
}

/* By one of the ways into the stabilizer; all give the same events. */
static void give(struct capture *capture, struct dpe_message *message, const struct dpe_role *roles, unsigned nroles,
	enum way way)
{
	if (way == COUNTED && message->place % 4 != 1 && is_counted(capture, message, roles, nroles))
		return;
	if (!nroles && message->place % 2 && is_passed(capture, message))
		return;
	dpe_stabilizer_push(capture->stabilizer, message, roles, nroles, capture->diags);
}

/* The clocks of hosts, by which messages are put in order: threads reach the stabilizer one after the other. */
static void set_time(struct dpe_message *draft, unsigned hosts, unsigned i, unsigned thread)
{
	if (!hosts)
		return;
	draft->host = dpe_value_int(thread % hosts);
	draft->has_time = true;
	draft->time = 10 * i + 35 * (thread % 3);
}

static void pass_time(struct capture *capture, unsigned hosts, unsigned i)
{
	for (unsigned host = 0; host < hosts; host++)
		dpe_stabilizer_watermark(capture->stabilizer, dpe_value_int(host), 10 * i);
}

/* What happens depends on the seed alone. */
static void play(struct capture *capture, uint64_t seed, bool ordered, enum way way)
{
	uint64_t seqs[THREADS] = {0};
	bool numbered = dice(&seed, 2), names = dice(&seed, 2);
	/* A message that waits for its one send makes others wait, so this is not part of each run. */
	unsigned kinds = DPE_COUNT(pairings) - dice(&seed, 2);
	/* Messages that receive from one queue and send to another. */
	bool relays = dice(&seed, 2);
	unsigned hosts = dice(&seed, 3), pause = 1 + dice(&seed, 20);

	capture_open(capture, pairings, DPE_COUNT(pairings), ordered);
	capture->stabilizer->edges_unused = way >= UNTOLD;
	if (dice(&seed, 2))
		ask_for_edges(capture, way);
	if (dice(&seed, 4) == 0)
		capture->stabilizer->chain_max = 3 + dice(&seed, 8);
	if (dice(&seed, 2))
		capture->stabilizer->max_sends = dice(&seed, 3);
	if (dice(&seed, 2))
		kinds = 1; /* as locks */
	for (unsigned i = 0; i < EVENTS; i++) {
		unsigned thread = dice(&seed, THREADS), what = dice(&seed, 8);
		struct dpe_value key = dpe_value_int(dice(&seed, 2)), other = dpe_value_int(2 - key.num), pred;
		struct dpe_role roles[2] = {{.rule = dice(&seed, kinds),
			.send = what == 0,
			.nkeys = 1,
			.keys = &key,
			.round = i / 20 + dice(&seed, 2)}};
		unsigned nroles = what < 2 ? 1 + (relays && dice(&seed, 2)) : 0;
		struct dpe_message *message;
		struct dpe_message draft = {
			.name = dpe_intern_string(capture->names, what < 2 ? "sync" : "plain"),
			.place = i + 1,
			.thread = dpe_value_int(thread),
			.phase = what == 1 && dice(&seed, 2) ? DPE_EXIT : DPE_BARE,
			.unreferenced = !can_be_named(way, i) && !(names && is_named(i)),
			.has_seq = numbered && thread,
		};

		if (names && draw_pred(&seed, i, &pred)) {
			draft.preds = &pred;
			draft.npreds = 1;
		}
		roles[1] = roles[0];
		roles[1].send = !roles[0].send;
		roles[1].rule = dice(&seed, kinds);
		roles[1].keys = &other;
		draft.seq = seqs[thread]++;
		set_time(&draft, hosts, i, thread);
		if (numbered && what == 7)
			seqs[thread]++; /* a gap */
		message = i % 3 && !draft.npreds ? new_plain(&draft) : dpe_message_new(&draft);
		give(capture, message, roles, nroles, way);
		if (i % pause == 0)
			pass_time(capture, hosts, i);
	}
	dpe_stabilizer_finish(capture->stabilizer);
	assert_int_equal(capture->ngot, EVENTS);
}

/* Leaves out which edges were reported. */
static void drop_edges(struct dpe_text *story)
{
	size_t len = 0;

	for (size_t i = 0; i < story->len;) {
		i += story->at[i] == '+' ? strcspn(story->at + i, "? ") : 0;
		story->at[len++] = story->at[i++];
	}
	story->at[len] = '\0';
	story->len = len;
}

static void compare(struct capture *a, struct capture *b)
{
	bool reported = !a->stabilizer->edges_unused;

	if (!reported) {
		drop_edges(&a->story);
		drop_edges(&b->story);
	}
	assert_string_equal(a->story.at, b->story.at);
	assert_int_equal(a->edges.len, b->edges.len);
	if (a->edges.len)
		assert_string_equal(a->edges.at, b->edges.at);
	for (unsigned i = 0; i < EVENTS; i++) {
		const struct got *x = &a->got[i], *y = &b->got[i];

		if (!x->message)
			continue;
		assert_int_equal(x->message->place, y->message->place);
		assert_int_equal(x->stamp.chain, y->stamp.chain);
		assert_int_equal(x->stamp.index, y->stamp.index);
		assert_int_equal(x->doubtful, y->doubtful);
		assert_int_equal(x->nadded, reported ? y->nadded : 0);
		for (unsigned j = 0; j < EVENTS; j++) {
			if (a->got[j].message)
				assert_int_equal(dpe_precedes(&x->stamp, &a->got[j].stamp),
					dpe_precedes(&y->stamp, &b->got[j].stamp));
		}
	}
}

static void held_and_fast_paths_agree(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct capture ways[WAYS];

		for (enum way way = HELD; way < WAYS; way++) {
			play(&ways[way], seed * 7919, seed % 2, way);
			if (way)
				compare(&ways[way], &ways[HELD]);
		}
		for (unsigned i = 0; i < EVENTS; i++) /* held, an edge may lead from any */
			assert_int_equal(ways[THROUGH].got[i].stamp.exported,
				ways[UNTOLD].got[i].stamp.exported);
		for (enum way way = HELD; way < WAYS; way++)
			capture_close(&ways[way]);
	}
}

static void one_node_for_all(void **state)
{
	struct capture capture;
	struct dpe_pool *pool = dpe_pool_new();

	(void)state;
	capture_open(&capture, pairings, DPE_COUNT(pairings), false);
	for (uint64_t i = 0; i < 100; i++) {
		struct dpe_message draft = {
			.name = dpe_intern_string(capture.names, "plain"),
			.place = i + 1,
			.thread = dpe_value_int(1),
			.unreferenced = true,
		};
		struct dpe_message *message = dpe_message_new_in(pool, &draft);

		dpe_stabilizer_push(capture.stabilizer, message, NULL, 0, capture.diags);
	}
	/* One node for all. */
	assert_int_equal(capture.stabilizer->nchains, 1);
	assert_int_equal(capture.stabilizer->chains[0].tail->stamp.index, 100);
	assert_int_equal(capture.stabilizer->known.count, 0);
	capture_close(&capture);
	dpe_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_and_fast_paths_agree),
		cmocka_unit_test(one_node_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
