/* The limits of names and logs. What exceeds one is one diagnostic, a counted loss, or takes the
 * general form at the cost of bytes; each comment says which. With DPE_TINY the tests meet them. */
#ifndef DPE_EVENT_LIMITS_H
#define DPE_EVENT_LIMITS_H

#include "base/base.h"

/* ---- an error, or a counted loss ------------------------------------------------------------ */

/* Bytes of a line of JSON, and nesting of values in it: the line is skipped with a diagnostic. */
#define DPE_MAX_LINE DPE_TINY_OR(4u << 10, 64u << 20)
#define DPE_MAX_NESTING DPE_TINY_OR(3, 64)
/* Threads whose losses a log reports; those of further threads are losses of unknown threads. */
#define DPE_MAX_LOSSES DPE_TINY_OR(2, 65536)
/* Messages without a "pred" or an "id" at the beginning of a log that cannot be read twice, after which none may have a
 * "pred": such a line is skipped with a diagnostic. */
#define DPE_NAMED_MESSAGES DPE_TINY_OR(12, 1u << 14)
/* Bytes of the longest line of a STD log. */
#define DPE_STD_LINE DPE_TINY_OR(512u, 256u << 10)
/* Bytes of a block's content in a .dpel log. */
#define DPEL_MAX_BLOCK DPE_TINY_OR(64u << 10, 1u << 30)

/* In a trace of LTTng, how many events after a lock of a mutex are searched for the unlock that came before it; if
 * it is not among them, two threads seem to hold the mutex. */
#define DPE_UNLOCKS_AHEAD DPE_TINY_OR(3u, 4096u)

/* ---- costs time or bytes only ---------------------------------------------------------------- */

/* Bytes of a text that is interned, and texts; others are compared byte by byte. */
#define DPE_MAX_INTERNED_BYTES DPE_TINY_OR(3, 64)
#define DPE_MAX_INTERNED DPE_TINY_OR(3, 1 << 16)
/* Bounds of a .dpel log: sources and shapes of a block, bytes of members in a short record, bytes of a text in
 * the table, and texts in it; other messages are written as long records. */
#define DPEL_MAX_SOURCES DPE_TINY_OR(2u, 1024u)
#define DPEL_MAX_SHAPES DPE_TINY_OR(2u, 512u)
#define DPEL_MAX_MEMBERS DPE_TINY_OR(3u, 64u)
#define DPEL_MAX_TEXT DPE_TINY_OR(3u, 64u)
#define DPEL_MAX_TEXTS DPE_TINY_OR(2u, 1u << 20)
#define DPEL_MAX_MEMBER_TEXTS DPE_TINY_OR(2u, 1u << 16)
/* A block is written once it has this many bytes. */
#define DPEL_BLOCK DPE_TINY_OR(64u, 64u << 10)
/* Texts of a STD log that need not be looked up again. */
#define DPE_STD_RECENT DPE_TINY_OR(2u, 8192u)
/* Bytes of a log of lines that are read at a time. */
#define DPE_LOG_BLOCK DPE_TINY_OR(3u, 64u << 10)
/* Bytes of a .dpel block that are allocated and read at a time, whatever size its header claims. */
#define DPEL_READ_BYTES DPE_TINY_OR(3u, 1u << 20)

#endif
