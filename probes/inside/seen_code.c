/* seen_code: which code reports its accesses, and accesses to objects of thread functions. In a section of a lock that
 * other code takes, any data may be read and written unseen: a prediction must not put two such sections of one lock in
 * another order. */
#include "probes/inside/memory_hooks.h"
#include "probes/inside/runtime.h"

#include <dlfcn.h>

/* Code of files beyond this number counts as unseen. */
enum { FILES = 256 };

static struct dpe_runtime files[FILES];
static unsigned nfiles;

static bool is_seen(uint64_t pc)
{
	unsigned count = __atomic_load_n(&nfiles, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < count; i++)
		if (pc - files[i].begin < files[i].bytes)
			return true;
	return !count; /* compiled so that its files do not call __tsan_init */
}

static void add_file(const void *code)
{
	unsigned count = nfiles;

	if (!code || count == FILES || (count && is_seen((uint64_t)code)))
		return;
	files[count] = dpe_runtime_code(code);
	__atomic_store_n(&nfiles, count + 1, __ATOMIC_RELEASE);
}

/* Called by a constructor of each object file that reports accesses; the loader calls no two at once. std::condition_variable
 * waits in libstdc++, with a mutex that the program locked. */
DPE_MEMORY_EXPORTED void __tsan_init(void)
{
	if (!nfiles)
		add_file(dlsym(RTLD_DEFAULT, "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"));
	add_file(__builtin_return_address(0));
}

/* All objects have at least this number of bytes; an access to these represents the whole object. One that unseen code
 * makes or destroys may be handed over by its unseen accesses. */
void dpe_memory_touch(unsigned what, uint64_t address, const uint64_t *frame)
{
	enum { BYTES = 4 };

	if (dpe_memory_is_wanted(what) && (what != DPE_PRELOAD_WRITE || is_seen(frame[1])))
		dpe_memory_access(what, address, BYTES, (struct dpe_memory_place){frame[1], frame});
}

void dpe_memory_begin_section(uint64_t lock, bool shared, const uint64_t *frame)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_READ) && !is_seen(frame[1]) && !dpe_runtime_has(frame[1]))
		dpe_memory_access_unseen(lock, shared, (struct dpe_memory_place){frame[1], frame});
}
