/* OpenMP constructs that order what threads do, and the same without: openmp right|wrong [NAME]. Each function is a
 * case with variables of its own; `list` prints their names. Built to report accesses. */
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define N 64
#define CASE(name) __attribute__((noinline)) static void name(void)

static volatile int kept; /* of what else nobody would read, and the compiler would leave out */

/* Waits until so many threads have come here, which orders nothing: so no thread does all the work. */
static void meet(int *come, int threads)
{
	time_t end = time(NULL) + 5; /* a task whose thread does not come: the runtime may do so */

	__atomic_fetch_add(come, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(come, __ATOMIC_RELAXED) < threads && time(NULL) < end)
		sched_yield();
}

/* ---- right ------------------------------------------------------------------------------- */

CASE(right_for)
{
	int a[N], sum = 0;

#pragma omp parallel for
	for (int i = 0; i < N; i++)
		a[i] = i;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum += a[N - 1 - i];
	a[0] = sum;
}

CASE(right_barrier)
{
	static int a[4], b[4];

#pragma omp parallel num_threads(4)
	for (int round = 0; round < 5; round++) {
		int me = omp_get_thread_num();

		a[me] = round;
#pragma omp barrier
		b[me] = a[(me + 1) % 4];
#pragma omp barrier
	}
	kept = b[1];
}

CASE(right_implicit_barriers)
{
	static int a[N], b[N], c, d;

#pragma omp parallel num_threads(4)
	{
#pragma omp for
		for (int i = 0; i < N; i++)
			a[i] = i;
#pragma omp for schedule(guided, 2)
		for (int i = 0; i < N; i++)
			b[i] = a[N - 1 - i];
#pragma omp single
		c = b[3];
#pragma omp sections
		{
#pragma omp section
			d = c;
#pragma omp section
			a[0] = c;
		}
#pragma omp single
		c = a[0] + d;
	}
	kept = c;
}

CASE(right_critical)
{
	static int sum, other;

#pragma omp parallel num_threads(4)
	{
#pragma omp critical
		sum++;
#pragma omp critical(named)
		other++;
	}
	kept = sum + other;
}

/* A flag that is only atomic, between fences. */
CASE(right_flush)
{
	static int value, flag;

	flag = 0;
#pragma omp parallel num_threads(2)
	if (omp_get_thread_num()) {
		int seen = 0;

		while (!seen) {
#pragma omp atomic read
			seen = flag;
		}
#pragma omp flush
		kept = value;
	} else {
		value = 1;
#pragma omp flush
#pragma omp atomic write
		flag = 1;
	}
}

CASE(right_atomic)
{
	static int sum, last;
#ifdef __clang__
	static double large; /* others need libatomic */
#else
	static long double large;
#endif

#pragma omp parallel for num_threads(4)
	for (int i = 0; i < N; i++) {
		int before;

#pragma omp atomic
		sum += i;
#pragma omp atomic capture
		before = last++;
		(void)before;
#pragma omp atomic
		large += i;
	}
	kept = sum;
}

CASE(right_master)
{
	static int a;

#pragma omp parallel num_threads(4)
	{
#pragma omp master
		a = 1;
#pragma omp barrier
		if (a)
			;
#pragma omp barrier
#pragma omp master
		a++;
	}
}

CASE(right_ordered)
{
	static int a;

#pragma omp parallel for ordered schedule(dynamic) num_threads(4)
	for (int i = 0; i < N; i++)
#pragma omp ordered
		a += i;
}

CASE(right_doacross)
{
	static int a[N][N];

#pragma omp parallel for ordered(2) schedule(static, 1) num_threads(4)
	for (int i = 1; i < 12; i++)
		for (int j = 1; j < 12; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
			a[i][j] = a[i - 1][j] + a[i][j - 1] + 1;
#pragma omp ordered depend(source)
		}
}

CASE(right_copyprivate)
{
	static int from;
	int x;

#pragma omp parallel private(x) num_threads(4)
	{
#pragma omp single copyprivate(x)
		{
			from = 7;
			x = 8;
		}
		if (x + from != 15)
			puts("wrong");
	}
	kept = from;
}

static int mine;
#pragma omp threadprivate(mine)

CASE(right_threadprivate)
{
	mine = 5;
#pragma omp parallel copyin(mine) num_threads(4)
	for (int i = 0; i < N; i++)
		mine += i;
#pragma omp parallel num_threads(4)
	mine++;
}

