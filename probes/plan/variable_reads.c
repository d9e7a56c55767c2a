/* variable_reads: variables of the program whose values come along with events, read in the probe. */
#include "probes/live.h"
#include "probes/binary/lvalue.h"
#include "probes/plan/text_values.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding ----------------------------------------------------------------------------- */

/* What holds for a read wherever it is done. */
static char *check_read(const struct dpe_read *read)
{
	if (read->at_data)
		return dpe_xasprintf("text is read at functions, lines and USDT probes, not where "
				     "variables or objects are accessed");
	if (read->longest >= DPE_TEXT_SIZE)
		return dpe_xasprintf(
			"it is compared with a string of %zu bytes: text of the program "
			"is known up to %d",
			read->longest, DPE_TEXT_SIZE - 1);
	return NULL;
}

static bool find_one(struct dpe_probes *probes, unsigned number, struct dpe_diags *diags)
{
	const struct dpe_read *read = &probes->plan->reads[number];
	char *why = check_read(read);

	if (!why && dpe_variable_argument(read->lvalue) >= 0)
		return true; /* differs from function to function */
	if (!why)
		why = dpe_variable_find_in(&probes->modules, read->lvalue, &probes->reads[number]);
	if (!why && probes->follows && !probes->reads[number].module->program)
		why = dpe_xasprintf("it is in %s, which each process may have elsewhere "
				    "(without --follow)",
			probes->reads[number].module->name);
	if (!why)
		why = dpe_variable_check(&probes->reads[number]);
	if (why)
		dpe_diag(diags, DPE_ERROR, read->place, "'%s' cannot be read: %s", read->lvalue,
			why);
	free(why);
	return !why;
}

/* ---- how many one event carries ----------------------------------------------------------- */

/* `site` NULL: of a data event. */
static const struct dpe_variable *variable_of(
	const struct dpe_probes *probes, const struct dpe_site *site, unsigned read)
{
	if (site && dpe_variable_argument(probes->plan->reads[read].lvalue) >= 0)
		return &site->reached[read];
	return &probes->reads[read];
}

/* An integer of 16 bytes comes as two values. */
static unsigned slots_of(const struct dpe_variable *variable)
{
	return variable->is_wide ? 2 : 1;
}

static unsigned count_slots(
	const struct dpe_probes *probes, const struct dpe_site *site, uint64_t reads)
{
	unsigned count = 0;

	for (unsigned i = 0; i < probes->plan->nreads && i < DPE_READS; i++)
		count += reads >> i & 1 ? slots_of(variable_of(probes, site, i)) : 0;
	return count;
}

static unsigned count_texts(const struct dpe_plan *plan, uint64_t reads)
{
	unsigned count = 0;

	for (unsigned i = 0; i < plan->nreads && i < DPE_READS; i++)
		count += reads >> i & 1 && dpe_lvalue_is_text(plan->reads[i].lvalue);
	return count;
}

static bool check_count(const struct dpe_probes *probes, const struct dpe_site *site,
	uint64_t reads, dpe_name event, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	const char *name = dpe_name_text(probes->names, event);
	unsigned count = count_slots(probes, site, reads), texts = count_texts(plan, reads);

	if (count > DPE_VALUES)
		dpe_diag(diags, DPE_ERROR, plan->reads[63 - __builtin_clzll(reads)].place,
			"the rules want %u variables of the program at '%s': one event carries %d",
			count, name, DPE_VALUES);
	else if (texts > DPE_TEXTS)
		dpe_diag(diags, DPE_ERROR, plan->reads[63 - __builtin_clzll(reads)].place,
			"the rules want %u texts of the program at '%s': one event carries %d",
			texts, name, DPE_TEXTS);
	return count <= DPE_VALUES && texts <= DPE_TEXTS;
}

static bool check_counts(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	bool good = true;

	for (unsigned i = 0; i < probes->nsites; i++)
		good &= check_count(probes, &probes->sites[i], probes->sites[i].reads,
			probes->sites[i].wanted->name, diags);
	for (unsigned i = 0; i < probes->nwatches; i++)
		good &= check_count(
			probes, NULL, probes->watches[i].reads, probes->watches[i].event, diags);
	for (unsigned i = 0; i < plan->nobjects; i++)
		good &= check_count(probes, NULL, plan->objects[i].reads,
			plan->objects[i].object->access, diags);
	return good;
}

