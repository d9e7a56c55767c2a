/* The hash table, the heap and the clocks by themselves. */
#include "tests/stabilizer/capture.h"

#include "stabilizer/stages.h"

static bool same_text(const void *entry, const void *key)
{
	return !strcmp(entry, key);
}

/* All entries in few slots, so that every probe sequence is long; compared with an array of flags. */
static void table(void **state)
{
	char texts[200][8];
	bool there[200] = {false};
	struct dpe_table table = {0};
	unsigned seed = 1, count = 0;

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		snprintf(texts[i], sizeof(texts[i]), "%u", i);
	for (unsigned step = 0; step < 20000; step++) {
		unsigned i = (seed = seed * 1103515245u + 12345u) >> 16;

		i %= 200;
		if (there[i])
			dpe_table_remove(&table, i % 5, texts[i]);
		else
			dpe_table_add(&table, i % 5, texts[i]);
		there[i] = !there[i];
		count = there[i] ? count + 1 : count - 1;
		assert_int_equal(table.count, count);
		i = step % 200;
		assert_ptr_equal(dpe_table_find(&table, i % 5, same_text, texts[i]),
			there[i] ? texts[i] : NULL);
	}
	dpe_table_remove(&table, 77, texts);
	assert_int_equal(table.count, count);
	dpe_table_free(&table);
	dpe_table_remove(&table, 0, texts);
	assert_null(dpe_table_find(&table, 0, same_text, "0"));
}

static void heap(void **state)
{
	struct dpe_message_node nodes[64] = {0};
	struct dpe_heap heap = {0};
	struct dpe_message_node *node;

	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		nodes[i].arrival = i;
		nodes[i].number = i * 37 % 64 / 4;
		dpe_heap_push(&heap, nodes[i].number, i, &nodes[i]);
	}
	for (unsigned i = 0; i < 64; i += 3)
		dpe_heap_remove(&heap, &nodes[i]);
	dpe_heap_remove(&heap, &nodes[0]);
	assert_int_equal(heap.count, 42);
	for (uint64_t last = 0; (node = dpe_heap_pop(&heap));) {
		uint64_t key = node->number * 64 + node->arrival;

		assert_true(key >= last);
		assert_int_not_equal(node->arrival % 3, 0);
		last = key;
	}
	free(heap.at);
}

static void clocks(void **state)
{
	struct dpe_past past = {.pool = dpe_pool_new()};
	struct dpe_stamp a = {3, 5, 0, NULL}, b = {1, 2, 0, NULL}, c = {2, 9, 0, NULL};

	(void)state;
	dpe_past_start(&past, NULL, 0, 0);
	assert_null(dpe_past_take(&past));
	dpe_past_add(&past, &a);
	dpe_past_add(&past, &b);
	c.past = dpe_past_take(&past);
	assert_int_equal(dpe_stamp_reach(&c, 3), 5);
	assert_int_equal(dpe_stamp_reach(&c, 1), 2);
	assert_int_equal(dpe_stamp_reach(&c, 2), 8);
	assert_int_equal(dpe_stamp_reach(&c, 7), 0);
	assert_true(dpe_precedes(&a, &c));
	assert_false(dpe_precedes(&c, &a));
	/* What is there already leaves the clock shared. */
	dpe_past_start(&past, c.past, 2, 0);
	dpe_past_add(&past, &b);
	assert_ptr_equal(dpe_past_take(&past), c.past);
	dpe_stamp_unref(&c);
	dpe_past_start(&past, NULL, 1, 0);
	dpe_past_add(&past, &c);
	b.past = dpe_past_take(&past);
	assert_int_equal(dpe_stamp_reach(&b, 2), 9);
	assert_int_equal(dpe_stamp_reach(&b, 3), 5);
	dpe_stamp_unref(&b);
	dpe_stamp_unref(&c);
	dpe_past_free(&past);
	dpe_pool_free(past.pool);
}

#define FAR_CHAINS 600

struct reaches {
	uint32_t at[FAR_CHAINS];
};

static void note_reach(void *context, uint32_t chain, uint32_t index)
{
	struct reaches *reaches = context;

	if (chain < FAR_CHAINS)
		reaches->at[chain] = index;
}

static void expect_reaches(const struct dpe_stamp *stamp, const struct reaches *model)
{
	struct reaches reported = {{0}};

	dpe_clock_each(stamp->past, NULL, note_reach, &reported);
	assert_memory_equal(&reported, model, sizeof(reported));
	for (uint32_t chain = 0; chain < FAR_CHAINS; chain++)
		assert_int_equal(dpe_stamp_reach(stamp, chain), model->at[chain]);
}

/* What grew since an older past of the chain, and nothing else. */
static void expect_growth(const struct dpe_stamp *stamp, const struct dpe_clock *since,
	const struct reaches *before, const struct reaches *now)
{
	struct reaches reported = {{0}};

	dpe_stamp_each_since(stamp, since, note_reach, &reported);
	for (uint32_t chain = 0; chain < FAR_CHAINS; chain++)
		assert_int_equal(reported.at[chain],
			now->at[chain] > before->at[chain] ? now->at[chain] : 0);
}

