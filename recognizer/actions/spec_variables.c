/* The variables that a specification declares by `var`: one value for all, or one for each
 * combination of values of the variables of a rule. A variable with its initial value takes no memory. */
#include "recognizer/actions/actions.h"

#include <stdlib.h>

/* The value for some keys. */
struct kept_value {
	uint64_t hash;
	struct dpe_value value;
	unsigned variable, nkeys;
	struct dpe_value keys[DPE_MAX_KEYS];
};

struct dpe_spec_variables {
	const struct dpe_spec *spec;
	unsigned count;
	struct dpe_table kept;
	struct dpe_value values[]; /* of those without keys */
};

struct dpe_spec_variables *dpe_spec_variables_new(const struct dpe_spec *spec)
{
	struct dpe_spec_variables *variables =
		dpe_xcalloc(1, sizeof(*variables) + spec->nglobals * sizeof(variables->values[0]));

	variables->spec = spec;
	variables->count = spec->nglobals;
	for (unsigned i = 0; i < spec->nglobals; i++)
		variables->values[i] = dpe_value_copy(spec->globals[i].initial);
	return variables;
}

static void free_kept(struct kept_value *kept)
{
	for (unsigned i = 0; i < kept->nkeys; i++)
		dpe_value_drop(kept->keys[i]);
	dpe_value_drop(kept->value);
	free(kept);
}

void dpe_spec_variables_free(struct dpe_spec_variables *variables)
{
	if (!variables)
		return;
	for (unsigned i = 0; i < variables->kept.size; i++) {
		if (variables->kept.slots[i].entry)
			free_kept(variables->kept.slots[i].entry);
	}
	dpe_table_free(&variables->kept);
	for (unsigned i = 0; i < variables->count; i++)
		dpe_value_drop(variables->values[i]);
	free(variables);
}

/* The keys are borrowed. */
static struct kept_value wanted_value(const struct dpe_spec_variables *variables, unsigned number, const struct dpe_value *keys)
{
	struct kept_value wanted = {.hash = number, .variable = number, .nkeys = variables->spec->globals[number].nkeys};

	for (unsigned i = 0; i < wanted.nkeys; i++) {
		wanted.keys[i] = keys[i];
		wanted.hash = (wanted.hash ^ dpe_value_hash(keys[i])) * 0x9e3779b97f4a7c15ull;
	}
	return wanted;
}

static bool is_same(const void *entry, const void *key)
{
	const struct kept_value *a = entry, *b = key;

	if (a->variable != b->variable)
		return false;
	for (unsigned i = 0; i < a->nkeys; i++) {
		if (!dpe_value_equal(a->keys[i], b->keys[i]))
			return false;
	}
	return true;
}

static struct kept_value *find(const struct dpe_spec_variables *variables, const struct kept_value *wanted)
{
	return dpe_table_find(&variables->kept, wanted->hash, is_same, wanted);
}

struct dpe_value dpe_spec_variable_get(
	const struct dpe_spec_variables *variables, unsigned number, const struct dpe_value *keys)
{
	struct kept_value wanted, *found;

	if (!variables->spec->globals[number].nkeys)
		return variables->values[number];
	wanted = wanted_value(variables, number, keys);
	found = find(variables, &wanted);
	return found ? found->value : variables->values[number];
}

static void add(struct dpe_spec_variables *variables, const struct kept_value *wanted, struct dpe_value value)
{
	struct kept_value *new = dpe_xcalloc(1, sizeof(*new));

	*new = *wanted;
	for (unsigned i = 0; i < new->nkeys; i++)
		new->keys[i] = dpe_value_copy(new->keys[i]);
	new->value = dpe_value_copy(value);
	dpe_table_add(&variables->kept, new->hash, new);
}

static void drop(struct dpe_spec_variables *variables, struct kept_value *old)
{
	dpe_table_remove(&variables->kept, old->hash, old);
	free_kept(old);
}

static void replace(struct dpe_value *old, struct dpe_value value)
{
	struct dpe_value copy = dpe_value_copy(value);

	dpe_value_drop(*old);
	*old = copy;
}

void dpe_spec_variable_set(
	struct dpe_spec_variables *variables, unsigned number, const struct dpe_value *keys, struct dpe_value value)
{
	const struct dpe_value initial = variables->values[number];
	struct kept_value wanted, *found;
	bool is_initial;

	if (!variables->spec->globals[number].nkeys) {
		replace(&variables->values[number], value);
		return;
	}
	wanted = wanted_value(variables, number, keys);
	is_initial = value.kind == initial.kind && dpe_value_equal(value, initial);
	found = find(variables, &wanted);
	if (found && is_initial)
		drop(variables, found);
	else if (found)
		replace(&found->value, value);
	else if (!is_initial)
		add(variables, &wanted, value);
}
