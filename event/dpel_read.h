/* The state of who reads a .dpel log: blocks (log_dpel_read.c) and records (log_dpel_record.c).
 * Private to the two. */
#ifndef DPE_EVENT_DPEL_READ_H
#define DPE_EVENT_DPEL_READ_H

#include "event/dpel.h"
#include "event/log.h"

struct dpel_string {
	const char *text;
	uint32_t len;
	dpe_name name;          /* 0: not interned yet */
	struct dpe_value value; /* as an argument; DPE_NONE: not shared yet */
};

/* Further members that came up lately: most records have one of a few. Two have a place in common. */
#define DPEL_EXTRAS 4096 /* twelve bits */
struct dpel_extra {
	uint64_t words[3]; /* their length and their text, as the record has them */
	const char *text;  /* NULL: none */
};

/* What records have in common that begin alike: a name, and what is known of each member. */
#define DPEL_SHAPES 64 /* six bits */
#define DPEL_FEW_ARGS 4
struct dpel_shape {
	uint64_t words[3]; /* size and name, module and flags, kinds: as the record has them; 0: none */
	dpe_name name;
	uint8_t phase, nargs, extra; /* extra: bytes of further members */
	bool has_thread, has_seq, has_time;
	struct dpe_value thread, args[DPEL_FEW_ARGS]; /* without their numbers */
};

struct dpe_dpel {
	struct dpe_arena *arena;     /* of the strings */
	struct dpel_string *strings; /* [0] is none */
	unsigned nstrings, capstrings;
	char *block;
	size_t capblock;
	const char *at, *end; /* records that are still to come */
	uint32_t nrecords;    /* so many */
	uint64_t offset;      /* of what is read next, in the log */
	uint64_t block_offset, count;
	bool done;
	struct dpe_message draft;
	const char *record_end;
	const char *wrong; /* with the record at hand */
	struct dpe_value args[4], *list, *preds;
	unsigned nlist, caplist, npreds, cappreds;
	struct dpe_var *vars;
	unsigned nvars, capvars;
	const char **stack;
	unsigned nstack, capstack;
	uint64_t *pcs;
	unsigned npcs, cappcs;
	struct dpel_shape shapes[DPEL_SHAPES];
	struct dpel_extra extras[DPEL_EXTRAS];
};

/* The number at any address. */
static inline uint64_t dpel_word_at(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

/* A text of `len` bytes, with the NUL and the padding behind it; NULL where it does not fit. */
const char *dpe_dpel_take_text(const char **at, const char *end, uint64_t len);
/* The name that a string stands for; 0 where there is no such string, as dpel->wrong then says, and
 * for the number 0. */
dpe_name dpe_dpel_find_name(struct dpe_log_reader *reader, uint64_t number);
/* The message of a record, which stands whole in the block; NULL, and nothing was done, where it
 * holds more than most do, or anything in it is wrong. */
struct dpe_message *dpe_dpel_take_plain(
	struct dpe_log_reader *reader, const struct dpel_record *record);
/* Fills the draft from the record, whose fixed part is given and behind which dpel->at stands;
 * false where something in it is wrong, as dpel->wrong then says. Its texts last until the next
 * block. */
bool dpe_dpel_take_record(struct dpe_log_reader *reader, const struct dpel_record *record);

#endif
