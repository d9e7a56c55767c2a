/* sched_processors: the program runs on one processor, but sees those of the machine: libraries create as many threads.
 * Once it chooses processors itself, it sees what there is. */
#include "explore/sched/control.h"

#include <sched.h>
#include <string.h>

_Static_assert(sizeof(cpu_set_t) == DPE_SCHED_PROCESSORS / 8, "all that the memory keeps");

static bool chosen; /* by the program */

/* One thread runs at a time, and hand-over is cheapest on one processor. Constructors before this one see all. */
void dpe_sched_stay_on_one_processor(struct dpe_sched_header *header)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	if (REAL(sched_getaffinity)(0, sizeof(all), &all))
		return;
	memcpy(header->processors, &all, sizeof(all));
	for (int cpu = CPU_SETSIZE; cpu--;)
		if (CPU_ISSET(cpu, &all)) {
			header->processor = (uint32_t)cpu;
			CPU_SET(cpu, &one);
			REAL(sched_setaffinity)(0, sizeof(one), &one);
			return;
		}
}

static bool is_ours(const cpu_set_t *set, size_t size)
{
	return !chosen && CPU_COUNT_S(size, set) == 1 && CPU_ISSET_S(dpe_sched->processor, size, set);
}

static void show_all(cpu_set_t *set, size_t size)
{
	size_t known = sizeof(dpe_sched->processors);

	if (dpe_sched_self() && is_ours(set, size))
		memcpy(set, dpe_sched->processors, size < known ? size : known);
}

DPE_SCHED_EXPORTED int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	int result = REAL(sched_getaffinity)(pid, size, set);

	if (!result)
		show_all(set, size);
	return result;
}

DPE_SCHED_EXPORTED int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
	int error = REAL(pthread_getaffinity_np)(thread, size, set);

	if (!error)
		show_all(set, size);
	return error;
}

DPE_SCHED_EXPORTED int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	chosen = true;
	return REAL(sched_setaffinity)(pid, size, set);
}

DPE_SCHED_EXPORTED int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
	chosen = true;
	return REAL(pthread_setaffinity_np)(thread, size, set);
}
