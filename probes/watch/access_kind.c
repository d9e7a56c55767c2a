/* Whether an access to a watched variable wrote to it, for rules that ask for reads as well.
 *
 * The processor tells after the instruction, and not which kind it was. The function is decoded
 * from its beginning up to the instruction that ends there; what that does to memory is looked up
 * once for each place in the code. Where it cannot be told so (no function there, code that cannot
 * be decoded, a copy from memory to memory), an access that changed the value wrote. */
#include "probes/live.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <unistd.h>

#include <uthash.h>

enum { LARGEST = 1 << 20 };

struct dpe_place_accessed {
	uint64_t ip;
	enum dpe_access access;
	UT_hash_handle hh;
};

struct code {
	ZydisDecoder decoder;
	ZydisDecodedInstruction is;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t *bytes;
	size_t size;
};

static bool decode(struct code *code, size_t at)
{
	return at < code->size &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&code->decoder, code->bytes + at,
		       code->size - at, &code->is, code->operands));
}

/* What the instruction does to memory that it names, or, a string instruction, implies. A push or a
 * call also writes to the stack, where no watched variable is. */
static enum dpe_access access_of(const struct code *code)
{
	bool string = code->is.meta.category == ZYDIS_CATEGORY_STRINGOP;
	unsigned reads = 0, writes = 0;

	for (unsigned i = 0; i < code->is.operand_count; i++) {
		const ZydisDecodedOperand *operand = &code->operands[i];

		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
			(!string && operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN))
			continue;
		if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			writes++;
		else if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			reads++;
	}
	if (!reads == !writes)
		return DPE_ACCESS_UNKNOWN;
	return writes ? DPE_ACCESS_WRITE : DPE_ACCESS_READ;
}

/* `end`: how far behind the function's beginning the next instruction is. One that is repeated is
 * told while it is still the next. */
static enum dpe_access access_before(struct code *code, size_t end)
{
	size_t at = 0;

	while (at < end) {
		if (!decode(code, at))
			return DPE_ACCESS_UNKNOWN;
		at += code->is.length;
	}
	if (at > end)
		return DPE_ACCESS_UNKNOWN;
	if (end && access_of(code) != DPE_ACCESS_UNKNOWN)
		return access_of(code);
	if (!decode(code, at) ||
		!(code->is.attributes &
			(ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)))
		return DPE_ACCESS_UNKNOWN;
	return access_of(code);
}

static enum dpe_access look_up(const struct dpe_map *map, uint64_t ip)
{
	const struct dpe_function *function;
	struct code code;
	enum dpe_access access = DPE_ACCESS_UNKNOWN;
	uint64_t address;

	if (!dpe_module_address(map->module, map->offset + (ip - map->start), &address))
		return DPE_ACCESS_UNKNOWN;
	/* What comes next may be the next function: an access can be the last thing that one does.
	 */
	function = dpe_module_function_at(map->module, address - 1);
	if (!function || !function->size || function->size > LARGEST)
		return DPE_ACCESS_UNKNOWN;
	ZydisDecoderInit(&code.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	code.size = function->size;
	code.bytes = dpe_xmalloc(code.size);
	if (pread(map->module->fd, code.bytes, code.size, (off_t)function->offset) ==
		(ssize_t)code.size)
		access = access_before(&code, address - function->address);
	free(code.bytes);
	return access;
}

enum dpe_access dpe_access_at(struct dpe_probes *probes, uint64_t ip)
{
	struct dpe_place_accessed *place;
	const struct dpe_map *map;

	HASH_FIND(hh, probes->accesses, &ip, sizeof(ip), place);
	if (place)
		return place->access;
	dpe_maps_note(probes, probes->pid, NULL, &ip, 1);
	map = dpe_maps_find(probes, ip);
	if (!map) /* perhaps the next look at the maps knows it */
		return DPE_ACCESS_UNKNOWN;
	place = dpe_xcalloc(1, sizeof(*place));
	place->ip = ip;
	place->access = look_up(map, ip);
	HASH_ADD(hh, probes->accesses, ip, sizeof(ip), place);
	return place->access;
}

void dpe_access_free(struct dpe_probes *probes)
{
	struct dpe_place_accessed *place, *next;

	HASH_ITER (hh, probes->accesses, place, next) {
		HASH_DEL(probes->accesses, place);
		free(place);
	}
}
