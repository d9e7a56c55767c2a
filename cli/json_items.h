/* Items of JSON that cJSON has not: text made valid UTF-8, whole numbers of 64 bits, values; and lines. */
#ifndef DPE_CLI_JSON_ITEMS_H
#define DPE_CLI_JSON_ITEMS_H

#include <dpe/dpe-event.h>

#include <cjson/cJSON.h>
#include <stdio.h>

/* What was printed, which is freed. */
cJSON *cli_json_printed(struct dpe_text *text);
/* Text of the specification or the target. */
cJSON *cli_json_text(const char *text, size_t len);
cJSON *cli_json_value(struct dpe_value value);
/* Nothing if the text is NULL. */
void cli_json_add_text(cJSON *object, const char *name, const char *text);
/* cJSON's numbers are doubles, which cannot hold all counts and times. */
void cli_json_add_number(cJSON *object, const char *name, uint64_t number);
/* Prints the object as a line, and deletes it. */
void cli_json_print(FILE *to, cJSON *object);

#endif
