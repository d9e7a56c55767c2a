// Names as C++ has them: classes in namespaces, overloaded functions, templates, constructors.
#include <cstdlib>

#define KEPT __attribute__((noipa))

namespace shop {

class queue {
public:
	KEPT queue(int first);
	KEPT void push(int item);
	KEPT int take();
	KEPT int take(int otherwise);

private:
	int items[100], count = 0;
};

KEPT queue::queue(int first)
{
	push(first);
}

KEPT void queue::push(int item)
{
	items[count++ % 100] = item;
}

KEPT int queue::take()
{
	return items[--count % 100];
}

KEPT int queue::take(int otherwise)
{
	return count ? take() : otherwise;
}

template <typename T, typename Unused = T> struct box {
	T content;
	KEPT T open() { return content; } KEPT bool operator<(T than) const { return content < than; }
};

struct log {
	KEPT int write(int line) { return line; }
};

} // namespace shop

template <typename T> KEPT T total(T first)
{
	return 2 * first;
}

KEPT int twice(int number)
{
	return 2 * number;
}

namespace {
KEPT int hidden(const char *text)
{
	return std::atoi(text);
}

struct log {
	KEPT int write(int line) { return -line; }
};
} // namespace

int main(int argc, char **argv)
{
	shop::queue q(argc);
	shop::box<int> ints{argc};
	shop::box<char> chars{'c'};
	shop::log shop_log;
	log own_log;

	for (int i = 0; i < 3; i++)
		q.push(twice(i));
	return (q.take() + q.take(1) + ints.open() + chars.open() + (ints < argc) + hidden(argv[0]) + total(1) + total('c') +
		       shop_log.write(1) + own_log.write(1)) &
	       0;
}
