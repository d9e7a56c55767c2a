/* packs: languages and libraries with their own synchronisation, and the shipped specifications that describe it; and Go,
 * whose goroutines are observed instead of threads. */
#include "probes/target/target.h"

#include <string.h>

/* Observed in programs compiled to report their accesses. */
static const struct runtime {
	const char *library, *name, *spec;
	const char *calls; /* a program that runs its code in parallel calls a function whose name begins so */
} runtimes[] = {
	{"libgomp", "OpenMP", "openmp.dpe", "GOMP_parallel"},
	{"libomp", "OpenMP", "openmp.dpe", "__kmpc_fork_call"},
	{"libiomp5", "OpenMP", "openmp.dpe", "__kmpc_fork_call"},
	{"libtbb", "oneTBB", "tbb.dpe", "_ZN3tbb6detail2r15spawn"},
};

/* Packs that are recognised by functions of the program and its libraries. */
enum { CXX20, RUST, CPYTHON, GLIB, GO };
static const struct pack {
	const char *name, *spec;
	const char *signs[3]; /* prefixes of function names: a file with such a function uses the pack */
	const char *runtime; /* a function of the language's runtime: a file without a sign that has it may use the pack by inlined code; or NULL */
	const char *says, *missing, *deadlocks;
	bool compiled; /* also in programs compiled to report their accesses */
} packs[] = {
	[CXX20] = {"C++20", "cxx20.dpe", {"_ZSt21__atomic_wait_address", "_ZSt25__atomic_notify_address", "_ZNSt18counting_semaphore"}, "__cxa_throw",
		"what semaphores, barriers, stop tokens and futures order, where they are not inlined; latches and waits "
		"on atomics are not observed",
		"its semaphores, latches, barriers and waits on atomics are inlined",
		"hangs in its semaphores, latches, barriers and waits on atomics are not found"},
	[RUST] = {"Rust", "rust.dpe", {"rust_eh_personality"}, NULL,
		"what std::sync orders, where it is not inlined: in programs built without optimisation",
		"std::sync is inlined",
		"deadlocks of the locks of std::sync are not found, as these are not mutexes of POSIX"},
	[CPYTHON] = {"CPython", "pthread.dpe", {"PyThread_release_lock"}, NULL,
		"what its locks and the GIL order, as these are semaphores, mutexes and conditions of POSIX", NULL,
		"dpe finds that no thread can proceed, but neither the holders of locks nor potential deadlocks"},
	[GLIB] = {"GLib", "glib.dpe", {"g_cond_wait_until"}, NULL,
		"what GMutex, GCond and GOnce order, where they are calls; g_bit_lock is not observed",
		"no function of its locks can be observed",
		"deadlocks of GMutex and GCond are not found, as these are not mutexes of POSIX", .compiled = true},
	[GO] = {"Go", "go.dpe", {"runtime.newproc"}, NULL,
		"what goroutines, channels and package sync order; atomic operations, and what passes through files and sockets, are not observed",
		"no function of its runtime can be observed", NULL},
};

static void report_runtime(const struct runtime *runtime, const char *library, bool compiled, struct dpe_diags *diags)
{
	if (compiled)
		dpe_diag_at(diags, DPE_NOTE, library, "%s: %s describes the order that it establishes", runtime->name, runtime->spec);
	else
		dpe_diag_at(diags, DPE_WARNING, library,
			"%s: what it orders is not observed, so what seems unordered may be ordered by it; "
			"compile for 'dpe race -- PROGRAM' (docs/memory-accesses.md)",
			runtime->name);
}

static void report_runtimes(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_modules *modules = &probes->modules;

	for (unsigned i = 0; i < DPE_COUNT(runtimes); i++)
		for (unsigned j = 0; j < modules->count; j++)
			if (dpe_module_is(modules->at[j], runtimes[i].library))
				report_runtime(&runtimes[i], modules->at[j]->name, probes->plan->memory, diags);
}

/* Whether the place is in a file of that name, wherever it is. */
static bool is_in(struct dpe_place place, const char *spec)
{
	const char *path = place.source ? dpe_source_name(place.source) : "", *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, spec);
}

static bool is_included(const struct dpe_plan *plan, const char *spec)
{
	for (unsigned i = 0; i < plan->nsites; i++)
		if (is_in(plan->sites[i].place, spec))
			return true;
	return false;
}

static const struct dpe_site *observed_site(const struct dpe_probes *probes, const char *spec)
{
	for (unsigned i = 0; i < probes->nsites; i++)
		if (is_in(probes->sites[i].wanted->place, spec))
			return &probes->sites[i];
	return NULL;
}

/* Others use only what a library exports; a library may use functions internally that need no pack. */
static struct dpe_module *file_with(const struct dpe_probes *probes, const char *prefix)
{
	for (unsigned i = 0; i < probes->modules.count; i++) {
		struct dpe_module *module = probes->modules.at[i];
		unsigned count;
		const struct dpe_function *functions = dpe_module_functions(module, &count);

		for (unsigned j = 0; j < count; j++)
			if ((module->program || functions[j].exported) && !strncmp(functions[j].name, prefix, strlen(prefix)))
				return module;
	}
	return NULL;
}

static struct dpe_module *user_of(const struct dpe_probes *probes, const struct pack *pack)
{
	struct dpe_module *module = NULL;

	for (unsigned i = 0; i < DPE_COUNT(pack->signs) && pack->signs[i] && !module; i++)
		module = file_with(probes, pack->signs[i]);
	return module;
}

