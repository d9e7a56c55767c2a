/* kernel_order: order made by the kernel that the BPF programs do not report: eventfd, epoll, internet sockets, the end
 * of a pipe or socket, poll and select, signals, sigaction before its handler, and what starts a timer before its function. */
#ifndef DPE_PROBES_INSIDE_KERNEL_ORDER_H
#define DPE_PROBES_INSIDE_KERNEL_ORDER_H

#include "probes/inside/memory_hooks.h"

#include <sys/socket.h>

/* The descriptor is about to be written, or closed; it has been read, or, `unread`, was found readable or at its end. */
DPE_PRELOAD_HIDDEN void dpe_order_release(int file, struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN void dpe_order_acquire(int file, bool unread, struct dpe_memory_place place);
/* The same as a release, of the port that is named, if one is. */
DPE_PRELOAD_HIDDEN void dpe_order_release_to(int file, const struct sockaddr *to, struct dpe_memory_place place);

/* Where handlers return to; 0: none was installed. */
extern DPE_PRELOAD_HIDDEN uint64_t dpe_signal_return;
/* A handler begins. */
DPE_PRELOAD_HIDDEN void dpe_order_handler(struct dpe_memory_place place);

#endif
