/* Replaces libbpf's functions that write maps: each n-th update fails, where n is the environment variable
 * DPE_FAIL_UPDATE. The BPF programs fail as often (probes/kernel/bpf/map_access.h). */
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static bool fails(void)
{
	static atomic_ulong updates;
	const char *number = getenv("DPE_FAIL_UPDATE");
	unsigned long every = number ? strtoul(number, NULL, 10) : 0;

	if (!every || ++updates % every)
		return false;
	errno = ENOMEM;
	return true;
}

int bpf_map_update_elem(int map, const void *key, const void *value, __u64 flags)
{
	int (*next)(int, const void *, const void *, __u64) = dlsym(RTLD_NEXT, "bpf_map_update_elem");

	return fails() ? -ENOMEM : next(map, key, value, flags);
}

int bpf_map_update_batch(int map, const void *keys, const void *values, __u32 *count,
	const struct bpf_map_batch_opts *opts)
{
	int (*next)(int, const void *, const void *, __u32 *, const struct bpf_map_batch_opts *) =
		dlsym(RTLD_NEXT, "bpf_map_update_batch");

	return fails() ? -ENOMEM : next(map, keys, values, count, opts);
}
