/* ctf_locks: the order of locks and unlocks in a trace. Private to ctf_read.c. */
#ifndef DPE_EVENT_LOGS_CTF_LOCKS_H
#define DPE_EVENT_LOGS_CTF_LOCKS_H

#include <stdint.h>

/* A message whose place in the order may still change. */
struct dpe_ctf_event {
	int64_t time;
	uint64_t thread, process, lock;
	char *text; /* owned */
	enum { CTF_OTHER, CTF_REQUESTS, CTF_ACQUIRES, CTF_RELEASES } what; /* of a mutex */
};

/* Moves each unlock of a mutex to before the next lock of it by another thread. */
void dpe_ctf_order_locks(struct dpe_ctf_event *events, unsigned count);

#endif
