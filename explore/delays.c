/* delays: the tree of all schedules, level by level. Each schedule is a different set of delays of the run that
 * always continues the same thread, so none is run twice. Source: M. Emmi, S. Qadeer, Z. Rakamarić,
 * Delay-Bounded Scheduling, POPL 2011. */
#include "explore/runs.h"

#include <stdlib.h>

static void free_nodes(struct dpe_delay_node **nodes, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		free(nodes[i]);
}

/* When more memory becomes known to be shared, the choices change. */
static void begin(struct dpe_delays *delays, const struct dpe_sched_header *memory)
{
	free_nodes(delays->level, delays->nlevel);
	free_nodes(delays->next, delays->nnext);
	free_nodes(delays->done, delays->ndone);
	delays->nlevel = delays->nnext = delays->ndone = 0;
	delays->learned = memory->learned;
	delays->cut = false;
	delays->begun = true;
	*DPE_GROW(delays->level, delays->nlevel, delays->caplevel) =
		dpe_xcalloc(1, sizeof(struct dpe_delay_node));
}

static void next_level(struct dpe_delays *delays)
{
	struct dpe_delay_node **empty = delays->level;
	unsigned cap = delays->caplevel;

	delays->level = delays->next;
	delays->nlevel = delays->nnext;
	delays->caplevel = delays->capnext;
	delays->next = empty;
	delays->nnext = 0;
	delays->capnext = cap;
}

/* A random node of the level, so that similar schedules are not run in sequence. */
static struct dpe_delay_node *draw(struct dpe_delays *delays)
{
	struct dpe_delay_node *drawn;
	unsigned index;

	delays->dice = delays->dice * 6364136223846793005 + 1442695040888963407;
	index = (unsigned)((delays->dice >> 33) % delays->nlevel);
	drawn = delays->level[index];
	delays->level[index] = delays->level[--delays->nlevel];
	return drawn;
}

static unsigned depth_of(const struct dpe_delay_node *node)
{
	unsigned depth = 0;

	for (; node->parent; node = node->parent)
		depth++;
	return depth;
}

bool dpe_delays_give(struct dpe_delays *delays, struct dpe_sched_header *memory)
{
	const struct dpe_delay_node *node;

	if (!delays->begun || delays->learned != memory->learned)
		begin(delays, memory);
	if (!delays->nlevel)
		next_level(delays);
	if (!delays->nlevel)
		return false;
	node = *DPE_GROW(delays->done, delays->ndone, delays->capdone) = draw(delays);
	memory->ndelays = depth_of(node);
	for (unsigned i = memory->ndelays; i--; node = node->parent)
		memory->delays[i] = node->delay;
	return true;
}

static void add_child(struct dpe_delays *delays, const struct dpe_delay_node *parent,
	uint32_t choice, uint32_t skip)
{
	struct dpe_delay_node *child;

	if (delays->nnext >= DPE_EXPLORE_TREE) {
		delays->cut = true;
		return;
	}
	child = dpe_xcalloc(1, sizeof(*child));
	*child = (struct dpe_delay_node){parent, {.choice = choice, .skip = skip}};
	*DPE_GROW(delays->next, delays->nnext, delays->capnext) = child;
}

/* The delays of later choices. */
void dpe_delays_take(struct dpe_delays *delays, const struct dpe_sched_header *memory)
{
	const struct dpe_delay_node *node = delays->done[delays->ndone - 1];
	uint32_t end = memory->choices;

	if (delays->learned != memory->learned)
		return;
	if (memory->ndelays == DPE_SCHED_DELAYS || end >= DPE_SCHED_CHOICES)
		delays->cut = true;
	if (memory->ndelays == DPE_SCHED_DELAYS)
		return;
	for (uint32_t c = node->delay.choice + 1; c <= end && c < DPE_SCHED_CHOICES; c++)
		for (uint32_t skip = 1; skip < memory->widths[c]; skip++)
			add_child(delays, node, c, skip);
}

void dpe_delays_free(struct dpe_delays *delays)
{
	free_nodes(delays->level, delays->nlevel);
	free_nodes(delays->next, delays->nnext);
	free_nodes(delays->done, delays->ndone);
	free(delays->level);
	free(delays->next);
	free(delays->done);
}
