// Exceptions, forced unwinding and backtraces through frames of level(), in many ways. Prints what happened, and at the end how
// often level() and dtor() have returned: what an observer of their exits has to count.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <execinfo.h>
#include <mutex>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static std::atomic<int> returned, destroyed;
static thread_local int rounds;

extern "C" __attribute__((noipa)) void dtor(int)
{
	destroyed++;
}

struct guard {
	int depth;
	~guard()
	{
		dtor(depth);
	}
};

typedef void (*action)(int);

static void throws(int depth)
{
	throw depth;
}

static void nothing(int)
{
}

// Catches at the depths of `catches`, rethrows at those of `rethrows`.
struct plan {
	int deep;
	unsigned catches, rethrows;
	action last;
};

extern "C" __attribute__((noipa)) int level(const plan *what, int depth)
{
	guard held{depth};
	int below = 0;

	if (depth == what->deep) {
		what->last(depth);
	} else if (what->catches >> depth & 1) {
		try {
			below = level(what, depth + 1);
		} catch (int from) {
			below = 100 * from;
			if (what->rethrows >> depth & 1)
				throw;
		}
	} else {
		below = level(what, depth + 1);
	}
	returned++;
	return below + 1;
}

static int attempt(const plan &what)
{
	try {
		return level(&what, 0);
	} catch (int from) {
		return -1000 - from;
	}
}

static void inside_catch(int depth)
{
	try {
		throw depth;
	} catch (int) {
		const plan inner = {6, 1 << 3, 0, throws};

		printf("in a catch: %d\n", attempt(inner));
	}
}

struct thrower {
	~thrower()
	{
		const plan inner = {4, 0, 0, throws};

		rounds += attempt(inner);
	}
};

static void in_destructor(int depth)
{
	thrower object;

	throw depth;
}

static void once_throws(int depth)
{
	static std::once_flag flag;

	for (int i = 0; i < 3; i++) {
		try {
			std::call_once(flag, [i, depth] {
				const plan inner = {3, 0, 0, i < 2 ? throws : nothing};

				level(&inner, 0);
				printf("once, after %d, at depth %d\n", i, depth);
			});
		} catch (int from) {
			printf("once: %d\n", from);
		}
	}
}

static void leave(int)
{
	pthread_exit(nullptr);
}

static pthread_barrier_t barrier;

static void sleeps(int)
{
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
}

static void *run_plan(void *argument)
{
	guard held{99};

	attempt(*static_cast<const plan *>(argument));
	return nullptr;
}

static void unwind_thread(action how, bool cancels)
{
	plan what = {5, 0, 0, how};
	pthread_t thread;

	pthread_barrier_init(&barrier, nullptr, 2);
	pthread_create(&thread, nullptr, run_plan, &what);
	if (cancels) {
		pthread_barrier_wait(&barrier);
		pthread_cancel(thread);
	}
	pthread_join(thread, nullptr);
}

static void traced(int)
{
	void *frames[64];
	int count = backtrace(frames, 64), known = 0;
	char **names = backtrace_symbols(frames, count);

	for (int i = 0; i < count; i++)
		known += strchr(names[i], '(') != nullptr;
	printf("backtrace: %d frames, %d known\n", count, known);
	free(names);
}

static void forks(int depth)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, nullptr, 0);
	throw depth;
}

static void many(int times)
{
	const plan plans[] = {{7, 1 << 2, 0, throws}, {3, 0, 0, throws}, {9, 1 << 4 | 1 << 6, 1 << 6, throws}, {5, 0, 0, nothing}};

	for (int i = 0; i < times; i++)
		rounds += attempt(plans[i % 4]);
}

static void uncaught()
{
	std::set_terminate([] {
		puts("terminate");
		fflush(stdout);
		_exit(3);
	});
	const plan what = {4, 0, 0, throws};
	[&]() noexcept { level(&what, 0); }();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	setvbuf(stdout, nullptr, _IOLBF, 0);
	if (!strcmp(mode, "caught")) {
		printf("%d\n", attempt({5, 0, 0, throws}));
		printf("%d\n", attempt({8, 1 << 3, 0, throws}));
		printf("%d\n", attempt({8, 1 << 3 | 1 << 5, 1 << 5, throws}));
		printf("%d\n", attempt({8, 1 << 3 | 1 << 5, 1 << 5 | 1 << 3, throws}));
		printf("%d\n", attempt({4, 0, 0, nothing}));
	} else if (!strcmp(mode, "nested")) {
		printf("%d\n", attempt({5, 0, 0, inside_catch}));
		printf("%d\n", attempt({5, 1 << 2, 0, in_destructor}));
		printf("%d\n", attempt({2, 0, 0, once_throws}));
		printf("rounds %d\n", rounds);
	} else if (!strcmp(mode, "threads")) {
		std::vector<std::thread> threads;

		puts("begin");
		for (int i = 0; i < 4; i++)
			threads.emplace_back(many, 200);
		for (std::thread &thread : threads)
			thread.join();
	} else if (!strcmp(mode, "exit")) {
		unwind_thread(leave, false);
	} else if (!strcmp(mode, "cancel")) {
		unwind_thread(sleeps, true);
	} else if (!strcmp(mode, "backtrace")) {
		printf("%d\n", attempt({6, 0, 0, traced}));
	} else if (!strcmp(mode, "forks")) {
		printf("%d\n", attempt({40, 1 << 3, 0, forks}));
	} else if (!strcmp(mode, "uncaught")) {
		uncaught();
	} else {
		return 2;
	}
	printf("%d returned, %d destroyed\n", returned.load(), destroyed.load());
	return 0;
}
