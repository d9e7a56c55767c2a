/* address_spaces: makes addresses of several processes distinct. The first process keeps its addresses; those of another
 * address space get its number above bit 48; shared memory is identified by file and offset, so that an object in it
 * has one value in all processes. */
#include "probes/stream/stream.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESS_BITS 48
#define SHARED (UINT64_C(1) << 62)
_Static_assert(DPE_MAX_SPACES <= 1u << (62 - ADDRESS_BITS), "an address with its space is below SHARED");
#define MAX_SHARED (1u << (62 - DPE_SHARED_BITS))

/* ---- numbers ----------------------------------------------------------------------------- */

/* The kernel's programs number all spaces; here a space gets a number when an address of it is seen. */
static unsigned number_of(struct dpe_follow *follow, uint32_t space, pid_t pid)
{
	unsigned low = DPE_PARTITION_POINT(i, 0, follow->nspaces, follow->spaces[i].space < space);

	if (low < follow->nspaces && follow->spaces[low].space == space)
		return follow->spaces[low].number;
	if (follow->nowners + 1 >= DPE_MAX_SPACES)
		return 0;
	*DPE_GROW(follow->owners, follow->nowners, follow->capowners) = pid;
	(void)DPE_GROW(follow->spaces, follow->nspaces, follow->capspaces);
	memmove(&follow->spaces[low + 1], &follow->spaces[low],
		(follow->nspaces - 1 - low) * sizeof(*follow->spaces));
	follow->spaces[low] = (struct dpe_space){space, follow->nowners};
	return follow->nowners;
}

static bool lose(struct dpe_follow *follow)
{
	follow->lost.last = dpe_ring_now();
	if (!follow->lost.count++)
		follow->lost.first = follow->lost.last;
	return false;
}

struct dpe_lost dpe_addresses_lost(const struct dpe_probes *probes)
{
	return probes->follow ? probes->follow->lost : (struct dpe_lost){0};
}

bool dpe_address_tag(struct dpe_probes *probes, uint32_t space, pid_t pid, uint64_t *address)
{
	unsigned number;

	if (!probes->follow || !space || !*address || *address >> ADDRESS_BITS)
		return true;
	number = number_of(probes->follow, space, pid);
	if (!number)
		return lose(probes->follow);
	*address |= (uint64_t)number << ADDRESS_BITS;
	return true;
}

bool dpe_addresses_tag(struct dpe_probes *probes, const struct dpe_record *record,
	unsigned addresses, uint64_t *words)
{
	for (unsigned i = 0; probes->follow && i < record->nwords; i++) {
		if (!(addresses >> i & 1))
			continue;
		if (!(record->shared >> i & 1)) {
			if (!dpe_address_tag(
				    probes, record->space, (pid_t)record->tgid, &words[i]))
				return false;
		} else if (words[i] >> DPE_SHARED_BITS >= MAX_SHARED) {
			return lose(probes->follow);
		} else {
			words[i] |= SHARED;
		}
	}
	return true;
}

bool dpe_address_find(
	const struct dpe_probes *probes, uint64_t address, struct dpe_address_origin *where)
{
	uint64_t number = address >> ADDRESS_BITS;

	*where = (struct dpe_address_origin){0};
	if (!probes->follow || !number || address & UINT64_C(1) << 63)
		return false;
	if (address & SHARED) {
		where->shared = (uint32_t)((address ^ SHARED) >> DPE_SHARED_BITS);
		where->address = address & ((UINT64_C(1) << DPE_SHARED_BITS) - 1);
		return true;
	}
	if (number > probes->follow->nowners)
		return false;
	where->pid = probes->follow->owners[number - 1];
	where->address = address & ((UINT64_C(1) << ADDRESS_BITS) - 1);
	return true;
}

/* ---- maps of processes ------------------------------------------------------------------- */

struct dpe_maps *dpe_maps_of(struct dpe_probes *probes, pid_t pid)
{
	struct dpe_follow *follow = probes->follow;

	if (!follow || pid == probes->pid)
		return probes->maps;
	for (unsigned i = 0; i < follow->nmaps; i++)
		if (follow->maps[i]->pid == pid)
			return follow->maps[i];
	*DPE_GROW(follow->maps, follow->nmaps, follow->capmaps) =
		dpe_xcalloc(1, sizeof(**follow->maps));
	follow->maps[follow->nmaps - 1]->pid = pid;
	return follow->maps[follow->nmaps - 1];
}

static void forget_maps(struct dpe_follow *follow, unsigned i)
{
	free(follow->maps[i]->at);
	free(follow->maps[i]);
	follow->maps[i] = follow->maps[--follow->nmaps];
}

void dpe_address_spaces_fork(struct dpe_probes *probes, pid_t pid, uint32_t space, pid_t parent)
{
	struct dpe_follow *follow = probes->follow;
	struct dpe_maps *maps;

	for (unsigned i = 0; follow && i < follow->nmaps; i++) {
		if (follow->maps[i]->pid != pid)
			continue;
		if (space && follow->maps[i]->space == space)
			return; /* it was created, and begins */
		forget_maps(follow, i);
		break;
	}
	if (!follow || !parent || pid == probes->pid)
		return;
	maps = dpe_maps_of(probes, pid);
	maps->space = space;
	maps->parent = parent;
}

void dpe_address_spaces_free(struct dpe_follow *follow)
{
	for (unsigned i = 0; i < follow->nmaps; i++) {
		free(follow->maps[i]->at);
		free(follow->maps[i]);
	}
	free(follow->maps);
	free(follow->spaces);
	free(follow->owners);
}