bool dpe_reads_find(struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	bool complete = true;

	if (plan->nreads > DPE_READS) {
		dpe_diag(diags, DPE_ERROR, plan->reads[DPE_READS].place,
			"the rules want more than %d variables of the program", DPE_READS);
		return false;
	}
	probes->reads = dpe_xcalloc(plan->nreads, sizeof(*probes->reads));
	for (unsigned i = 0; i < plan->nreads; i++)
		complete &= find_one(probes, i, diags);
	return complete && check_counts(probes, diags);
}

bool dpe_reads_have_room(const struct dpe_probes *probes, const struct dpe_site *site)
{
	return count_slots(probes, site, site->reads) <= probes->most_values &&
	       count_texts(probes->plan, site->reads) <= DPE_TEXTS;
}

/* ---- for the kernel's side --------------------------------------------------------------- */

uint64_t dpe_reads_lowest_code(const struct dpe_probes *probes)
{
	const struct dpe_module *program = dpe_modules_program(&probes->modules);
	uint64_t lowest = UINT64_MAX;

	for (unsigned i = 0; i < program->nloads; i++) {
		if (program->loads[i].p_flags & PF_X && program->loads[i].p_vaddr < lowest)
			lowest = program->loads[i].p_vaddr;
	}
	return lowest;
}

/* No process has anything there, wherever it has its program. */
#define NOWHERE (UINT64_C(1) << 62)

/* The kernel's side knows where the program is, and takes all addresses for its. */
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
		variable = variable_of(probes, site, i);
		if (entries.count + slots_of(variable) > DPE_VALUES)
			break;
		entry = &entries.at[entries.count];
		*entry = entry_of(probes, variable);
		if (variable->is_text)
			entry->text =
				(uint8_t)(++texts |
					  (probes->plan->reads[i].whole ? DPE_TEXT_WHOLE : 0));
		if (variable->is_wide)
			entry[1] = upper_half(*entry);
		entries.count += slots_of(variable);
	}
	return entries;
}

/* The place of a variable among those that are read. */
static uint32_t place_of(
	const struct dpe_probes *probes, const struct dpe_site *site, uint64_t reads, unsigned read)
{
	uint32_t place = 0;

	for (unsigned i = 0; i < read; i++)
		place += reads >> i & 1 ? slots_of(variable_of(probes, site, i)) : 0;
	return place;
}

/* The kernel compares no floating point numbers, and none of more than 64 bits. */
static bool can_filter(const struct dpe_probes *probes, const struct dpe_site *site,
	const struct dpe_filters *filters)
{
	for (unsigned i = 0; i < filters->count; i++) {
		const struct dpe_filter *filter = &filters->at[i];
		const struct dpe_variable *variable = variable_of(probes, site, filter->read);

		if (variable->is_real || variable->is_wide || variable->is_text != !!filter->text)
			return false;
		if (filter->text && dpe_wanted_text(probes, filter->text) < 0)
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
			.number = filter->text ? dpe_wanted_text(probes, filter->text)
					       : filter->number,
		};
	}
	return entries;
}

void dpe_reads_tell_site(const struct dpe_probes *probes, int map, unsigned number)
{
	const struct dpe_site *site = &probes->sites[number];
	struct dpe_value_entries entries = entries_of(probes, site, site->reads);

	for (unsigned phase = 0; phase < 2; phase++)
		entries.filters[phase] =
			filters_of(probes, site, &site->filters[phase], site->reads);
	if (site->reads)
		bpf_map_update_elem(map, &number, &entries, BPF_ANY);
}

/* Of a data event. */
static void tell_watch(const struct dpe_probes *probes, int map, uint32_t place, uint64_t reads)
{
	struct dpe_value_entries entries = entries_of(probes, NULL, reads);

	if (reads)
		bpf_map_update_elem(map, &place, &entries, BPF_ANY);
}

