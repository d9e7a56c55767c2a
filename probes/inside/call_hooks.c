/* call_hooks: begins and ends of functions, as compilers report them. */
#include "probes/inside/kernel_order.h"
#include "probes/inside/memory_hooks.h"
#include "probes/inside/tbb.h"

/* Calls left by longjmp or an exception, which are not reported, have frames below this one. */
DPE_MEMORY_EXPORTED void __tsan_func_entry(void *caller)
{
	const char *frame = __builtin_frame_address(0);

	if (!dpe_preload_look->header)
		return;
	dpe_memory_use_stack(DPE_MEMORY_HERE);
	while (dpe_memory_callers.count && dpe_memory_callers.at[(dpe_memory_callers.count - 1) % DPE_PRELOAD_CALLERS].frame <= frame)
		dpe_memory_callers.count--;
	dpe_memory_callers.at[dpe_memory_callers.count % DPE_PRELOAD_CALLERS].pc = (uint64_t)caller;
	dpe_memory_callers.at[dpe_memory_callers.count++ % DPE_PRELOAD_CALLERS].frame = frame;
	if (dpe_tbb_has((uint64_t)caller))
		dpe_tbb_enter(DPE_MEMORY_HERE);
	if (__builtin_expect((uint64_t)caller == dpe_signal_return, 0))
		dpe_order_handler(DPE_MEMORY_HERE);
}

DPE_MEMORY_EXPORTED void __tsan_func_exit(void)
{
	if (!dpe_memory_callers.count)
		return;
	dpe_memory_callers.count--;
	if (dpe_tbb_has(dpe_memory_callers.at[dpe_memory_callers.count % DPE_PRELOAD_CALLERS].pc))
		dpe_tbb_return(DPE_MEMORY_HERE);
}
