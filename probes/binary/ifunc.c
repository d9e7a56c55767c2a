/* Which variant of a function is chosen, and which there are to choose from. */
#include "probes/binary/ifunc.h"

#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- our own copy of the library --------------------------------------------------------- */

struct copy {
	struct stat file;
	const char *path; /* NULL: not found */
	uint64_t bias;
};

static int find_copy(struct dl_phdr_info *info, size_t size, void *context)
{
	struct copy *copy = context;
	struct stat status;

	(void)size;
	if (!*info->dlpi_name || stat(info->dlpi_name, &status) ||
		status.st_ino != copy->file.st_ino || status.st_dev != copy->file.st_dev)
		return 0;
	copy->path = info->dlpi_name;
	copy->bias = info->dlpi_addr;
	return 1;
}

/* Only libraries that we know to do nothing but choose are asked, and loaded for that. */
static bool is_known(const struct dpe_module *module)
{
	return dpe_module_is(module, "libc") || dpe_module_is(module, "libm");
}

static bool open_copy(const struct dpe_module *module, struct copy *copy)
{
	if (!is_known(module) || fstat(module->fd, &copy->file))
		return false;
	dl_iterate_phdr(find_copy, copy);
	if (!copy->path && dpe_module_is(module, "libm") && dlopen("libm.so.6", RTLD_LAZY))
		dl_iterate_phdr(find_copy, copy);
	return copy->path;
}

/* ---- asking ------------------------------------------------------------------------------ */

static uint64_t ask(uint64_t address)
{
	void *(*chooser)(void) = (void *(*)(void))(uintptr_t)address;

	return (uintptr_t)chooser();
}

static const struct dpe_function *make_variant(
	struct dpe_module *module, const struct dpe_function *chooser, uint64_t address)
{
	const struct dpe_function *named = dpe_module_function_at(module, address);
	struct dpe_function *variant;
	uint64_t offset;

	if (!dpe_module_offset(module, address, &offset))
		return NULL;
	variant = dpe_arena_alloc(module->arena, sizeof(*variant));
	*variant = (struct dpe_function){
		.name = chooser->name,
		.address = address,
		.offset = offset,
		.size = named && named->address == address ? named->size : 0,
		.exported = chooser->exported,
	};
	return variant;
}

const struct dpe_function *dpe_ifunc_chosen(
	struct dpe_module *module, const struct dpe_function *chooser, const char **why)
{
	const struct dpe_function *variant;
	struct copy copy = {0};

	if (!open_copy(module, &copy)) {
		if (why)
			*why = "which variant cannot be known before";
		return NULL;
	}
	variant = make_variant(module, chooser, ask(copy.bias + chooser->address) - copy.bias);
	if (!variant && why)
		*why = "the variant that is chosen here is the kernel's own (vDSO)";
	return variant;
}

/* ---- guessing ---------------------------------------------------------------------------- */

enum { LARGEST = 4096, MOST = 8 };

struct names {
	const char *at[MOST];
	unsigned count;
};

/* What the instruction loads the address of, where that is the beginning of a function. */
static void note_target(struct dpe_module *module, const ZydisDecodedInstruction *is,
	const ZydisDecodedOperand *operands, uint64_t address, struct names *names)
{
	const struct dpe_function *function;
	ZyanU64 target;

	if (is->mnemonic != ZYDIS_MNEMONIC_LEA && is->mnemonic != ZYDIS_MNEMONIC_MOV)
		return;
	if (is->mnemonic == ZYDIS_MNEMONIC_MOV && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		target = operands[1].imm.value.u;
	else if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(is, &operands[1], address, &target)))
		return;
	function = dpe_module_function_at(module, target);
	if (!function || function->address != target || names->count == MOST)
		return;
	for (unsigned i = 0; i < names->count; i++) {
		if (!strcmp(names->at[i], function->name))
			return;
	}
	names->at[names->count++] = function->name;
}

static void read_chooser(
	struct dpe_module *module, const struct dpe_function *chooser, struct names *names)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction is;
	ZydisDecoder decoder;
	uint8_t code[LARGEST];
	size_t size = chooser->size < sizeof(code) ? chooser->size : sizeof(code), at = 0;

	if (pread(module->fd, code, size, (off_t)chooser->offset) != (ssize_t)size)
		return;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (at < size && ZYAN_SUCCESS(ZydisDecoderDecodeFull(
				    &decoder, code + at, size - at, &is, operands))) {
		note_target(module, &is, operands, chooser->address + at, names);
		at += is.length;
	}
}

bool dpe_ifunc_variants(
	struct dpe_module *module, const struct dpe_function *chooser, struct dpe_text *to)
{
	struct names names = {0};

	read_chooser(module, chooser, &names);
	for (unsigned i = 0; i < names.count; i++)
		dpe_text_printf(to, "%s'%s'", i ? ", " : "", names.at[i]);
	return names.count;
}
