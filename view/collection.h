/* The data of a page. Private to view. */
#ifndef DPE_VIEW_COLLECTION_H
#define DPE_VIEW_COLLECTION_H

#include "view/limits.h"
#include "view/view.h"

#define DPE_VIEW_NONE UINT32_MAX

struct dpe_view_lane {
	dpe_name thread, process, host, comm; /* of view->texts */
	uint32_t last;                             /* event, or DPE_VIEW_NONE */
};

/* An event for the writers of other formats; its page's row is JSON already. Texts are of view->keys. */
struct dpe_view_row {
	uint32_t lane, edges; /* edges: where its own end in view->edges; those of the event before end where they begin */
	dpe_name name, label, stack; /* name: of the message, without its phase */
	enum dpe_phase phase;
	bool has_time;
	int64_t time; /* ns since the first event */
};

/* A lock that an event takes or releases; an event of a finding. */
struct dpe_view_lock {
	uint32_t event;
	dpe_name object; /* of view->texts */
	bool taken;
};
struct dpe_view_mark {
	uint32_t event, finding;
	dpe_name title; /* "#1 race: match", of view->keys */
};

struct dpe_view {
	struct dpe_view *beside; /* or NULL */
	char *title;
	const struct dpe_names *names; /* borrowed */
	const struct dpe_spec *spec;   /* borrowed */
	char *(*variable_at)(void *context, struct dpe_value value);
	void *context;
	struct dpe_names *texts; /* each text of the page once; its number stands for it */
	dpe_name ntexts;         /* the highest number */
	struct dpe_names *keys;  /* ids of events, and keys of lanes */
	uint32_t *events_of, *lanes_of; /* by number of the key, plus one; 0: none */
	unsigned nevents_of, capevents_of, nlanes_of, caplanes_of;
	struct dpe_view_lane *lanes;
	unsigned nlanes, caplanes;
	struct dpe_view_row *events;
	uint32_t *edges; /* sources */
	struct dpe_view_lock *locks;
	struct dpe_view_mark *marks;
	unsigned nrows, caprows, nedges, capedges, nlocks, caplocks, nmarks, capmarks;
	/* JSON: rows of events, of parts in sync rules, and findings; names of objects. */
	struct dpe_text rows, parts, steps, automata, findings, objects;
	uint32_t nevents, nfindings, nnotes;
	uint32_t *findings_of; /* each rule */
	uint32_t lane; /* of the last event */
	dpe_name title_of_finding; /* of the last one, of view->keys */
	uint64_t nsteps;
	bool taken; /* the last event is on the page */
	bool has_start;
	uint64_t start; /* ns: of the first event with a time */
	dpe_name *variables; /* of objects, by number of their text; 0: not looked up, DPE_VIEW_NONE: none */
	unsigned nvariables, capvariables;
	struct dpe_text notes;
	uint64_t left_events, left_findings, left_notes, left_lanes, left_edges, left_texts, left_steps;
};

/* The number of a text of the page, cut to DPE_VIEW_TEXT. */
dpe_name dpe_view_text(struct dpe_view *view, const char *text);
dpe_name dpe_view_value(struct dpe_view *view, struct dpe_value value);
/* The event of a message that was given to dpe_view_event; DPE_VIEW_NONE if it is not on the page. */
uint32_t dpe_view_find(struct dpe_view *view, const struct dpe_message *message);
/* The same for the value of an object, whose variable is looked up. */
dpe_name dpe_view_object(struct dpe_view *view, struct dpe_value value);
/* The rule's number in the specification. */
unsigned dpe_view_rule(const struct dpe_view *view, const struct dpe_rule *rule);
/* "enqueue.enter", as a number. */
dpe_name dpe_view_name_of(struct dpe_view *view, const struct dpe_message *message);

/* "producer 4711" */
void dpe_view_print_lane(struct dpe_text *to, const struct dpe_view *view, uint32_t lane);

/* Whether the event follows the one before it in its lane. A thread that has ended, and one that got its number, are two. A lane
 * that several share has no order. */
bool dpe_view_are_ordered(const struct dpe_view *view, uint32_t before, uint32_t event);

/* Writers of other formats. */
char *dpe_view_write_chrome(struct dpe_view *view, FILE *to); /* returns as dpe_view_write does */
/* Returns how many events are left out, at the end. */
uint64_t dpe_view_write_shiviz(struct dpe_view *view, FILE *to);
void dpe_view_write_dot(struct dpe_view *view, FILE *to);
void dpe_view_write_locks(struct dpe_view *view, FILE *to);
/* A text in quotes, as Graphviz reads it. */
void dpe_view_put_dot(FILE *to, const char *text);

/* clocks.c. Notes how far the clocks of hosts are apart, as far as edges show it. */
void dpe_view_note_clocks(struct dpe_view *view);
/* sources.c. The lines around the places in frames, as JSON: {"queue.c:35": [32, "…", …], …}. Reads only files
 * below the working directory that are named as sources are. */
void dpe_view_sources(struct dpe_text *to, const struct dpe_view *view, uint64_t *left);

#endif
