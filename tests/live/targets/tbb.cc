/* Uses of oneTBB that are right, and wrong ones, which count in a variable of their own as well:
 * tbb right|wrong [NAME]. */
#define TBB_PREVIEW_MUTEXES 1
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/rw_mutex.h>
#include <tbb/tbb.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sched.h>
#include <unistd.h>

static bool wrong;
static int *shared;

static int use; /* the how manieth */

/* Until two threads are there in this use, so that both have work. It orders nothing. */
static void meet()
{
	static std::atomic<int> there[100];
	static thread_local int met;

	if (met == use)
		return;
	met = use;
	there[use].fetch_add(1, std::memory_order_relaxed);
	for (int i = 0; i < 1000 && there[use].load(std::memory_order_relaxed) < 2; i++)
		usleep(1000);
}

static void touch(int i, std::vector<int> &done)
{
	meet();
	done[i]++;
	if (wrong)
		++*shared;
}

static void check(const std::vector<int> &done)
{
	for (int n : done)
		if (n != 1)
			std::abort();
}

static void use_for()
{
	std::vector<int> done(100);

	tbb::parallel_for(0, 100, [&](int i) { touch(i, done); });
	check(done);
}

template <typename Partitioner> static void use_partitioner(Partitioner &&partitioner)
{
	std::vector<int> done(100);

	tbb::parallel_for(
		tbb::blocked_range<int>(0, 100),
		[&](auto range) {
			for (int i = range.begin(); i != range.end(); i++)
				touch(i, done);
		},
		partitioner);
	check(done);
}

static void use_static()
{
	use_partitioner(tbb::static_partitioner());
}

static void use_affinity()
{
	tbb::affinity_partitioner partitioner;

	use_partitioner(partitioner);
	use_partitioner(partitioner);
}

static void use_reduce()
{
	std::vector<int> done(100);
	auto body = [&](auto range, int sum) {
		for (int i = range.begin(); i != range.end(); i++)
			touch(i, done), sum++;
		return sum;
	};

	if (tbb::parallel_reduce(tbb::blocked_range<int>(0, 100), 0, body, std::plus<int>()) != 100)
		std::abort();
	check(done);
}

static void use_scan()
{
	std::vector<int> in(1000, 1), out(1000), done(1000);
	auto body = [&](auto range, int sum, auto last) {
		meet();
		for (int i = range.begin(); i != range.end(); i++) {
			sum += in[i];
			if (last)
				out[i] = sum, done[i]++;
			if (wrong)
				++*shared;
		}
		return sum;
	};

	tbb::parallel_scan(tbb::blocked_range<int>(0, 1000), 0, body, std::plus<int>());
	check(done);
	if (out[999] != 1000)
		std::abort();
}

static void use_sort()
{
	std::vector<int> numbers(10000);

	for (int i = 0; i < 10000; i++)
		numbers[i] = i * 7919 % 10000;
	tbb::parallel_sort(numbers.begin(), numbers.end(), [](int a, int b) {
		if (wrong)
			++*shared;
		return a < b;
	});
	for (int i = 0; i < 10000; i++)
		if (numbers[i] != i)
			std::abort();
}

static void use_invoke()
{
	std::vector<int> done(2);

	tbb::parallel_invoke([&] { touch(0, done); }, [&] { touch(1, done); });
	check(done);
}

static void use_group()
{
	std::vector<int> done(40);
	tbb::task_group group;

	for (int i = 0; i < 40; i++)
		group.run([&, i] { touch(i, done); });
	group.wait();
	check(done);
}

static void use_early_read()
{
	tbb::task_group group;
	int read = 0;

	group.run([] {
		meet();
		*shared = 1;
	});
	if (wrong)
		read = *shared;
	meet();
	group.wait();
	if (read + *shared == 0)
		std::abort();
}

static int fibonacci(int n)
{
	int a = 0, b = 0;
	tbb::task_group group;

	if (n < 2)
		return n;
	if (n < 8)
		meet();
	if (wrong)
		++*shared;
	group.run([&] { a = fibonacci(n - 1); });
	group.run([&] { b = fibonacci(n - 2); });
	group.wait();
	return a + b;
}

