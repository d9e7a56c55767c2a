/* reads: variables of the program whose values come along with events, read in the probe. */
#include "probes/live.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

static const struct dpe_module *program_of(const struct dpe_probes *probes)
{
	for (unsigned i = 0; i < probes->modules.count; i++) {
		if (probes->modules.at[i]->program)
			return probes->modules.at[i];
	}
	return probes->modules.at[0];
}

/* ---- finding ----------------------------------------------------------------------------- */

static char *check(const struct dpe_variable *variable)
{
	uint64_t size = variable->size;

	if (variable->is_complex)
		return dpe_xasprintf("it is a complex number");
	if (variable->is_real && size != 4 && size != 8)
		return dpe_xasprintf("a floating point number has 4 or 8 bytes, not %llu",
			(unsigned long long)size);
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return dpe_xasprintf(
			"a value has 1, 2, 4 or 8 bytes, not %llu", (unsigned long long)size);
	return NULL;
}

static bool find_one(struct dpe_probes *probes, unsigned number, struct dpe_diags *diags)
{
	const struct dpe_read *read = &probes->plan->reads[number];
	struct dpe_module *program = (struct dpe_module *)program_of(probes);
	char *why;

	if (dpe_variable_argument(read->lvalue) >= 0)
		return true; /* differs from function to function */
	why = dpe_variable_find(program, read->lvalue, &probes->reads[number]);
	if (!why)
		why = check(&probes->reads[number]);
	if (why)
		dpe_diag(diags, DPE_ERROR, read->place, "'%s' cannot be read: %s", read->lvalue,
			why);
	free(why);
	return !why;
}

static char *find_reached(struct dpe_probes *probes, struct dpe_spot *spot, unsigned number)
{
	const char *lvalue = probes->plan->reads[number].lvalue;
	int arg = dpe_variable_argument(lvalue);
	char *why;

	if (spot->usdt || spot->site->kind)
		return dpe_xasprintf("only of arguments of functions it is known what they are");
	if (dpe_signature_word(spot->signature, (unsigned)arg) < 0)
		return dpe_xasprintf("argument %d of '%s' is no pointer that can be read", arg + 1,
			spot->function->name);
	why = dpe_variable_of_argument(
		spot->module, spot->function, lvalue, &spot->reached[number]);
	return why ? why : check(&spot->reached[number]);
}

bool dpe_reads_reach(struct dpe_probes *probes, struct dpe_spot *spot, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	bool complete = true;

	for (unsigned i = 0; i < plan->nreads && i < DPE_READS; i++) {
		bool spared;
		char *why;

		if (!(spot->reads >> i & 1) || dpe_variable_argument(plan->reads[i].lvalue) < 0)
			continue;
		if (!spot->reached)
			spot->reached = dpe_arena_alloc(
				probes->arena, plan->nreads * sizeof(*spot->reached));
		why = find_reached(probes, spot, i);
		if (!why)
			continue;
		spared = plan->reads[i].spared && spot->site->optional;
		dpe_diag(diags, probes->placed || spared ? DPE_WARNING : DPE_ERROR,
			plan->reads[i].place, "'%s' cannot be read: %s%s", plan->reads[i].lvalue,
			why, spared ? "; the rule does without" : "");
		free(why);
		spot->reads &= ~(UINT64_C(1) << i);
		spot->filters[0].all = spot->filters[1].all = true;
		complete &= spared;
	}
	return complete;
}

static bool check_count(
	const struct dpe_plan *plan, uint64_t reads, const char *event, struct dpe_diags *diags)
{
	unsigned count = (unsigned)__builtin_popcountll(reads);

	if (count <= DPE_VALUES)
		return true;
	dpe_diag(diags, DPE_ERROR, plan->reads[63 - __builtin_clzll(reads)].place,
		"the rules want %u variables of the program at '%s': one event carries %d", count,
		event, DPE_VALUES);
	return false;
}

static bool check_counts(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	bool good = true;

	if (plan->nreads > DPE_READS) {
		dpe_diag(diags, DPE_ERROR, plan->reads[DPE_READS].place,
			"the rules want more than %d variables of the program", DPE_READS);
		return false;
	}
	for (unsigned i = 0; i < probes->nspots; i++)
		good &= check_count(plan, probes->spots[i].reads,
			dpe_name_text(probes->names, probes->spots[i].site->name), diags);
	for (unsigned i = 0; i < probes->nwatches; i++)
		good &= check_count(plan, probes->watches[i].reads,
			dpe_name_text(probes->names, probes->watches[i].event), diags);
	for (unsigned i = 0; i < plan->nobjects; i++)
		good &= check_count(plan, plan->objects[i].reads,
			dpe_name_text(probes->names, plan->objects[i].object->access), diags);
	return good;
}

bool dpe_reads_find(struct dpe_probes *probes, struct dpe_diags *diags)
{
	bool complete = check_counts(probes, diags);

	if (!complete)
		return false;
	probes->reads = dpe_xcalloc(probes->plan->nreads, sizeof(*probes->reads));
	for (unsigned i = 0; i < probes->plan->nreads; i++)
		complete &= find_one(probes, i, diags);
	return complete;
}

/* ---- for the kernel's side --------------------------------------------------------------- */

