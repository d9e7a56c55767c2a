/* openmp: constructs of OpenMP, each wrong, and with a second argument correct. */
#include <assert.h>
#include <omp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

static bool fixed;

static void update(void)
{
	int n = 0;

#pragma omp parallel num_threads(3)
	if (fixed) {
#pragma omp critical
		n++;
	} else {
		n++;
	}
	assert(n == 3);
}

static void barrier(void)
{
	int a = 0, b = 0;

#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num())
			a = 1;
		if (fixed) {
#pragma omp barrier
		}
		if (!omp_get_thread_num())
			b = a;
	}
	assert(b == 1);
}

static void loop(void)
{
	int sum = 0;

#pragma omp parallel for schedule(dynamic) num_threads(2)
	for (int i = 0; i < 4; i++) {
		int before;

#pragma omp critical
		before = sum;
		if (fixed) {
#pragma omp atomic
			sum++;
		} else {
#pragma omp critical
			sum = before + 1;
		}
	}
	assert(sum == 4);
}

static void task(void)
{
	int x = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task shared(x)
		x = 1;
		if (fixed) {
#pragma omp taskwait
		}
		assert(x == 1);
	}
}

static void ordered(void)
{
	int last = -1;

#pragma omp parallel for ordered schedule(dynamic) num_threads(2)
	for (int i = 0; i < 4; i++) {
		if (fixed) {
#pragma omp ordered
			last = i;
		} else {
			last = i;
		}
	}
	assert(last == 3);
}

static void locks(void)
{
	omp_lock_t locks[2];

	omp_init_lock(&locks[0]);
	omp_init_lock(&locks[1]);
#pragma omp parallel num_threads(2)
	{
		int first = fixed ? 0 : omp_get_thread_num();

		omp_set_lock(&locks[first]);
		omp_set_lock(&locks[!first]);
		omp_unset_lock(&locks[!first]);
		omp_unset_lock(&locks[first]);
	}
}

/* All signals are blocked meanwhile. */
static void blocking(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	update();
}

static const struct {
	const char *name;
	void (*run)(void);
} WAYS[] = {
	{"update", update}, {"barrier", barrier}, {"loop", loop}, {"task", task}, {"ordered", ordered}, {"locks", locks},
	{"blocking", blocking},
};

int main(int argc, char **argv)
{
	fixed = argc > 2;
	for (size_t i = 0; argc > 1 && i < sizeof(WAYS) / sizeof(WAYS[0]); i++)
		if (!strcmp(argv[1], WAYS[i].name))
			WAYS[i].run();
	return 0;
}
