/* The net of a rule as places and transitions, composed block by block between an entry and an exit
 * place (paper, appendix I). Operands of & that name the same event share its transitions: each of
 * one side is merged with each of the other. */
#include "dpe-lang/rule_nets/rule_nets.h"

#include <stdlib.h>
#include <string.h>

struct transition_draft {
	unsigned literal;
	unsigned *places[3]; /* inputs, outputs, inhibitors */
	unsigned counts[3], caps[3];
};

enum { INPUT, OUTPUT, INHIBITOR };

struct composer {
	struct transition_draft *drafts;
	unsigned ndrafts, capdrafts, nplaces;
	bool unbounded, extended;
};

static unsigned new_place(struct composer *c)
{
	return c->nplaces++;
}

static void add_place(struct transition_draft *draft, unsigned role, unsigned place)
{
	*DPE_GROW(draft->places[role], draft->counts[role], draft->caps[role]) = place;
}

/* The index of a transition from one place to another. */
static unsigned add_transition(struct composer *c, unsigned literal, unsigned from, unsigned to)
{
	struct transition_draft *draft = DPE_GROW(c->drafts, c->ndrafts, c->capdrafts);

	*draft = (struct transition_draft){.literal = literal};
	add_place(draft, INPUT, from);
	add_place(draft, OUTPUT, to);
	return c->ndrafts - 1;
}

static void free_draft(struct transition_draft *draft)
{
	for (unsigned role = 0; role < DPE_COUNT(draft->places); role++)
		free(draft->places[role]);
}

/* ---- synchronising ----------------------------------------------------------------------- */

static struct transition_draft merge(const struct transition_draft *a, const struct transition_draft *b)
{
	struct transition_draft both = {.literal = a->literal};

	for (unsigned role = 0; role < DPE_COUNT(both.places); role++) {
		for (unsigned i = 0; i < a->counts[role]; i++)
			add_place(&both, role, a->places[role][i]);
		for (unsigned i = 0; i < b->counts[role]; i++)
			add_place(&both, role, b->places[role][i]);
	}
	return both;
}

static bool is_shared(const struct dpe_block *block, const struct transition_draft *draft)
{
	return draft->literal != DPE_SILENT && block->left->literals[draft->literal] &&
	       block->right->literals[draft->literal];
}

/* The transitions of the left operand begin at `from`, those of the right one at `middle`. */
static void synchronise(
	struct composer *c, const struct dpe_block *block, unsigned from, unsigned middle)
{
	unsigned count = c->ndrafts - from, nleft = middle - from;
	struct transition_draft *old = dpe_xcalloc(count, sizeof(*old));

	if (count)
		memcpy(old, c->drafts + from, count * sizeof(*old));
	c->ndrafts = from;
	for (unsigned i = 0; i < count; i++) {
		if (!is_shared(block, &old[i])) {
			*DPE_GROW(c->drafts, c->ndrafts, c->capdrafts) = old[i];
			continue;
		}
		for (unsigned j = nleft; i < nleft && j < count; j++) {
			if (old[j].literal == old[i].literal)
				*DPE_GROW(c->drafts, c->ndrafts, c->capdrafts) =
					merge(&old[i], &old[j]);
		}
	}
	for (unsigned i = 0; i < count; i++) {
		if (is_shared(block, &old[i]))
			free_draft(&old[i]);
	}
	free(old);
}

/* ---- composing --------------------------------------------------------------------------- */

static void compose(struct composer *c, const struct dpe_block *block, unsigned in, unsigned out);

static void compose_par(
	struct composer *c, const struct dpe_block *block, unsigned in, unsigned out)
{
	unsigned entries[] = {new_place(c), new_place(c)};
	unsigned exits[] = {new_place(c), new_place(c)};
	unsigned fork, join, from, middle;

	fork = add_transition(c, DPE_SILENT, in, entries[0]);
	add_place(&c->drafts[fork], OUTPUT, entries[1]);
	from = c->ndrafts;
	compose(c, block->left, entries[0], exits[0]);
	middle = c->ndrafts;
	compose(c, block->right, entries[1], exits[1]);
	synchronise(c, block, from, middle);
	join = add_transition(c, DPE_SILENT, exits[0], out);
	add_place(&c->drafts[join], INPUT, exits[1]);
}

/* The loop has a place of its own, so that a token cannot enter or leave it inside a round. */
static void compose_star(
	struct composer *c, const struct dpe_block *block, unsigned in, unsigned out)
{
	unsigned loop = new_place(c);

	add_transition(c, DPE_SILENT, in, loop);
	compose(c, block->left, loop, loop);
	add_transition(c, DPE_SILENT, loop, out);
}

