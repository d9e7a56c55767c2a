// Functions that return for others: optimised, f, h and some cases of chooses() end in jumps. Some calls throw.
#include <cstdio>
#include <mutex>

extern "C" __attribute__((noipa)) int g(int x)
{
	if (x & 1)
		throw x;
	return x * 2;
}

extern "C" __attribute__((noipa)) int f(int x)
{
	return g(x + 1);
}

extern "C" __attribute__((noipa)) int h(int x)
{
	return x > 5 ? f(x) : g(x);
}

struct cleaned {
	~cleaned()
	{
		asm volatile("");
	}
};

extern "C" __attribute__((noipa)) int chooses(int x)
{
	cleaned object;

	switch (x % 7) {
	case 0:
		return g(0);
	case 1:
		return f(1) + 3;
	case 2:
		return h(x) * 5;
	case 3:
		return 17;
	case 4:
		x += 7;
		break;
	case 5:
		x *= g(x + 1);
		break;
	default:
		asm volatile("");
	}
	return x;
}

int main()
{
	int (*const functions[])(int) = {f, g, h, chooses};
	int sum = 0, caught = 0;
	std::once_flag flag;

	for (int i = 0; i < 800; i++) {
		try {
			sum += functions[i % 4](i / 4);
		} catch (int) {
			caught++;
		}
	}
	for (int i = 0; i < 3; i++) {
		try {
			std::call_once(flag, [i] {
				if (!i)
					throw i;
				puts("once");
			});
		} catch (int) {
			puts("once: caught");
		}
	}
	printf("%d, %d caught\n", sum, caught);
}