static void expect_joined(const struct dpe_stamp *a, const struct dpe_stamp *b,
	const struct reaches *of_a, const struct reaches *of_b)
{
	const struct dpe_stamp *both[] = {a, b};
	const struct dpe_clock *joined = dpe_pasts_join(both, 2);

	for (uint32_t chain = 0; chain < FAR_CHAINS; chain++) {
		uint32_t x = of_a->at[chain], y = of_b->at[chain];

		assert_int_equal(dpe_clock_reach(joined, chain), x > y ? x : y);
	}
	dpe_clock_unref(joined);
}

/* Random pasts over chains with small and large numbers, compared with arrays. */
static void wide_clocks(void **state)
{
	enum { STAMPS = 40, ROUNDS = 2000, OWN = 1000000 };
	static struct reaches models[STAMPS];
	struct dpe_stamp stamps[STAMPS];
	struct dpe_past past = {.pool = dpe_pool_new()};
	unsigned dice = 12345;

	(void)state;
	memset(models, 0, sizeof(models));
	for (unsigned i = 0; i < STAMPS; i++)
		stamps[i] = (struct dpe_stamp){OWN + i, 1, 0, NULL};
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned to = rand_r(&dice) % STAMPS, from = rand_r(&dice) % STAMPS;
		uint32_t range = rand_r(&dice) % 2 ? 16 : FAR_CHAINS;
		struct dpe_stamp other = {
			rand_r(&dice) % range, rand_r(&dice) % 9 + 1, 0, stamps[from].past};
		const struct dpe_clock *old = stamps[to].past;
		bool known = models[to].at[other.chain] >= other.index;
		struct reaches before = models[to];

		dpe_past_start(&past, old, OWN + to, 0);
		assert_int_equal(dpe_past_has(&past, &other), known);
		dpe_past_add(&past, &other);
		stamps[to].past = dpe_past_take(&past);
		if (known)
			assert_ptr_equal(stamps[to].past, old);
		for (uint32_t chain = 0; chain < FAR_CHAINS && !known; chain++) {
			uint32_t more = models[from].at[chain];

			if (models[to].at[chain] < more)
				models[to].at[chain] = more;
		}
		if (!known && models[to].at[other.chain] < other.index)
			models[to].at[other.chain] = other.index;
		expect_growth(&stamps[to], old, &before, &models[to]);
		expect_joined(&stamps[to], &stamps[from], &models[to], &models[from]);
		dpe_stamp_unref(&(struct dpe_stamp){.past = old});
		expect_reaches(&stamps[to], &models[to]);
		expect_reaches(&stamps[from], &models[from]);
	}
	for (unsigned i = 0; i < STAMPS; i++)
		dpe_stamp_unref(&stamps[i]);
	dpe_past_free(&past);
	dpe_pool_free(past.pool);
}

struct parts {
	const struct dpe_clock *seen[1024];
	unsigned nseen, nreaches;
};

static bool enter_once(void *context, const struct dpe_clock *part)
{
	struct parts *parts = context;

	for (unsigned i = 0; i < parts->nseen; i++) {
		if (parts->seen[i] == part)
			return false;
	}
	assert_true(parts->nseen < 1024);
	parts->seen[parts->nseen++] = part;
	return true;
}

static void count_reach(void *context, uint32_t chain, uint32_t reach)
{
	(void)chain;
	(void)reach;
	((struct parts *)context)->nreaches++;
}

/* A thread that joins others in turn: each of its pasts shares nearly everything with the one before, so
 * visiting all of them costs what they add, not their total size. */
static void shared_parts(void **state)
{
	enum { JOINED = 200, OWN = 1000 };
	struct dpe_stamp stamps[JOINED] = {{0}};
	struct dpe_past past = {.pool = dpe_pool_new()};
	struct parts parts = {.nseen = 0};

	(void)state;
	for (unsigned i = 0; i < JOINED; i++) {
		const struct dpe_stamp other = {i, 1, 0, NULL};

		dpe_past_start(&past, i ? stamps[i - 1].past : NULL, OWN, 0);
		dpe_past_add(&past, &other);
		stamps[i].past = dpe_past_take(&past);
	}
	for (unsigned i = 0; i < JOINED; i++)
		dpe_clock_each(stamps[i].past, enter_once, count_reach, &parts);
	assert_in_range(parts.nreaches, JOINED, 16 * JOINED);
	for (unsigned i = 0; i < JOINED; i++)
		dpe_stamp_unref(&stamps[i]);
	dpe_past_free(&past);
	dpe_pool_free(past.pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(heap),
		cmocka_unit_test(clocks),
		cmocka_unit_test(wide_clocks),
		cmocka_unit_test(shared_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