/* A token at `run` starts copies; one at `stop` collects copies that have ended. Where something can
 * follow, it leaves when no place of any copy has a token. */
static void compose_closure(
	struct composer *c, const struct dpe_block *block, unsigned in, unsigned out)
{
	unsigned run = new_place(c), stop = new_place(c), first = c->nplaces;
	unsigned copy_in = new_place(c), copy_out = new_place(c), at;

	add_transition(c, DPE_SILENT, in, run);
	at = add_transition(c, DPE_SILENT, run, run);
	add_place(&c->drafts[at], OUTPUT, copy_in);
	compose(c, block->left, copy_in, copy_out);
	add_transition(c, DPE_SILENT, run, stop);
	at = add_transition(c, DPE_SILENT, stop, stop);
	add_place(&c->drafts[at], INPUT, copy_out);
	at = add_transition(c, DPE_SILENT, stop, out);
	for (unsigned place = first; block->wanted && place < c->nplaces; place++)
		add_place(&c->drafts[at], INHIBITOR, place);
	c->unbounded = true;
	c->extended |= block->wanted;
}

static void compose(struct composer *c, const struct dpe_block *block, unsigned in, unsigned out)
{
	unsigned middle;

	switch (block->kind) {
	case DPE_NODE_EVENT:
		add_transition(c, block->literal, in, out);
		return;
	case DPE_NODE_SEQ:
		middle = new_place(c);
		compose(c, block->left, in, middle);
		compose(c, block->right, middle, out);
		return;
	case DPE_NODE_ALT:
		compose(c, block->left, in, out);
		compose(c, block->right, in, out);
		return;
	case DPE_NODE_PAR:
		compose_par(c, block, in, out);
		return;
	case DPE_NODE_STAR:
		compose_star(c, block, in, out);
		return;
	case DPE_NODE_CLOSURE:
		compose_closure(c, block, in, out);
		return;
	case DPE_NODE_GROUP:
		compose(c, block->left, in, out);
		return;
	case DPE_NODE_ACTION:
		add_transition(c, DPE_SILENT, in, out);
		return;
	}
}

/* ---- the net ----------------------------------------------------------------------------- */

static const unsigned *keep(struct dpe_arena *arena, const struct transition_draft *draft, unsigned role)
{
	unsigned count = draft->counts[role];
	unsigned *kept = dpe_arena_alloc(arena, (count + 1) * sizeof(*kept));

	if (count)
		memcpy(kept, draft->places[role], count * sizeof(*kept));
	return kept;
}

static struct dpe_net *finish(struct composer *c, unsigned start, unsigned end)
{
	struct dpe_net *net = dpe_xcalloc(1, sizeof(*net));
	struct dpe_transition *transitions;

	net->arena = dpe_arena_new();
	transitions = dpe_arena_alloc(net->arena, (c->ndrafts + 1) * sizeof(*transitions));
	for (unsigned i = 0; i < c->ndrafts; i++) {
		struct transition_draft *draft = &c->drafts[i];

		transitions[i] = (struct dpe_transition){
			.literal = draft->literal,
			.ninputs = draft->counts[INPUT],
			.noutputs = draft->counts[OUTPUT],
			.ninhibitors = draft->counts[INHIBITOR],
			.inputs = keep(net->arena, draft, INPUT),
			.outputs = keep(net->arena, draft, OUTPUT),
			.inhibitors = keep(net->arena, draft, INHIBITOR),
		};
		free_draft(draft);
	}
	free(c->drafts);
	net->transitions = transitions;
	net->ntransitions = c->ndrafts;
	net->nplaces = c->nplaces;
	net->start = start;
	net->end = end;
	net->unbounded = c->unbounded;
	net->extended = c->extended;
	return net;
}

struct dpe_net *dpe_net_new(const struct dpe_rule *rule, struct dpe_diags *diags)
{
	struct dpe_blocks *blocks = dpe_blocks_new_for_net(rule);
	struct composer composer = {0};
	unsigned start, end;

	if (blocks->ncontrols) {
		dpe_diag(diags, DPE_ERROR, rule->place,
			"not supported: a net of rule '%s', whose control variables count without "
			"bound",
			rule->name);
		dpe_blocks_free(blocks);
		return NULL;
	}
	start = new_place(&composer);
	end = new_place(&composer);
	compose(&composer, blocks->root, start, end);
	dpe_blocks_free(blocks);
	return finish(&composer, start, end);
}

void dpe_net_free(struct dpe_net *net)
{
	if (!net)
		return;
	dpe_arena_free(net->arena);
	free(net);
}
