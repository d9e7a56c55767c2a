/* stream: from records of all rings to messages, in order of time. */
#ifndef DPE_PROBES_STREAM_STREAM_H
#define DPE_PROBES_STREAM_STREAM_H

#include "probes/kernel/kernel.h"
#include "probes/process/process.h"
#include "probes/stream/merge_queue.h"

/* ---- merge.c ------------------------------------------------------------------------- */

/* What was read from the rings and cannot be delivered yet, since something earlier may still come. */
struct dpe_merge {
	struct dpe_queues held; /* a queue for each ring: the kernel's, then the library's */
	unsigned nkernel;       /* of the first */
	struct dpe_numbers *numbers; /* with a library: how far each thread is */
	struct dpe_numbers *recent;  /* … and the one that was asked for last; or NULL */
	bool refused; /* something was left in a ring for lack of space */
	bool behind;  /* something can be delivered at once */
};

/* To be called once all rings exist. */
void dpe_merge_open(struct dpe_probes *probes);
void dpe_merge_free(struct dpe_probes *probes); /* accepts a zeroed one */
/* Reads all rings and delivers, in order of time, everything up to the time to which all are known; sets
 * `drained`. `over`: nothing more can come. False if something is left for a later call. */
bool dpe_merge_deliver(struct dpe_probes *probes, bool over, uint64_t slack,
	const struct dpe_probes_sink *sink);

/* ---- record_messages.c, object_messages.c -------------------------------------------- */

/* The message of a record of a thread called `comm`, in DPE_COMM_SIZE bytes, the caller's; NULL if the record
 * is not one of ours. */
struct dpe_message *dpe_message_of_record(struct dpe_probes *probes,
	const struct dpe_record *record, size_t size, const char *comm);
/* The messages of the records; `args` has room for three, `vars` and `texts` for two. */
void dpe_object_watch_fill_change(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args);
void dpe_object_watch_fill_access(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args, struct dpe_var *vars,
	char (*texts)[DPE_NUMBER_TEXT]);

/* ---- thread_ids.c -------------------------------------------------------------------- */

/* For a record of a thread's creation, begin or end, before its message is made. */
void dpe_thread_ids_note(struct dpe_probes *probes, const struct dpe_record *record);
/* The id of a thread in messages; the text lies in `name`. */
struct dpe_thread_id_text {
	char text[32];
};
struct dpe_value dpe_thread_id_value(
	const struct dpe_probes *probes, uint32_t thread, struct dpe_thread_id_text *name);
/* The number of a message of the thread, whose record has the number `seq`. */
uint64_t dpe_thread_id_seq(const struct dpe_probes *probes, uint32_t thread, uint64_t seq);

/* ---- thread_names.c ------------------------------------------------------------------ */

struct dpe_thread_names {
	struct dpe_thread_name *all;
	struct dpe_thread_name *recent[64]; /* by the lowest bits of a thread's id */
};

/* Takes a record with the name of its thread; false if it is another record. */
bool dpe_thread_names_take(struct dpe_probes *probes, const struct dpe_record *record, size_t size);
/* The thread's name, in DPE_COMM_SIZE bytes, until the next record is taken; "" if it is unknown. */
const char *dpe_thread_names_find(struct dpe_probes *probes, uint32_t thread);
void dpe_thread_names_free(struct dpe_probes *probes);

/* ---- address_spaces.c ---------------------------------------------------------------- */

/* An address space of which some message has an address. */
struct dpe_space {
	uint32_t space;  /* its number in the BPF programs */
	unsigned number; /* its number in addresses; from 1 */
};

struct dpe_follow {
	struct dpe_follow_files files;
	struct dpe_watchdog watchdog; /* continues what is stopped if we die */
	int keeping; /* the keepers of process groups exit once we and the watchdog have closed this */

	struct dpe_process_probes **processes; /* the observed ones, see process_probes.c */
	unsigned nprocesses, capprocesses;
	uint64_t endings; /* see dpe_attach_endings: when they were last checked */
	struct dpe_process_probes *ended;
	unsigned nended, capended;
	struct dpe_removal taking_out; /* of processes that have ended */

	struct dpe_space *spaces; /* by `space` */
	unsigned nspaces, capspaces;
	pid_t *owners; /* by number - 1: the first process that was seen in it */
	unsigned nowners, capowners;
	struct dpe_lost lost; /* events with an address of a process without a number */

	struct dpe_thread_id *thread_ids; /* by thread id, see thread_ids.c */

	struct dpe_maps **maps; /* of all processes but the first */
	unsigned nmaps, capmaps;
};

void dpe_address_spaces_free(struct dpe_follow *follow);
void dpe_thread_ids_free(struct dpe_follow *follow);

/* Makes addresses of several processes distinct, in a record's words or in a result. False if there are too
 * many: the event is counted as lost. */
bool dpe_addresses_tag(struct dpe_probes *probes, const struct dpe_record *record,
	unsigned addresses, uint64_t *words);
bool dpe_address_tag(
	struct dpe_probes *probes, uint32_t space, pid_t pid, uint64_t *address);
