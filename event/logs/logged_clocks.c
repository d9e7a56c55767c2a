/* Vector clocks of a log, as ShiViz and GoVector write them, become predecessors. */
#include "event/logs/logged_clocks.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct dpe_logged_clock {
	char *host;
	cJSON *clock;
	unsigned long long own; /* its number on its host */
	unsigned message; /* index among the imported messages */
};

bool dpe_clocks_note(struct dpe_logged_clocks *clocks, const char *host, const char *clock, size_t len, unsigned message)
{
	cJSON *json = cJSON_ParseWithLength(clock, len);
	const cJSON *own = cJSON_GetObjectItemCaseSensitive(json, host);

	if (!cJSON_IsNumber(own) || own->valuedouble < 0) {
		cJSON_Delete(json);
		return false;
	}
	*DPE_GROW(clocks->at, clocks->count, clocks->cap) =
		(struct dpe_logged_clock){dpe_xstrdup(host), json, (unsigned long long)own->valuedouble, message};
	return true;
}

static int by_host(const void *a, const void *b)
{
	const struct dpe_logged_clock *left = a, *right = b;
	int order = strcmp(left->host, right->host);

	if (order)
		return order;
	return left->own == right->own ? 0 : left->own < right->own ? -1 : 1;
}

static bool is_until(const struct dpe_logged_clock *event, const char *host, unsigned long long number)
{
	int order = strcmp(event->host, host);

	return order < 0 || (!order && event->own <= number);
}

/* The host's last logged event up to that number; NULL: none. */
static const struct dpe_logged_clock *last_until(const struct dpe_logged_clocks *clocks, const char *host, unsigned long long number)
{
	unsigned after = DPE_PARTITION_POINT(i, 0, clocks->count, is_until(&clocks->at[i], host, number));

	return after && !strcmp(clocks->at[after - 1].host, host) ? &clocks->at[after - 1] : NULL;
}

static void add_clock_id(struct dpe_text *to, const char *host, unsigned long long number)
{
	struct dpe_text id = {0};

	dpe_text_printf(&id, "%s:%llu", host, number);
	dpe_json_string(to, id.at, id.len);
	dpe_text_free(&id);
}

/* Each host's last event that the clock counts precedes the event; of its own host, the one before it. */
static void add_clock(const struct dpe_logged_clocks *clocks, const struct dpe_logged_clock *event, struct dpe_import *import)
{
	struct dpe_imported *message = &import->at[event->message];
	struct dpe_text text = {0};
	const char *comma = "";
	const cJSON *entry;

	dpe_text_add(&text, message->text, strlen(message->text) - 1);
	dpe_text_puts(&text, ",\"id\":");
	add_clock_id(&text, event->host, event->own);
	dpe_text_puts(&text, ",\"pred\":[");
	cJSON_ArrayForEach(entry, event->clock) {
		double number = cJSON_IsNumber(entry) ? entry->valuedouble : 0;
		bool own = !strcmp(entry->string, event->host);
		const struct dpe_logged_clock *last =
			number > own ? last_until(clocks, entry->string, (unsigned long long)number - own) : NULL;

		if (!last)
			continue;
		dpe_text_puts(&text, comma);
		add_clock_id(&text, last->host, last->own);
		comma = ",";
	}
	dpe_text_puts(&text, "]}");
	free(message->text);
	message->text = text.at;
}

static const char *unlogged_host(const struct dpe_logged_clocks *clocks, const struct dpe_logged_clock *event)
{
	const cJSON *entry;

	cJSON_ArrayForEach(entry, event->clock) {
		if (cJSON_IsNumber(entry) && entry->valuedouble > 0 && !last_until(clocks, entry->string, ULLONG_MAX))
			return entry->string;
	}
	return NULL;
}

char *dpe_clocks_order(struct dpe_logged_clocks *clocks, struct dpe_import *import)
{
	const char *unlogged = NULL;

	if (clocks->count)
		qsort(clocks->at, clocks->count, sizeof(*clocks->at), by_host);
	for (unsigned i = 0; i < clocks->count; i++) {
		add_clock(clocks, &clocks->at[i], import);
		unlogged = unlogged ? unlogged : unlogged_host(clocks, &clocks->at[i]);
	}
	return unlogged ? dpe_xstrdup(unlogged) : NULL;
}

void dpe_clocks_free(struct dpe_logged_clocks *clocks)
{
	for (unsigned i = 0; i < clocks->count; i++) {
		cJSON_Delete(clocks->at[i].clock);
		free(clocks->at[i].host);
	}
	free(clocks->at);
}
