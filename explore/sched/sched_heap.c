/* sched_heap: the functions that free memory. New memory is not filled: reading that depends on no schedule. */
#include "explore/sched/control.h"

#include "explore/sched/freed.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static __thread uint64_t deleter; /* where the program called the function that frees */

static void give_back(void *object, uint64_t pc)
{
	struct dpe_sched_thread *me = object ? dpe_sched_self() : NULL;
	size_t size;

	if (!me || me->inside) {
		dpe_sched_really_free(object);
		return;
	}
	size = malloc_usable_size(object);
	dpe_sched_access(
		&(struct dpe_sched_op){
			.kind = DPE_SCHED_HEAP_FREE,
			.object = (uint64_t)object,
			.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
			.pc = pc,
		},
		dpe_sched_block_is_shared((uint64_t)object, size, dpe_sched_number(me)));
	if (!dpe_sched_is_keepable(object, size) || !dpe_sched_keep_freed(object, size, pc, dpe_sched_number(me)))
		dpe_sched_really_free(object);
}

DPE_SCHED_EXPORTED void free(void *object)
{
	give_back(object, deleter ? deleter : DPE_SCHED_HERE);
}

/* A block that grows is copied, and the old one is freed. */
DPE_SCHED_EXPORTED void *realloc(void *object, size_t size)
{
	size_t had = object && dpe_sched ? malloc_usable_size(object) : 0;
	void *copy;

	if (!had || !dpe_sched_is_keepable(object, had) || (size && size <= had))
		return REAL(realloc)(object, size);
	copy = size ? malloc(size) : NULL;
	if (size && !copy)
		return NULL;
	if (copy)
		memcpy(copy, object, had);
	give_back(object, DPE_SCHED_HERE);
	return copy;
}

/* C++: they call free, whose caller they would be. */
#define DELETE(name, parameters, arguments)                                                        \
	void name parameters;                                                                      \
	DPE_SCHED_EXPORTED void name parameters                                                    \
	{                                                                                          \
		uint64_t outer = deleter;                                                          \
                                                                                                   \
		deleter = outer ? outer : DPE_SCHED_HERE;                                          \
		REAL(name) arguments;                                                              \
		deleter = outer;                                                                   \
	}
DELETE(_ZdlPv, (void *object), (object))
DELETE(_ZdaPv, (void *object), (object))
DELETE(_ZdlPvm, (void *object, size_t size), (object, size))
DELETE(_ZdaPvm, (void *object, size_t size), (object, size))
