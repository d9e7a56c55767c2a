/* cells: storage of slices. An active slice is a struct dpe_slice with all that engines need. Each
 * slice, active or not, has a cell with its values; of a compact slice the cell also holds the
 * encoded contents. A rule about many objects has few active slices. Private to slices/. */
#ifndef DPE_RECOGNIZER_SLICES_CELLS_H
#define DPE_RECOGNIZER_SLICES_CELLS_H

#include "recognizer/engines/engines.h"
#include "recognizer/limits.h"

enum dpe_cell_form {
	DPE_CELL_NEW,     /* compact, and no event came to it */
	DPE_CELL_SINGLE,     /* compact: an `expect` slice whose only configuration has one register, its last event */
	DPE_CELL_ENCODED,   /* compact, encoded in the cell */
	DPE_CELL_ENCODED_APART, /* compact, encoded in a block of its own */
	DPE_CELL_ACTIVE,
};

struct dpe_cell {
	uint64_t number; /* in order of creation */
	uint64_t mask;   /* bound variables */
	dpe_state state; /* of DPE_CELL_SINGLE */
	uint16_t size;   /* of the encoding */
	enum dpe_cell_form form : 8;
	bool extended : 1; /* a slice with these values and more exists */
	bool retired : 1;  /* it has ended, and no event brought its values together since */
	bool marked : 1;   /* scratch of iterations */
	bool touched : 1;  /* the current event belongs to it */
	bool joined : 1;   /* no event brought its values together */
	/* Only for a compact slice; an active slice has these members itself. */
	bool done : 1, renewed : 1, overflown : 1, searched : 1;
	bool longer : 1;           /* it contains events that may be forgotten */
	uint32_t index;            /* among all cells */
	struct dpe_value params[]; /* owned, one a variable; followed by a union dpe_cell_content */
};

/* The only event of a slice. */
struct dpe_single_event {
	const struct dpe_clock *past; /* of its stamp, counted */
	uint32_t chain, index, exported;
	uint64_t number;
	unsigned char words[]; /* its encoded message */
};

union dpe_cell_content {
	struct dpe_slice *slice; /* owned */
	unsigned char *block;    /* from the pool */
	struct dpe_single_event one;
};

/* As which literals a rule may take an event that matches a pattern. */
struct dpe_reads {
	bool *literals;
	int only; /* the only literal it can be, without further conditions; or -1 */
	bool as_literal, observed, ends;
};

struct dpe_bucket;

/* An entry of the table by values: the index of the cell plus one, and a part of the hash, which
 * saves reading other cells. */
struct dpe_cell_slot {
	uint32_t hash, cell; /* 0: free */
};

struct dpe_slices {
	/* The cells in order of creation, in chunks that never move. */
	unsigned char **chunks;
	unsigned nchunks, capchunks;
	uint32_t ncells;
	size_t cell_size, content_at;
	uint64_t nslices, nretired, njoined;
	bool some_ended;    /* a slice has ended, so `extended` may no longer be true of another */
	bool joins_refused; /* there were too many; now each slice without all variables counts as extended */
	uint64_t sweep_from; /* number of retired slices at which they are freed */
	uint64_t full;       /* all variables that patterns bind */
	uint64_t known;      /* slices with lower numbers existed before the current event */
	struct dpe_cell_slot *table;     /* open addressing */
	uint64_t size;               /* a power of two */
	struct dpe_bucket *buckets;  /* NULL if all patterns bind the same variables */
	uint64_t *pattern_masks;     /* distinct */
	unsigned npattern_masks;
	uint64_t *masks; /* of the existing slices, distinct */
	unsigned nmasks, capmasks;
	/* Slices that the current event belongs to. */
	struct dpe_cell **touched;
	unsigned ntouched, captouched;
	/* Active slices, least recently activated first, and the number above which they are made
	 * compact. */
	struct dpe_slice *first, *last;
	unsigned nactive, max_active, nactivated; /* nactivated: since slices were last made compact */
	struct dpe_slice *spare;          /* emptied slices for reuse */
	unsigned char *scratch;           /* for encoding */
	bool compacts;                       /* slices can be encoded */
	bool shares; /* events that bind no variable are taken once for all: run->shared … */
	struct dpe_awaited *awaited; /* … but they may also follow events of slices; NULL: they do not */
	struct dpe_preds own_preds, shared_preds; /* scratch space where some are */
	struct dpe_fast_path *fast_path;     /* NULL: none */
};

