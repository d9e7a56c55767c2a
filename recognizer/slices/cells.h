/* What the files about slices know of each other. Private.
 *
 *	slices.c         which slices an event belongs to, and what becomes of them
 *	all_slices.c      what is done to all slices of a rule
 *	event_readings.c    how an event may be read in a slice
 *	cells.c    the slices of a rule, and the table that finds one by its values
 *	buckets.c  … those that have some of their values in common
 *	deferred_violations.c   violations of slices that are parts of larger ones
 *	retired_slices.c    freeing those that have ended
 *	compact.c     slices at work and at rest, and the short way of those at rest
 *	slice_encoding.c     what a slice holds as words
 *
 * A slice is at work while events come to it: a struct dpe_slice, with all that algorithms want. Of
 * each a cell is there, whether it is at work or not, with its values and, at rest, what it holds as
 * words: a rule about many objects has few slices at work. */
#ifndef DPE_RECOGNIZER_SLICES_CELLS_H
#define DPE_RECOGNIZER_SLICES_CELLS_H

#include "recognizer/engines/engines.h"

enum dpe_cell_form {
	DPE_CELL_NEW,     /* at rest, nothing came to it */
	DPE_CELL_SINGLE,     /* at rest: an `expect` slice that stands at its only event */
	DPE_CELL_ENCODED,   /* at rest, in words */
	DPE_CELL_ENCODED_APART, /* the same, in a block of their own */
	DPE_CELL_ACTIVE,
};

struct dpe_cell {
	uint64_t number; /* in the order of their beginning */
	uint64_t mask;   /* variables that are bound */
	dpe_state state; /* of the one reading of DPE_CELL_SINGLE */
	uint16_t size;   /* of the words */
	enum dpe_cell_form form : 8;
	bool extended : 1; /* a slice with these values and more exists */
	bool retired : 1;  /* ended, and nothing came since */
	bool marked : 1;   /* by who chooses some of all */
	bool touched : 1;  /* the event at hand belongs to it */
	/* At rest; else the slice at work knows. */
	bool done : 1, renewed : 1, overflown : 1, searched : 1;
	bool longer : 1;           /* it holds what it may be able to forget */
	struct dpe_value params[]; /* owned, one a variable; behind them stands a struct dpe_cell_content */
};

/* The only event of a slice. */
struct dpe_single_event {
	const struct dpe_clock *past; /* its stamp, counted */
	uint32_t chain, index, told;
	uint64_t number;
	unsigned char words[]; /* its message */
};

union dpe_cell_content {
	struct dpe_slice *slice; /* owned */
	unsigned char *block;    /* of the pool */
	struct dpe_single_event one;
};

/* How an event that looks like a pattern may be read. */
struct dpe_reads {
	bool *literals;
	int only; /* the one literal that it can be, and nothing else is to be looked at; or -1 */
	bool as_literal, observed, ends;
};

struct dpe_bucket;

/* By their values: the index of the cell, one more, and a part of its hash, so that the cells of
 * others need not be looked at. */
struct dpe_cell_slot {
	uint32_t hash, cell; /* 0: free */
};

struct dpe_slices {
	/* The cells in the order of their beginning, in chunks that stay where they are. */
	unsigned char **chunks;
	unsigned nchunks, capchunks;
	uint32_t ncells;
	size_t cell_size, content_at;
	uint64_t nslices, nretired;
	uint64_t sweep_from; /* so many that have ended */
	uint64_t full;       /* all variables that patterns bind */
	uint64_t known;      /* slices with lower numbers were there before the event at hand */
	struct dpe_cell_slot *table;     /* open addressing */
	uint64_t size;               /* a power of two */
	struct dpe_bucket *buckets;  /* unless all patterns bind the same variables */
	uint64_t *pattern_masks;     /* each once */
	unsigned npattern_masks;
	uint64_t *masks; /* of the slices there are, each once */
	unsigned nmasks, capmasks;
	/* Slices that the event at hand belongs to. */
	struct dpe_cell **touched;
	unsigned ntouched, captouched;
	/* Those at work, the longest first; as many of them may be. */
	struct dpe_slice *first, *last;
	unsigned nactive, most_active, nactivated; /* woken: since the last time some were laid to rest */
	struct dpe_slice *spare;          /* with room for what slices hold */
	unsigned char *scratch;           /* for words */
	bool compacts;                       /* slices can be written as words */
};

/* ---- slices.c, all_slices.c --------------------------------------------------------------- */

/* Events and partial matches that it keeps. */
static inline uint64_t dpe_slice_size(const struct dpe_slice *slice)
{
	return dpe_order_size(&slice->order) + slice->npartials + dpe_weave_size(slice);
}
#define DPE_OLD_HORIZON 1024 /* events: looking costs as much as a few hundred */

/* Drops the events and partial matches of the slice that can no longer matter. */
void dpe_slice_forget(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon);

/* ---- cells.c ----------------------------------------------------------------------- */

/* Makes room for cells in a structure of {0}. */
void dpe_cells_begin(struct dpe_run *run);
/* Frees the memory; what cells own was given back. */
void dpe_cells_end(struct dpe_slices *slices);
static inline struct dpe_cell *dpe_cell_at(const struct dpe_slices *slices, uint32_t index);
static inline union dpe_cell_content *dpe_cell_content_of(
	const struct dpe_slices *slices, const struct dpe_cell *cell);