struct prefix_search {
	const char *prefix;
	bool found;
};

static void match_call(void *context, const char *name, bool imported)
{
	struct prefix_search *search = context;

	search->found |= imported && !strncmp(name, search->prefix, strlen(search->prefix));
}

/* The run-time library that runs the program's own code in parallel, where what it orders is not observed. */
static const char *unobserved_runtime(const struct dpe_probes *probes)
{
	for (unsigned i = 0; i < DPE_COUNT(runtimes) && !probes->plan->memory; i++) {
		struct prefix_search search = {.prefix = runtimes[i].calls};

		for (unsigned j = 0; j < probes->modules.count; j++)
			if (probes->modules.at[j]->program)
				dpe_module_each_dynamic(probes->modules.at[j], match_call, &search);
		if (search.found)
			return runtimes[i].name;
	}
	return NULL;
}

static const char *unobserved_order(const struct dpe_probes *probes)
{
	const char *runtime = unobserved_runtime(probes);
	struct dpe_module *module = probes->plan->memory ? NULL : user_of(probes, &packs[RUST]);
	const char *lock = probes->go ? dpe_go_inlined_lock(probes->go) : NULL;

	if (lock)
		return dpe_arena_printf(probes->arena,
			"%s is inlined in %s, so what it orders is not observed: build it with go build -gcflags='all=-l'", lock, probes->go->name);
	if (runtime)
		return dpe_arena_printf(probes->arena,
			"what %s orders is not observed: compile for 'dpe race -- PROGRAM' (docs/memory-accesses.md)", runtime);
	if (!module || !module->program || !dpe_rust_is_inlined(module))
		return NULL;
	return dpe_arena_printf(probes->arena,
		"std::sync is inlined in %s, so what it orders is not observed: build it without optimisation", module->name);
}

const char *dpe_probes_unobserved_order(struct dpe_probes *probes)
{
	if (!probes->knows_order)
		probes->unobserved_order = unobserved_order(probes);
	probes->knows_order = true;
	return probes->unobserved_order;
}

const char *dpe_probes_order_spec(const struct dpe_probes *probes)
{
	return probes->go ? packs[GO].spec : "pthread.dpe";
}

/* A language has locks of its own, which deadlock.dpe does not observe. */
static void report_deadlocks(const char *module, const struct pack *pack, struct dpe_diags *diags)
{
	dpe_diag_at(diags, DPE_WARNING, module, "%s: %s", pack->name, pack->deadlocks);
	dpe_diag_at(diags, DPE_NOTE, module, "once it hangs, 'dpe hang -p PID' shows who waits for what");
}

static void report_pack(const struct dpe_probes *probes, const struct pack *pack, struct dpe_diags *diags)
{
	const struct dpe_site *site = observed_site(probes, pack->spec);
	const struct dpe_module *module = user_of(probes, pack);

	if (!module && site && pack->runtime)
		module = file_with(probes, pack->runtime);
	if (!module)
		return;
	if (is_included(probes->plan, "deadlock.dpe"))
		report_deadlocks(module->name, pack, diags);
	else if (site)
		dpe_diag_at(diags, DPE_NOTE, module->name, "%s: %s says %s", pack->name, pack->spec, pack->says);
	else if (is_included(probes->plan, pack->spec))
		dpe_diag_at(diags, DPE_WARNING, module->name,
			"%s: %s, so what these order is not observed and may be reported as a race", pack->name, pack->missing);
	else
		dpe_diag_at(diags, DPE_NOTE, module->name, "%s: include \"%s\" for %s", pack->name, pack->spec, pack->says);
}

/* Why the goroutines of a program cannot be observed as the rules want it; NULL: they can. */
static const char *goroutine_obstacle(struct dpe_probes *probes)
{
	const struct dpe_plan *plan = probes->plan;

	if (probes->follows)
		return "goroutines are only observed without --follow";
	if (plan->threads || plan->memory)
		return "its goroutines are not threads: these rules, about the order of threads, would report races and deadlocks that do not exist";
	if (plan->channels || plan->waits || plan->nwatched || plan->nobjects)
		return "only calls of its functions are known by goroutine, not transfers, waits for processes and accesses to variables";
	return dpe_go_layout_find(probes->go, &probes->go_layout);
}

bool dpe_packs_check(struct dpe_probes *probes, struct dpe_diags *diags)
{
	struct dpe_module *module = dpe_modules_program(&probes->modules);
	const char *why;

	if (!module || !dpe_go_is(module))
		return true;
	probes->go = module;
	probes->go_status = dpe_intern_string(probes->names, "runtime.casgstatus");
	why = goroutine_obstacle(probes);
	if (!why)
		return true;
	dpe_diag_at(diags, DPE_ERROR, module->name, "it is a Go program: %s", why);
	if (probes->plan->threads || probes->plan->memory)
		dpe_diag_at(diags, DPE_NOTE, module->name,
			"go build -race finds data races; rules that include \"go.dpe\" instead of \"pthread.dpe\" follow the order of goroutines");
	return false;
}

void dpe_packs_report(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	if (probes->go)
		report_pack(probes, &packs[GO], diags);
	if (!probes->plan->threads && !probes->plan->memory)
		return;
	report_runtimes(probes, diags);
	for (unsigned i = 0; i < DPE_COUNT(packs); i++)
		if (!probes->plan->memory || packs[i].compiled)
			report_pack(probes, &packs[i], diags);
}