/* Losses of dpe_addresses_tag. */
struct dpe_lost dpe_addresses_lost(const struct dpe_probes *probes);
void dpe_losses_free(struct dpe_known_losses *losses); /* accepts NULL */
/* A process is created, or begins, in this address space: forgets what was known of an earlier one with its id. Until it
 * executes another program, it has the mappings of its parent (0: which is not known). */
void dpe_address_spaces_fork(struct dpe_probes *probes, pid_t pid, uint32_t space, pid_t parent);

/* The address that dpe_address_tag turned into this one. */
struct dpe_address_origin {
	uint32_t shared; /* number of the shared memory, from 1; 0: none */
	pid_t pid;
	uint64_t address;
};
/* False if it is the first process's. */
bool dpe_address_find(
	const struct dpe_probes *probes, uint64_t address, struct dpe_address_origin *where);
struct dpe_maps *dpe_maps_of(struct dpe_probes *probes, pid_t pid);

/* ---- mappings.c ---------------------------------------------------------------------- */

/* Where a process has mapped its files. */
struct dpe_maps {
	struct dpe_map *at; /* by address */
	unsigned count, cap;
	uint64_t read; /* when; 0: never */
	uint64_t known[64]; /* a direct-mapped cache of addresses that lie in one of them; or 0 */
	pid_t pid;
	uint32_t space; /* the address space in which it began; 0: not known */
	pid_t parent;   /* 0: not known */
};

/* Reads the mappings of a process, which may be gone when its next event is delivered. */
void dpe_maps_read(struct dpe_probes *probes, pid_t pid);
/* Notes where the files of the stack `pcs` are mapped in this address space, while the process still exists; pcs[0] is
 * the beginning of the site's function; without a site: any address. */
void dpe_maps_note(struct dpe_probes *probes, pid_t pid, uint32_t space, const struct dpe_site *site,
	const uint64_t *pcs, unsigned npcs);

/* What is mapped at an address, by the last look; NULL: nothing. */
const struct dpe_map *dpe_maps_find(const struct dpe_probes *probes, uint64_t pc);

/* ---- extra_messages.c ---------------------------------------------------------------- */

/* How many more messages than records the thread had; to count, or to read. */
uint64_t *dpe_extra_messages_of(struct dpe_probes *probes, uint32_t thread);
uint64_t dpe_extra_messages(const struct dpe_probes *probes, uint32_t thread);
void dpe_extra_messages_free(struct dpe_extra_messages *all);

/* ---- channels.c ---------------------------------------------------------------------- */

/* For rules about transfers through channels. */
void dpe_channels_open(struct dpe_probes *probes);
void dpe_channels_free(struct dpe_channels *channels); /* accepts NULL */
/* True of records that are for dpe_channels_deliver. */
bool dpe_channels_is_theirs(const struct dpe_record *record);
/* Hands over the messages of a record; there may be any number. */
void dpe_channels_deliver(struct dpe_probes *probes, const struct dpe_record *record, size_t size,
	const struct dpe_probes_sink *sink);
/* Receives whose senders are unknown. */
struct dpe_lost dpe_channels_lost(const struct dpe_probes *probes);

/* ---- access_cache.c ------------------------------------------------------------------ */

/* What the instruction before `ip` does to memory. */
struct dpe_access_effect dpe_access_at(struct dpe_probes *probes, uint64_t ip);
void dpe_access_free(struct dpe_probes *probes);

/* ---- library_reader.c ---------------------------------------------------------------- */

/* Creates the memory that the preloaded library will write to. False after one error. */
bool dpe_preload_open(struct dpe_probes *probes, const char *library, struct dpe_diags *diags);
/* The target's environment; ours if nothing is preloaded. */
char *const *dpe_preload_environment(const struct dpe_probes *probes);
/* The file descriptor that it inherits, or -1. */
int dpe_preload_file(const struct dpe_probes *probes);
/* Whether the program, whose libraries are known, will load the library. False after one error. */
bool dpe_preload_check(const struct dpe_probes *probes, struct dpe_diags *diags);
/* Drops pointers to sites, whose array has been reallocated. */
void dpe_preload_forget_sites(struct dpe_probes *probes);
/* Names the process that may write. */
void dpe_preload_begin(struct dpe_probes *probes);
/* Makes the library stop writing. */
/* library_tables.c. Gives the library a module's call frame information, and the addresses at which modules are mapped. No
 * effect without the library, or if no stacks are wanted. */
void dpe_preload_keep_rows(struct dpe_probes *probes, const struct dpe_module *module,
	const struct dpe_frame_row *rows, unsigned count);
void dpe_preload_map_rows(struct dpe_probes *probes);
void dpe_preload_shut(struct dpe_probes *probes);
void dpe_preload_free(struct dpe_probes *probes); /* accepts that there is no library */

/* ---- read_values.c, memory_accesses.c ---------------------------------------------------- */

/* At the end: a warning if events were lost because a text was too long. */
void dpe_texts_report_cut(const struct dpe_probes *probes, struct dpe_diags *diags);
/* Tells the library which events the plan wants. */
void dpe_memory_request(struct dpe_probes *probes);
/* At the end: a warning if the target has mapped a file twice. */
void dpe_memory_report_mapped_twice(const struct dpe_probes *probes, struct dpe_diags *diags);

#endif
