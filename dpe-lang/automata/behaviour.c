/* Small behaviours that a rule accepts or rejects, by breadth-first search through its automaton. A
 * walk keeps the event in each register, and so the immediate predecessors of each event. */
#include "dpe-lang/automata/automata.h"

#include <stdlib.h>
#include <string.h>

struct dpe_examples {
	const struct dpe_rule *rule;
	struct dpe_automaton *automaton;
};

struct dpe_examples *dpe_examples_new(const struct dpe_rule *rule, struct dpe_diags *diags)
{
	struct dpe_automaton *automaton = NULL;
	struct dpe_examples *examples;

	if (rule->mode != DPE_SYNC && dpe_rule_is_safe(rule))
		automaton = dpe_automaton_new(rule, diags);
	if (!automaton)
		return NULL;
	examples = dpe_xcalloc(1, sizeof(*examples));
	*examples = (struct dpe_examples){rule, automaton};
	return examples;
}

void dpe_examples_free(struct dpe_examples *examples)
{
	if (examples)
		dpe_automaton_free(examples->automaton);
	free(examples);
}

/* A state that the search reached, and how. */
struct visit {
	dpe_state state;
	uint32_t from; /* the visit before; the first one's is itself */
	unsigned literal, move, depth;
};

struct example_search {
	struct dpe_automaton *automaton;
	const struct dpe_rule *rule;
	struct visit *visits;
	unsigned nvisits, capvisits;
};

/* ---- behaviours -------------------------------------------------------------------------- */

static struct dpe_behaviour_event *add_event(struct dpe_behaviour *b, unsigned literal)
{
	struct dpe_behaviour_event *event = DPE_GROW(b->events, b->nevents, b->cap);

	*event = (struct dpe_behaviour_event){.literal = literal};
	return event;
}

static void add_pred(struct dpe_behaviour_event *event, unsigned pred)
{
	*DPE_GROW(event->preds, event->npreds, event->cap) = pred;
}

void dpe_behaviour_free(struct dpe_behaviour *b)
{
	for (unsigned i = 0; i < b->nevents; i++)
		free(b->events[i].preds);
	free(b->events);
	*b = (struct dpe_behaviour){0};
}

static bool precedes(const struct dpe_behaviour *b, unsigned first, unsigned second)
{
	for (unsigned i = 0; i < b->events[second].npreds; i++) {
		unsigned pred = b->events[second].preds[i];

		if (pred == first || (pred > first && precedes(b, first, pred)))
			return true;
	}
	return false;
}

/* ---- walking ----------------------------------------------------------------------------- */

/* A walk: its state, and the event in each register. */
struct walk {
	struct dpe_automaton *automaton;
	dpe_state state;
	unsigned *registers;
	unsigned nregisters;
	struct dpe_behaviour behaviour;
};

static void step(struct walk *walk, const struct dpe_move *move)
{
	unsigned *next = dpe_xcalloc(move->nregisters + 1, sizeof(*next));
	unsigned number = walk->behaviour.nevents;
	struct dpe_behaviour_event *event = add_event(&walk->behaviour, move->literal);

	for (unsigned i = 0; i < move->npreds; i++)
		add_pred(event, walk->registers[move->preds[i]]);
	for (unsigned i = 0; i < move->nregisters; i++)
		next[i] =
			move->carry[i] == DPE_NEW_EVENT ? number : walk->registers[move->carry[i]];
	free(walk->registers);
	walk->registers = next;
	walk->nregisters = move->nregisters;
	walk->state = move->to;
}

static void end_walk(struct walk *walk)
{
	free(walk->registers);
	dpe_behaviour_free(&walk->behaviour);
}

/* Replays the path to a visit. */
static struct walk walk_to(const struct example_search *search, uint32_t at)
{
	struct walk walk = {.automaton = search->automaton};
	unsigned depth = search->visits[at].depth;
	uint32_t *path = dpe_xcalloc(depth + 1, sizeof(*path));

