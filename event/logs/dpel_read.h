/* The state of a reader of .dpel logs: blocks and long records (dpel_read.c), strings
 * (dpel_strings.c), sources and shapes (dpel_shapes.c), short records (dpel_short.c). Private to
 * these. */
#ifndef DPE_EVENT_DPEL_READ_H
#define DPE_EVENT_DPEL_READ_H

#include "event/logs/dpel.h"
#include "event/logs/log.h"

struct dpel_string {
	const char *text;
	uint32_t len;
	dpe_name name; /* 0: not interned yet */
	/* The text as further members, once checked to be JSON: interned or the string's. NULL:
	 * not checked yet. */
	const char *members;
	bool is_json; /* checked to be a JSON value */
};

/* A source in the form that messages need. */
struct dpel_origin {
	struct dpe_value thread, process, host;
	const char *comm; /* or NULL */
	uint64_t seq;     /* of its next message */
	bool plain;       /* nothing but a thread without own text */
};

/* Where a value lies in a short record: its word, shifted left, then right. */
struct dpel_field {
	struct dpe_value like; /* its kind; DPE_STRING and DPE_RAW: any text */
	uint16_t at;           /* offset of the word */
	uint16_t half_at;      /* offset of the value, where it has four bytes */
	uint8_t left, right;
};

/* A shape, and the offsets of its fields in a short record. */
struct dpel_layout {
	uint16_t size;       /* of a record, in bytes */
	uint32_t plain_size; /* the same if its messages are plain; else more than any block has */
	bool has_id, has_members;
	uint8_t seq, time;
	uint8_t nargs, nstack, npcs;
	uint16_t seq_at, time_at, stack_at, pcs_at;
	struct dpe_recycler recycler; /* of a plain shape's messages, whose other members stay as they are */
	struct dpel_field args[DPEL_SHORT_ARGS], ret, members;
	struct dpe_message like; /* what messages of the shape have in common */
};

struct dpe_dpel {
	struct dpe_arena *arena;     /* of the strings */
	struct dpel_string *strings; /* [0] is no string */
	unsigned nstrings, capstrings;
	/* Each string as a value, in a dense array; DPE_NONE: not interned yet. */
	struct dpe_value *values;
	unsigned nvalues, capvalues;
	/* Each string as further members, if interned; NULL: unknown. */
	const char **members;
	unsigned nmembers, capmembers;
	struct dpel_origin *origins; /* of the block; [0] is no source */
	unsigned norigins, caporigins;
	struct dpel_layout *layouts; /* of the block; [0] is no shape */
	unsigned nlayouts, caplayouts;
	char *block;
	size_t capblock;
	const char *at, *end; /* the records not read yet */
	uint32_t nrecords;    /* their number */
	uint64_t time;        /* base of the next time difference */
	uint64_t offset;      /* in the log, of what is read next */
	uint64_t block_offset;
	bool done;
	struct dpe_message draft;
	const char *wrong; /* what is wrong with the current block or record; NULL: nothing */
	struct dpe_value args[DPEL_SHORT_ARGS];
	const char **stack;
	unsigned nstack, capstack;
	uint64_t *pcs;
	unsigned npcs, cappcs;
	struct dpe_text id;
};

/* Unaligned loads. */
static inline uint32_t dpel_half_at(const char *at)
{
	uint32_t half;

	memcpy(&half, at, sizeof(half));
	return le32toh(half);
}

static inline uint64_t dpel_word_at(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

/* Sets dpel->wrong unless it is set; false. */
static inline bool dpel_fail(struct dpe_dpel *dpel, const char *what)
{
	if (!dpel->wrong)
		dpel->wrong = what;
	return false;
}

/* A text of `len` bytes followed by NUL and padding; NULL if it does not fit. */
const char *dpe_dpel_take_text(const char **at, const char *end, uint64_t len);
/* A string of the table; NULL, with dpel->wrong, if there is none. */
struct dpel_string *dpe_dpel_find_string(struct dpe_dpel *dpel, uint64_t number);
/* The name of a string; 0 for string 0; 0, with dpel->wrong, if there is no such string. */
dpe_name dpe_dpel_find_name(struct dpe_log_reader *reader, uint64_t number);
/* The string as a value, interned if the table of names has space; false, with dpel->wrong, if
 * there is no such string or it should be JSON and is not. */
bool dpe_dpel_find_value(struct dpe_log_reader *reader, struct dpe_value *to,
	enum dpe_value_kind kind, uint64_t number);
/* Reads the sources or shapes of a block at dpel->at; false, with dpel->wrong, if one is
 * invalid. */
bool dpe_dpel_take_sources(struct dpe_log_reader *reader, uint32_t count);
bool dpe_dpel_take_shapes(struct dpe_log_reader *reader, uint32_t count);
void dpe_dpel_forget_shapes(struct dpe_dpel *dpel);
/* The fast path: the next messages, up to `max`, as far as they are short records of plain shapes and
 * sources whose strings are all interned. Returns their number; 0: nothing was done. */
unsigned dpe_dpel_read_fast(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max);
/* Any short record, which lies within the block; NULL, with dpel->wrong, if it is invalid. */
struct dpe_message *dpe_dpel_read_short(struct dpe_log_reader *reader,
	const struct dpel_layout *layout, struct dpel_origin *origin, const char *record);
#endif
