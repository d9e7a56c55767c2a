/* USDT probes: notes of type 3 by "stapsdt". */
#include "probes/binary/usdt.h"

#include "probes/plan/late_sites.h"
#include "probes/live.h"
#include "probes/binary/usdt_args.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_TYPE = 3, NOTE_NUMBERS = 3 * sizeof(uint64_t) };

/* ---- notes ------------------------------------------------------------------------------- */

/* Where the file has the section, should a tool have moved it since the notes were written. */
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
	for (unsigned i = 0; address && i < module->nloads; i++) {
		const GElf_Phdr *load = &module->loads[i];

		if (address >= load->p_vaddr && address - load->p_vaddr < load->p_filesz)
			return address - load->p_vaddr + load->p_offset;
	}
	return 0;
}

/* The text at `*at`, which moves behind it; NULL where it has no end. */
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

/* ---- resolving --------------------------------------------------------------------------- */

struct search {
	struct dpe_module *module;
	const char *provider, *name;
	struct dpe_arena *arena;
	struct dpe_target_function *found;
	unsigned nfound, cap;
	const char **names; /* of probes of that provider, and of providers: for what is missing */
	unsigned nnames, capnames;
};

static void look_at(void *context, const struct dpe_usdt *usdt)
{
	struct search *search = context;
	struct dpe_function *function;
	struct dpe_usdt *copy;
	uint64_t offset;

	*DPE_GROW(search->names, search->nnames, search->capnames) =
		dpe_arena_printf(search->arena, "%s::%s", usdt->provider, usdt->name);
	if (strcmp(usdt->provider, search->provider) || strcmp(usdt->name, search->name) ||
		!dpe_module_offset(search->module, usdt->address, &offset))
		return;
	copy = dpe_arena_alloc(search->arena, sizeof(*copy));
	*copy = *usdt;
	function = dpe_arena_alloc(search->arena, sizeof(*function));
	*function = (struct dpe_function){
		.name = usdt->name, .address = usdt->address, .offset = offset};
	*DPE_GROW(search->found, search->nfound, search->cap) =
		(struct dpe_target_function){
			.module = search->module, .function = function, .usdt = copy};
}

static void say_missing(const struct search *search, const struct dpe_plan_site *site,
	enum dpe_severity missing, struct dpe_diags *diags)
{
	char *wanted = dpe_xasprintf("%s::%s", search->provider, search->name);
	const char *best;

	dpe_diag(diags, missing, site->place,
		"no USDT probe '%s' of a provider '%s' in the target or its libraries",
		search->name, search->provider);
	if (!search->nnames)
		dpe_diag(diags, DPE_NOTE, site->place, "they have no USDT probes at all");
	else if (dpe_nearest(wanted, search->names, search->nnames, &best, 1))
		dpe_diag(diags, DPE_NOTE, site->place, "did you mean 'usdt::%s'?", best);
	dpe_late_note(missing, site, diags);
	free(wanted);
}

static void check_form(
	const struct search *search, const struct dpe_plan_site *site, struct dpe_diags *diags)
{
	unsigned count = search->found[0].usdt->nargs;

	if (count < site->nargs)
		dpe_diag(diags, DPE_WARNING, site->place,
			"'%s' has %u argument%s, and the rules ask for %u", search->name, count,
			count == 1 ? "" : "s", site->nargs);
}

unsigned dpe_resolve_usdt(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_arena *arena, struct dpe_diags *diags,
	struct dpe_target_function **out)
{
	struct search search = {
		.provider = dpe_name_text(names, site->module) + strlen("usdt::"),
		.name = dpe_name_text(names, site->name),
		.arena = arena,
	};

	*out = NULL;
	if (site->phased) {
		dpe_diag(diags, DPE_ERROR, site->place,
			"a USDT probe is neither entered nor left: write it without .enter or "
			".exit");
		return 0;
	}
	for (unsigned i = 0; i < modules->count; i++) {
		search.module = modules->at[i];
		dpe_usdt_each(search.module, look_at, &search);
	}
	if (!search.nfound && !site->optional)
		say_missing(&search, site, dpe_late_severity(modules, site, names), diags);
	else if (search.nfound)
		check_form(&search, site, diags);
	free(search.names);
	*out = search.found;
	return search.nfound;
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

/* ---- for the kernel's side --------------------------------------------------------------- */

bool dpe_usdt_is_wanted(const struct dpe_probes *probes)
{
	for (unsigned i = 0; i < probes->plan->nsites; i++) {
		if (probes->plan->sites[i].kind == DPE_SITE_USDT)
			return true;
	}
	return false;
}

void dpe_usdt_tell_site(const struct dpe_probes *probes, int map, unsigned number)
{
	const struct dpe_usdt *usdt = probes->sites[number].usdt;
	struct dpe_usdt_args args = {0};

	if (!usdt)
		return;
	args.address = usdt->address;
	args.count = usdt->nargs;
	memcpy(args.at, usdt->args, sizeof(args.at));
	bpf_map_update_elem(map, &number, &args, BPF_ANY);
}

void dpe_usdt_tell(const struct dpe_probes *probes, int map)
{
	for (unsigned i = 0; i < probes->nsites; i++)
		dpe_usdt_tell_site(probes, map, i);
}
