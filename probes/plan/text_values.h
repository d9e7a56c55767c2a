/* text_values: what pointers of the target lead to, as values, and what it is compared with in the kernel. */
#ifndef DPE_PROBES_PLAN_TEXT_VALUES_H
#define DPE_PROBES_PLAN_TEXT_VALUES_H

#include "probes/live.h"

/* The value of a text by the bytes and the length (with the NUL) that a record has; 0: it could not be
 * read, which is the raw value null. Of one that was cut off the value ends in "…". A byte that is no
 * UTF-8 is U+FFFD and two hexadecimal digits, as are those of U+FFFD itself: so different texts
 * stay different in logs. `room` holds it. */
struct dpe_value dpe_text_value(const char *bytes, uint64_t length, char room[DPE_TEXT_ROOM]);
/* Where the kernel's side finds the text that a filter compares with; -1 where it has no room. */
int dpe_wanted_text(const struct dpe_probes *probes, const char *text);
/* Tells the kernel's side all of them, by a map. */
void dpe_wanted_texts_tell(const struct dpe_probes *probes, int map);

/* Warns, at the end, where texts were too long to tell by them what belongs together. */
void dpe_texts_tell_cut(const struct dpe_probes *probes, struct dpe_diags *diags);

#endif
