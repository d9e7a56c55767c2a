/* ctf_locks: locks in traces of LTTng. An unlock is traced after it was done, so another thread's lock may be traced before
 * it. The unlock moves to before that lock. */
#include "event/logs/ctf_locks.h"

#include "event/event.h"
#include "event/limits.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct ctf_lock {
	struct {
		uint64_t process, lock;
	} key;
	uint64_t holder;
	unsigned times; /* how often the holder took it; 0: free */
	UT_hash_handle hh;
};

static struct ctf_lock *find_lock(struct ctf_lock **locks, const struct dpe_ctf_event *event)
{
	struct ctf_lock *lock, key = {.key = {event->process, event->lock}};

	HASH_FIND(hh, *locks, &key.key, sizeof(key.key), lock);
	if (!lock) {
		lock = dpe_xcalloc(1, sizeof(*lock));
		lock->key = key.key;
		HASH_ADD(hh, *locks, key, sizeof(lock->key), lock);
	}
	return lock;
}

/* Moves the holder's event to before the one at `at`. */
static void release_before(struct dpe_ctf_event *events, unsigned count, unsigned at, const struct ctf_lock *lock)
{
	unsigned end = count - at > DPE_UNLOCKS_AHEAD ? at + DPE_UNLOCKS_AHEAD : count;

	for (unsigned i = at + 1; i < end; i++) {
		struct dpe_ctf_event event = events[i];

		if (event.what != CTF_RELEASES || event.lock != lock->key.lock || event.process != lock->key.process ||
			event.thread != lock->holder)
			continue;
		event.time = events[at].time - 1;
		memmove(&events[at + 1], &events[at], (i - at) * sizeof(event));
		events[at] = event;
		return;
	}
}

void dpe_ctf_order_locks(struct dpe_ctf_event *events, unsigned count)
{
	struct ctf_lock *locks = NULL, *lock, *next;

	for (unsigned i = 0; i < count; i++) {
		if (events[i].what == CTF_OTHER || events[i].what == CTF_REQUESTS)
			continue;
		lock = find_lock(&locks, &events[i]);
		if (events[i].what == CTF_ACQUIRES && lock->times && lock->holder != events[i].thread)
			release_before(events, count, i, lock); /* then this is what is at i */
		if (events[i].what == CTF_RELEASES) {
			lock->times -= lock->times != 0;
			continue;
		}
		lock->times = lock->holder == events[i].thread ? lock->times + 1 : 1;
		lock->holder = events[i].thread;
	}
	HASH_ITER (hh, locks, lock, next) {
		HASH_DEL(locks, lock);
		free(lock);
	}
}
