/* library: how the library begins, and how one event is written.
 *
 * It is the first of all files to be initialised, before other constructors lock anything. */
#include "preload/library.h"
#include "preload/ring.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct dpe_preload_look nothing;

const struct dpe_preload_look *dpe_preload_look = &nothing;
void *dpe_preload_real[DPE_PRELOAD_COUNT];

static __thread struct dpe_preload_writer self;

/* ---- beginning --------------------------------------------------------------------------- */

static const char *const NAMES[] = {
#define NAME(name) #name,
	DPE_PRELOAD_FUNCTIONS(NAME)
#undef NAME
};

/* Condition variables have two versions, of which the older is for programs of the year 2002. */
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

/* Maps so many bytes of the memory, if the file is it, and meant for this process. */
static struct dpe_preload_header *map_file(int fd, size_t bytes)
{
	struct dpe_preload_header *header =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (header == MAP_FAILED)
		return NULL;
	if (header->magic == DPE_PRELOAD_MAGIC && header->pid == (uint32_t)getpid())
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
	header = map_file(fd, bytes);
	if (header)
		madvise(header, bytes, MADV_DONTDUMP);
	return header;
}

static int number_after_slash(const char *path)
{
	const char *slash = strrchr(path, '/');
	int number = -1;

	for (const char *digit = slash ? slash + 1 : ""; *digit >= '0' && *digit <= '9'; digit++)
		number = (number < 0 ? 0 : number) * 10 + (*digit - '0');
	return number;
}

/* The file that dpe's child inherits is there once, and closed before the program sees it; what the
 * target becomes by exec has to open it by its path. */
static struct dpe_preload_header *map_memory(const char *path)
{
	int fd = path ? number_after_slash(path) : -1;
	struct dpe_preload_header *header = NULL;

	if (fd >= 0 && fcntl(fd, F_GET_SEALS) >= 0)
		header = map_all(fd);
	if (!header)
		fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (!header && fd >= 0)
		header = map_all(fd);
	if (fd >= 0)
		close(fd);
	return header;
}

/* After an exec: whoever had a ring is gone. */
static void bury_threads(struct dpe_preload_header *header)
{
	for (unsigned i = 0; i < header->used && i < DPE_PRELOAD_RINGS; i++)
		if (header->rings[i].state == DPE_PRELOAD_CLAIMED)
			__atomic_store_n(
				&header->rings[i].state, DPE_PRELOAD_DEAD, __ATOMIC_RELEASE);
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
	return look;
}

static void begin(char **environment)
{
	struct dpe_preload_header *header;
	struct dpe_preload_look *look;

	for (unsigned i = 0; i < DPE_PRELOAD_COUNT; i++)
		dpe_preload_real[i] = look_up(NAMES[i]);
	header = map_memory(variable(environment));
	if (!header)
		return;
	look = make_look(header);
	if (!look)
		return;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0))
		header->fences = 1;
	bury_threads(header);
	for (unsigned i = 0; i < DPE_PRELOAD_COUNT; i++)
		header->address[i] = (uint64_t)dpe_preload_real[i];
	__atomic_add_fetch(&header->images, 1, __ATOMIC_RELEASE);
	dpe_preload_look = look;
}

/* Once, from the first thread: by the constructor, or by who calls a function still earlier. */
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

/* ---- one event --------------------------------------------------------------------------- */

static struct dpe_preload_ring *claim(struct dpe_preload_header *header)
{
	uint32_t free = DPE_PRELOAD_FREE, used;

	for (unsigned i = 0; i < DPE_PRELOAD_RINGS; i++, free = DPE_PRELOAD_FREE) {
		if (__atomic_load_n(&header->rings[i].state, __ATOMIC_RELAXED) ||
			!__atomic_compare_exchange_n(&header->rings[i].state, &free,
				DPE_PRELOAD_CLAIMED, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			continue;
		used = __atomic_load_n(&header->used, __ATOMIC_RELAXED);
		while (used <= i && !__atomic_compare_exchange_n(&header->used, &used, i + 1, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
		return &header->rings[i];
	}
	return NULL;
}

/* The thread's first event. */
static void join(struct dpe_preload_header *header)
{
	int error = errno;
	struct dpe_preload_ring *ring = claim(header);
	size_t size = (size_t)header->slots * header->slot_bytes;

	self.refused = !ring;
	if (ring) {
		ring->thread = (uint32_t)syscall(SYS_gettid);
		prctl(PR_GET_NAME, ring->comm);
		self.tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
		self.slots = (char *)header + header->slots_begin + size * (ring - header->rings);
		self.ring = ring;
	}
	errno = error;
}

static void lose_nowhere(struct dpe_preload_header *header)
{
	uint64_t now = dpe_preload_clock(header, false), none = 0;

	__atomic_add_fetch(&header->nowhere.count, 1, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(
		&header->nowhere.first, &none, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	__atomic_store_n(&header->nowhere.last, now, __ATOMIC_RELAXED);
}

/* Follows frame pointers as long as they stay in the page of the stack that is in use: that one
 * can be read, whatever the pointers are in code that keeps none. */
static void add_frames(struct dpe_preload_slot *slot, const uint64_t *frame, unsigned wanted)
{
	const uint64_t page = 4096, last = page - 2 * sizeof(*frame);
	unsigned count = 0;

	while (count < wanted) {
		uint64_t next = *frame;

		if (next <= (uint64_t)frame || next % sizeof(*frame) ||
			(next ^ (uint64_t)frame) >= page || next % page > last)
			break;
		frame = (const uint64_t *)next;
		slot->frames[count++] = frame[1];
	}
	if (count < DPE_PRELOAD_FRAMES)
		slot->frames[count] = 0;
}

static void fill(const struct dpe_preload_header *header, struct dpe_preload_slot *slot,
	const struct dpe_preload_call *call, const uint64_t *frame)
{
	slot->function = (uint16_t)call->function;
	slot->lost = (uint32_t)self.ring->lost.count;
	slot->caller = frame[1];
	for (unsigned i = 0; i < DPE_PRELOAD_WORDS; i++)
		slot->words[i] = call->words[i];
	if (header->frames)
		add_frames(slot, frame, header->frames);
}

void dpe_preload_write(
	const struct dpe_preload_call *call, unsigned kind, int ret, const uint64_t *frame)
{
	struct dpe_preload_header *header = dpe_preload_look->header;
	struct dpe_preload_slot *slot;
	uint64_t number;

	if (!header || header->closed)
		return;
	if (!self.ring && !self.refused)
		join(header);
	if (!self.ring) {
		lose_nowhere(header);
		return;
	}
	slot = dpe_preload_reserve(header, &self, &number);
	if (!slot) {
		dpe_preload_lose(header, self.ring);
		return;
	}
	slot->clock = dpe_preload_clock(header, kind == DPE_PRELOAD_EXIT);
	slot->kind = (uint16_t)kind;
	slot->ret = ret;
	fill(header, slot, call, frame);
	dpe_preload_commit(slot, number);
}
