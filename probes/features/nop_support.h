/* nop_support: whether this kernel emulates a probed nop of five bytes, found out by trying. */
#ifndef DPE_PROBES_FEATURES_NOP_SUPPORT_H
#define DPE_PROBES_FEATURES_NOP_SUPPORT_H

#include <stdbool.h>
#include <sys/types.h>

/* A probe on a nop in a child process. Linux 6.9 emulates it, 6.18 replaces it by a call, older kernels
 * single-step a copy. The kernel takes long to remove the probe, so the trial is started early. */
struct dpe_nop_trial {
	pid_t child; /* or 0 */
	int answer;  /* the result is read from here; or -1 */
};
void dpe_nop_trial_begin(struct dpe_nop_trial *trial);
/* True where nops are emulated; false where the trial failed. Waits; may be called once. */
bool dpe_nop_trial_answer(const struct dpe_nop_trial *trial);
/* Waits until the child is gone; accepts a trial that was ended or never begun (0, -1). */
void dpe_nop_trial_end(struct dpe_nop_trial *trial);

#endif