static void use_nested()
{
	if (fibonacci(12) != 144)
		std::abort();
}

static void use_exception()
{
	std::vector<int> done(100);

	try {
		tbb::parallel_for(0, 100, [&](int i) {
			touch(i, done);
			if (i == 50)
				throw i;
		});
	} catch (int) {
	}
	for (int &n : done)
		n = 0;
}

static void use_arena()
{
	std::vector<int> done(100);
	tbb::task_arena arena(2);

	arena.execute([&] { tbb::parallel_for(0, 100, [&](int i) { touch(i, done); }); });
	check(done);
}

/* More threads than the arena has room for: what they execute is enqueued. */
static void use_full_arena()
{
	tbb::task_arena arena(1, 1);
	std::vector<int> done(40);

	tbb::parallel_for(0, 40, [&](int i) {
		int result = 0;

		arena.execute([&] { result = i; });
		if (result != i)
			std::abort();
		touch(i, done);
	});
	check(done);
}

static void use_enqueue()
{
	std::vector<int> done(20);
	std::atomic<int> left(20);
	tbb::task_arena arena(2);

	for (int i = 0; i < 20; i++)
		arena.enqueue([&, i] {
			done[i]++;
			if (wrong)
				++*shared;
			left--;
		});
	if (wrong)
		++*shared;
	while (left)
		sched_yield();
	check(done);
}

static void use_isolation()
{
	std::vector<int> done(100);

	tbb::this_task_arena::isolate([&] { tbb::parallel_for(0, 100, [&](int i) { touch(i, done); }); });
	check(done);
}

/* Iterations that one thread would have run by itself before others wake. */
static void use_quick_for()
{
	std::vector<int> done(100);

	tbb::parallel_for(
		tbb::blocked_range<int>(0, 100, 1),
		[&](const tbb::blocked_range<int> &range) {
			for (int i = range.begin(); i != range.end(); i++) {
				done[i]++;
				if (wrong)
					++*shared;
			}
		},
		tbb::simple_partitioner());
	check(done);
}

static void use_pipeline()
{
	std::vector<int> done(100);
	int next = 0, sum = 0;

	tbb::parallel_pipeline(8, tbb::make_filter<void, std::unique_ptr<int>>(tbb::filter_mode::serial_in_order,
						  [&](tbb::flow_control &control) {
							  if (next == 100)
								  control.stop();
							  return std::make_unique<int>(next == 100 ? 0 : next++);
						  }) &
						  tbb::make_filter<std::unique_ptr<int>, int>(tbb::filter_mode::parallel,
							  [&](std::unique_ptr<int> i) {
								  touch(*i, done);
								  return *i;
							  }) &
						  tbb::make_filter<int, void>(
							  tbb::filter_mode::serial_out_of_order, [&](int i) { sum += i; }));
	check(done);
	if (sum != 99 * 50)
		std::abort();
}

static void use_graph()
{
	using namespace tbb::flow;
	std::vector<int> done(100);
	int sum = 0;
	graph g;
	function_node<int, int> square(g, unlimited, [&](int i) { return touch(i, done), i; });
	function_node<int> add(g, serial, [&](int i) { sum += i; });

	make_edge(square, add);
	for (int i = 0; i < 100; i++)
		square.try_put(i);
	g.wait_for_all();
	check(done);
	if (sum != 99 * 50)
		std::abort();
}

static void use_queue()
{
	std::vector<int> done(200);
	tbb::concurrent_queue<std::unique_ptr<int>> queue;
	tbb::concurrent_bounded_queue<int *> bounded;

	bounded.set_capacity(2);
	tbb::parallel_invoke(
		[&] {
			for (int i = 0; i < 100; i++) {
				queue.push(std::make_unique<int>(i));
				bounded.push(new int(100 + i));
				if (wrong)
					++*shared;
			}
		},
		[&] {
			std::unique_ptr<int> one;
			int *other;

			for (int i = 0; i < 100; i++) {
				bounded.pop(other);
				done[*other]++;
				delete other;
				while (!queue.try_pop(one))
					;
				done[*one]++;
				if (wrong)
					++*shared;
			}
		});
	check(done);
}

