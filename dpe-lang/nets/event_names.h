/* Labels of transitions as events of the language. */
#ifndef DPE_NETS_EVENT_NAMES_H
#define DPE_NETS_EVENT_NAMES_H

#include "dpe-lang/nets/nets.h"

/* An event for each different label. Texts are in the arena. */
struct named_event {
	const char *text;  /* the label without carets, or a name similar to it that no other label has */
	const char *label; /* the label, if it is no event of the language; else NULL */
	size_t name;       /* length of what precedes its carets; 0: a data event, which has none */
};

struct events {
	struct named_event *at;
	unsigned count, cap;
};

/* Replaces the net's labels by texts of events: equal labels have the same pointer afterwards. */
void dpe_nets_name_events(struct translation *tr, struct net *net, struct events *events);
/* A name of letters, digits and _ that is similar to the label and the text of no event. */
const char *dpe_nets_similar_name(
	struct translation *tr, const struct events *events, const char *label);
unsigned dpe_nets_event_number(const struct events *events, const char *text);
/* The event with this number of carets, in the arena; NULL if it cannot have them. */
const char *dpe_nets_with_carets(struct translation *tr, unsigned event, unsigned carets);

#endif
