/* progress(e, state…): whether the program returns to a state without progress (paper 5.3, which
 * compares each state with the previous ones). A change of e is progress and discards the states
 * seen so far. Each call in the text keeps states of its own, in each slice. */
#include "recognizer/actions/actions.h"

#include <stdlib.h>
#include <string.h>

struct progress_state {
	UT_hash_handle hh;
	struct dpe_message *first; /* event of its first occurrence; may be NULL */
	bool reported;
	char text[];
};

struct progress_call {
	UT_hash_handle hh;
	struct place_key {
		const struct dpe_stmt *stmt;
		uint64_t slice;
	} key;
	char *measure; /* value of e */
	struct progress_state *states;
	unsigned nstates;
};

struct dpe_progress {
	struct progress_call *places;
	struct dpe_text text;
};

struct dpe_progress *dpe_progress_new(void)
{
	return dpe_xcalloc(1, sizeof(struct dpe_progress));
}

static void forget_states(struct progress_call *place)
{
	struct progress_state *state, *next;

	HASH_ITER (hh, place->states, state, next) {
		HASH_DEL(place->states, state);
		dpe_message_unref(state->first);
		free(state);
	}
	place->nstates = 0;
}

void dpe_progress_free(struct dpe_progress *progress)
{
	struct progress_call *place, *next;

	if (!progress)
		return;
	HASH_ITER (hh, progress->places, place, next) {
		HASH_DEL(progress->places, place);
		forget_states(place);
		free(place->measure);
		free(place);
	}
	dpe_text_free(&progress->text);
	free(progress);
}

static struct progress_call *place_of(
	struct dpe_progress *progress, const struct dpe_stmt *stmt, uint64_t slice)
{
	struct place_key key;
	struct progress_call *place;

	memset(&key, 0, sizeof(key));
	key.stmt = stmt;
	key.slice = slice;
	HASH_FIND(hh, progress->places, &key, sizeof(key), place);
	if (place)
		return place;
	place = dpe_xcalloc(1, sizeof(*place));
	place->key = key;
	HASH_ADD(hh, progress->places, key, sizeof(place->key), place);
	return place;
}

/* Values from `first` on, as JSON so that 1 and "1" differ. */
static const char *write_values(
	const struct dpe_env *env, const struct dpe_stmt *stmt, unsigned first, unsigned end)
{
	struct dpe_text *text = &env->recognizer->progress->text;

	text->len = 0;
	dpe_text_puts(text, "");
	for (unsigned i = first; i < end; i++) {
		struct dpe_value value = dpe_eval(env, stmt->args[i]);

		dpe_text_puts(text, i > first ? ", " : "");
		if (value.kind == DPE_NONE)
			dpe_text_puts(text, "?");
		else
			dpe_value_print_json(text, value);
	}
	return text->at;
}

static void report(const struct dpe_env *env, const struct progress_call *place, const struct progress_state *state)
{
	struct dpe_text what = {0};

	if (dpe_action_suppressed(env))
		return;
	dpe_text_printf(&what, "no progress: the state (%s) occurred before", state->text);
	if (state->first) {
		dpe_text_puts(&what, ", at ");
		dpe_message_print_id(&what, env->recognizer->spec->names, state->first);
	}
	dpe_text_printf(&what, ", and %s, which counts as progress, is the same", place->measure);
	dpe_action_error(env, what.at);
	dpe_text_free(&what);
}

static void add_state(const struct dpe_env *env, struct progress_call *place, const char *text)
{
	size_t len = strlen(text);
	struct progress_state *state;

	if (place->nstates >= env->recognizer->options.max_instances) {
		dpe_recognizer_doubt(env->recognizer,
			"progress() compared with the first --max-instances states only");
		return;
	}
	state = dpe_xcalloc(1, sizeof(*state) + len + 1);
	memcpy(state->text, text, len + 1);
	if (env->event)
		state->first = dpe_message_ref((struct dpe_message *)env->event);
	HASH_ADD(hh, place->states, text, len, state);
	place->nstates++;
}

void dpe_progress_check(const struct dpe_env *env, const struct dpe_stmt *stmt)
{
	struct dpe_progress *progress = env->recognizer->progress;
	struct progress_call *place = place_of(progress, stmt, env->slice);
	const char *text = write_values(env, stmt, 0, 1);
	struct progress_state *state;

	if (!place->measure || strcmp(place->measure, text)) {
		free(place->measure);
		place->measure = dpe_xstrdup(text);
		forget_states(place);
	}
	text = write_values(env, stmt, 1, stmt->nargs);
	HASH_FIND(hh, place->states, text, strlen(text), state);
	if (!state) {
		add_state(env, place, text);
	} else if (!state->reported) {
		state->reported = true;
		report(env, place, state);
	}
}
