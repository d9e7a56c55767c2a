/* Labels of transitions as events of the language. */
#ifndef DPE_NETS_EVENT_NAMES_H
#define DPE_NETS_EVENT_NAMES_H

#include "dpe-lang/nets/nets.h"

/* One text for each different label: the label without carets where it is an event of the
 * language, else a name similar to it that no other label has. In the arena. */
struct events {
	const char **texts;
	unsigned count, cap;
	const char *
		*labels; /* the original label where the text is only similar to it, else NULL */
	unsigned caplabels;
};

/* Replaces the net's labels by texts of events: equal labels have the same pointer afterwards. */
void dpe_nets_name_events(struct translation *tr, struct net *net, struct events *events);
/* A name of letters, digits and _ that is similar to the label and the text of no event. */
const char *dpe_nets_similar_name(
	struct translation *tr, const struct events *events, const char *label);
unsigned dpe_nets_event_number(const struct events *events, const char *text);
/* Whether the event can have carets: data events cannot. */
bool dpe_nets_may_have_carets(const char *text);
/* The event with so many carets; NULL where it cannot have them. */
const char *dpe_nets_with_carets(struct translation *tr, const char *text, unsigned carets);
void dpe_nets_events_free(struct events *events);

#endif
