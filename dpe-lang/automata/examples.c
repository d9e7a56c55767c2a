/* Examples of behaviours of any rule, for people: in its automaton, or in that of a bounded rule. */
#include "dpe-lang/automata/examples.h"

#include <stdlib.h>

enum { CERTAIN_EVENTS = 3 }; /* of a behaviour that an unsafe rule is known to reject */

struct dpe_examples {
	const struct dpe_rule *rule, *of; /* the automaton is that of `of` */
	struct dpe_bounded *bounded;      /* or NULL; then both are the same */
	struct dpe_automaton *automaton;
};

struct dpe_examples *dpe_examples_new(const struct dpe_rule *rule, struct dpe_diags *diags)
{
	struct dpe_examples *ex;

	if (rule->mode == DPE_SYNC)
		return NULL;
	ex = dpe_xcalloc(1, sizeof(*ex));
	ex->rule = ex->of = rule;
	if (!dpe_rule_is_safe(rule)) {
		ex->bounded = dpe_bounded_new(rule, CERTAIN_EVENTS);
		ex->of = ex->bounded ? &ex->bounded->rule : NULL;
	}
	ex->automaton = ex->of ? dpe_automaton_new(ex->of, diags) : NULL;
	if (ex->automaton)
		return ex;
	dpe_examples_free(ex);
	return NULL;
}

void dpe_examples_free(struct dpe_examples *examples)
{
	if (!examples)
		return;
	dpe_automaton_free(examples->automaton);
	dpe_bounded_free(examples->bounded);
	free(examples);
}

unsigned dpe_examples_most(const struct dpe_examples *examples)
{
	return examples->bounded ? CERTAIN_EVENTS : 0;
}

/* Copies of a literal are reported as the original. */
static void name_event(const struct dpe_examples *ex, struct dpe_behaviour_event *event)
{
	if (ex->bounded)
		event->literal = ex->bounded->origin[event->literal];
}

static void name_events(const struct dpe_examples *ex, struct dpe_behaviour *behaviour)
{
	for (unsigned i = 0; i < behaviour->nevents; i++)
		name_event(ex, &behaviour->events[i]);
}

bool dpe_examples_accepted(struct dpe_examples *examples, struct dpe_behaviour *behaviour)
{
	*behaviour = (struct dpe_behaviour){0};
	if (!dpe_behaviour_accepted(examples->automaton, examples->of, behaviour))
		return false;
	name_events(examples, behaviour);
	return true;
}

/* A longer behaviour might need more copies than the bounded rule has, so its rejection is not certain. */
bool dpe_examples_rejected(struct dpe_examples *examples, struct dpe_rejection *rejection)
{
	if (!dpe_behaviour_rejected(examples->automaton, examples->of, rejection))
		return false;
	if (examples->bounded && rejection->behaviour.nevents > CERTAIN_EVENTS)
		return false;
	name_events(examples, &rejection->behaviour);
	if (rejection->possible)
		name_event(examples, &rejection->wanted);
	return true;
}

uint8_t *dpe_examples_relations(struct dpe_examples *examples)
{
	unsigned count = examples->rule->nliterals, all = examples->of->nliterals;
	uint8_t *found = dpe_xcalloc(all, all), *relations;

	dpe_behaviour_relations(examples->automaton, examples->of, found);
	if (!examples->bounded)
		return found;
	relations = dpe_xcalloc(count, count);
	for (unsigned x = 0; x < all; x++) {
		for (unsigned y = 0; y < all; y++) {
			unsigned a = examples->bounded->origin[x], b = examples->bounded->origin[y];

			relations[a * count + b] |= found[x * all + y];
			relations[b * count + a] |= found[x * all + y];
		}
	}
	free(found);
	return relations;
}
