// Variables in namespaces, classes, bases and nameless structures, and in two libraries.
#include <pthread.h>
#include <cstdio>

extern "C" void bump(int n);
extern "C" int copied;

namespace shop {
struct Base {
	int id;
	int state;
};
struct Middle {
	long first;
	union {
		int low;
		short lower;
	};
	struct {
		int deep;
	};
};
class Derived : public Middle, public Base {
public:
	int own;
	static int count;
};
int Derived::count;
Derived thing;
Derived several[3];
namespace {
int hidden;
}
} // namespace shop

static int plain;

__attribute__((noinline)) static void stride(shop::Derived *d, int n)
{
	d->state = n;
	d->low = n;
	d->deep = n + 1;
	d->own = n;
	shop::hidden += n;
	shop::Derived::count++;
	shop::several[1].state = n;
	plain = n;
	__asm__ volatile("" ::: "memory");
}

static void *bumps(void *)
{
	bump(copied);
	return nullptr;
}

/* With an argument, one thread after the other: the values of simultaneous updates are not known. */
int main(int argc, char **)
{
	pthread_t one, two;

	for (int i = 1; i <= 3; i++)
		stride(&shop::thing, i);
	pthread_create(&one, nullptr, bumps, nullptr);
	if (argc > 1)
		pthread_join(one, nullptr);
	pthread_create(&two, nullptr, bumps, nullptr);
	if (argc == 1)
		pthread_join(one, nullptr);
	pthread_join(two, nullptr);
	std::printf("%d %d\n", shop::hidden, plain);
}
