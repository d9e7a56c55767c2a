/* follow: what is known of the processes that are followed. Private to follow.c and spaces.c. */
#ifndef DPE_PROBES_STREAM_PROCESSES_H
#define DPE_PROBES_STREAM_PROCESSES_H

#include "probes/live.h"

#include <pthread.h>

/* An address space that some message has an address of. */
struct dpe_space {
	uint32_t space;  /* the kernel's side's number */
	unsigned number; /* ours, in addresses; from 1 */
};

/* Probes of processes that have ended, which a thread takes out. */
struct dpe_taking_out {
	struct dpe_process_probes *at;
	unsigned count;
	pthread_t thread;
	bool running, done;
};

struct dpe_follow {
	struct dpe_diags *diags;
	struct dpe_follow_files files;
	struct dpe_guardian guardian; /* lets go what is stopped, should we die */
	int keeping; /* its keepers stay until we and the guardian have closed this */

	struct dpe_process_probes **processes; /* process_probes.c's: those that are observed */
	unsigned nprocesses, capprocesses;
	uint64_t endings; /* see dpe_attach_endings: when they were looked at last */
	struct dpe_process_probes *ended;
	unsigned nended, capended;
	struct dpe_taking_out taking_out;

	struct dpe_space *spaces; /* by `space` */
	unsigned nspaces, capspaces;
	pid_t *owners; /* by number - 1: the process that was seen in it first */
	unsigned nowners, capowners;
	struct dpe_lost lost; /* of which an address has no number left */

	struct dpe_life *lives; /* lives.c's, by thread id */

	struct dpe_maps **maps; /* of all processes but the first */
	unsigned nmaps, capmaps;
};

void dpe_spaces_free(struct dpe_follow *follow);
void dpe_lives_free(struct dpe_follow *follow);

#endif
