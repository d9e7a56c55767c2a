/* unwind_rows: a file's call frame information as a sorted table that the BPF programs search. */
#ifndef DPE_PROBES_BINARY_UNWIND_ROWS_H
#define DPE_PROBES_BINARY_UNWIND_ROWS_H

#include "probes/binary/module.h"
#include "probes/kernel/bpf/frame_rows.h"

/* A DPE_FRAME_RULE, if rsp and rbp are enough to find the caller; `is_signal`: of a signal handler's caller. */
struct Dwarf_Frame_s; /* libdw's */
uint32_t dpe_frame_rule_of(struct Dwarf_Frame_s *frame, bool is_signal);

struct dpe_unwind_rows {
	struct dpe_frame_row *at; /* the first one says how many follow */
	unsigned count, cap;
};

/* Rows for the code of the file, as far as its .eh_frame_hdr or else its .eh_frame lists it and rsp and rbp are enough to find the
 * caller; the rest is DPE_FRAME_UNKNOWN. Empty where the file has no such table, or a broken one. At most `max` rows:
 * what lies behind them is unknown, too, and *cut is true. dpe_unwind_rows_free. */
struct dpe_unwind_rows dpe_unwind_rows_of(const struct dpe_module *module, unsigned max, bool *cut);
/* The code from *begin to *end, a function or a part of one, that holds the address, as .eh_frame_hdr lists it. */
bool dpe_unwind_extent(const struct dpe_module *module, uint64_t address, uint64_t *begin, uint64_t *end);
void dpe_unwind_rows_free(struct dpe_unwind_rows *rows);

#endif
