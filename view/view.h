/* view: a page (HTML, self-contained) that draws a run and its findings. What the recognizer gives to a
 * sink is collected here, and written once. */
#ifndef DPE_VIEW_VIEW_H
#define DPE_VIEW_VIEW_H

#include "dpe/dpe-recognizer.h"

struct dpe_view;

/* `title`: what was run, or read. `names` and `spec` are borrowed. `variable_at`: the name of the variable
 * at an address, for free(), or NULL; may itself be NULL. */
struct dpe_view *dpe_view_new(const char *title, const struct dpe_names *names, const struct dpe_spec *spec,
	char *(*variable_at)(void *context, struct dpe_value value), void *context);
void dpe_view_free(struct dpe_view *view); /* accepts NULL */

/* The sink's `event` and `synchronises`. `resolved`: the message with the text of its stack. */
void dpe_view_event(struct dpe_view *view, const struct dpe_event *event, const struct dpe_message *resolved);
void dpe_view_part(struct dpe_view *view, const struct dpe_sync_part *part);
/* The sink's `holds`. */
void dpe_view_hold(struct dpe_view *view, struct dpe_value thread, struct dpe_value object, bool held);
/* The sink's `trace`, for pages that show the state of the rules at each event. */
void dpe_view_step(struct dpe_view *view, const struct dpe_trace *trace);
/* The sink's `automata`, for the same. */
void dpe_view_automata(struct dpe_view *view, const struct dpe_rule *rule, const char *json);
/* Findings; `kind` in words. Events that were not given to dpe_view_event are shown by name only. */
void dpe_view_verdict(struct dpe_view *view, const struct dpe_verdict *verdict, const char *kind);
void dpe_view_deadlock(struct dpe_view *view, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock,
	const char *kind);
void dpe_view_error(struct dpe_view *view, const struct dpe_rule *rule, const char *text);
/* Another run with the same specification, which the page shows beside this one; owned by the view from here on. Once at
 * most. */
void dpe_view_beside(struct dpe_view *view, struct dpe_view *other);
/* What the reader has to know of the whole run, such as losses. */
void dpe_view_note(struct dpe_view *view, const char *text);

/* What is written, by the end of the file's name. */
enum dpe_view_format {
	DPE_VIEW_PAGE,   /* any other */
	DPE_VIEW_CHROME, /* .json: a trace for chrome://tracing and Perfetto */
	DPE_VIEW_SHIVIZ, /* .shiviz: vector clocks */
	DPE_VIEW_LOCKS,  /* .locks.dot: in which order locks were taken */
	DPE_VIEW_DOT,    /* .dot: what lies around the first finding */
};
enum dpe_view_format dpe_view_format_of(const char *path);
/* Errors are those of the stream. Returns in words what the format cannot hold of this run, for free(), or NULL; a page says it
 * itself. */
char *dpe_view_write(struct dpe_view *view, enum dpe_view_format format, FILE *to);

#endif
