/* Two threads lock two mutexes of C++ in different orders. */
#include <mutex>
#include <thread>

static std::mutex a, b;

static void first()
{
	std::lock_guard<std::mutex> outer(a);
	std::lock_guard<std::mutex> inner(b);
}

static void second()
{
	std::lock_guard<std::mutex> outer(b);
	std::lock_guard<std::mutex> inner(a);
}

int main()
{
	std::thread one(first), two(second);

	one.join();
	two.join();
}
