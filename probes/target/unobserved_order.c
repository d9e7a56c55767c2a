/* What may order the target's threads and is no event: atomic instructions in its own code, and some functions of the
 * C library. */
#include "probes/target/target.h"

/* Files whose synchronisation is observed at their calls, or concerns only themselves. */
static bool is_runtime(const struct dpe_module *module)
{
	static const char *const names[] = {"libc", "ld-linux-x86-64", "libpthread", "libm", "librt", "libdl", "libstdc++", "libc++",
		"libc++abi", "libgcc_s", "libgomp", "libomp", "libiomp5", "libtbb", "libtbbmalloc"};

	for (unsigned i = 0; i < DPE_COUNT(names); i++) {
		if (dpe_module_is(module, names[i]))
			return true;
	}
	return dpe_preload_is_library(module);
}

static void note_hook(void *context, const char *name, bool imported)
{
	bool *compiled = context;

	*compiled |= imported && !strcmp(name, "__tsan_func_entry");
}

/* It reports its atomic operations. */
static bool reports_atomics(const struct dpe_probes *probes, const struct dpe_module *module)
{
	bool compiled = false;

	if (probes->plan->memory)
		dpe_module_each_dynamic(module, note_hook, &compiled);
	return compiled;
}

/* Functions by which threads order each other and which no shipped rule describes, except in programs compiled to report
 * their accesses. `syscall` may be a futex. */
static void report_calls(const struct dpe_module *module, struct dpe_diags *diags)
{
	static const char *const functions[] = {"eventfd", "signalfd", "sigwait", "sigwaitinfo", "sigtimedwait", "syscall"};
	struct dpe_text names = {0};

	for (unsigned i = 0; i < DPE_COUNT(functions); i++) {
		if (dpe_module_imports(module, functions[i]))
			dpe_text_printf(&names, "%s%s", names.len ? ", " : "", functions[i]);
	}
	if (names.len)
		dpe_diag_at(diags, DPE_WARNING, module->path,
			"%s calls %s: the order that these calls make is not observed, so events reported as unordered may be ordered",
			module->name, names.at);
	dpe_text_free(&names);
}

void dpe_probes_report_unobserved_order(struct dpe_probes *probes, struct dpe_diags *diags)
{
	uint64_t bytes = DPE_ATOMICS_BYTES;

	for (unsigned i = 0; i < probes->modules.count; i++) {
		struct dpe_module *module = probes->modules.at[i];
		struct dpe_text names = {0};

		if (is_runtime(module) || reports_atomics(probes, module))
			continue;
		if (dpe_atomics_print(&names, module, &bytes))
			dpe_diag_at(diags, DPE_WARNING, module->path,
				"%s synchronises by atomic instructions, in %s: what they order is not "
				"observed, so what was reported as unordered may be ordered by them",
				module->name, names.at);
		dpe_text_free(&names);
		if (!probes->plan->memory)
			report_calls(module, diags);
	}
	if (!bytes)
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"only the first %d KiB of code were searched for atomic instructions: others may order threads, too",
			DPE_ATOMICS_BYTES / 1024);
}