CASE(right_private)
{
	int x = 3, y = 0, a[N];

#pragma omp parallel for firstprivate(x) lastprivate(y) num_threads(4)
	for (int i = 0; i < N; i++) {
		x += i;
		y = x;
		a[i] = y;
	}
	a[0] = y;
}

CASE(right_locks)
{
	static int sum, nested, tested;
	omp_lock_t lock, other;
	omp_nest_lock_t nest;

	omp_init_lock(&lock);
	omp_init_lock(&other);
	omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(4)
	{
		omp_set_lock(&lock);
		sum++;
		omp_unset_lock(&lock);
		omp_set_nest_lock(&nest);
		omp_set_nest_lock(&nest);
		nested++;
		omp_unset_nest_lock(&nest);
		nested++;
		omp_unset_nest_lock(&nest);
		while (!omp_test_lock(&other))
			;
		tested++;
		omp_unset_lock(&other);
	}
	omp_destroy_lock(&lock);
	omp_destroy_lock(&other);
	omp_destroy_nest_lock(&nest);
	kept = sum + nested + tested;
}

CASE(right_taskwait)
{
	static int a, b, c;

#pragma omp parallel num_threads(4)
#pragma omp single
	{
		a = 1;
#pragma omp task
		b = a;
#pragma omp task
		c = a;
#pragma omp taskwait
		a = b + c;
	}
	a++;
	kept = a;
}

static int fib(int n)
{
	int x, y;

	if (n < 2)
		return n;
#pragma omp task shared(x)
	x = fib(n - 1);
#pragma omp task shared(y)
	y = fib(n - 2);
#pragma omp taskwait
	return x + y;
}

CASE(right_fib)
{
	static int result;

#pragma omp parallel num_threads(4)
#pragma omp single
	result = fib(9);
	kept = result;
}

CASE(right_taskgroup)
{
	static int a[N], sum;

#pragma omp parallel num_threads(4)
#pragma omp single
	{
#pragma omp taskgroup
		for (int i = 0; i < 8; i++)
#pragma omp task firstprivate(i)
		{
			a[i] = i;
#pragma omp task
			a[i + 8] = i;
		}
		for (int i = 0; i < 16; i++)
			sum += a[i];
	}
	kept = sum;
}

/* Other threads wait at the end of the region, and run the tasks there. */
CASE(right_last_tasks)
{
	int a[8];

	for (int i = 0; i < 8; i++) {
#pragma omp parallel num_threads(3)
#pragma omp single
		for (int j = 0; j < 8; j++)
#pragma omp task
			a[j] = i;
		for (int j = 0; j < 8; j++)
			kept = a[j];
	}
}

CASE(right_task_barrier)
{
	static int a[N], sum;

#pragma omp parallel num_threads(4)
	{
#pragma omp for
		for (int i = 0; i < N; i++)
#pragma omp task firstprivate(i)
			a[i] = i;
#pragma omp single nowait
		for (int i = 0; i < N; i++)
			sum += a[i];
	}
	kept = sum;
}

CASE(right_depend)
{
	static int a, b, c, set;

#pragma omp parallel num_threads(4)
#pragma omp single
	{
#pragma omp task depend(out : a)
		a = 1;
#pragma omp task depend(in : a) depend(out : b)
		b = a;
#pragma omp task depend(in : a) depend(out : c)
		c = a;
#pragma omp task depend(inout : a)
		a++;
#pragma omp task depend(mutexinoutset : set)
		set++;
#pragma omp task depend(mutexinoutset : set)
		set++;
#pragma omp task depend(in : b, c, set, a)
		a += b + c + set;
	}
}

/* clang makes parts of it, which different threads may run. */
CASE(right_untied)
{
	static int a[8], b, sum;

#pragma omp parallel num_threads(4)
#pragma omp single
	for (int round = 0; round < 4; round++) {
#pragma omp task untied
		{
			sum = 0;
			for (int i = 0; i < 4; i++) {
#pragma omp task firstprivate(i)
				a[i] = i;
			}
#pragma omp taskwait
#pragma omp taskgroup
			{
#pragma omp task
				b = a[3];
			}
			sum += a[1] + b;
		}
#pragma omp taskwait
	}
	kept = sum;
}

