/* The maps that say what the programs do at each site: USDT operands, variables to read
 * and filters on their values. */
#include "probes/kernel/kernel.h"

#include <bpf/bpf.h>
#include <string.h>

/* ---- USDT operands ----------------------------------------------------------------------- */

bool dpe_usdt_is_wanted(const struct dpe_probes *probes)
{
	for (unsigned i = 0; i < probes->plan->nsites; i++) {
		if (probes->plan->sites[i].kind == DPE_SITE_USDT)
			return true;
	}
	return false;
}

void dpe_usdt_configure_site(const struct dpe_probes *probes, int map, unsigned number)
{
	const struct dpe_usdt *usdt = probes->sites[number].usdt;
	struct dpe_usdt_args args = {0};

	if (!usdt)
		return;
	args.address = usdt->address;
	args.count = usdt->nargs;
	memcpy(args.at, usdt->args, sizeof(args.at));
	dpe_attach_put(probes, map, &number, &args);
}

void dpe_usdt_configure(const struct dpe_probes *probes, int map)
{
	for (unsigned i = 0; i < probes->nsites; i++)
		dpe_usdt_configure_site(probes, map, i);
}

/* ---- texts that filters compare with ------------------------------------------------------ */

/* Filter number `number` among the filters that compare texts; NULL: none. */
static const char *text_at(const struct dpe_plan *plan, unsigned number)
{
	for (unsigned i = 0; i < 2 * plan->nsites; i++) {
		const struct dpe_filters *filters = &plan->sites[i / 2].filters[i % 2];

		for (unsigned j = 0; j < filters->count; j++)
			if (filters->at[j].text && !number--)
				return filters->at[j].text;
	}
	return NULL;
}

static int number_of_text(const struct dpe_plan *plan, const char *text)
{
	for (unsigned i = 0; i < DPE_WANTED_TEXTS; i++) {
		const char *wanted = text_at(plan, i);

		if (!wanted)
			return -1;
		if (!strcmp(wanted, text))
			return (int)i;
	}
	return -1;
}

void dpe_wanted_texts_configure(const struct dpe_probes *probes, int map)
{
	const char *text;

	for (unsigned i = 0; i < DPE_WANTED_TEXTS && (text = text_at(probes->plan, i)); i++) {
		char bytes[DPE_TEXT_SIZE] = "";

		memcpy(bytes, text, strlen(text)); /* it is shorter: see plan_reads.c */
		dpe_attach_put(probes, map, &i, bytes);
	}
}

/* ---- variables ---------------------------------------------------------------------------- */

/* No process maps anything there, wherever its program is loaded. */
#define NOWHERE (UINT64_C(1) << 62)

/* The BPF programs know where the program is loaded, and take all addresses as relative to it. */
static uint64_t address_of(const struct dpe_probes *probes, const struct dpe_variable *variable)
{
	const struct dpe_module *module = variable->module;

	if (!module || module->program)
		return variable->address;
	return module->based ? variable->address + module->bias -
				       dpe_modules_program(&probes->modules)->bias
			     : NOWHERE;
}

static struct dpe_value_entry entry_of(
	const struct dpe_probes *probes, const struct dpe_variable *variable)
{
	struct dpe_value_entry entry = {
		.address = address_of(probes, variable),
		.size = (uint32_t)variable->size,
		.nsteps = (uint8_t)variable->nsteps,
		.is_signed = variable->is_signed,
		.word = variable->word,
	};

	_Static_assert(DPE_VALUE_STEPS == DPE_VARIABLE_STEPS, "one has what the other holds");
	for (unsigned i = 0; i < variable->nsteps; i++)
		entry.steps[i] = variable->steps[i];
	if (variable->is_wide)
		entry.size = 8;
	return entry;
}

/* The upper half of an integer of 16 bytes. */
static struct dpe_value_entry upper_half(struct dpe_value_entry entry)
{
	if (entry.nsteps)
		entry.steps[entry.nsteps - 1] += 8;
	else if (entry.word)
		entry.word++;
	else
		entry.address += 8;
	return entry;
}

