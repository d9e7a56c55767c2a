/* Examples of behaviours, and the bounded rules in which they are looked for. */
#ifndef DPE_LANG_EXAMPLES_H
#define DPE_LANG_EXAMPLES_H

#include "dpe-lang/automata/automata.h"
#include "dpe-lang/limits.h"

/* A safe rule that approximates one with `@` or control variables: at most `copies` copies side by
 * side, and as many rounds. Each of its behaviours is one of the rule's; those of the rule with at
 * most so many events are all there, but for the empty one. It has no actions. */
struct dpe_bounded {
	struct dpe_arena *arena;
	struct dpe_rule rule;
	const unsigned *origin; /* by literal: the rule's literal that it is a copy of */
};

/* The rule must outlive it. NULL where it would be too large, or copies would have to synchronise. */
struct dpe_bounded *dpe_bounded_new(const struct dpe_rule *rule, unsigned copies);
void dpe_bounded_free(struct dpe_bounded *bounded); /* accepts NULL */

/* As the functions dpe_examples_… of dpe-spec.h, in one automaton. */
bool dpe_behaviour_accepted(struct dpe_automaton *automaton, const struct dpe_rule *rule,
	struct dpe_behaviour *behaviour);
bool dpe_behaviour_rejected(struct dpe_automaton *automaton, const struct dpe_rule *rule,
	struct dpe_rejection *rejection);
void dpe_behaviour_relations(
	struct dpe_automaton *automaton, const struct dpe_rule *rule, uint8_t *relations);

#endif