uint64_t dpe_reads_lowest_code(const struct dpe_probes *probes)
{
	const struct dpe_module *program = program_of(probes);
	uint64_t lowest = UINT64_MAX;

	for (unsigned i = 0; i < program->nloads; i++) {
		if (program->loads[i].p_flags & PF_X && program->loads[i].p_vaddr < lowest)
			lowest = program->loads[i].p_vaddr;
	}
	return lowest;
}

/* `spot` NULL: of a data event. */
static const struct dpe_variable *variable_of(
	const struct dpe_probes *probes, const struct dpe_spot *spot, unsigned read)
{
	if (spot && dpe_variable_argument(probes->plan->reads[read].lvalue) >= 0)
		return &spot->reached[read];
	return &probes->reads[read];
}

/* 0: it is a variable of the program. */
static uint8_t word_of(
	const struct dpe_probes *probes, const struct dpe_spot *spot, unsigned read)
{
	int arg = dpe_variable_argument(probes->plan->reads[read].lvalue);

	return spot && arg >= 0
		       ? (uint8_t)(dpe_signature_word(spot->signature, (unsigned)arg) + 1)
		       : 0;
}

static struct dpe_value_entry entry_of(const struct dpe_variable *variable, uint8_t word)
{
	struct dpe_value_entry entry = {
		.address = variable->address,
		.size = (uint32_t)variable->size,
		.nsteps = (uint16_t)variable->nsteps,
		.is_signed = variable->is_signed,
		.word = word,
	};

	_Static_assert(DPE_VALUE_STEPS == DPE_VARIABLE_STEPS, "one has what the other holds");
	for (unsigned i = 0; i < variable->nsteps; i++)
		entry.steps[i] = variable->steps[i];
	return entry;
}

static struct dpe_value_entries entries_of(
	const struct dpe_probes *probes, const struct dpe_spot *spot, uint64_t reads)
{
	struct dpe_value_entries entries = {0};

	for (unsigned i = 0; i < probes->plan->nreads; i++) {
		if (reads >> i & 1 && entries.count < DPE_VALUES)
			entries.at[entries.count++] = entry_of(
				variable_of(probes, spot, i), word_of(probes, spot, i));
	}
	return entries;
}

/* The place of a variable among those that are read. */
static uint32_t place_of(uint64_t reads, unsigned read)
{
	return (uint32_t)__builtin_popcountll(reads & ((UINT64_C(1) << read) - 1));
}

/* The kernel compares no floating point numbers. */
static bool has_real(const struct dpe_probes *probes, const struct dpe_spot *spot,
	const struct dpe_filters *filters)
{
	for (unsigned i = 0; i < filters->count; i++) {
		if (variable_of(probes, spot, filters->at[i].read)->is_real)
			return true;
	}
	return false;
}

static struct dpe_filter_entries filters_of(const struct dpe_probes *probes,
	const struct dpe_spot *spot, const struct dpe_filters *filters, uint64_t reads)
{
	struct dpe_filter_entries entries = {0};

	_Static_assert(DPE_VALUE_FILTERS == DPE_FILTERS, "one has what the other holds");
	_Static_assert(DPE_OP_NE - DPE_OP_LT == (int)DPE_FILTER_NE, "in the same order");
	if (filters->all || has_real(probes, spot, filters))
		return entries;
	for (; entries.count < filters->count; entries.count++) {
		const struct dpe_filter *filter = &filters->at[entries.count];

		entries.at[entries.count] = (struct dpe_filter_entry){
			.value = place_of(reads, filter->read),
			.op = filter->op - DPE_OP_LT,
			.number = filter->number,
		};
	}
	return entries;
}

void dpe_reads_tell_spot(const struct dpe_probes *probes, int map, unsigned number)
{
	const struct dpe_spot *spot = &probes->spots[number];
	struct dpe_value_entries entries = entries_of(probes, spot, spot->reads);

	for (unsigned phase = 0; phase < 2; phase++)
		entries.filters[phase] = filters_of(probes, spot, &spot->filters[phase], spot->reads);
	if (spot->reads)
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
	for (unsigned i = 0; i < probes->nspots; i++)
		dpe_reads_tell_spot(probes, map, i);
	for (unsigned i = 0; i < probes->nwatches; i++)
		tell_watch(probes, map, probes->first_watch + i, probes->watches[i].reads);
	for (unsigned i = 0; i < probes->arms.nkinds; i++)
		tell_watch(probes, map, probes->first_watch + DPE_WATCHES + i,
			probes->arms.kinds[i].watch.reads);
}

/* ---- from it ----------------------------------------------------------------------------- */

unsigned dpe_reads_fill(const struct dpe_probes *probes, uint64_t reads,
	const struct dpe_record *record, size_t size, struct dpe_var *vars,
	char (*texts)[DPE_NUMBER_TEXT])
{
	const uint64_t *values = (const uint64_t *)((const char *)record + size) - DPE_VALUES;
	const struct dpe_spot *spot =
		record->kind <= DPE_RECORD_EXIT ? &probes->spots[record->site] : NULL;
	unsigned count = 0, number = 0;

	for (unsigned i = 0; i < probes->plan->nreads && number < record->nvalues; i++) {
		if (!(reads >> i & 1))
			continue;
		if (record->known >> number & 1)
			vars[count++] = (struct dpe_var){probes->plan->reads[i].name,
				dpe_variable_value(
					variable_of(probes, spot, i), values[number], *texts++)};
		number++;
	}
	return count;
}
