/* predict: what another run of the same threads would have shown. docs/predict.md has the meaning. */
#ifndef DPE_RECOGNIZER_PREDICT_PREDICT_H
#define DPE_RECOGNIZER_PREDICT_PREDICT_H

#include "recognizer/recognizer.h"

/* What is known of the observed run, for all `predict` rules. */
struct dpe_predictor;

/* For the `predict` rules of the recognizer's specification; NULL: it has none. Free with
 * dpe_predictor_free. */
struct dpe_predictor *dpe_predictor_new(struct dpe_recognizer *recognizer);
void dpe_predictor_free(struct dpe_predictor *predictor); /* accepts NULL */
/* Begins and ends the search for the matches of a rule. */
void dpe_predictor_begin(struct dpe_run *run);
void dpe_predictor_end(struct dpe_run *run); /* accepts a run without */
/* As the stabilizer's sink says it. */
void dpe_predictor_edge(struct dpe_predictor *predictor, uint64_t from, uint64_t to, unsigned rule);
/* Takes every released event, before dpe_predictor_take. */
void dpe_predictor_event(struct dpe_predictor *predictor, const struct dpe_event *event);
/* The event matched run->bindings: reports matches of which it is the last. */
void dpe_predictor_take(struct dpe_run *run, const struct dpe_event *event);
/* The end of the input: reports what was not looked for. */
void dpe_predictor_finish(struct dpe_run *run);

#endif