static void use_map()
{
	tbb::concurrent_hash_map<int, std::string> map;
	std::vector<int> done(100);

	tbb::parallel_for(0, 100, [&](int i) {
		decltype(map)::accessor at;

		map.insert(at, i % 10);
		at->second += 'x';
		at.release();
		touch(i, done);
	});
	for (int i = 0; i < 10; i++) {
		decltype(map)::const_accessor at;

		if (!map.find(at, i) || at->second.size() != 10)
			std::abort();
	}
}

static void use_locals()
{
	tbb::enumerable_thread_specific<int> counts;
	std::vector<int> done(100);

	tbb::parallel_for(0, 100, [&](int i) { touch(i, done), counts.local()++; });
	if (counts.combine(std::plus<int>()) != 100)
		std::abort();
}

/* Readers that write are wrong. */
template <typename Mutex> static void use_mutex()
{
	std::map<int, int> map;
	Mutex mutex;

	tbb::parallel_for(0, 100, [&](int i) {
		meet();
		typename Mutex::scoped_lock lock(mutex);
		map[i % 10]++;
		if (wrong)
			lock.release(), ++*shared;
	});
	for (auto &pair : map)
		if (pair.second != 10)
			std::abort();
}

template <typename Mutex> static void use_rw_mutex()
{
	std::map<int, int> map;
	Mutex mutex;

	tbb::parallel_for(0, 100, [&](int i) {
		typename Mutex::scoped_lock lock(mutex, false);
		meet();
		if (wrong)
			++*shared;
		if (map.count(i % 10) && i % 3)
			return;
		lock.upgrade_to_writer();
		map[i % 10]++;
	});
}

#define USES(X) \
	X(for, use_for) \
	X(quick_for, use_quick_for) \
	X(static, use_static) \
	X(affinity, use_affinity) \
	X(reduce, use_reduce) \
	X(scan, use_scan) \
	X(sort, use_sort) \
	X(invoke, use_invoke) \
	X(group, use_group) \
	X(early_read, use_early_read) \
	X(nested, use_nested) \
	X(exception, use_exception) \
	X(arena, use_arena) \
	X(full_arena, use_full_arena) \
	X(enqueue, use_enqueue) \
	X(isolation, use_isolation) \
	X(pipeline, use_pipeline) \
	X(graph, use_graph) \
	X(queue, use_queue) \
	X(map, use_map) \
	X(locals, use_locals) \
	X(spin_mutex, use_mutex<tbb::spin_mutex>) \
	X(queuing_mutex, use_mutex<tbb::queuing_mutex>) \
	X(mutex, use_mutex<tbb::mutex>) \
	X(speculative_mutex, use_mutex<tbb::speculative_spin_mutex>) \
	X(spin_rw_mutex, use_rw_mutex<tbb::spin_rw_mutex>) \
	X(queuing_rw_mutex, use_rw_mutex<tbb::queuing_rw_mutex>) \
	X(speculative_rw_mutex, use_rw_mutex<tbb::speculative_spin_rw_mutex>) \
	X(rw_mutex, use_rw_mutex<tbb::rw_mutex>)

#define VARIABLE(name, function) static int wrong_##name;
USES(VARIABLE)

#define USE(name, function) {#name, function, &wrong_##name},
static const struct {
	const char *name;
	void (*function)();
	int *shared;
} uses[] = {USES(USE)};

int main(int argc, char **argv)
{
	wrong = argc > 1 && !strcmp(argv[1], "wrong");
	for (auto &one : uses) {
		use++;
		shared = one.shared;
		if (argc > 1 && !strcmp(argv[1], "list"))
			puts(one.name);
		else if (argc < 3 || !strcmp(argv[2], one.name))
			one.function();
	}
	return 0;
}