#ifndef __clang__ /* libomp 14 aborts now and then, in these two */
CASE(right_taskwait_depend)
{
	static int a;

#pragma omp parallel num_threads(4)
#pragma omp single
	{
#pragma omp task depend(out : a)
		a = 1;
#pragma omp taskwait depend(in : a)
		a++;
	}
	kept = a;
}

#else
static void right_taskwait_depend(void)
{
}
#endif

CASE(right_undeferred)
{
	static int a;

#pragma omp parallel num_threads(4)
#pragma omp single
	{
		a = 1;
#pragma omp task if (0)
		a++;
		a++;
	}
	kept = a;
}

struct large {
	char bytes[200];
};

CASE(right_large_data)
{
	struct large from = {{1}};
	static struct large to[4];

#pragma omp parallel num_threads(4)
#pragma omp single
	for (int i = 0; i < 4; i++) {
		from.bytes[i] = (char)i;
#pragma omp task firstprivate(from, i)
		to[i] = from;
	}
	for (int i = 0; i < 4; i++)
		if (to[i].bytes[i] != i)
			puts("wrong");
}

CASE(right_taskloop)
{
	static int a[N];
	long sum = 0;

#pragma omp parallel num_threads(4)
#pragma omp single
	{
#pragma omp taskloop grainsize(4)
		for (int i = 0; i < N; i++)
			a[i] = i;
		a[0] = a[N - 1];
#pragma omp taskloop reduction(+ : sum)
		for (int i = 1; i < N; i++)
			sum += a[i];
	}
	if (sum != N * (N - 1) / 2)
		puts("wrong");
}

CASE(right_task_reduction)
{
	long sum = 0;

#pragma omp parallel num_threads(4) reduction(task, + : sum)
#pragma omp single
	for (int i = 0; i < 8; i++)
#pragma omp task in_reduction(+ : sum)
		sum += i;
	if (sum != 28)
		puts("wrong");
}

CASE(right_nested)
{
	static int a[2][2], sum;

#pragma omp parallel num_threads(2)
	{
		int me = omp_get_thread_num();

#pragma omp parallel num_threads(2)
		a[me][omp_get_thread_num()] = me;
#pragma omp critical
		sum += a[me][0] + a[me][1];
	}
	kept = sum;
}

CASE(right_sections)
{
	static int a, b;

#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		a = 1;
#pragma omp section
		b = 1;
	}
	a += b;
	kept = a;
}

/* libgomp frees the task's data when the event is fulfilled, by a jump to free. */
CASE(right_detached)
{
	int a = 0;

#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < 4; i++) {
		omp_event_handle_t done;

#pragma omp task detach(done)
		a++;
#pragma omp task firstprivate(done)
		omp_fulfill_event(done);
#pragma omp taskwait
	}
	kept = a;
}

CASE(right_cancel)
{
	static int found, a[N];

#pragma omp parallel num_threads(4)
	{
#pragma omp for
		for (int i = 0; i < N; i++) {
			a[i] = i;
#pragma omp cancel for if (i == 7)
		}
#pragma omp single
		found = a[7];
	}
	found++;
	kept = found;
}

CASE(right_target)
{
	static int a[N], sum;

#pragma omp target teams distribute parallel for map(tofrom : a)
	for (int i = 0; i < N; i++)
		a[i] = i;
#ifdef __clang__
#pragma omp target map(tofrom : a, sum)
#else
#pragma omp target map(tofrom : a, sum) nowait depend(out : sum)
#endif
	sum = a[1];
#pragma omp taskwait
	sum += a[2];
#ifndef __clang__
#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < 16; i++) {
#pragma omp target map(tofrom : sum) nowait depend(inout : sum)
		sum++;
#pragma omp taskwait
		sum++;
	}
#endif
	kept = sum;
}

CASE(right_simd)
{
	static int a[N];

#pragma omp parallel for simd num_threads(4)
	for (int i = 0; i < N; i++)
		a[i] += i;
}

/* ---- wrong ------------------------------------------------------------------------------- */

CASE(wrong_antidep)
{
	int a[N] = {0};

#pragma omp parallel for num_threads(4)
	for (int i = 0; i < N - 1; i++)
		a[i] = a[i + 1] + 1;
}

CASE(wrong_truedep)
{
	int a[N] = {0};

#pragma omp parallel for num_threads(4)
	for (int i = 0; i < N - 1; i++)
		a[i + 1] = a[i] + 1;
}