	for (unsigned i = depth; i; at = search->visits[at].from)
		path[--i] = at;
	for (unsigned i = 0; i < depth; i++) {
		const struct visit *visit = &search->visits[path[i]];
		unsigned count;

		step(&walk, &dpe_automaton_moves(walk.automaton, walk.state, visit->literal,
				    &count)[visit->move]);
	}
	free(path);
	return walk;
}

/* ---- the shortest accepted --------------------------------------------------------------- */

static bool was_visited(const struct example_search *search, dpe_state state)
{
	for (unsigned i = 0; i < search->nvisits; i++) {
		if (search->visits[i].state == state)
			return true;
	}
	return false;
}

static bool is_accepted(const struct example_search *search, const struct visit *visit)
{
	return visit->depth && dpe_automaton_final(search->automaton, visit->state);
}

/* Adds what follows a visit; UINT32_MAX, or the first that is accepted. */
static uint32_t expand(struct example_search *search, uint32_t at)
{
	for (unsigned literal = 0; literal < search->rule->nliterals; literal++) {
		unsigned count;
		const struct dpe_move *moves = dpe_automaton_moves(
			search->automaton, search->visits[at].state, literal, &count);

		for (unsigned i = 0; i < count && search->nvisits < DPE_MAX_VISITS; i++) {
			struct visit visit = {
				moves[i].to, at, literal, i, search->visits[at].depth + 1};
			bool accepted = is_accepted(search, &visit);

			/* The initial state can be the final one of a first round. */
			if (visit.depth > DPE_MAX_EXAMPLE_EVENTS ||
				(!accepted && was_visited(search, visit.state)))
				continue;
			*DPE_GROW(search->visits, search->nvisits, search->capvisits) = visit;
			if (accepted)
				return search->nvisits - 1;
		}
	}
	return UINT32_MAX;
}

bool dpe_examples_accepted(struct dpe_examples *examples, struct dpe_behaviour *behaviour)
{
	struct example_search search = {examples->automaton, examples->rule, NULL, 0, 0};
	uint32_t found = UINT32_MAX;
	struct walk walk;

	*behaviour = (struct dpe_behaviour){0};
	*DPE_GROW(search.visits, search.nvisits, search.capvisits) = (struct visit){0};
	for (uint32_t at = 0; at < search.nvisits && found == UINT32_MAX; at++)
		found = expand(&search, at);
	if (found != UINT32_MAX) {
		walk = walk_to(&search, found);
		*behaviour = walk.behaviour;
		free(walk.registers);
	}
	free(search.visits);
	return found != UINT32_MAX;
}

/* ---- a shortest rejected ----------------------------------------------------------------- */

/* The move takes exactly these events as predecessors. */
static bool takes(const struct walk *walk, const struct dpe_move *move, const unsigned *preds,
	unsigned npreds)
{
	if (move->npreds != npreds)
		return false;
	for (unsigned i = 0; i < npreds; i++) {
		bool found = false;

		for (unsigned j = 0; j < npreds && !found; j++)
			found = walk->registers[move->preds[j]] == preds[i];
		if (!found)
			return false;
	}
	return true;
}

/* Enters which predecessors the rule expected, if it allows the literal here at all. */
static void want(const struct walk *walk, unsigned literal, struct dpe_rejection *rejection)
{
	unsigned count;
	const struct dpe_move *moves =
		dpe_automaton_moves(walk->automaton, walk->state, literal, &count);

	rejection->possible = count;
	for (unsigned i = 0; count && i < moves[0].npreds; i++)
		add_pred(&rejection->wanted, walk->registers[moves[0].preds[i]]);
}

/* All configurations that the events so far may have led to. */
struct configurations {
	struct walk *at;
	unsigned count, cap;
};

static bool is_same(const struct walk *a, const struct walk *b)
{
	return a->state == b->state &&
	       !memcmp(a->registers, b->registers, a->nregisters * sizeof(*a->registers));
}

