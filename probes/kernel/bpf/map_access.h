/* Definitions and updates of maps, and reservations in rings. In the build with tiny limits each n-th
 * update, reservation or look-up of an address fails where the observer says so. */
#ifndef DPE_PROBES_KERNEL_BPF_MAP_ACCESS_H
#define DPE_PROBES_KERNEL_BPF_MAP_ACCESS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

/* Entries take memory only once they are added. */
#define HASH_MAP(name, entries, from, to)                                                          \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__uint(max_entries, entries);                                                      \
		__type(key, from);                                                                 \
		__type(value, to);                                                                 \
	} name SEC(".maps")
/* The observer sets the number of entries. */
#define ARRAY_MAP(name, to)                                                                        \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(max_entries, 1);                                                            \
		__type(key, __u32);                                                                \
		__type(value, to);                                                                 \
	} name SEC(".maps")

#ifdef DPE_TINY
const volatile __u64 failing_reservation, failing_update, failing_place; /* every n-th; 0: none */
__u64 reservations, updates, places;

static __always_inline bool fails(__u64 *count, __u64 every)
{
	return every && (__sync_fetch_and_add(count, 1) + 1) % every == 0;
}

static __always_inline void *reserve(void *ring, __u64 size)
{
	return fails(&reservations, failing_reservation) ? 0 : bpf_ringbuf_reserve(ring, size, 0);
}

static __always_inline long update(void *map, const void *key, const void *value, __u64 flags)
{
	return fails(&updates, failing_update) ? -1 : bpf_map_update_elem(map, key, value, flags);
}

static __always_inline bool is_placed(void)
{
	return !fails(&places, failing_place);
}
#else
static __always_inline bool is_placed(void)
{
	return true;
}

static __always_inline void *reserve(void *ring, __u64 size)
{
	return bpf_ringbuf_reserve(ring, size, 0);
}

static __always_inline long update(void *map, const void *key, const void *value, __u64 flags)
{
	return bpf_map_update_elem(map, key, value, flags);
}
#endif

/* The verifier verifies functions that are not static once, not at each call and on each path. They cannot return pointers, and
 * check the pointers that they are given. */

/* Plain loops are verified round by round, on each path; those of bpf_loop a few times, if their context contains no counter that the
 * verifier could follow. */

#endif
