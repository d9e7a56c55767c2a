/* read_values: the values of the target's variables that a record carries. */
#ifndef DPE_PROBES_STREAM_READ_VALUES_H
#define DPE_PROBES_STREAM_READ_VALUES_H

#include "event/event.h"
#include "probes/kernel/bpf/record.h"

/* Room for one text as a value, even if none of its bytes is UTF-8. */
#define DPE_TEXT_ROOM (6 * DPE_TEXT_SIZE)
struct dpe_value_texts {
	char numbers[DPE_VALUES][DPE_NUMBER_TEXT];
	char strings[DPE_TEXTS][DPE_TEXT_ROOM];
};

/* The value of a text, by its bytes in a record and its length with the NUL; length 0: it could not be read,
 * which is the raw value null. A truncated text ends in "…". A byte that is not UTF-8 becomes U+FFFD
 * and two hexadecimal digits, as do those of U+FFFD itself, so different texts stay different in logs. */
struct dpe_value dpe_text_value(const char *bytes, uint64_t length, char room[DPE_TEXT_ROOM]);

struct dpe_probes;
struct dpe_diags;

/* The variables `reads` (bits, by their number in the plan) of a record as a message has them; their texts go to
 * `texts`, `vars` has room for DPE_VALUES. Returns how many. */
unsigned dpe_reads_fill(const struct dpe_probes *probes, uint64_t reads,
	const struct dpe_record *record, size_t size, struct dpe_var *vars,
	struct dpe_value_texts *texts);

#endif
