/* The state of a reader of STD traces: the general path (std_read.c) and the fast path
 * (std_fast.c). Private to these. */
#ifndef DPE_EVENT_STD_READ_H
#define DPE_EVENT_STD_READ_H

#include "event/logs/log.h"

#include <endian.h>
#include <string.h>

enum std_op { STD_ACQ, STD_REL, STD_R, STD_W, STD_FORK, STD_JOIN, STD_NOPS };

struct std_slice {
	const char *at;
	size_t len;
};

struct std_thread {
	uint64_t seq; /* of its next event */
	bool forked;  /* forked, and without an event since */
};

/* A cache of recent short texts, by their bytes as a word. A set of three entries fills a cache
 * line. */
#define STD_RECENT 8192
#define STD_ASSOC 3
struct std_recent {
	uint64_t words[STD_ASSOC];    /* most recent first; 0: none */
	const char *texts[STD_ASSOC]; /* an object, or a location as further members; interned */
	uint32_t numbers[STD_ASSOC];  /* of these texts */
};

_Static_assert(sizeof(struct std_recent) == 64, "it is a cache line");

#define STD_RECENT_THREADS 256
struct std_recent_thread {
	uint64_t word;
	struct dpe_value value; /* interned */
	unsigned number;
};

/* The operations, in a perfect hash table. */
#define STD_OPS 64
struct std_known_op {
	uint64_t word;
	dpe_name name;
};

/* A line of short texts, as words. */
struct std_short_line {
	uint64_t thread, op, object, loc;
	unsigned object_len;
	unsigned len; /* of the line, with its newline */
};

struct dpe_std {
	char *block;
	size_t begin, end; /* of the unread bytes */
	bool ended;
	dpe_name ops[STD_NOPS], first, last;
	struct dpe_names *texts; /* of thread names; their numbers index `threads` */
	struct std_thread *threads;
	unsigned nthreads, capthreads;
	struct dpe_text extra;
	struct std_known_op known_ops[STD_OPS];
	struct std_recent_thread recent_threads[STD_RECENT_THREADS];
	struct std_recent *recent_objects, *recent_locs; /* STD_RECENT entries each */
	struct std_short_line next; /* the line at `begin`, if has_next */
	bool has_next;
	struct dpe_message *queue[4]; /* the messages of one line, in order */
	unsigned nqueue, at;
};

/* A distinct number for each text of one to eight bytes without NUL; eight bytes must be
 * readable. */
static inline uint64_t std_word_at(const char *at, unsigned len)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word) << (64 - 8 * len);
}

static inline unsigned std_place_of(uint64_t word, unsigned count)
{
	return (unsigned)((word * UINT64_C(0x9e3779b97f4a7c15) >> 32) * count >> 32);
}

/* The matching entry of a set, or 0; branch-free, since matches are unpredictable. */
static inline unsigned std_way_of(const struct std_recent *at, uint64_t word)
{
	return (at->words[1] == word) + 2u * (at->words[2] == word);
}

/* A plain message. */
static inline struct dpe_message *std_new_message(struct dpe_log_reader *reader, dpe_name name,
	struct dpe_value thread, struct dpe_value object, const char *extra)
{
	struct dpe_message *message = dpe_recycler_take(&reader->recycler);
	struct dpe_value *args;

	if (!message)
		message = dpe_recycler_add(reader->pool, &reader->recycler, 1, &args);
	message->name = name;
	message->log = reader->index;
	message->place = ++reader->place;
	message->unreferenced = true;
	message->has_seq = true;
	message->thread = thread;
	message->extra = extra;
	message->extra_shared = extra;
	*dpe_message_args(message) = object;
	return message;
}

/* dpe_std_read without the fast path. */
int dpe_std_read_general(struct dpe_log_reader *reader, struct dpe_message **message);

#endif