CASE(wrong_outputdep)
{
	int x = 10, a[N];

#pragma omp parallel for num_threads(4)
	for (int i = 0; i < N; i++) {
		a[i] = x;
		x = i;
	}
	a[0] = x;
}

CASE(wrong_privatemissing)
{
	int tmp, a[N] = {0};

#pragma omp parallel for num_threads(4)
	for (int i = 0; i < N; i++) {
		tmp = a[i] + i;
		a[i] = tmp;
	}
}

CASE(wrong_reductionmissing)
{
	int sum = 0;

#pragma omp parallel for num_threads(4)
	for (int i = 0; i < N; i++)
		sum += i;
	if (sum < 0)
		puts("never");
}

CASE(wrong_nowait)
{
	static int a[N], b, come;

#pragma omp parallel num_threads(4)
	{
		meet(&come, 4);
#pragma omp for nowait
		for (int i = 0; i < N; i++)
			a[i] = i;
#pragma omp single
		b = a[N - 1] + a[0];
	}
	kept = b;
}

CASE(wrong_sections)
{
	static int a, come;

#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		{
			meet(&come, 2);
			a = 1;
		}
#pragma omp section
		{
			meet(&come, 2);
			a = 2;
		}
	}
	kept = a;
}

CASE(wrong_single)
{
	static int a, come;

#pragma omp parallel num_threads(4)
	{
		meet(&come, 4);
#pragma omp single nowait
		a = 1;
#pragma omp master
		a = 2;
#pragma omp critical
		a++;
	}
	kept = a;
}

CASE(wrong_master)
{
	int a = 0;

#pragma omp parallel num_threads(4)
	{
#pragma omp master
		a = 1;
		if (a > 1)
			puts("never");
	}
}

CASE(wrong_critical)
{
	static int a;

#pragma omp parallel num_threads(4)
	{
		if (omp_get_thread_num() % 2) {
#pragma omp critical(one)
			a++;
		} else {
#pragma omp critical(two)
			a++;
		}
	}
}

CASE(wrong_atomic)
{
	static int a;

#pragma omp parallel num_threads(4)
	{
		if (omp_get_thread_num()) {
#pragma omp atomic
			a++;
		} else {
			a = 5;
		}
	}
	kept = a;
}

CASE(wrong_locks)
{
	static int a;
	omp_lock_t locks[2];

	omp_init_lock(&locks[0]);
	omp_init_lock(&locks[1]);
#pragma omp parallel num_threads(4)
	{
		omp_lock_t *lock = &locks[omp_get_thread_num() % 2];

		omp_set_lock(lock);
		a++;
		omp_unset_lock(lock);
	}
}

CASE(wrong_barrier)
{
	static int a[4], b[4];

#pragma omp parallel num_threads(4)
	{
		int me = omp_get_thread_num();

		a[me] = me;
#pragma omp barrier
		b[me] = a[(me + 1) % 4];
		a[me] = b[me];
	}
	kept = a[0] + b[0];
}

CASE(wrong_ordered)
{
	static int a;

#pragma omp parallel for ordered schedule(static, 1) num_threads(4)
	for (int i = 0; i < N; i++) {
		a += i;
#pragma omp ordered
		a++;
	}
}

CASE(wrong_doacross)
{
	static int a[N];

#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(4)
	for (int i = 2; i < N; i++) {
#pragma omp ordered depend(sink : i - 2)
		a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
	}
}

CASE(wrong_task)
{
	static int a, come;

#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task
		{
			meet(&come, 2);
			a++;
		}
		meet(&come, 2);
		a++;
	}
}

/* Nothing makes different threads do what follows, but that it may be done by any. */
CASE(wrong_quicktasks)
{
	static volatile int a;

#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < 8; i++)
#pragma omp task
		a = i;
}

CASE(wrong_quickparent)
{
	static volatile int a;

#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 8; i++) {
#pragma omp task
		a = i;
		a = -i;
	}
}

CASE(wrong_quicktaskloop)
{
	static volatile int a;

#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 8; i++) {
#pragma omp taskloop nogroup num_tasks(2)
		for (int j = 0; j < 2; j++)
			a = j;
		a = -i;
	}
}

CASE(wrong_quicksections)
{
	static volatile int a;

	for (int i = 0; i < 8; i++)
#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		a = i;
#pragma omp section
		a = -i;
	}
}

