/* Members of glibc's locks. They are part of its ABI, as static initialisers are compiled into programs. */
#include "probes/binary/lock_layouts.h"

#include "dpe-lang/dpe-lang.h"
#include "probes/inside/inside.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

struct layout {
	const char *function, *lvalue;
	unsigned offset, size;
	bool is_signed;
	int word; /* in the preloaded library's message */
};

static const struct layout LAYOUTS[] = {
	/* The thread that holds the write lock; 0: none. */
	{"pthread_rwlock_unlock", DPE_ARGUMENT "0->__data.__cur_writer", 24, 4, true,
		DPE_PRELOAD_WRITER},
	/* 0: nobody holds the mutex. */
	{"pthread_mutex_unlock", DPE_ARGUMENT "0->__data.__lock", 0, 4, true, DPE_PRELOAD_HELD},
	{"pthread_mutex_destroy", DPE_ARGUMENT "0->__data.__lock", 0, 4, true, DPE_PRELOAD_HELD},
	/* The whole object, an int: 2 when the routine is done. */
	{"pthread_once", DPE_ARGUMENT "0->__state", 0, 4, true, DPE_PRELOAD_STATE},
	/* Threads that have arrived in total, threads of completed rounds, and threads of one round. After
	 * the wait the barrier may be freed, so only the kernel can read it safely. */
	{"pthread_barrier_wait", DPE_ARGUMENT "0->in", 0, 4, false, -1},
	{"pthread_barrier_wait", DPE_ARGUMENT "0->current_round", 4, 4, false, -1},
	{"pthread_barrier_wait", DPE_ARGUMENT "0->count", 8, 4, false, -1},
};

#ifdef __GLIBC__
_Static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0, "as the table has it");
_Static_assert(offsetof(pthread_rwlock_t, __data.__cur_writer) == 24, "as the table has it");
#endif

static const struct layout *find(const char *function, const char *lvalue)
{
	for (unsigned i = 0; i < DPE_COUNT(LAYOUTS); i++) {
		if (!strcmp(LAYOUTS[i].function, function) && !strcmp(LAYOUTS[i].lvalue, lvalue))
			return &LAYOUTS[i];
	}
	return NULL;
}

bool dpe_layout_find(struct dpe_module *module, const char *function, const char *lvalue,
	struct dpe_variable *variable)
{
	const struct layout *layout = find(function, lvalue);
	unsigned count;

	if (!layout || (strcmp(module->name, DPE_PRELOAD_SCHEDULER) &&
			       !dpe_module_find(module, "gnu_get_libc_version", &count)))
		return false;
	*variable = (struct dpe_variable){
		.size = layout->size,
		.is_signed = layout->is_signed,
		.nsteps = 1,
		.steps = {layout->offset},
	};
	return true;
}

bool dpe_layout_has(const char *function, const char *lvalue)
{
	return find(function, lvalue);
}

int dpe_layout_word(const char *function, const char *lvalue)
{
	const struct layout *layout = find(function, lvalue);

	return layout ? layout->word : -1;
}
