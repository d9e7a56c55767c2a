/* waits: what the threads of a process wait for, and who holds it. Reads /proc and memory alone. */
#ifndef DPE_PROBES_WAITS_WAITS_H
#define DPE_PROBES_WAITS_WAITS_H

#include "dpe/dpe-waits.h"
#include "probes/process/process.h"

/* ---- call_stacks.c ------------------------------------------------------------------------- */

#define DPE_WAIT_FRAMES 64 /* of a stack that is unwound; a deeper one is cut, and says so */

/* The process, as far as its stacks and words need it. */
struct dpe_process_image {
	pid_t pid;
	struct dpe_modules modules;
	struct dpe_map *maps; /* sorted by address */
	unsigned nmaps, capmaps;
	struct dpe_unwinder *unwinder;
	uint64_t trampoline; /* where calls return to whose return is observed; 0: nowhere */
	const struct dpe_diverted_returns *returns; /* NULL: none is known */
};

struct dpe_call_stack {
	uint64_t pcs[DPE_WAIT_FRAMES];
	unsigned count;
	enum dpe_unwound end;
};

/* False after an error. Free it in either case. */
bool dpe_image_open(struct dpe_process_image *image, pid_t pid, const struct dpe_diverted_returns *returns,
	struct dpe_diags *diags);
void dpe_image_free(struct dpe_process_image *image);
/* Reads memory of the process; false if it cannot be read. */
bool dpe_image_read(const struct dpe_process_image *image, uint64_t address, void *to, size_t size);
/* The stack of a thread by these registers. */
void dpe_image_unwind(const struct dpe_process_image *image, const struct dpe_registers *registers,
	struct dpe_call_stack *stack);
/* The function of a frame, and the module that has it; NULL: unknown. */
const struct dpe_function *dpe_image_function(const struct dpe_process_image *image,
	const struct dpe_call_stack *stack, unsigned frame, struct dpe_module **module);
/* The function that the caller of a frame has called; NULL: unknown. */
const struct dpe_function *dpe_image_callee(const struct dpe_process_image *image,
	const struct dpe_call_stack *stack, unsigned frame, struct dpe_module **module);

/* ---- sleeper_registers.c ------------------------------------------------------------------- */

/* Registers of a thread that sleeps in a futex. It is interrupted for that, and sleeps again: a futex is a call that
 * the kernel restarts. Should we die, the kernel lets it proceed. False if that is not allowed. */
bool dpe_sleeper_registers(pid_t thread, struct dpe_registers *registers);

/* ---- lock_words.c -------------------------------------------------------------------------- */

/* The thread in a futex: what kind of lock that is, by the calls on the stack; its object and holder. Returns
 * the frame of the call that waits. */
unsigned dpe_lock_classify(const struct dpe_process_image *image, const struct dpe_thread_state *state,
	const struct dpe_call_stack *stack, struct dpe_waiting_thread *thread);
/* Whether the stack has a call of pthread_once, or the like, that does not wait but runs its routine. */
bool dpe_lock_runs_once(const struct dpe_process_image *image, const struct dpe_call_stack *stack);
/* What the locks of the program's language do not show; NULL: nothing. */
const char *dpe_lock_advice(const struct dpe_process_image *image);

/* ---- stream_locks.c ------------------------------------------------------------------------ */

/* The holder of a lock within glibc; of a stream's: the stream, which is the object then. */
void dpe_stream_lock_look(const struct dpe_process_image *image, const struct dpe_module *libc, struct dpe_waiting_thread *thread);

/* Whether this is the address of a thread's id in the structure that glibc has of it: pthread_join waits there. */
bool dpe_is_thread_id(const struct dpe_process_image *image, uint64_t address);

/* ---- prospects.c --------------------------------------------------------------------------- */

/* Sets cycles and prospects of all threads, and of the whole, by `holder` and `next`. */
void dpe_prospects_find(struct dpe_waits *waits);

#endif
