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
#define DPEL_VERSION 3
#define DPEL_ORDERED 1u /* flags of the header */
#define DPEL_UNREFERENCED 2u
#define DPEL_OMITS_READS 4u
#define DPEL_DATA 0x41544144u         /* "DATA": strings and records */
#define DPEL_END 0x20444e45u          /* "END ": the log is complete; reported losses */

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

/* A short record begins with a word: shape, source, and the time since the message before. A long
 * one is the word 0 and a string, the message as JSON. */
#define DPEL_SHAPE_OF(head) ((uint32_t)((head)&0xffff))
#define DPEL_SOURCE_OF(head) ((uint32_t)((head) >> 16 & 0xffff))
#define DPEL_DELTA_OF(head) ((uint64_t)((int64_t)(head) >> 32))
/* A flag of a shape's kinds: the value takes four bytes, sign-extended. */
#define DPEL_NARROW 8u

_Static_assert(sizeof(struct dpel_header) == 24, "the layout is documented");
_Static_assert(sizeof(struct dpel_block) == 48, "the layout is documented");
_Static_assert(sizeof(struct dpel_source) == 40, "the layout is documented");
_Static_assert(sizeof(struct dpel_shape) == 24, "the layout is documented");

enum dpel_kind {
	DPEL_NONE,
	DPEL_INT,
	DPEL_UINT,
	DPEL_POINTER,
	DPEL_STRING, /* text in the string table */
	DPEL_RAW,
	DPEL_NO_KIND = 7, /* not in the log */
};

/* CRC-32C (Castagnoli), continued from `crc`; starts with 0. */
uint32_t dpe_dpel_checksum(uint32_t crc, const void *bytes, size_t len);

#endif
