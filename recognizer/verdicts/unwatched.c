/* Objects that could not be watched (`watch::refused`). Verdicts about them are inconclusive from
 * then on, as a later object may have the same address. */
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A value of a rule's variable. */
struct unwatched {
	char *key;
	char *reason;
	UT_hash_handle hh;
};

struct dpe_unwatched {
	struct unwatched *table;
	dpe_name refused;
};

struct dpe_unwatched *dpe_unwatched_new(const struct dpe_spec *spec)
{
	struct dpe_unwatched *unwatched = NULL;
	bool wanted = false;

	for (unsigned i = 0; i < spec->nrules; i++) {
		for (unsigned j = 0; j < spec->rules[i].npatterns; j++)
			wanted |= spec->rules[i].patterns[j].object != NULL;
	}
	if (!wanted)
		return NULL;
	unwatched = dpe_xcalloc(1, sizeof(*unwatched));
	unwatched->refused = dpe_intern_string(spec->names, DPE_WATCH_REFUSED);
	return unwatched;
}

void dpe_unwatched_free(struct dpe_unwatched *unwatched)
{
	struct unwatched *entry, *next;

	if (!unwatched)
		return;
	HASH_ITER (hh, unwatched->table, entry, next) {
		HASH_DEL(unwatched->table, entry);
		free(entry->key);
		free(entry->reason);
		free(entry);
	}
	free(unwatched);
}

static char *key_of(const struct dpe_run *run, unsigned variable, struct dpe_value value)
{
	struct dpe_text key = {0};

	dpe_text_printf(&key, "%s %u ", run->rule->name, variable);
	dpe_value_print(&key, value);
	return key.at;
}

static const struct unwatched *find(const struct dpe_unwatched *unwatched, const char *key)
{
	struct unwatched *entry;

	HASH_FIND(hh, unwatched->table, key, strlen(key), entry);
	return entry;
}

/* False if there are too many. */
static bool add(struct dpe_run *run, unsigned variable, const struct dpe_message *message)
{
	struct dpe_unwatched *unwatched = run->recognizer->unwatched;
	char *key = key_of(run, variable, message->args[0]);
	struct dpe_text reason = {0};
	struct unwatched *entry;

	if (find(unwatched, key) || HASH_COUNT(unwatched->table) >= DPE_MAX_UNWATCHED) {
		free(key);
		return HASH_COUNT(unwatched->table) < DPE_MAX_UNWATCHED;
	}
	dpe_text_puts(&reason, "the object ");
	dpe_value_print(&reason, message->args[0]);
	dpe_text_puts(&reason, " was not watched");
	if (message->nargs > 2) {
		dpe_text_puts(&reason, ": ");
		dpe_value_print(&reason, message->args[2]);
	}
	entry = dpe_xcalloc(1, sizeof(*entry));
	entry->key = key;
	entry->reason = reason.at;
	HASH_ADD_KEYPTR(hh, unwatched->table, entry->key, strlen(entry->key), entry);
	return true;
}

static bool add_to_rule(struct dpe_run *run, const struct dpe_message *message)
{
	const struct dpe_names *names = run->recognizer->spec->names;
	bool fits = true;

	for (unsigned i = 0; i < run->rule->npatterns; i++) {
		const struct dpe_pattern *pattern = &run->rule->patterns[i];

		if (pattern->object && pattern->args[0].kind == DPE_ARG_VARIABLE &&
			dpe_value_equal(message->args[1],
				dpe_value_string(dpe_name_text(names, pattern->object->update))))
			fits &= add(run, pattern->args[0].variable, message);
	}
	return fits;
}

const char *dpe_unwatched_note(struct dpe_recognizer *recognizer, const struct dpe_message *message)
{
	bool fits = true;

	if (!recognizer->unwatched || message->name != recognizer->unwatched->refused ||
		message->nargs < 2)
		return NULL;
	for (unsigned i = 0; i < recognizer->spec->nrules; i++)
		fits &= add_to_rule(&recognizer->runs[i], message);
	return fits ? NULL : "too many objects were not watched";
}

const char *dpe_unwatched_doubt(const struct dpe_run *run, const struct dpe_slice *slice)
{
	const struct dpe_unwatched *unwatched = run->recognizer->unwatched;
	const struct unwatched *found = NULL;

	if (!unwatched || !unwatched->table || !slice)
		return NULL;
	for (unsigned i = 0; !found && i < run->rule->nvariables; i++) {
		char *key;

		if (!(slice->mask >> i & 1))
			continue;
		key = key_of(run, i, slice->params[i]);
		found = find(unwatched, key);
		free(key);
	}
	return found ? found->reason : NULL;
}