static struct dpe_value_entries entries_of(
	const struct dpe_probes *probes, const struct dpe_site *site, uint64_t reads)
{
	struct dpe_value_entries entries = {0};
	uint8_t texts = 0;

	for (unsigned i = 0; i < probes->plan->nreads; i++) {
		const struct dpe_variable *variable;
		struct dpe_value_entry *entry;

		if (!(reads >> i & 1))
			continue;
		variable = dpe_read_variable(probes, site, i);
		if (entries.count + dpe_read_slots(variable) > DPE_VALUES)
			break;
		entry = &entries.at[entries.count];
		*entry = entry_of(probes, variable);
		if (variable->is_text)
			entry->text =
				(uint8_t)(++texts |
					  (probes->plan->reads[i].whole ? DPE_TEXT_WHOLE : 0));
		if (variable->is_wide)
			entry[1] = upper_half(*entry);
		entries.count += dpe_read_slots(variable);
	}
	return entries;
}

/* The index of a variable among the variables that are read. */
static uint32_t place_of(
	const struct dpe_probes *probes, const struct dpe_site *site, uint64_t reads, unsigned read)
{
	uint32_t place = 0;

	for (unsigned i = 0; i < read; i++)
		place += reads >> i & 1 ? dpe_read_slots(dpe_read_variable(probes, site, i)) : 0;
	return place;
}

/* The BPF programs compare neither floating point numbers nor numbers of more than 64 bits. */
static bool can_filter(const struct dpe_probes *probes, const struct dpe_site *site,
	const struct dpe_filters *filters)
{
	for (unsigned i = 0; i < filters->count; i++) {
		const struct dpe_filter *filter = &filters->at[i];
		const struct dpe_variable *variable = dpe_read_variable(probes, site, filter->read);

		if (variable->is_real || variable->is_wide || variable->is_text != !!filter->text)
			return false;
		if (filter->text && number_of_text(probes->plan, filter->text) < 0)
			return false;
	}
	return !filters->all;
}

static struct dpe_filter_entries filters_of(const struct dpe_probes *probes,
	const struct dpe_site *site, const struct dpe_filters *filters, uint64_t reads)
{
	struct dpe_filter_entries entries = {0};

	_Static_assert(DPE_VALUE_FILTERS == DPE_FILTERS, "one has what the other holds");
	_Static_assert(DPE_OP_NE - DPE_OP_LT == (int)DPE_FILTER_NE, "in the same order");
	if (!can_filter(probes, site, filters))
		return entries;
	for (; entries.count < filters->count; entries.count++) {
		const struct dpe_filter *filter = &filters->at[entries.count];

		entries.at[entries.count] = (struct dpe_filter_entry){
			.value = place_of(probes, site, reads, filter->read),
			.op = filter->op - DPE_OP_LT,
			.number = filter->text ? number_of_text(probes->plan, filter->text)
					       : filter->number,
		};
	}
	return entries;
}

void dpe_reads_configure_site(const struct dpe_probes *probes, int map, unsigned number)
{
	const struct dpe_site *site = &probes->sites[number];
	struct dpe_value_entries entries = entries_of(probes, site, site->reads);

	for (unsigned phase = 0; phase < 2; phase++)
		entries.filters[phase] =
			filters_of(probes, site, &site->filters[phase], site->reads);
	if (site->reads)
		dpe_attach_put(probes, map, &number, &entries);
}

/* Configures the reads of a data event. */
static void configure_watch(const struct dpe_probes *probes, int map, uint32_t place, uint64_t reads)
{
	struct dpe_value_entries entries = entries_of(probes, NULL, reads);

	if (reads)
		dpe_attach_put(probes, map, &place, &entries);
}

void dpe_reads_configure(const struct dpe_probes *probes, int map)
{
	for (unsigned i = 0; i < probes->nsites; i++)
		dpe_reads_configure_site(probes, map, i);
	for (unsigned i = 0; i < probes->nwatches; i++)
		configure_watch(probes, map, probes->first_watch + i, probes->watches[i].reads);
	for (unsigned i = 0; i < probes->object_watches->nkinds; i++)
		configure_watch(probes, map, probes->first_watch + DPE_WATCHES + i,
			probes->object_watches->kinds[i].watch.reads);
}
