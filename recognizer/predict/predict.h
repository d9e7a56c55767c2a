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
/* Follows a run by searching for matches in other orders of the events. */
void dpe_predictor_begin(struct dpe_run *run);
/* As the stabilizer's sink says it. */
void dpe_predictor_edge(struct dpe_predictor *predictor, uint64_t from, uint64_t to, unsigned rule);
/* Takes every released event, before the rules do. */
void dpe_predictor_event(struct dpe_predictor *predictor, const struct dpe_event *event);
/* No event follows: decides which cycles in the order of locks can close. Accepts NULL. */
void dpe_predictor_finish(struct dpe_predictor *predictor);

#endif
