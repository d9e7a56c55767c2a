/* library: how the library begins.
 *
 * It is the first of all files to be initialised, before other constructors lock anything. */
#include "probes/inside/library.h"
#include "probes/inside/ring_slots.h"
#include "probes/inside/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct dpe_preload_look nothing;

/* A program may load both libraries, and both wrap functions; the first to begin is used. They share this
 * variable, since it is exported. */
__attribute__((visibility("default"))) int dpe_preload_begun;

const struct dpe_preload_look *dpe_preload_look = &nothing;
struct dpe_preload_header *dpe_preload_mapped;
struct dpe_runtime dpe_runtime;
bool dpe_runtime_tells;
void *dpe_preload_real[DPE_PRELOAD_COUNT];
int (*dpe_preload_clock)(clockid_t clock, struct timespec *now);

/* ---- beginning --------------------------------------------------------------------------- */

static const char *const NAMES[] = {
#define NAME(name, ...) #name,
	DPE_PRELOAD_FUNCTIONS(NAME)
#undef NAME
};

/* Condition variables have two versions; the older one is for programs from before 2002. */
static void *look_up(const char *name)
{
	void *found = NULL;

	if (!strncmp(name, "pthread_cond_", 13))
		found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	return found ? found : dlsym(RTLD_NEXT, name);
}

static const char *variable(char **environment)
{
	const size_t len = sizeof(DPE_PRELOAD_VARIABLE) - 1;

	for (; environment && *environment; environment++)
		if (!strncmp(*environment, DPE_PRELOAD_VARIABLE, len) && (*environment)[len] == '=')
			return *environment + len + 1;
	return NULL;
}

/* Maps the first bytes of the file, if it is the shared memory and meant for this process. */
static struct dpe_preload_header *map_file(int fd, size_t bytes)
{
	struct dpe_preload_header *header =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (header == MAP_FAILED)
		return NULL;
	if (header->magic == DPE_PRELOAD_MAGIC && header->pid == (dpe_preload_filtered ? dpe_preload_own_id() : (uint32_t)getpid()))
		return header;
	munmap(header, bytes);
	return NULL;
}

static struct dpe_preload_header *map_all(int fd)
{
	struct dpe_preload_header *header = map_file(fd, sizeof(*header));
	size_t bytes;

	if (!header)
		return NULL;
	bytes = header->bytes;
	munmap(header, sizeof(*header));
	return map_file(fd, bytes);
}

static int number_after_slash(const char *path)
{
	const char *slash = strrchr(path, '/');
	int number = -1;

	for (const char *digit = slash ? slash + 1 : ""; *digit >= '0' && *digit <= '9'; digit++)
		number = (number < 0 ? 0 : number) * 10 + (*digit - '0');
	return number;
}

/* The dynamic linker has already made this one of the calls that create it. */
static bool may_be_memory(int fd)
{
	struct stat status;

	return fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode) &&
	       (size_t)status.st_size >= sizeof(struct dpe_preload_header);
}

/* dpe's child inherits the file once, and it is closed before the program can see it; after a later exec it has
 * to be opened by its path. */
static struct dpe_preload_header *map_memory(const char *path)
{
	int fd = path ? number_after_slash(path) : -1;
	struct dpe_preload_header *header = NULL;

	if (may_be_memory(fd))
		header = map_all(fd);
	if (!header)
		fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (!header && fd >= 0)
		header = map_all(fd);
	if (fd >= 0)
		close(fd);
	return header;
}

/* After an exec: the threads that had rings are gone. */
static void mark_threads_dead(struct dpe_preload_header *header)
{
	for (unsigned i = 0; i < header->used && i < DPE_PRELOAD_RINGS; i++)
		if (header->rings[i].state == DPE_PRELOAD_CLAIMED)
			__atomic_store_n(
				&header->rings[i].state, DPE_PRELOAD_DEAD, __ATOMIC_RELEASE);
}

/* Maps pages that are already allocated in one call, at a tenth of the cost of one fault each (Linux 5.14;
 * before, they fault). */
static void map_prepared(struct dpe_preload_header *header)
{
	size_t ring = (size_t)header->slots * header->slot_bytes;

	if (header->prepared)
		madvise((char *)header + header->slots_begin, header->prepared * ring,
			MADV_POPULATE_READ);
}

static struct dpe_preload_look *make_look(struct dpe_preload_header *header)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct dpe_preload_look *look =
		mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (look == MAP_FAILED || madvise(look, page, MADV_WIPEONFORK))
		return NULL;
	memcpy(look->wanted, header->wanted, sizeof(look->wanted));
	look->header = header;
	look->once = header->once;
	return look;
}

static void begin(char **environment)
{
	struct dpe_preload_header *header;
	struct dpe_preload_look *look;
	unsigned filters;
	char name[16];

	for (unsigned i = 0; i < DPE_PRELOAD_COUNT; i++)
		dpe_preload_real[i] = look_up(NAMES[i]);
	dpe_preload_clock = (__typeof__(dpe_preload_clock))dlsym(RTLD_NEXT, "clock_gettime");
	if (dpe_preload_begun++)
		return;
	filters = dpe_preload_filters();
	dpe_preload_filtered = filters; /* until it is known how many are the observer's, too */
	dpe_preload_find_ids();
	header = map_memory(variable(environment));
	if (!header)
		return;
	dpe_preload_filtered = filters > header->filters;
	if (dpe_preload_filtered) /* the events of this program count as lost */
		return;
	dpe_preload_own_name(name);
	madvise(header, header->bytes, MADV_DONTDUMP);
	look = make_look(header);
	if (!look)
		return;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0))
		header->fences = 1;
	mark_threads_dead(header);
	map_prepared(header);
	for (unsigned i = 0; i < DPE_PRELOAD_COUNT; i++)
		header->address[i] = (uint64_t)dpe_preload_real[i];
	__atomic_add_fetch(&header->images, 1, __ATOMIC_RELEASE);
	dpe_preload_mapped = header;
	dpe_preload_look = look;
}

/* Called once, from the first thread: by the constructor, or by an even earlier call of a wrapped function. */
static void begin_once(char **environment)
{
	static bool begun;
	int error = errno;

	if (!begun) {
		begun = true;
		begin(environment);
	}
	errno = error;
}

__attribute__((constructor)) static void load(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	begin_once(environment);
}

static int absent(void)
{
	return ENOSYS;
}

void *dpe_preload_find(enum dpe_preload_function function)
{
	begin_once(environ);
	return dpe_preload_real[function] ? dpe_preload_real[function] : (void *)absent;
}