static void add_configuration(
	struct configurations *to, const struct walk *from, const struct dpe_move *move, unsigned number)
{
	struct walk next = {from->automaton, move->to, NULL, move->nregisters, {0}};

	next.registers = dpe_xcalloc(move->nregisters + 1, sizeof(*next.registers));
	for (unsigned i = 0; i < move->nregisters; i++)
		next.registers[i] =
			move->carry[i] == DPE_NEW_EVENT ? number : from->registers[move->carry[i]];
	for (unsigned i = 0; i < to->count; i++) {
		if (!is_same(&to->at[i], &next))
			continue;
		free(next.registers);
		return;
	}
	*DPE_GROW(to->at, to->count, to->cap) = next;
}

static void drop_configurations(struct configurations *configurations)
{
	for (unsigned i = 0; i < configurations->count; i++)
		free(configurations->at[i].registers);
	free(configurations->at);
	*configurations = (struct configurations){0};
}

/* Takes the event as any literal of its pattern. */
static struct configurations take_event(const struct dpe_rule *rule, const struct configurations *from,
	const struct dpe_behaviour_event *event, unsigned number)
{
	unsigned pattern = rule->literals[event->literal].pattern;
	struct configurations to = {0};

	for (unsigned i = 0; i < from->count; i++) {
		for (unsigned literal = 0; literal < rule->nliterals; literal++) {
			unsigned count;
			const struct dpe_move *moves;

			if (rule->literals[literal].pattern != pattern)
				continue;
			moves = dpe_automaton_moves(
				from->at[i].automaton, from->at[i].state, literal, &count);
			for (unsigned m = 0; m < count; m++) {
				if (takes(&from->at[i], &moves[m], event->preds, event->npreds))
					add_configuration(&to, &from->at[i], &moves[m], number);
			}
		}
	}
	return to;
}

/* The last event is the first that no configuration can take. */
static bool is_rejected_at_last(struct dpe_automaton *automaton, const struct dpe_rule *rule,
	const struct dpe_behaviour *behaviour)
{
	struct configurations configurations = {0}, next;
	unsigned at = 0;

	*DPE_GROW(configurations.at, configurations.count, configurations.cap) = (struct walk){
		.automaton = automaton, .registers = dpe_xcalloc(1, sizeof(unsigned))};
	while (at < behaviour->nevents) {
		next = take_event(rule, &configurations, &behaviour->events[at], at);
		drop_configurations(&configurations);
		configurations = next;
		if (!configurations.count)
			break;
		at++;
	}
	drop_configurations(&configurations);
	return at + 1 == behaviour->nevents;
}

static bool try_preds(struct walk *walk, const struct dpe_rule *rule, unsigned literal,
	const unsigned *preds, unsigned npreds, bool must_be_possible,
	struct dpe_rejection *rejection)
{
	struct dpe_behaviour *behaviour = &walk->behaviour;
	struct dpe_behaviour_event *event;
	unsigned count;

	dpe_automaton_moves(walk->automaton, walk->state, literal, &count);
	if (must_be_possible && !count)
		return false;
	event = add_event(behaviour, literal);
	for (unsigned i = 0; i < npreds; i++)
		add_pred(event, preds[i]);
	if (is_rejected_at_last(walk->automaton, rule, behaviour)) {
		want(walk, literal, rejection);
		return true;
	}
	free(event->preds);
	behaviour->nevents--;
	return false;
}

static bool has_successor(const struct dpe_behaviour *b, unsigned at)
{
	for (unsigned i = at + 1; i < b->nevents; i++) {
		for (unsigned p = 0; p < b->events[i].npreds; p++) {
			if (b->events[i].preds[p] == at)
				return true;
		}
	}
	return false;
}

