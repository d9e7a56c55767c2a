/* The nets of a document, one after another through all steps. */
#include "dpe-lang/nets/net.h"

#include <string.h>

/* ---- where a net ends ------------------------------------------------------------------------ */

static bool mark_end_places(struct work *work, struct net *net)
{
	tokens *end = dpe_nets_marking(work, net);
	bool any = false;

	for (unsigned p = 0; p < net->nplaces; p++) {
		end[p] = !strcmp(net->places[p], "end");
		any |= end[p];
	}
	if (any)
		dpe_nets_mark(&net->final, end);
	return any;
}

static void mark_dead_ends(struct work *work, struct net *net, const struct space *space)
{
	bool *alive = dpe_arena_alloc(work->arena, space->nreached + 1);

	for (unsigned i = 0; i < space->nsteps; i++)
		alive[space->steps[i].from] = true;
	for (unsigned i = 0; i < space->nreached; i++) {
		tokens *marking;

		if (alive[i])
			continue;
		marking = dpe_nets_marking(work, net);
		memcpy(marking, space->reached[i].marking, net->nplaces * sizeof(*marking));
		dpe_nets_mark(&net->final, marking);
	}
}

/* False after a diagnostic: there is no end to its markings. */
static bool mark_ends(struct work *work, struct net *net)
{
	struct space *space =
		net->large ? dpe_nets_explore_ends(work, net) : dpe_nets_explore(work, net);

	if (!space)
		return false;
	if (!mark_end_places(work, net))
		mark_dead_ends(work, net, space);
	if (!net->final.count)
		dpe_nets_mark(&net->final, net->initial.at[0]);
	dpe_nets_space_free(space);
	return true;
}

/* ---- what is unsafe without more tokens
 * ---------------------------------------------------------- */

static bool has_inputs(struct work *work, const struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];
		const char *name = t->label ? t->label : t->id;

		if (t->nin)
			continue;
		dpe_diag_at(work->diags, DPE_ERROR, work->file,
			"net '%s' is not safe, so no safe DPE has its behaviours: %s %s can occur "
			"any "
			"number of times side by side, for it takes no token",
			net->name, name, name);
		return false;
	}
	return true;
}

static const struct expr *words_by_markings(struct work *work, struct net *net)
{
	net = dpe_nets_thread_tokens(work, net);
	if (net)
		net = dpe_nets_one_safe(work, net);
	return net ? dpe_nets_words(work, net) : NULL;
}

static bool has_silent(const struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		if (!net->transitions[i].label)
			return true;
	}
	return false;
}

/* Whether it can be written without a look at its markings. */
static bool has_machines(const struct net *net)
{
	struct machines machines = {0};
	bool all = !has_silent(net) && dpe_nets_known_machines(net, &machines);

	dpe_nets_machines_free(&machines);
	return all;
}

/* Where tokens have names, the machines that these make may do where markings are too many. */
static const struct expr *words_by_machines(struct work *work, struct net *net)
{
	struct dpe_diags *diags;
	const struct expr *words;

	diags = dpe_nets_hush(work);
	work->tries = 0;
	words = dpe_nets_machine_words(work, net);
	dpe_nets_speak(work, diags);
	return words;
}

static const struct expr *words_by_markings_quietly(struct work *work, struct net *net)
{
	struct dpe_diags *diags;
	const struct expr *words;

	diags = dpe_nets_hush(work);
	words = words_by_markings(work, net);
	dpe_nets_speak(work, diags);
	return words;
}

/* Without ends that would have more or less of what the net keeps; false after a diagnostic: there
 * is no other. */
static bool drop_unreached_ends(struct work *work, struct net *net)
{
	const struct flows *flows = dpe_nets_flows(work, net);
	struct markings *final = &net->final;
	unsigned kept = 0;

	for (unsigned i = 0; i < final->count; i++) {
		bool same = true;

		for (unsigned f = 0; f < flows->count && same; f++)
			same = dpe_nets_weight_of(flows->weights[f], net, final->at[i]) ==
			       dpe_nets_weight_of(flows->weights[f], net, net->initial.at[0]);
		if (same)
			final->at[kept++] = final->at[i];
	}
	final->count = kept;
	if (kept)
		return true;
	dpe_diag_at(
		work->diags, DPE_ERROR, work->file, "net '%s' can never reach its end", net->name);
	return false;
}

/* Tokens that are together in a place are told apart, or what they do is. */
static const struct expr *words_of(struct work *work, struct net *net)
{
	const struct expr *words = NULL;

	if (!net->large && !dpe_nets_is_one_safe(work, net))
		words = dpe_nets_runs(work, net);
	if (words)
		return words;
	net = dpe_nets_name_tokens(work, net);
	if (!net || !has_machines(net))
		return net ? words_by_markings(work, net) : NULL;
	if (!net->large)
		words = words_by_markings_quietly(work, net);
	if (!words)
		words = words_by_machines(work, net);
	return words ? words : words_by_markings(work, net);
}

/* Whether it is safe, but has too many markings to look at. */
static bool is_large(struct work *work, const struct net *net)
{
	const struct flows *flows = dpe_nets_flows(work, net);

	for (unsigned p = 0; p < net->nplaces; p++) {
		if (!dpe_nets_has_flow(flows, p))
			return false;
	}
	return !dpe_nets_can_explore(work, net);
}

static bool translate(struct work *work, struct dpe_text *to, struct net *read)
{
	struct net *net = read;
	const struct expr *words;

	if (!has_inputs(work, read))
		return false;
	net->large = is_large(work, net);
	if (!mark_ends(work, net))
		return false;
	if (net->large && !drop_unreached_ends(work, net))
		return false;
	dpe_nets_name_events(work, net, work->events);
	if (!net->large)
		net = dpe_nets_trim(work, net);
	words = net ? words_of(work, net) : NULL;
	return words && dpe_nets_to_rule(work, to, words, read);
}

bool dpe_nets_to_dpe(struct dpe_text *to, const char *name, const char *text, size_t len,
	bool name_silent, struct dpe_diags *diags)
{
	unsigned count = 1;
	bool good = true;

	for (unsigned which = 0; which < count && good; which++) {
		struct events events = {0};
		struct work work = {.arena = dpe_arena_new(),
			.diags = diags,
			.file = name,
			.name_silent = name_silent,
			.events = &events};
		struct net *net = dpe_nets_read(&work, text, len, which, &count);

		good = net && translate(&work, to, net);
		dpe_nets_events_free(&events);
		dpe_nets_work_free(&work);
	}
	return good;
}
