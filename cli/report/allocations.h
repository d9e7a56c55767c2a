/* Who allocated the memory that a finding accesses. Private to report. */
#ifndef DPE_CLI_ALLOCATIONS_H
#define DPE_CLI_ALLOCATIONS_H

#include "cli/report/report.h"

struct cli_allocations; /* the latest CLI_ALLOCATIONS */

/* The allocation of the object on the heap that a memory access is in; NULL: none was observed, or it is too long
 * ago. */
void cli_allocations_add(struct cli_report *report, const struct dpe_message *message);
const struct dpe_message *cli_allocation_of(const struct cli_report *report, const struct dpe_message *event);
void cli_allocations_free(struct cli_allocations *allocations); /* accepts NULL */
/* Whether the event with this number is the first one that accesses its object, which is known. */
bool cli_is_first_of_object(const struct cli_report *report, const struct dpe_message *const *events, unsigned number);
void cli_text_objects(struct dpe_text *to, struct cli_report *report, const struct dpe_message *const *events, unsigned count);

#endif
