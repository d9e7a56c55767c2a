// Runs of one routine that are left until the last one is not, each by another thread: `throw` std::call_once by an exception,
// `posix` pthread_once so, `cancel` by cancellation, `exit` by pthread_exit, `static` the initialisation of a variable by an
// exception. With a second word, what the threads do after the call races.
#include <atomic>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <thread>

static std::once_flag flag;
static pthread_once_t control = PTHREAD_ONCE_INIT;
static const char *way;
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

static int leave()
{
	putting at_the_end;

	put();
	if (data >= 5)
		return data;
	if (!strcmp(way, "exit"))
		pthread_exit(nullptr);
	if (!strcmp(way, "cancel")) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	throw 1;
}

static void routine()
{
	leave();
}

static void run()
{
	if (!strcmp(way, "throw")) {
		std::call_once(flag, routine);
	} else if (!strcmp(way, "static")) {
		static int made = leave();

		(void)made;
	} else {
		pthread_once(&control, routine);
	}
}

struct passing {
	int number;
	~passing()
	{
		if (race)
			put();
		turn.store(number + 1, std::memory_order_relaxed);
	}
};

static void *call(void *number)
{
	passing next{*static_cast<int *>(number)};

	while (turn.load(std::memory_order_relaxed) != next.number)
		std::this_thread::yield();
	try {
		run();
	} catch (int) {
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	int numbers[4] = {0, 1, 2, 3};

	way = argc > 1 ? argv[1] : "throw";
	race = argc > 2;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], nullptr, call, &numbers[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], nullptr);
	return !race && data != 6;
}
