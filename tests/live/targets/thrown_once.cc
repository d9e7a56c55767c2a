// Runs of one std::call_once that throw until the last one does not, each by another thread; `race`: what follows it does not wait.
#include <atomic>
#include <mutex>
#include <thread>

static std::once_flag flag;
static std::atomic<int> turn; // relaxed: orders nothing
static int data;
static bool race;

__attribute__((noinline)) void put()
{
	data++;
}

struct putting {
	~putting()
	{
		put();
	}
};

static void routine()
{
	putting at_the_end;

	put();
	if (data < 5)
		throw 1;
}

static void call(int number)
{
	while (turn.load(std::memory_order_relaxed) != number)
		std::this_thread::yield();
	try {
		std::call_once(flag, routine);
	} catch (int) {
	}
	if (race)
		put();
	turn.store(number + 1, std::memory_order_relaxed);
}

int main(int argc, char **)
{
	race = argc > 1;
	std::thread first(call, 0), second(call, 1), third(call, 2), fourth(call, 3);

	first.join();
	second.join();
	third.join();
	fourth.join();
	return !race && data != 6;
}
