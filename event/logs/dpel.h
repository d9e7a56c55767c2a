/* The layout of a .dpel log (docs/dpel.md), little endian: a header, then blocks of strings,
 * sources, shapes and records. String numbers count from 1 through the log, those of sources
 * and shapes from 1 in their block. Private to its reader and writer. */
#ifndef DPE_EVENT_DPEL_H
#define DPE_EVENT_DPEL_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DPEL_MAGIC                                                                                 \
	"\x89"                                                                                     \
	"DPEL\r\n\x1a"
#define DPEL_VERSION 2
#define DPEL_ORDERED 1u /* flags of the header */
#define DPEL_UNREFERENCED 2u
#define DPEL_DATA 0x41544144u         /* "DATA": strings and records */
#define DPEL_END 0x20444e45u          /* "END ": the log is complete; reported losses */
#define DPEL_MAX_BLOCK (1u << 30) /* bytes of content */

struct dpel_header {
	char magic[8];
	uint16_t version, flags;
	uint32_t size;     /* of this header */
	uint32_t reserved; /* 0 */
	uint32_t checksum; /* of all members before it */
};

struct dpel_block {
	uint32_t kind;
	uint32_t size;     /* of the content, in bytes */
	uint32_t nstrings; /* END: 0, like the next three */
	uint32_t nsources, nshapes;
	uint32_t nrecords;
	uint64_t before;   /* records in earlier blocks */
	uint64_t time;     /* the base of the block's first time difference */
	uint32_t content;  /* checksum of the content */
	uint32_t checksum; /* of all members before it */
};

/* The origin of messages: thread, process, host. */
struct dpel_source {
	uint8_t thread_kind, process_kind, host_kind, reserved;
	uint32_t comm;
	uint64_t thread, process, host;
	uint64_t seq; /* the sequence number of its first message with DPEL_PART_NEXT */
};

/* What short records have in common, and which fields they have. */
#define DPEL_SHORT_ARGS 7
struct dpel_shape {
	uint32_t name, module;
	uint8_t phase, seq, time, id; /* enum dpel_part */
	uint8_t extra;                /* 1: a string number of further members */
	uint8_t nargs, nstack, npcs;
	uint8_t ret, args[DPEL_SHORT_ARGS]; /* kinds */
};

enum dpel_part {
	DPEL_PART_NONE,
	/* seq, time: relative to the message before; id: composed of thread and seq */
	DPEL_PART_NEXT,
	DPEL_PART_WHOLE, /* a word of its own */
};

/* A short record begins with a word: shape, source, and the time since the message before. */
#define DPEL_SHAPE_OF(head) ((uint32_t)((head)&0xffff))
#define DPEL_SOURCE_OF(head) ((uint32_t)((head) >> 16 & 0xffff))
#define DPEL_DELTA_OF(head) ((uint64_t)((int64_t)(head) >> 32))
/* A flag of a shape's kinds: the value takes four bytes, sign-extended. */
#define DPEL_NARROW 8u

/* The fixed part of a long record. Kinds of values take three bits each in `flags`. */
struct dpel_record {
	uint32_t none; /* 0, where short records have their shape */
	uint32_t size; /* of the whole record, a multiple of 8 */
	uint32_t name, module;
	uint32_t flags;
	uint32_t comm;
	uint64_t seq, time, thread;
	uint16_t nargs;
	uint16_t kinds;    /* of the first four arguments, four bits each */
	uint32_t reserved; /* 0 */
};

_Static_assert(sizeof(struct dpel_header) == 24, "the layout is documented");
_Static_assert(sizeof(struct dpel_block) == 48, "the layout is documented");
_Static_assert(sizeof(struct dpel_source) == 40, "the layout is documented");
_Static_assert(sizeof(struct dpel_shape) == 24, "the layout is documented");
_Static_assert(sizeof(struct dpel_record) == 56, "the layout is documented");

enum {
	DPEL_PHASE = 0, /* shift of two bits in `flags` */
	DPEL_HAS_SEQ = 1 << 2,
	DPEL_HAS_TIME = 1 << 3,
	DPEL_THREAD = 4, /* shift of three bits of kind each */
	DPEL_PROCESS = 7,
	DPEL_HOST = 10,
	DPEL_RET = 13,
	DPEL_ID = 16,
	DPEL_PREDS = 1 << 19, /* a list follows */
	DPEL_VARS = 1 << 20,
	DPEL_STACK = 1 << 21,
	DPEL_PCS = 1 << 22,
	DPEL_EXTRA = 1 << 23,
	DPEL_KNOWN = (1 << 24) - 1,
};

enum dpel_kind {
	DPEL_NONE,
	DPEL_INT,
	DPEL_UINT,
	DPEL_POINTER,
	DPEL_STRING, /* text in the string table */
	DPEL_RAW,
	DPEL_STRING_INLINE, /* length, then the text itself */
	DPEL_RAW_INLINE,
};

/* CRC-32C (Castagnoli), continued from `crc`; starts with 0. */
uint32_t dpe_dpel_checksum(uint32_t crc, const void *bytes, size_t len);

#endif
