/* json_items: what reports as JSON and SARIF consist of. */
#include "cli/json_items.h"

#include <inttypes.h>
#include <string.h>

cJSON *cli_json_printed(struct dpe_text *text)
{
	cJSON *item = cJSON_CreateRaw(text->at);

	dpe_text_free(text);
	return item;
}

cJSON *cli_json_text(const char *text, size_t len)
{
	struct dpe_text quoted = {0};

	dpe_json_string(&quoted, text, len);
	return cli_json_printed(&quoted);
}

cJSON *cli_json_value(struct dpe_value value)
{
	struct dpe_text text = {0};

	dpe_value_print_json(&text, value);
	return cli_json_printed(&text);
}

void cli_json_add_text(cJSON *object, const char *name, const char *text)
{
	if (text)
		cJSON_AddItemToObject(object, name, cli_json_text(text, strlen(text)));
}

void cli_json_add_number(cJSON *object, const char *name, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	cJSON_AddItemToObject(object, name, cJSON_CreateRaw(text));
}

void cli_json_print(FILE *to, cJSON *object)
{
	char *line = cJSON_PrintUnformatted(object);

	cJSON_Delete(object);
	fprintf(to, "%s\n", line);
	cJSON_free(line);
}