/* The bytes there are for words in a cell of the form DPE_CELL_ENCODED. */
size_t dpe_cell_room(const struct dpe_slices *slices);
/* A new cell of the form DPE_CELL_NEW, which copies the values; it stands in the table. */
struct dpe_cell *dpe_cell_new(struct dpe_run *run, uint64_t mask, const struct dpe_value *values);
/* The cell that has just these values, or NULL. */
struct dpe_cell *dpe_cell_find(
	const struct dpe_slices *slices, uint64_t mask, const struct dpe_value *values);
/* The cell will be looked for: brings its place in the table near, and when it is `soon` looked for
 * the cell itself. */
void dpe_cell_prefetch(
	const struct dpe_slices *slices, uint64_t mask, const struct dpe_value *values, bool soon);
/* Begins the table anew, for the cells that there are. */
void dpe_cells_index(struct dpe_slices *slices);
/* Gives back the chunks that no cell is in. */
void dpe_cells_shrink(struct dpe_slices *slices);
bool dpe_values_agree(const struct dpe_value *a, const struct dpe_value *b, uint64_t mask);
uint64_t dpe_values_hash(uint64_t mask, uint64_t sub, const struct dpe_value *values);
void dpe_values_keep(struct dpe_value *to, const struct dpe_value *values, uint64_t mask);
void dpe_values_drop(struct dpe_value *values, uint64_t mask);

/* ---- buckets.c --------------------------------------------------------------------- */

/* Cells with values for `mask` that have the same values for `sub`. */
struct dpe_bucket {
	UT_hash_handle hh;
	uint64_t hash;
	uint64_t mask, sub;
	struct dpe_value *values; /* one a variable, owned; those of `sub` */
	struct dpe_cell **cells;
	unsigned ncells, capcells;
	struct dpe_bucket *same_hash; /* others whose hash is equal */
};

struct dpe_bucket *dpe_bucket_find(
	struct dpe_slices *slices, uint64_t mask, uint64_t sub, const struct dpe_value *values);
/* Puts the cell into the buckets of its values, of what each pattern can share with it. */
void dpe_buckets_add(struct dpe_run *run, struct dpe_cell *cell);
void dpe_buckets_free(struct dpe_slices *slices);

/* ---- event_readings.c ----------------------------------------------------------------------- */

/* Gives the run its `reads`. */
void dpe_slice_reads_find(struct dpe_run *run);
void dpe_slice_reads_free(struct dpe_run *run);
/* How the event may be read in this slice: run->literals, as_literal and ends. False where it does
 * not belong to it after all. */
bool dpe_slice_reads_event(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence);
/* The same where the event looks like one pattern alone, with the slice's values. */
bool dpe_slice_reads_single(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence);

/* ---- retired_slices.c ----------------------------------------------------------------------- */

/* Frees slices that have ended once they are half of all, so that objects that come and go leave
 * nothing behind. */
void dpe_slices_sweep(struct dpe_run *run);
#define DPE_FEWEST_RETIRED 1024 /* before they are freed */

/* ---- compact.c ------------------------------------------------------------------------ */

/* The slice at work. Until slices are laid to rest it stays there. */
struct dpe_slice *dpe_slice_activate(struct dpe_run *run, struct dpe_cell *cell);
/* The same for a cell of the form DPE_CELL_NEW, whose slice holds nothing, not even a reading. */
struct dpe_slice *dpe_slice_activate_new(struct dpe_run *run, struct dpe_cell *cell);
/* Between two events: lays to rest those that have been at work for longest. */
void dpe_slices_compact(struct dpe_run *run);
/* Drops all that the slice holds. */
void dpe_cell_clear(struct dpe_run *run, struct dpe_cell *cell);
/* The cell stands elsewhere now. */
void dpe_cell_moved(struct dpe_slices *slices, struct dpe_cell *cell);
/* Frees what slices at work were given. */
void dpe_compact_end(struct dpe_run *run);
/* A slice with these values and more exists. */
void dpe_cell_extend(struct dpe_slices *slices, struct dpe_cell *cell);
bool dpe_cell_is_done(const struct dpe_slices *slices, const struct dpe_cell *cell);
bool dpe_cell_is_overflown(const struct dpe_slices *slices, const struct dpe_cell *cell);
/* The short way at rest, as that of expect_fast_path.c: the event is the first of the slice, which leads to
 * that state; or the next of a sequence. False where nothing was done. */
bool dpe_compact_take_first(struct dpe_run *run, struct dpe_cell *cell, dpe_state to,
	const struct dpe_event *event);
bool dpe_compact_take_next(struct dpe_run *run, struct dpe_cell *cell, unsigned literal,
	const struct dpe_event *event);

/* ---- slice_encoding.c ------------------------------------------------------------------------ */

#define DPE_SLICE_BYTES 16384

/* Writes what a slice with an automaton holds to so many bytes, with references to what the words
 * name. The number of bytes; 0 where that is too much, and nothing was done. */
size_t dpe_slice_pack(
	const struct dpe_run *run, const struct dpe_slice *slice, unsigned char *to);
/* Gives the slice, which holds nothing, what the words say, with their references. */
void dpe_slice_unpack(struct dpe_run *run, struct dpe_slice *slice, const unsigned char *from);

/* ---- */

#define DPE_CHUNK 16384 /* cells */

static inline struct dpe_cell *dpe_cell_at(const struct dpe_slices *slices, uint32_t index)
{
	return (struct dpe_cell *)(slices->chunks[index / DPE_CHUNK] +
				   index % DPE_CHUNK * slices->cell_size);
}

static inline union dpe_cell_content *dpe_cell_content_of(
	const struct dpe_slices *slices, const struct dpe_cell *cell)
{
	return (union dpe_cell_content *)((unsigned char *)cell + slices->content_at);
}

#endif
