/* dispatch: how a recognizer begins, and where its events go. */
#ifndef DPE_RECOGNIZER_DISPATCH_H
#define DPE_RECOGNIZER_DISPATCH_H

#include "recognizer/recognizer.h"

/* Makes all that depends on the specification; options and sink are there. False after a diagnostic. */
bool dpe_recognizer_set_up(struct dpe_recognizer *recognizer, struct dpe_diags *diags);
/* Where the stabilizer's events go: to the rules. */
struct dpe_stabilizer_sink dpe_dispatch_sink(struct dpe_recognizer *recognizer);

#endif
