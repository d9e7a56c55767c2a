/* The variables that a specification declares by `var`: one value for all, or one for each
 * combination of values of the variables of a rule. A variable with its initial value takes no memory. */
#include "recognizer/actions/actions.h"

#include <stdlib.h>

/* The value for some keys. */
struct kept_value {
	UT_hash_handle hh;
	uint64_t hash;
	struct kept_value *same_hash;
	struct dpe_value value;
	unsigned variable, nkeys;
	struct dpe_value keys[DPE_MAX_KEYS];
};

struct dpe_spec_variables {
	unsigned count;
	struct kept_value *kept;
	struct dpe_value values[]; /* of those without keys */
};

struct dpe_spec_variables *dpe_spec_variables_new(const struct dpe_spec *spec)
{
	struct dpe_spec_variables *variables =
		dpe_xcalloc(1, sizeof(*variables) + spec->nglobals * sizeof(variables->values[0]));

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
	struct kept_value *at, *next, *same;

	if (!variables)
		return;
	HASH_ITER (hh, variables->kept, at, next) {
		HASH_DEL(variables->kept, at);
		for (; at; at = same) {
			same = at->same_hash;
			free_kept(at);
		}
	}
	for (unsigned i = 0; i < variables->count; i++)
		dpe_value_drop(variables->values[i]);
	free(variables);
}

/* Fills in the variable and its keys, borrowed; false if one is unbound. */
static bool find_keys(const struct dpe_env *env, const struct dpe_expr *name, struct kept_value *wanted)
{
	const struct dpe_expr *const keys[DPE_MAX_KEYS] = {name->left, name->right, name->third};

	wanted->variable = name->index;
	wanted->hash = name->index;
	wanted->nkeys = env->recognizer->spec->globals[name->index].nkeys;
	for (unsigned i = 0; i < wanted->nkeys; i++) {
		wanted->keys[i] = dpe_eval(env, keys[i]);
		if (wanted->keys[i].kind == DPE_NONE)
			return false;
		wanted->hash = (wanted->hash ^ dpe_value_hash(wanted->keys[i])) * 0x9e3779b97f4a7c15ull;
	}
	return true;
}

static bool is_same(const struct kept_value *a, const struct kept_value *b)
{
	if (a->variable != b->variable)
		return false;
	for (unsigned i = 0; i < a->nkeys; i++) {
		if (!dpe_value_equal(a->keys[i], b->keys[i]))
			return false;
	}
	return true;
}

/* Where the entry with these keys is linked, or would be after the others with its hash. */
static struct kept_value **find(
	const struct dpe_spec_variables *variables, const struct kept_value *wanted, struct kept_value **head)
{
	struct kept_value **at = head;

	HASH_FIND(hh, variables->kept, &wanted->hash, sizeof(wanted->hash), *head);
	while (*at && !is_same(*at, wanted))
		at = &(*at)->same_hash;
	return at;
}

struct dpe_value dpe_spec_variable_get(const struct dpe_env *env, const struct dpe_expr *name)
{
	const struct dpe_spec_variables *variables = env->recognizer->variables;
	struct kept_value wanted, *head, **found;

	if (!name->left)
		return variables->values[name->index];
	if (!find_keys(env, name, &wanted))
		return (struct dpe_value){.kind = DPE_NONE};
	found = find(variables, &wanted, &head);
	return *found ? (*found)->value : variables->values[name->index];
}

static void add(struct dpe_spec_variables *variables, const struct kept_value *wanted,
	struct kept_value *head, struct dpe_value value)
{
	struct kept_value *new = dpe_xcalloc(1, sizeof(*new));

	*new = *wanted;
	for (unsigned i = 0; i < new->nkeys; i++)
		new->keys[i] = dpe_value_copy(new->keys[i]);
	new->value = dpe_value_copy(value);
	new->same_hash = NULL;
	if (head) {
		new->same_hash = head->same_hash;
		head->same_hash = new;
	} else {
		HASH_ADD(hh, variables->kept, hash, sizeof(new->hash), new);
	}
}

static void drop(struct dpe_spec_variables *variables, struct kept_value **found, struct kept_value *head)
{
	struct kept_value *old = *found;

	if (old != head) {
		*found = old->same_hash;
	} else {
		HASH_DEL(variables->kept, old);
		if (old->same_hash)
			HASH_ADD(hh, variables->kept, hash, sizeof(old->hash), old->same_hash);
	}
	free_kept(old);
}

static void replace(struct dpe_value *old, struct dpe_value value)
{
	struct dpe_value copy = dpe_value_copy(value);

	dpe_value_drop(*old);
	*old = copy;
}

void dpe_spec_variable_set(
	const struct dpe_env *env, const struct dpe_expr *name, struct dpe_value value)
{
	struct dpe_spec_variables *variables = env->recognizer->variables;
	const struct dpe_value initial = variables->values[name->index];
	struct kept_value wanted = {0}, *head, **found;
	bool is_initial;

	if (!name->left) {
		replace(&variables->values[name->index], value);
		return;
	}
	if (!find_keys(env, name, &wanted))
		return;
	is_initial = value.kind == initial.kind && dpe_value_equal(value, initial);
	found = find(variables, &wanted, &head);
	if (*found && is_initial)
		drop(variables, found, head);
	else if (*found)
		replace(&(*found)->value, value);
	else if (!is_initial)
		add(variables, &wanted, head, value);
}
