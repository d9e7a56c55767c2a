/* C++20's ways to order threads: cases that are right, and a twin of each that is not. put and get of one number: in a right
 * case one comes before the other. */
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <future>
#include <latch>
#include <semaphore>
#include <stop_token>
#include <thread>

/* noipa: the calls stay as they are at -O2 */
[[gnu::noipa]] void put(int *number)
{
	*number = 1;
}

[[gnu::noipa]] int get(int *number)
{
	return *number;
}

#define CASE(name)                                                                                                            \
	static int name##_number;                                                                                              \
	static void name##_case(int *number);                                                                                  \
	static const struct test name##_test(#name, name##_case, &name##_number);                                              \
	static void name##_case(int *number)

struct test {
	static inline const test *last;
	const char *name;
	void (*run)(int *number);
	int *number;
	const test *next;

	test(const char *name, void (*run)(int *), int *number) : name(name), run(run), number(number), next(last)
	{
		last = this;
	}
};

CASE(right_semaphore)
{
	static std::counting_semaphore<4> permits(0);
	std::jthread thread([=] { put(number); permits.release(); });

	permits.acquire();
	get(number);
}

CASE(wrong_semaphore)
{
	static std::counting_semaphore<4> permits(0);
	std::jthread thread([=] { permits.release(); put(number); });

	permits.acquire();
	get(number);
}

CASE(right_binary)
{
	static std::binary_semaphore permit(0);
	std::jthread thread([=] { put(number); permit.release(); });

	while (!permit.try_acquire_for(std::chrono::seconds(1)))
		;
	get(number);
}

CASE(right_barrier)
{
	static std::barrier meet(2);
	std::jthread thread([=] {
		for (int i = 0; i < 300; i++) { /* more rounds than the barrier can count */
			put(number);
			meet.arrive_and_wait();
			meet.arrive_and_wait();
		}
	});

	for (int i = 0; i < 300; i++) {
		meet.arrive_and_wait();
		get(number);
		meet.arrive_and_wait();
	}
}

CASE(wrong_barrier)
{
	static std::barrier meet(2);
	std::jthread thread([=] {
		for (int i = 0; i < 3; i++) {
			put(number);
			meet.arrive_and_wait();
		}
	});

	for (int i = 0; i < 3; i++) {
		meet.arrive_and_wait();
		get(number);
	}
}

CASE(right_stop)
{
	std::jthread thread([=](std::stop_token token) {
		while (!token.stop_requested())
			std::this_thread::yield();
		get(number);
	});

	put(number);
	thread.request_stop();
}

CASE(wrong_stop)
{
	std::jthread thread([=](std::stop_token token) {
		while (!token.stop_requested())
			std::this_thread::yield();
		get(number);
	});

	thread.request_stop();
	put(number);
	thread.join(); /* or its destructor requests it again */
}

CASE(right_callback)
{
	static std::binary_semaphore over(0);
	std::jthread thread([=](std::stop_token token) {
		std::stop_callback callback(token, [=] { get(number); });

		over.acquire();
	});

	put(number);
	thread.request_stop();
	over.release();
}

CASE(right_promise)
{
	std::promise<int> promise;
	std::future<int> future = promise.get_future();
	std::jthread thread([&] { put(number); promise.set_value(1); });

	future.get();
	get(number);
}

CASE(wrong_promise)
{
	std::promise<int> promise;
	std::future<int> future = promise.get_future();
	std::jthread thread([&] { promise.set_value(1); put(number); });

	future.get();
	get(number);
}

CASE(right_task)
{
	std::packaged_task<void()> task([=] { put(number); });
	std::future<void> future = task.get_future();
	std::jthread thread([&] { task(); });

	future.wait();
	get(number);
}

CASE(right_async)
{
	std::future<void> future = std::async(std::launch::async, [=] { put(number); });

	future.get();
	get(number);
}

CASE(right_jthread)
{
	{
		std::jthread thread([=] { put(number); });
	}
	get(number);
}

/* ---- of which no function is left, however the program is compiled -------------------------- */

CASE(inlined_latch)
{
	static std::latch gate(1);
	std::jthread thread([=] { put(number); gate.count_down(); });

	gate.wait();
	get(number);
}

CASE(wrong_inlined_latch)
{
	static std::latch gate(1);
	std::jthread thread([=] { gate.count_down(); put(number); });

	gate.wait();
	get(number);
}

CASE(inlined_wait)
{
	static std::atomic<int> flag;
	std::jthread thread([=] { put(number); flag = 1; flag.notify_one(); });

	flag.wait(0);
	get(number);
}

CASE(wrong_inlined_wait)
{
	static std::atomic<int> flag;
	std::jthread thread([=] { flag = 1; flag.notify_one(); put(number); });

	flag.wait(0);
	get(number);
}

/* The cases whose names begin with the word; "list": prints the names. */
int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	for (const test *at = test::last; at; at = at->next)
		if (!strcmp(word, "list"))
			puts(at->name);
		else if (!strncmp(at->name, word, strlen(word)))
			at->run(at->number);
}
