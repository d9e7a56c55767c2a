/* What accesses to a watched variable did, by the instructions that made them; each instruction is
 * decoded once. */
#include "probes/stream/stream.h"

#include <stdlib.h>

#include <uthash.h>

struct dpe_place_accessed {
	uint64_t ip;
	struct dpe_access_effect effect;
	UT_hash_handle hh;
};

static struct dpe_access_effect decode(const struct dpe_map *map, uint64_t ip)
{
	uint64_t address;

	return dpe_module_address(map->module, map->offset + (ip - map->start), &address)
		       ? dpe_access_before(map->module, address)
		       : (struct dpe_access_effect){0};
}

/* Whether the probe need not read the variable. */
static bool says_all(const struct dpe_probes *probes, const struct dpe_access_effect *effect)
{
	if (probes->plan->values || effect->access == DPE_ACCESS_UNKNOWN)
		return false;
	return effect->access == DPE_ACCESS_READ ||
	       (effect->value > DPE_VALUE_UNKNOWN && effect->value < DPE_VALUE_ADDED && !effect->unknown);
}

struct dpe_access_effect dpe_access_at(struct dpe_probes *probes, uint64_t ip)
{
	struct dpe_place_accessed *place;
	const struct dpe_map *map;

	HASH_FIND(hh, probes->accesses, &ip, sizeof(ip), place);
	if (place)
		return place->effect;
	dpe_maps_note(probes, probes->pid, 0, NULL, &ip, 1);
	map = dpe_maps_find(probes, ip);
	if (!map) /* not cached: the file may be known by the next access */
		return (struct dpe_access_effect){0};
	place = dpe_xcalloc(1, sizeof(*place));
	place->ip = ip;
	place->effect = decode(map, ip);
	HASH_ADD(hh, probes->accesses, ip, sizeof(ip), place);
	if (says_all(probes, &place->effect))
		dpe_watch_skip_reads(probes, ip);
	return place->effect;
}

void dpe_access_free(struct dpe_probes *probes)
{
	struct dpe_place_accessed *place, *next;

	HASH_ITER (hh, probes->accesses, place, next) {
		HASH_DEL(probes->accesses, place);
		free(place);
	}
}
