// atomics: two threads access variables by atomic instructions only, and one also otherwise.
#include <atomic>
#include <cstdio>
#include <thread>

struct state {
	int plain;
	std::atomic<int> number{0};
	std::atomic<bool> flag{false};
} state;
std::atomic<long> total{0};
std::atomic<int> several[3];
namespace inner {
std::atomic<unsigned> count;
}
int built_in, exchanged, mixed;
volatile long sink;

static void work()
{
	for (int i = 0; i < 4; i++) {
		total += i;
		total.store(3, std::memory_order_relaxed);
		sink = total.load(std::memory_order_relaxed);
		state.number++;
		if (state.flag.load())
			state.flag = false;
		state.flag.store(true, std::memory_order_release);
		inner::count--;
		several[1].store(2, std::memory_order_release);
		__atomic_fetch_add(&built_in, 1, __ATOMIC_SEQ_CST);
		__atomic_exchange_n(&exchanged, i, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&mixed, 1, __ATOMIC_SEQ_CST);
		if (i == 2)
			mixed = 7;
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
}

int main()
{
	std::thread first(work), second(work);

	first.join();
	second.join();
	return 0;
}