/* ---- buckets.c, forgetting.c --------------------------------------------------------------- */

static inline bool dpe_mask_is_in(const uint64_t *masks, unsigned count, uint64_t mask)
{
	for (unsigned i = 0; i < count; i++) {
		if (masks[i] == mask)
			return true;
	}
	return false;
}

/* A new slice, which starts from no other one. */
struct dpe_cell *dpe_slice_new_cell(struct dpe_run *run, uint64_t mask, const struct dpe_value *values);

/* Drops events and partial matches of the slice that no future event needs. */
void dpe_slice_forget(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon);

/* ---- cells.c ----------------------------------------------------------------------- */

/* Allocates the first chunk and the table; `slices` is {0}. */
void dpe_cells_begin(struct dpe_run *run);
/* Frees the memory of the cells; their contents have been dropped. */
void dpe_cells_end(struct dpe_slices *slices);
static inline struct dpe_cell *dpe_cell_at(const struct dpe_slices *slices, uint32_t index);
static inline union dpe_cell_content *dpe_cell_content_of(
	const struct dpe_slices *slices, const struct dpe_cell *cell);
/* Bytes available for DPE_CELL_ENCODED in a cell. */
size_t dpe_cell_room(const struct dpe_slices *slices);
/* A new cell of the form DPE_CELL_NEW, added to the table. Copies the values. */
struct dpe_cell *dpe_cell_new(struct dpe_run *run, uint64_t mask, const struct dpe_value *values);
/* The cell with exactly these values, or NULL. */
struct dpe_cell *dpe_cell_find(
	const struct dpe_slices *slices, uint64_t mask, const struct dpe_value *values);
/* Prefetches the table entry, and with `soon` the cell, for a lookup to come. */
void dpe_cell_prefetch(
	const struct dpe_slices *slices, uint64_t mask, const struct dpe_value *values, bool soon);
/* Rebuilds the table. */
void dpe_cells_index(struct dpe_slices *slices);
/* Frees empty chunks. */
void dpe_cells_shrink(struct dpe_slices *slices);
bool dpe_values_agree(const struct dpe_value *a, const struct dpe_value *b, uint64_t mask);
uint64_t dpe_values_hash(uint64_t mask, uint64_t sub, const struct dpe_value *values);
void dpe_values_keep(struct dpe_value *to, const struct dpe_value *values, uint64_t mask);
void dpe_values_drop(struct dpe_value *values, uint64_t mask);

/* ---- buckets.c --------------------------------------------------------------------- */

/* Cells with values for `mask` that agree in the values for `sub`. */
struct dpe_bucket {
	UT_hash_handle hh;
	uint64_t hash;
	uint64_t mask, sub;
	struct dpe_value *values; /* owned, one a variable; those of `sub` are set */
	struct dpe_cell **cells;
	unsigned ncells, capcells;
	struct dpe_bucket *same_hash; /* others with the same hash */
};

struct dpe_bucket *dpe_bucket_find(
	struct dpe_slices *slices, uint64_t mask, uint64_t sub, const struct dpe_value *values);
/* Adds the cell to the buckets of all subsets of its values that a pattern can share with it. */
void dpe_buckets_add(struct dpe_run *run, struct dpe_cell *cell);
void dpe_buckets_free(struct dpe_slices *slices);

/* ---- event_readings.c ----------------------------------------------------------------------- */

/* Computes run->reads. */
void dpe_slice_reads_find(struct dpe_run *run);
void dpe_slice_reads_free(struct dpe_run *run);
/* Computes how the event may be read in this slice: run->literals, as_literal and ends. False if
 * the event does not belong to the slice. */
bool dpe_slice_reads_event(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence);
/* The same for an event that matches one pattern, which binds all variables of the slice. */
bool dpe_slice_reads_single(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence);

/* ---- retired_slices.c ----------------------------------------------------------------------- */

/* Frees retired slices once they are half of all, so that short-lived objects leave nothing behind. */
void dpe_slices_sweep(struct dpe_run *run);

/* ---- compact.c ------------------------------------------------------------------------ */

