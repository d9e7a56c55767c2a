// What C++ programs synchronise by: a correct one, unless it is called with an argument.
#include <atomic>
#include <condition_variable>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

struct Named {
	std::string name = "a name that is too long for the object itself";
	int number = 3;
	~Named() { number = 0; }
};

static std::mutex mutex;
static std::condition_variable ready;
static std::queue<std::string> items;
static bool done;
static std::shared_mutex table_mutex;
static std::map<int, std::string> table;
static std::once_flag once;
static volatile size_t seen;

static Named &single()
{
	static Named named;

	return named;
}

static void produce(std::shared_ptr<Named> named)
{
	thread_local volatile size_t own;
	auto copy = named;

	own = copy->number + single().number;
	for (int i = 0; i < 50; i++) {
		std::string item = "item number " + std::to_string(i) + ", a long text";
		std::unique_lock<std::mutex> lock(mutex);

		items.push(item);
		ready.notify_one();
	}
	for (int i = 0; i < 20; i++) {
		if (i % 5) {
			std::shared_lock<std::shared_mutex> lock(table_mutex);
			auto found = table.find(i);

			own = found == table.end() ? 0 : found->second.size();
		} else {
			std::unique_lock<std::shared_mutex> lock(table_mutex);

			table[i] = "a long text that is on the heap " + std::to_string(i);
		}
	}
}

static void consume()
{
	for (;;) {
		std::unique_lock<std::mutex> lock(mutex);

		ready.wait(lock, [] { return done || !items.empty(); });
		if (items.empty())
			return;
		items.pop();
	}
}

// Two threads one after another, as it happens; but nothing sees to it.
static int forget_the_lock()
{
	static std::atomic<bool> pushed;
	std::thread first([] {
		items.push("one");
		pushed.store(true, std::memory_order_relaxed);
	});
	std::thread second([] {
		while (!pushed.load(std::memory_order_relaxed))
			usleep(100);
		items.push("two");
	});

	first.join();
	second.join();
	return 0;
}

int main(int argc, char **)
{
	if (argc > 1)
		return forget_the_lock();
	std::vector<std::thread> producers;
	auto named = std::make_shared<Named>();

	for (int i = 0; i < 4; i++)
		producers.emplace_back(produce, named);
	named.reset();
	std::thread consumer(consume);
	for (auto &producer : producers)
		producer.join();
	{
		std::lock_guard<std::mutex> lock(mutex);
		done = true;
	}
	ready.notify_all();
	consumer.join();
	auto later = std::async(std::launch::async, [] { return std::vector<int>(1000, 7); });
	seen = later.get().size();
	std::call_once(once, [] { std::cout << "done\n"; });
}