/* Once independent of all events, and once after all maximal ones. */
static bool try_literal(struct walk *walk, const struct dpe_rule *rule, unsigned literal,
	bool must_be_possible, struct dpe_rejection *rejection)
{
	unsigned last[DPE_MAX_EXAMPLE_EVENTS + 1], count = 0;

	for (unsigned i = 0; i < walk->behaviour.nevents; i++) {
		if (!has_successor(&walk->behaviour, i))
			last[count++] = i;
	}
	return (count && try_preds(walk, rule, literal, NULL, 0, must_be_possible, rejection)) ||
	       try_preds(walk, rule, literal, last, count, must_be_possible, rejection);
}

static bool reject_at(const struct example_search *search, uint32_t at, bool must_be_possible,
	struct dpe_rejection *rejection)
{
	struct walk walk = walk_to(search, at);

	for (unsigned literal = 0; literal < search->rule->nliterals; literal++) {
		if (!try_literal(&walk, search->rule, literal, must_be_possible, rejection))
			continue;
		rejection->behaviour = walk.behaviour;
		free(walk.registers);
		return true;
	}
	end_walk(&walk);
	return false;
}

/* A wrong order is more instructive than a wrong event, so it is searched for first. */
bool dpe_examples_rejected(struct dpe_examples *examples, struct dpe_rejection *rejection)
{
	struct example_search search = {examples->automaton, examples->rule, NULL, 0, 0};
	bool found = false;

	*rejection = (struct dpe_rejection){0};
	*DPE_GROW(search.visits, search.nvisits, search.capvisits) = (struct visit){0};
	for (uint32_t at = 0; at < search.nvisits && search.nvisits < DPE_MAX_REJECTED_VISITS; at++)
		expand(&search, at);
	for (int possible = 1; possible >= 0 && !found; possible--) {
		for (uint32_t at = 0; at < search.nvisits && !found; at++)
			found = reject_at(&search, at, possible, rejection);
	}
	free(search.visits);
	return found;
}

void dpe_rejection_free(struct dpe_rejection *rejection)
{
	dpe_behaviour_free(&rejection->behaviour);
	free(rejection->wanted.preds);
	*rejection = (struct dpe_rejection){0};
}

/* ---- relations between literals ---------------------------------------------------------- */

/* Takes a random move; false if there is none. */
static bool random_step(struct walk *walk, const struct dpe_rule *rule, unsigned *dice)
{
	const struct dpe_move *chosen = NULL;
	unsigned seen = 0;

	for (unsigned literal = 0; literal < rule->nliterals; literal++) {
		unsigned count;
		const struct dpe_move *moves =
			dpe_automaton_moves(walk->automaton, walk->state, literal, &count);

		for (unsigned i = 0; i < count; i++) {
			if (!(rand_r(dice) % ++seen))
				chosen = &moves[i];
		}
	}
	if (!chosen)
		return false;
	step(walk, chosen);
	return true;
}

static void note_pairs(const struct dpe_behaviour *b, unsigned nliterals, uint8_t *relations)
{
	for (unsigned i = 0; i < b->nevents; i++) {
		for (unsigned j = i + 1; j < b->nevents; j++) {
			unsigned x = b->events[i].literal, y = b->events[j].literal;
			uint8_t seen = precedes(b, i, j) ? DPE_SEEN_ORDERED
								     : DPE_SEEN_INDEPENDENT;

			relations[x * nliterals + y] |= seen;
			relations[y * nliterals + x] |= seen;
		}
	}
}

uint8_t *dpe_examples_relations(struct dpe_examples *examples)
{
	unsigned count = examples->rule->nliterals, dice = 1;
	uint8_t *relations = dpe_xcalloc(count, count);

	for (unsigned i = 0; i < DPE_EXAMPLE_WALKS; i++) {
		struct walk walk = {.automaton = examples->automaton};

		while (walk.behaviour.nevents < DPE_WALK_EVENTS &&
			random_step(&walk, examples->rule, &dice))
			;
		note_pairs(&walk.behaviour, count, relations);
		end_walk(&walk);
	}
	return relations;
}
