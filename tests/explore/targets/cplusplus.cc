// Threads of C++: exceptions in them, thread_local destructors, futures, conditions, once.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static int destroyed;
static std::mutex mutex;

struct counted {
	bool used = false;
	~counted()
	{
		std::lock_guard<std::mutex> guard(mutex);
		destroyed += used;
	}
};

static thread_local counted mine;

static void throw_and_catch(std::atomic<int> &caught)
{
	{
		std::lock_guard<std::mutex> guard(mutex);
		mine.used = true;
	}
	try {
		throw std::runtime_error("expected");
	} catch (const std::exception &) {
		caught++;
	}
}

static void check_exceptions()
{
	std::atomic<int> caught{0};
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&] { throw_and_catch(caught); });
	for (auto &thread : threads)
		thread.join();
	assert(caught == 3 && destroyed == 3);
}

static void check_futures()
{
	auto future = std::async(std::launch::async, [] { return 7; });
	std::promise<int> promise;
	std::thread thread([&] { promise.set_value(3); });

	assert(future.get() == 7);
	assert(promise.get_future().get() == 3);
	thread.join();
}

static void check_condition()
{
	std::condition_variable condition;
	bool ready = false;
	std::thread thread([&] {
		std::unique_lock<std::mutex> lock(mutex);

		condition.wait(lock, [&] { return ready; });
	});

	{
		std::lock_guard<std::mutex> guard(mutex);
		ready = true;
	}
	condition.notify_one();
	thread.join();
}

int main()
{
	std::once_flag once;

	check_exceptions();
	check_futures();
	check_condition();
	std::call_once(once, [] {});
}
