/* The state of who reads a trace in RAPID's STD format: what lines mean (log_std.c), and those at
 * once whose texts are short and came up lately (log_std_short.c). Private to these. */
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
	bool forked;  /* and nothing happened in it since */
};

/* Short texts that came up lately, by their bytes as a word: almost all that a trace holds. Three
 * have a place in common, which is a cache line, so few drive each other out. */
#define STD_RECENT 8192
#define STD_ASSOC 3
struct std_recent {
	uint64_t words[STD_ASSOC];    /* 0: none; the latest first */
	const char *texts[STD_ASSOC]; /* of an object, or of a location as further member; shared */
	uint32_t numbers[STD_ASSOC];  /* of these texts as values */
};

_Static_assert(sizeof(struct std_recent) == 64, "it is a cache line");

#define STD_RECENT_THREADS 256
struct std_recent_thread {
	uint64_t word;
	struct dpe_value value; /* shared */
	unsigned number;
};

/* Operations by what they are called; no two of them have one place. */
#define STD_OPS 64
struct std_known_op {
	uint64_t word;
	dpe_name name;
};

/* A line of short texts: each as a word. */
struct std_short_line {
	uint64_t thread, op, object, loc;
	unsigned object_len;
	unsigned len; /* of all, with its newline */
};

struct dpe_std {
	char *block;
	size_t begin, end; /* what was read and is not used up */
	bool ended;
	dpe_name ops[STD_NOPS], first, last;
	struct dpe_names *texts; /* of threads, whose numbers are indices of `threads` */
	struct std_thread *threads;
	unsigned nthreads, capthreads;
	struct dpe_text extra;
	struct std_known_op known_ops[STD_OPS];
	struct std_recent_thread recent_threads[STD_RECENT_THREADS];
	struct std_recent *recent_objects, *recent_locs; /* STD_RECENT of each */
	struct std_short_line next; /* at `begin`; but where has_next is not set */
	bool has_next;
	struct dpe_message *queue[4]; /* what one line gives, in order */
	unsigned nqueue, at;
	uint8_t retain_flags; /* of all plain messages */
};

/* Of one to eight bytes at `at`, none of which is 0, a number of their own; there have to be eight. */
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

/* A message without text of its own. */
static inline struct dpe_message *std_new_message(struct dpe_log_reader *reader, dpe_name name,
	struct dpe_value thread, struct dpe_value object, const char *extra)
{
	struct dpe_message *message = dpe_recycler_take(&reader->recycler, dpe_message_size(1));
	struct dpe_value *args;

	if (!message)
		message = dpe_message_recycle(reader->pool, &reader->recycler, 1, &args);
	message->name = name;
	message->log = reader->index;
	message->place = ++reader->place;
	message->unreferenced = true;
	message->has_seq = true;
	message->thread = thread;
	message->extra = extra;
	message->extra_shared = extra;
	dpe_message_block(message)->retain_flags = reader->std->retain_flags;
	*dpe_message_args(message) = object;
	return message;
}

/* ---- log_std_short.c --------------------------------------------------------------------- */

/* Of a text what std_word_at says of its bytes; 0 where it has more than eight. */
uint64_t dpe_std_word(struct std_slice text);
/* NULL where it did not come up lately. */
const char *dpe_std_find_recent(const struct std_recent *recent, uint64_t word);
/* The value is shared. */
void dpe_std_add_recent(struct std_recent *recent, uint64_t word, struct dpe_value value);
/* Reads the line at std->begin as words, where that can be done. What they are is looked up when it
 * is its turn; until then it may come near, as memory goes. */
void dpe_std_prefetch(struct dpe_std *std);

/* ---- log_std.c --------------------------------------------------------------------------- */

/* As dpe_std_read, for a line that cannot be taken at once, and for what a line before it gave. */
int dpe_std_read_general(struct dpe_log_reader *reader, struct dpe_message **message);

#endif
