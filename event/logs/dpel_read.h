/* The state of who reads a .dpel log: blocks (log_dpel_read.c), what their short records have in
 * common (log_dpel_shapes.c), and records, short ones (log_dpel_short.c) and long ones
 * (log_dpel_record.c). Private to these. */
#ifndef DPE_EVENT_DPEL_READ_H
#define DPE_EVENT_DPEL_READ_H

#include "event/logs/dpel.h"
#include "event/logs/log.h"

struct dpel_string {
	const char *text;
	uint32_t len;
	dpe_name name; /* 0: not interned yet */
	/* As further members, once it was looked at whether they are JSON: shared text, or that of
	 * the string. NULL: not yet. */
	const char *members;
	bool members_shared, is_json; /* is_json: it was found to be a value */
};

/* A source, as messages have it. */
struct dpel_origin {
	struct dpe_value thread, process, host;
	const char *comm; /* or NULL */
	uint64_t seq;     /* that comes next */
	bool plain;       /* nothing but a thread, whose text is not its own */
};

/* Where a value stands in a short record: shifted to the left and back, its word is left. */
struct dpel_field {
	struct dpe_value like; /* the value but for its number; DPE_STRING and DPE_RAW: any */
	uint16_t at;           /* of the word */
	uint16_t half_at;      /* of what is left of it, where that is four bytes */
	uint8_t left, right;
};

/* A shape, and where its parts stand in a short record. */
struct dpel_layout {
	uint16_t size; /* of the record */
	bool plain;    /* so are its messages */
	uint8_t retain_flags;
	uint32_t message_size; /* of its block */
	bool has_id, has_members;
	uint8_t seq, time;
	uint8_t nargs, nstack, npcs;
	uint16_t seq_at, time_at, stack_at, pcs_at;
	struct dpel_field args[DPEL_SHORT_ARGS], ret, members;
	struct dpe_message like; /* all that messages of the shape have in common */
};

struct dpe_dpel {
	struct dpe_arena *arena;     /* of the strings */
	struct dpel_string *strings; /* [0] is none */
	unsigned nstrings, capstrings;
	/* Each as an argument, close together; DPE_NONE: it is not shared yet. */
	struct dpe_value *values;
	unsigned nvalues, capvalues;
	/* Each as further members, likewise, where its text is shared; NULL: it is not known to be some. */
	const char **members;
	unsigned nmembers, capmembers;
	struct dpel_origin *origins; /* of the block; [0] is nothing known */
	unsigned norigins, caporigins;
	struct dpel_layout *layouts; /* likewise; [0] is none */
	unsigned nlayouts, caplayouts;
	char *block;
	size_t capblock;
	const char *at, *end; /* records that are still to come */
	uint32_t nrecords;    /* so many */
	uint64_t time;        /* what the next difference counts from */
	uint64_t offset;      /* of what is read next, in the log */
	uint64_t block_offset;
	bool done;
	struct dpe_message draft;
	const char *record_end;
	const char *wrong; /* with what is at hand */
	struct dpe_value args[DPEL_SHORT_ARGS], *list, *preds;
	unsigned nlist, caplist, npreds, cappreds;
	struct dpe_var *vars;
	unsigned nvars, capvars;
	const char **stack;
	unsigned nstack, capstack;
	uint64_t *pcs;
	unsigned npcs, cappcs;
	struct dpe_text id;
};

/* Numbers at any address. */
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

/* Notes what is wrong, if nothing was yet; false. */
static inline bool dpel_fail(struct dpe_dpel *dpel, const char *what)
{
	if (!dpel->wrong)
		dpel->wrong = what;
	return false;
}

/* A text of `len` bytes, with the NUL and the padding behind it; NULL where it does not fit. */
const char *dpe_dpel_take_text(const char **at, const char *end, uint64_t len);
/* A string of the table; NULL where there is none, as dpel->wrong then says. */
struct dpel_string *dpe_dpel_find_string(struct dpe_dpel *dpel, uint64_t number);
/* The name that a string stands for; 0 where there is no such string, as dpel->wrong then says, and
 * for the number 0. */
dpe_name dpe_dpel_find_name(struct dpe_log_reader *reader, uint64_t number);
/* The string as a value, its text shared where the table of names has room; false where there is
 * none, or it should be JSON and is not, as dpel->wrong then says. */
bool dpe_dpel_find_value(struct dpe_log_reader *reader, struct dpe_value *to,
	enum dpe_value_kind kind, uint64_t number);
/* What the short records of a block have in common, from dpel->at on; false where something in it
 * is wrong, as dpel->wrong then says. */
bool dpe_dpel_take_sources(struct dpe_log_reader *reader, uint32_t count);
bool dpe_dpel_take_shapes(struct dpe_log_reader *reader, uint32_t count);
/* The next message, where it is that of a short record of a plain shape, and all that it names came up
 * before; NULL, and nothing was done, where it takes more. */
struct dpe_message *dpe_dpel_read_fast(struct dpe_log_reader *reader);
/* The message of a short record, which stands whole in the block, as its shape says; NULL where
 * something in it is wrong, as dpel->wrong then says. */
struct dpe_message *dpe_dpel_read_short(struct dpe_log_reader *reader,
	const struct dpel_layout *layout, struct dpel_origin *origin, const char *record);
/* Fills the draft from a long record, whose fixed part is given and behind which dpel->at stands;
 * false where something in it is wrong, as dpel->wrong then says. Its texts last until the next
 * block. */
bool dpe_dpel_take_record(struct dpe_log_reader *reader, const struct dpel_record *record);

#endif
