/* dispatch: setting up a recognizer, and sending its events to the rules. */
#ifndef DPE_RECOGNIZER_DISPATCH_H
#define DPE_RECOGNIZER_DISPATCH_H

#include "recognizer/recognizer.h"

/* Makes everything that depends on the specification; options and sink are set. False after a
 * diagnostic. */
bool dpe_recognizer_set_up(struct dpe_recognizer *recognizer, struct dpe_diags *diags);
/* The sink that takes the stabilizer's events to the rules. */
struct dpe_stabilizer_sink dpe_dispatch_sink(struct dpe_recognizer *recognizer);
/* Its `event`: the context is the recognizer. */
void dpe_dispatch_event(void *context, const struct dpe_event *event);

#endif