/* The active slice of the cell; it stays active at least until dpe_slices_compact. */
struct dpe_slice *dpe_slice_activate(struct dpe_run *run, struct dpe_cell *cell);
/* The same for a cell of the form DPE_CELL_NEW; the slice has no configuration yet. */
struct dpe_slice *dpe_slice_activate_new(struct dpe_run *run, struct dpe_cell *cell);
/* Between two events: makes the least recently activated slices compact. */
void dpe_slices_compact(struct dpe_run *run);
/* Drops the contents of the slice. */
void dpe_cell_clear(struct dpe_run *run, struct dpe_cell *cell);
/* The cell was moved to this address. */
void dpe_cell_moved(struct dpe_slices *slices, struct dpe_cell *cell);
/* Frees spare slices and scratch space. */
void dpe_compact_end(struct dpe_run *run);
/* Notes whether a slice with these values and more exists. */
void dpe_cell_set_extended(struct dpe_slices *slices, struct dpe_cell *cell, bool extended);
bool dpe_cell_is_done(const struct dpe_slices *slices, const struct dpe_cell *cell);
bool dpe_cell_is_overflown(const struct dpe_slices *slices, const struct dpe_cell *cell);
/* The content of a cell of the form DPE_CELL_SINGLE. False if the cell is too small. */
bool dpe_single_write(struct dpe_run *run, struct dpe_cell *cell, struct dpe_message *message,
	uint64_t number, const struct dpe_stamp *stamp);
/* The message that it refers to, or NULL. */
struct dpe_message *dpe_single_message(const struct dpe_single_event *one);

/* ---- shared_events.c --------------------------------------------------------------------------- */

/* Where events that bind no variable can be taken once for all slices, they are. */
void dpe_slices_share(struct dpe_run *run);
/* What was given up in the shared slice is missing in each. */
void dpe_shared_inherit(const struct dpe_run *run, struct dpe_slice *slice);
/* Adds shared events to run->preds, which has those of the slice. */
void dpe_shared_preds(struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_stamp *stamp);

/* ---- awaited_events.c ------------------------------------------------------------------------- */

struct dpe_awaited *dpe_awaited_new(void);
void dpe_awaited_free(struct dpe_awaited *awaited); /* accepts NULL */
/* If a partial match of the slice ends with the event: another one may follow it there. */
void dpe_awaited_add(struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence);
/* Calls for each slice in which this event, which all have, may follow an awaited one at once. */
typedef void dpe_awaiting_fn(struct dpe_slices *slices, struct dpe_cell *cell);
void dpe_awaited_find(struct dpe_run *run, const struct dpe_stamp *stamp, dpe_awaiting_fn *each);
/* Between two events: where there are many, drops all that no partial match has in a register any more. */
void dpe_awaited_clean(struct dpe_run *run);
/* The cells have other places: `to`, by the old one; UINT32_MAX: it is gone. */
void dpe_awaited_move(struct dpe_slices *slices, const uint32_t *to);

/* ---- slice_fast_path.c ------------------------------------------------------------------------ */

/* Gives a run its fast path, where it may have one. */
void dpe_fast_path_new(struct dpe_run *run);
void dpe_fast_path_free(struct dpe_run *run); /* accepts a run without */
/* The automaton has other states now. */
void dpe_fast_path_forget(struct dpe_run *run);
/* Takes the event, which matched run->bindings; false if nothing was done. */
bool dpe_fast_path_take(struct dpe_run *run, const struct dpe_event *event);
/* The same in one of the slices that it belongs to. */
bool dpe_fast_path_take_shared(struct dpe_run *run, struct dpe_cell *cell, const struct dpe_event *event);

/* ---- slice_encoding.c ------------------------------------------------------------------------ */

/* Encodes a slice of an automaton into at most DPE_SLICE_BYTES and counts a reference for each
 * event named. Returns the number of bytes, or 0 where it does not fit and nothing was done. */
size_t dpe_slice_pack(
	const struct dpe_run *run, const struct dpe_slice *slice, unsigned char *to);
/* Restores an empty slice from its encoding, which loses its references. */
void dpe_slice_unpack(struct dpe_run *run, struct dpe_slice *slice, const unsigned char *from);

/* ---- */

static inline struct dpe_cell *dpe_cell_at(const struct dpe_slices *slices, uint32_t index)
{
	return (struct dpe_cell *)(slices->chunks[index / DPE_CELL_CHUNK] +
				   index % DPE_CELL_CHUNK * slices->cell_size);
}

static inline union dpe_cell_content *dpe_cell_content_of(
	const struct dpe_slices *slices, const struct dpe_cell *cell)
{
	return (union dpe_cell_content *)((unsigned char *)cell + slices->content_at);
}

#endif
