/* Locks within glibc that record their owner, its _IO_lock_t, and the streams that they belong to. */
#include "probes/waits/waits.h"

#include <stdlib.h>
#include <string.h>

/* Offsets in struct pthread on x86-64: tcbhead_t, which points to itself, precedes the id of the thread. */
#define SELF 16
#define ID 720

bool dpe_is_thread_id(const struct dpe_process_image *image, uint64_t address)
{
	uint64_t thread = address - ID, self;

	return dpe_image_read(image, thread + SELF, &self, sizeof(self)) && self == thread;
}

/* What follows the FILE of fopen and of popen before its lock, in libio of glibc. */
#define VTABLE 8
#define CHILD 16

struct stream_lock {
	uint32_t word, depth;
	uint64_t owner; /* a pthread_t */
};

static pid_t id_of(const struct dpe_process_image *image, uint64_t thread)
{
	uint64_t self;
	pid_t id;

	if (!thread || !dpe_image_read(image, thread + SELF, &self, sizeof(self)) || self != thread)
		return 0;
	return dpe_image_read(image, thread + ID, &id, sizeof(id)) && id > 0 ? id : 0;
}

/* ---- the stream of a lock ------------------------------------------------------------------------- */

/* Takes what is at the address for the stream, if it is a FILE with this lock. */
static bool take_stream(const struct dpe_process_image *image, uint64_t address, uint64_t lock,
	struct dpe_waiting_thread *thread)
{
	FILE stream;

	if (!dpe_image_read(image, address, &stream, sizeof(stream)) || (uint64_t)(uintptr_t)stream._lock != lock)
		return false;
	thread->kind = DPE_WAIT_STREAM;
	thread->object = address;
	if (stream._fileno >= 0)
		thread->file = dpe_descriptor_file(image->pid, (unsigned)stream._fileno);
	return true;
}

static uint64_t address_of(const struct dpe_map *map, const char *name)
{
	struct dpe_variable variable;
	char *why = dpe_variable_find(map->module, name, &variable);
	uint64_t begin;

	free(why);
	return !why && dpe_module_address(map->module, map->offset, &begin) ? map->start + variable.address - begin : 0;
}

static void find_standard(const struct dpe_process_image *image, const struct dpe_map *map, uint64_t lock,
	struct dpe_waiting_thread *thread)
{
	static const char *const names[] = {"stdin", "stdout", "stderr"};

	for (unsigned i = 0; i < DPE_COUNT(names); i++) {
		char *name = dpe_xasprintf("_IO_2_1_%s_", names[i]);
		bool taken = take_stream(image, address_of(map, name), lock, thread);

		free(name);
		if (taken) {
			thread->variable = dpe_xstrdup(names[i]);
			return;
		}
	}
}

static void find_stream(const struct dpe_process_image *image, const struct dpe_module *libc, struct dpe_waiting_thread *thread)
{
	uint64_t lock = thread->object, before = lock - sizeof(FILE) - VTABLE;

	if (take_stream(image, before, lock, thread) || take_stream(image, before - CHILD, lock, thread))
		return;
	for (unsigned i = 0; i < image->nmaps; i++) {
		if (image->maps[i].module == libc) {
			find_standard(image, &image->maps[i], lock, thread);
			return;
		}
	}
}

void dpe_stream_lock_look(const struct dpe_process_image *image, const struct dpe_module *libc, struct dpe_waiting_thread *thread)
{
	struct stream_lock lock;

	if (!dpe_image_read(image, thread->object, &lock, sizeof(lock)))
		return;
	thread->holder = id_of(image, lock.owner);
	find_stream(image, libc, thread);
}
