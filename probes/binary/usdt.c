/* SystemTap notes: ELF notes of type 3 and owner "stapsdt". */
#include "probes/binary/usdt.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_TYPE = 3, NOTE_NUMBERS = 3 * sizeof(uint64_t) };

/* ---- notes ------------------------------------------------------------------------------- */

/* The address of .stapsdt.base: the difference to that in the notes is how far prelink moved the file. */
static uint64_t address_of_base(struct dpe_module *module)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(module->elf, &names))
		return 0;
	while ((section = elf_nextscn(module->elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(module->elf, names, header.sh_name)
					   : NULL;

		if (name && !strcmp(name, ".stapsdt.base"))
			return header.sh_addr;
	}
	return 0;
}

static uint64_t offset_of_counter(const struct dpe_module *module, uint64_t address)
{
	for (unsigned i = 0; address && i < module->nsegments; i++) {
		const struct dpe_segment *segment = &module->segments[i];

		if (address >= segment->address && address - segment->address < segment->size)
			return address - segment->address + segment->offset;
	}
	return 0;
}

/* The string at `*at`, which is advanced past it; NULL if it is not terminated. */
static const char *next_text(const char **at, const char *end)
{
	const char *text = *at;
	size_t len = strnlen(text, (size_t)(end - text));

	if (text + len == end)
		return NULL;
	*at = text + len + 1;
	return text;
}

static bool read_note(struct dpe_module *module, const char *at, size_t size, uint64_t base,
	struct dpe_usdt *usdt)
{
	const char *end = at + size, *args;
	uint64_t numbers[3], moved;

	if (size < NOTE_NUMBERS)
		return false;
	memcpy(numbers, at, sizeof(numbers));
	at += sizeof(numbers);
	moved = base ? base - numbers[1] : 0;
	*usdt = (struct dpe_usdt){.address = numbers[0] + moved};
	if (numbers[2])
		usdt->counter = offset_of_counter(module, numbers[2] + moved);
	usdt->provider = next_text(&at, end);
	usdt->name = usdt->provider ? next_text(&at, end) : NULL;
	args = usdt->name ? next_text(&at, end) : NULL;
	if (args)
		dpe_usdt_parse_args(module, args, usdt);
	return usdt->name;
}

static void read_notes(struct dpe_module *module, Elf_Data *data,
	void (*each)(void *context, const struct dpe_usdt *usdt), void *context)
{
	uint64_t base = address_of_base(module);
	size_t at = 0, name, description;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
		const char *bytes = data->d_buf;
		struct dpe_usdt usdt;

		if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof("stapsdt") &&
			!memcmp(bytes + name, "stapsdt", note.n_namesz) &&
			read_note(module, bytes + description, note.n_descsz, base, &usdt))
			each(context, &usdt);
	}
}

void dpe_usdt_each(struct dpe_module *module,
	void (*each)(void *context, const struct dpe_usdt *usdt), void *context)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(module->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
			!(header.sh_flags & SHF_ALLOC))
			read_notes(module, elf_getdata(section, NULL), each, context);
	}
}

const struct dpe_signature *dpe_usdt_signature(const struct dpe_usdt *usdt, struct dpe_arena *arena)
{
	return dpe_signature_of_operands(usdt->operands, usdt->nargs, arena);
}

uint64_t dpe_usdt_counter(const struct dpe_usdt *usdt)
{
	return usdt ? usdt->counter : 0;
}

void dpe_usdt_print(struct dpe_text *to, const struct dpe_usdt *usdt)
{
	static const char *const types[] = {"char", "short", "int", "long"};

	dpe_text_printf(to, "usdt::%s::%s(", usdt->provider, usdt->name);
	for (unsigned i = 0; i < usdt->nargs; i++) {
		const struct dpe_operand *operand = &usdt->operands[i];
		int size = abs(operand->size);

		dpe_text_puts(to, i ? ", " : "");
		if (!size)
			dpe_text_puts(to, "?");
		else if (operand->is_real)
			dpe_text_puts(to, size == 4 ? "float" : "double");
		else
			dpe_text_printf(to, "%s%s", operand->size < 0 ? "" : "unsigned ",
				types[__builtin_ctz((unsigned)size)]);
	}
	dpe_text_puts(to, ")");
}