/* The first thread does it, which is mostly the one that began the region. */
CASE(wrong_quicksingle)
{
	static volatile int a;

	for (int i = 0; i < 8; i++)
#pragma omp parallel num_threads(2)
	{
		if (!omp_get_thread_num())
			a = i;
#pragma omp single nowait
		a = -i;
	}
}

CASE(wrong_quickloop)
{
	static volatile int a;

#pragma omp parallel for schedule(dynamic) num_threads(2)
	for (int i = 0; i < 16; i++)
		a = i;
}

CASE(wrong_untied)
{
	static int a, come;

#pragma omp parallel num_threads(4)
#pragma omp single
	{
#pragma omp task untied
		{
#pragma omp task
			{
				meet(&come, 2);
				a = 1;
			}
#pragma omp taskyield
			meet(&come, 2);
			a = 2;
		}
	}
	kept = a;
}

CASE(wrong_depend)
{
	static int a, come;

#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 2; i++)
#pragma omp task depend(in : a)
	{
		meet(&come, 2);
		a++;
	}
}

CASE(wrong_stack)
{
	int a = 0;
	int *to = &a;

#pragma omp parallel num_threads(4) firstprivate(to)
	*to = omp_get_thread_num();
}


#ifndef __clang__ /* which makes a barrier of it */
CASE(wrong_lastprivate)
{
	static int y, come;

#pragma omp parallel num_threads(4)
	{
		meet(&come, 4);
#pragma omp for lastprivate(y) nowait
		for (int i = 0; i < N; i++)
			y = i;
#pragma omp master
		kept = y;
	}
}

#define MORE_CASES(X) X(wrong_lastprivate)
#else
#define MORE_CASES(X)
#endif

CASE(wrong_threadprivate)
{
	static int *of;

#pragma omp parallel num_threads(4)
	{
#pragma omp master
		of = &mine;
#pragma omp barrier
		(*of)++;
	}
}

CASE(wrong_collapse)
{
	static int a[N][N];

#pragma omp parallel for num_threads(3) collapse(2)
	for (int i = 0; i < 8; i++)
		for (int j = 1; j < 10; j++)
			a[i][j] = a[i][j - 1] + 1;
}

#define CASES(X)                                                                                   \
	X(right_for) X(right_barrier) X(right_implicit_barriers) X(right_critical) X(right_atomic) \
	X(right_master) X(right_ordered) X(right_doacross) X(right_copyprivate)                    \
	X(right_threadprivate) X(right_private) X(right_locks) X(right_taskwait) X(right_fib)      \
	X(right_taskgroup) X(right_task_barrier) X(right_last_tasks) X(right_depend)               \
	X(right_untied) X(right_taskwait_depend)                                                   \
	X(right_undeferred) X(right_large_data) X(right_taskloop) X(right_task_reduction)          \
	X(right_nested) X(right_sections) X(right_detached) X(right_cancel) X(right_target) X(right_simd)            \
	X(wrong_antidep) X(wrong_truedep) X(wrong_outputdep) X(wrong_privatemissing)               \
	X(wrong_reductionmissing) X(wrong_nowait) X(wrong_sections) X(wrong_single)                \
	X(wrong_master) X(wrong_critical) X(wrong_atomic) X(wrong_locks) X(wrong_barrier)          \
	X(wrong_ordered) X(wrong_doacross) X(wrong_task) X(wrong_depend) X(wrong_quicktasks)           \
	X(wrong_untied) X(wrong_quickparent) X(wrong_quicktaskloop) X(wrong_quicksections) \
	X(wrong_quicksingle) X(wrong_quickloop)                                                    \
	X(wrong_stack) MORE_CASES(X) X(wrong_threadprivate) X(wrong_collapse)

static const struct {
	const char *name;
	void (*run)(void);
} ALL[] = {
#define ROW(name) {#name, name},
	CASES(ROW)
};

int main(int argc, char **argv)
{
	const char *begin = argc > 1 ? argv[1] : "right";

	for (size_t i = 0; i < sizeof(ALL) / sizeof(ALL[0]); i++) {
		if (!strcmp(begin, "list"))
			puts(ALL[i].name);
		else if (!strncmp(ALL[i].name, begin, strlen(begin)))
			ALL[i].run();
	}
	return 0;
}
