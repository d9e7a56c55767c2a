/* finding_data: a finding and its schedule as data, for reports other than text. */
#include "explore/runs.h"

#include <stdlib.h>

/* NULL for an object that does not exist. */
static char *object_text(const struct dpe_symbols *symbols, const struct dpe_sched_switch *change)
{
	return dpe_sched_names_thread(change->kind) ? NULL : dpe_object_text(symbols, change->object);
}

void dpe_announce(const struct dpe_explore_listener *listener, const struct dpe_server *server,
	const struct dpe_finding *finding, const struct dpe_schedule *schedule,
	struct dpe_explore_found *found)
{
	struct dpe_explore_switch *switches = dpe_xcalloc(schedule->count + 1, sizeof(*switches));

	for (unsigned i = 0; i < schedule->count; i++) {
		const struct dpe_sched_switch *at = &schedule->at[i];

		switches[i] = (struct dpe_explore_switch){
			.thread = at->from + 1u,
			.step = at->step,
			.next = at->to + 1u,
			.operation = dpe_sched_kind_name(at->kind),
			.object = object_text(&server->symbols, at),
			.place = dpe_place_text(&server->symbols, at->pc),
		};
	}
	found->kind = finding->kind;
	found->what = finding->what.at;
	found->details = finding->details.at;
	found->places = finding->places;
	found->nplaces = finding->nplaces;
	found->switches = switches;
	found->nswitches = schedule->count;
	listener->found(listener->context, found);
	for (unsigned i = 0; i < schedule->count; i++) {
		free(switches[i].object);
		free(switches[i].place);
	}
	free(switches);
}