void dpe_reads_tell(const struct dpe_probes *probes, int map)
{
	for (unsigned i = 0; i < probes->nsites; i++)
		dpe_reads_tell_site(probes, map, i);
	for (unsigned i = 0; i < probes->nwatches; i++)
		tell_watch(probes, map, probes->first_watch + i, probes->watches[i].reads);
	for (unsigned i = 0; i < probes->arms.nkinds; i++)
		tell_watch(probes, map, probes->first_watch + DPE_WATCHES + i,
			probes->arms.kinds[i].watch.reads);
}

static void raise(unsigned *most, unsigned count)
{
	if (*most < count)
		*most = count;
}

unsigned dpe_reads_most(const struct dpe_probes *probes)
{
	unsigned most = 0;

	/* What comes later may want all of them, each as two values. */
	if (probes->awaited || probes->follows)
		return 2 * probes->plan->nreads < DPE_VALUES ? 2 * probes->plan->nreads
							     : DPE_VALUES;
	for (unsigned i = 0; i < probes->nsites; i++)
		raise(&most, count_slots(probes, &probes->sites[i], probes->sites[i].reads));
	for (unsigned i = 0; i < probes->nwatches; i++)
		raise(&most, count_slots(probes, NULL, probes->watches[i].reads));
	for (unsigned i = 0; i < probes->arms.nkinds; i++)
		raise(&most, count_slots(probes, NULL, probes->arms.kinds[i].watch.reads));
	return most;
}

bool dpe_reads_texts(const struct dpe_probes *probes)
{
	for (unsigned i = 0; i < probes->plan->nreads; i++) {
		if (dpe_lvalue_is_text(probes->plan->reads[i].lvalue))
			return true;
	}
	return false;
}

/* ---- from it ----------------------------------------------------------------------------- */

/* Whether all of a value was read. */
static bool is_known(const struct dpe_record *record, unsigned number, unsigned slots)
{
	uint32_t bits = (1u << slots) - 1;

	return (record->known >> number & bits) == bits;
}

/* That a text cannot be read is told; before the return there is no result. */
static bool is_expected(const struct dpe_variable *variable, const struct dpe_record *record)
{
	return variable->is_text &&
	       (variable->word != DPE_WORD_RESULT || record->kind == DPE_RECORD_EXIT);
}

static struct dpe_value value_of(
	const struct dpe_variable *variable, const uint64_t *values, char text[DPE_NUMBER_TEXT])
{
	if (!variable->is_wide)
		return dpe_variable_value(variable, values[0], text);
	return dpe_value_wide((dpe_wide)values[1] << 64 | values[0], variable->is_signed, text);
}

unsigned dpe_reads_fill(const struct dpe_probes *probes, uint64_t reads,
	const struct dpe_record *record, size_t size, struct dpe_var *vars,
	struct dpe_value_texts *texts)
{
	const char *end = (const char *)record + size;
	const char *characters = end - (record->ntexts ? DPE_TEXTS * DPE_TEXT_SIZE : 0);
	const uint64_t *values = (const uint64_t *)characters - DPE_VALUES;
	const struct dpe_site *site =
		record->kind <= DPE_RECORD_EXIT ? &probes->sites[record->site] : NULL;
	unsigned count = 0, number = 0, ntexts = 0;

	for (unsigned i = 0; i < probes->plan->nreads && number < record->nvalues; i++) {
		const struct dpe_variable *variable;
		struct dpe_var var = {.name = probes->plan->reads[i].name};
		unsigned slots;
		bool known;

		if (!(reads >> i & 1))
			continue;
		variable = variable_of(probes, site, i);
		slots = slots_of(variable);
		known = is_known(record, number, slots);
		if (variable->is_text) {
			var.value = dpe_text_value(characters + ntexts * DPE_TEXT_SIZE,
				known ? values[number] : 0, texts->strings[ntexts]);
			ntexts++;
		} else if (known) {
			var.value = value_of(variable, &values[number], texts->numbers[count]);
		}
		number += slots;
		if (known || is_expected(variable, record))
			vars[count++] = var;
	}
	return count;
}
