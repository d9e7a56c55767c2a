// containers: two threads use a container, one of which changes it by a function of libstdc++: with a mutex, or, with a
// second argument, without. The first one is over when the second begins.
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>

static std::mutex m;
static std::list<int> items{1, 2, 3}, others{7};
static std::map<int, int> table{{1, 1}, {2, 2}, {3, 3}};
static std::set<int> numbers{1, 2, 3};
static thread_local std::list<int> own{8}; // made before the mutex is taken
static volatile bool over;
static volatile int sum;

static const struct {
	const char *name;
	std::function<void()> first, second;
} cases[] = {
	{"list-pop", [] { items.pop_front(); }, [] { sum = items.front(); }},
	{"list-insert", [] { items.insert(items.begin(), 0); }, [] { sum = items.front(); }},
	{"list-splice", [] { items.splice(items.begin(), others); }, [] { sum = items.front(); }},
	{"list-append", [] { items.splice(items.end(), own); }, [] { items.splice(items.end(), own); }},
	{"list-move", [] { items.splice(items.begin(), items, --items.end()); }, [] { sum = items.front(); }},
	{"map-erase", [] { table.erase(1); }, [] { for (auto &entry : table) sum = entry.second; }},
	{"map-insert", [] { table[4] = 4; }, [] { for (auto &entry : table) sum = entry.second; }},
	{"set-erase", [] { numbers.erase(3); }, [] { sum = *numbers.rbegin(); }},
	{"set-insert", [] { numbers.insert(0); }, [] { sum = *numbers.begin(); }},
};

__attribute__((no_sanitize("thread"))) static void end_first()
{
	over = true;
}

__attribute__((no_sanitize("thread"))) static void await_first()
{
	while (!over)
		std::this_thread::yield();
}

static void use(const std::function<void()> &how, bool locks)
{
	std::unique_lock<std::mutex> lock(m, std::defer_lock);

	own.front()++;
	if (locks)
		lock.lock();
	how();
}

int main(int argc, char **argv)
{
	for (auto &one : cases) {
		if (strcmp(one.name, argv[1]))
			continue;
		std::thread a([&] { use(one.first, argc < 3); end_first(); });
		std::thread b([&] { await_first(); use(one.second, argc < 3); });
		a.join();
		b.join();
		return 0;
	}
	return 2;
}
