/* Reads traces of OpenTelemetry as its collector writes them into files: OTLP in JSON, one request a line or one in all.
 * A span becomes its enter and its exit, with its own events in between.
 *
 * Source: opentelemetry-proto 1.x, trace.proto and the JSON mapping of the OTLP specification. */
#include "event/logs/import.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Span kinds by number; some writers give the names. */
static const char *const KINDS[] = {"UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"};
static const char *const STATUSES[] = {"UNSET", "OK", "ERROR"};
enum span_kind { SERVER = 2, CLIENT = 3 };
enum { STATUS_ERROR = 2 };

struct span {
	const cJSON *json;
	const char *trace, *id, *host;
	char *key; /* both ids */
	unsigned line;
	uint64_t begin, end;      /* ns; an end of 0: it has not ended */
	struct span **children; /* of the same process, sorted by end; none of them has a thread */
	unsigned nchildren, capchildren;
	struct dpe_text before;  /* ids of the predecessors of the enter, and … */
	struct dpe_text replies; /* … of the exit, as JSON, each after a comma */
	UT_hash_handle hh;
};

struct otlp {
	struct dpe_log_reader *reader;
	struct dpe_import *import;
	struct dpe_arena *arena; /* that host names are taken from */
	cJSON **requests;
	unsigned nrequests, caprequests;
	struct span *spans; /* in the order of the file */
	uint64_t unknown, repeated, dropped; /* parents and links, spans, events */
};

/* ---- members ------------------------------------------------------------------------------ */

static const char *text_of(const cJSON *object, const char *name)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

	return text ? text : "";
}

/* Whole numbers of 64 bits are strings in OTLP; smaller ones need not be. */
static uint64_t number_of(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	if (cJSON_IsString(item))
		return strtoull(item->valuestring, NULL, 10);
	return cJSON_IsNumber(item) && item->valuedouble > 0 ? (uint64_t)item->valuedouble : 0;
}

/* Ids are hexadecimal, in either case. */
static const char *id_of(const cJSON *object, const char *name)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	for (char *at = cJSON_GetStringValue(item); at && *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return text_of(object, name);
}

/* "SPAN_KIND_SERVER" and "STATUS_CODE_ERROR" are numbers as well. */
static uint64_t choice_of(const cJSON *object, const char *name, const char *before, const char *const *choices, unsigned count)
{
	const char *text = text_of(object, name);
	size_t len = strlen(before);

	for (unsigned i = 0; i < count && !strncmp(text, before, len); i++) {
		if (!strcmp(text + len, choices[i]))
			return i;
	}
	return number_of(object, name);
}

static uint64_t kind_of(const struct span *span)
{
	return choice_of(span->json, "kind", "SPAN_KIND_", KINDS, DPE_COUNT(KINDS));
}

static uint64_t status_of(const struct span *span)
{
	return choice_of(cJSON_GetObjectItemCaseSensitive(span->json, "status"), "code", "STATUS_CODE_", STATUSES, DPE_COUNT(STATUSES));
}

static const cJSON *attribute(const cJSON *object, const char *key)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "attributes"), *item;

	cJSON_ArrayForEach(item, list) {
		if (!strcmp(text_of(item, "key"), key))
			return cJSON_GetObjectItemCaseSensitive(item, "value");
	}
	return NULL;
}

/* Adds the value as JSON; lists, maps and bytes as the text that they are in the log. */
static void add_value(struct dpe_text *to, const cJSON *value)
{
	const cJSON *item = value ? value->child : NULL;
	char *text;

	if (item && !strcmp(item->string, "intValue") && cJSON_IsString(item) &&
		strspn(item->valuestring, "-0123456789") == strlen(item->valuestring) && *item->valuestring)
		dpe_text_puts(to, item->valuestring);
	else if (cJSON_IsString(item))
		dpe_json_string(to, item->valuestring, strlen(item->valuestring));
	else if ((text = item ? cJSON_PrintUnformatted(item) : NULL)) {
		if (cJSON_IsNumber(item) || cJSON_IsBool(item))
			dpe_text_puts(to, text);
		else
			dpe_json_string(to, text, strlen(text));
		cJSON_free(text);
	} else
		dpe_text_puts(to, "null");
}

/* What identifies the process: its service, and which instance of it. */
static const char *host_of(struct otlp *otlp, const cJSON *resource)
{
	const char *service = text_of(attribute(resource, "service.name"), "stringValue");
	const char *instance = text_of(attribute(resource, "service.instance.id"), "stringValue");
	const char *host = text_of(attribute(resource, "host.name"), "stringValue");
	struct dpe_text text = {0};
	char *kept;

	dpe_text_puts(&text, *service ? service : host);
	if (*service && *instance)
		dpe_text_printf(&text, "/%s", instance);
	else if (*service && *host)
		dpe_text_printf(&text, "/%s", host);
	kept = dpe_arena_strndup(otlp->arena, text.at ? text.at : "", text.len);
	dpe_text_free(&text);
	return kept;
}

/* ---- collecting --------------------------------------------------------------------------- */

static void add_span(struct otlp *otlp, const cJSON *json, const char *host, unsigned line)
{
	struct span *span, *known;

	if (!*text_of(json, "spanId")) {
		dpe_log_error(otlp->reader, DPE_WARNING, line, "a span has no \"spanId\", which counts as a loss");
		otlp->dropped++;
		return;
	}
	span = dpe_xcalloc(1, sizeof(*span));
	*span = (struct span){.json = json, .trace = id_of(json, "traceId"), .id = id_of(json, "spanId"), .host = host,
		.line = line};
	span->begin = number_of(json, "startTimeUnixNano");
	span->end = number_of(json, "endTimeUnixNano");
	span->key = dpe_xasprintf("%s %s", span->trace, span->id);
	HASH_FIND_STR(otlp->spans, span->key, known);
	if (!known) {
		HASH_ADD_KEYPTR(hh, otlp->spans, span->key, strlen(span->key), span);
		return;
	}
	otlp->repeated++;
	free(span->key);
	free(span);
}

static void add_scopes(struct otlp *otlp, const cJSON *resource_spans, unsigned line)
{
	const char *host = host_of(otlp, cJSON_GetObjectItemCaseSensitive(resource_spans, "resource"));
	const cJSON *scopes = cJSON_GetObjectItemCaseSensitive(resource_spans, "scopeSpans"), *scope, *span;

	cJSON_ArrayForEach(scope, scopes) {
		cJSON_ArrayForEach(span, cJSON_GetObjectItemCaseSensitive(scope, "spans"))
			add_span(otlp, span, host, line);
	}
}

static bool add_request(struct otlp *otlp, cJSON *request, unsigned line)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(request, "resourceSpans"), *item;

	*DPE_GROW(otlp->requests, otlp->nrequests, otlp->caprequests) = request;
	if (!list) {
		dpe_log_error(otlp->reader, DPE_ERROR, line,
			"this is no trace in OTLP's JSON: it has no \"resourceSpans\"");
		return false;
	}
	cJSON_ArrayForEach(item, list)
		add_scopes(otlp, item, line);
	return true;
}

static void count_lines(const char **from, const char *to, unsigned *line)
{
	for (; *from < to; (*from)++)
		*line += **from == '\n';
}

/* False after a diagnostic. Of a file that ends within a request, the requests before it are kept. */
static bool collect(struct otlp *otlp, const char *text, size_t len)
{
	const char *at = text, *end = text + len, *counted = text, *stopped = NULL;
	unsigned line = 1;

	for (;;) {
		cJSON *request;

		while (at < end && isspace((unsigned char)*at))
			at++;
		count_lines(&counted, at, &line);
		if (at == end)
			return true;
		request = cJSON_ParseWithLengthOpts(at, (size_t)(end - at), &stopped, false);
		if (!request && !memchr(at, '\n', (size_t)(end - at))) {
			dpe_log_error(otlp->reader, DPE_WARNING, line, "the log ends within a request: the rest is lost");
			otlp->reader->truncated = true;
			return true;
		}
		if (!request) {
			count_lines(&counted, stopped, &line);
			dpe_log_error(otlp->reader, DPE_ERROR, line, "this is not JSON");
			return false;
		}
		if (!add_request(otlp, request, line))
			return false;
		at = stopped;
	}
}

/* ---- messages ----------------------------------------------------------------------------- */

static struct span *find_span(struct otlp *otlp, const char *trace, const char *id)
{
	char *key = dpe_xasprintf("%s %s", trace, id);
	struct span *span;

	HASH_FIND_STR(otlp->spans, key, span);
	free(key);
	if (!span)
		otlp->unknown++;
	return span;
}

static void add_id(struct dpe_text *to, const struct span *span, const char *what)
{
	struct dpe_text id = {0};

	dpe_text_printf(&id, "%s.%s", span->id, what);
	dpe_json_string(to, id.at, id.len);
	dpe_text_free(&id);
}

/* The enter of the parent, and of each span that is linked to. */
static void add_causes(struct otlp *otlp, struct dpe_text *to, const struct span *span)
{
	const char *parent = id_of(span->json, "parentSpanId"), *comma = "";
	const cJSON *link;
	struct span *cause = *parent ? find_span(otlp, span->trace, parent) : NULL;

	if (cause) {
		add_id(to, cause, "enter");
		dpe_text_puts(to, span->before.at ? span->before.at : "");
		comma = ",";
	}
	cJSON_ArrayForEach(link, cJSON_GetObjectItemCaseSensitive(span->json, "links")) {
		cause = find_span(otlp, id_of(link, "traceId"), id_of(link, "spanId"));
		if (!cause)
			continue;
		dpe_text_puts(to, comma);
		add_id(to, cause, "enter");
		comma = ",";
	}
}

static void add_attributes(struct dpe_text *to, const cJSON *object, const char *name)
{
	const cJSON *item;

	dpe_text_puts(to, ",\"vars\":{\"name\":");
	dpe_json_string(to, name, strlen(name));
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(object, "attributes")) {
		const char *key = text_of(item, "key");

		if (!*key || !strcmp(key, "name"))
			continue;
		dpe_text_puts(to, ",\"");
		dpe_import_name(to, key, strlen(key));
		dpe_text_puts(to, "\":");
		add_value(to, cJSON_GetObjectItemCaseSensitive(item, "value"));
	}
	dpe_text_puts(to, "}");
}

/* What all messages of a span have in common; `what` is the second part of the id, `phase` that of the name. */
static void begin_message(
	struct dpe_text *to, const struct span *span, const char *name, const char *phase, const char *what)
{
	const cJSON *thread = attribute(span->json, "thread.id");

	dpe_text_puts(to, "{\"event\":\"");
	dpe_import_name(to, name, strlen(name));
	dpe_text_printf(to, "%s\",\"id\":", phase);
	add_id(to, span, what);
	dpe_text_puts(to, ",\"host\":");
	dpe_json_string(to, span->host, strlen(span->host));
	if (thread) {
		dpe_text_puts(to, ",\"thread\":");
		add_value(to, thread);
	}
	dpe_text_puts(to, ",\"args\":[");
	dpe_json_string(to, span->trace, strlen(span->trace));
	dpe_text_puts(to, "]");
}

static void end_message(struct otlp *otlp, const struct span *span, uint64_t time, struct dpe_text *text)
{
	dpe_text_printf(text, ",\"time\":%llu}", (unsigned long long)time);
	dpe_import_add(otlp->import, time, span->line, text);
}

static void add_enter(struct otlp *otlp, const struct span *span)
{
	const char *name = text_of(span->json, "name");
	struct dpe_text text = {0};

	begin_message(&text, span, name, ".enter", "enter");
	dpe_text_puts(&text, ",\"pred\":[");
	add_causes(otlp, &text, span);
	dpe_text_puts(&text, "]");
	add_attributes(&text, span->json, name);
	end_message(otlp, span, span->begin, &text);
}

/* Returns their number, which is also the number of the last one. */
static unsigned add_events(struct otlp *otlp, const struct span *span)
{
	char number[16], before[16] = "enter";
	unsigned count = 0;
	const cJSON *event;

	cJSON_ArrayForEach(event, cJSON_GetObjectItemCaseSensitive(span->json, "events")) {
		const char *name = text_of(event, "name");
		struct dpe_text text = {0};

		snprintf(number, sizeof(number), "%u", ++count);
		begin_message(&text, span, name, "", number);
		dpe_text_puts(&text, ",\"pred\":[");
		add_id(&text, span, before);
		dpe_text_puts(&text, "]");
		add_attributes(&text, event, name);
		end_message(otlp, span, number_of(event, "timeUnixNano"), &text);
		memcpy(before, number, sizeof(before));
	}
	return count;
}

static void add_exit(struct otlp *otlp, const struct span *span, unsigned nevents)
{
	const char *name = text_of(span->json, "name");
	struct dpe_text text = {0};
	char last[16] = "enter";

	if (!span->end)
		return;
	if (nevents)
		snprintf(last, sizeof(last), "%u", nevents);
	begin_message(&text, span, name, ".exit", "exit");
	dpe_text_puts(&text, ",\"pred\":[");
	add_id(&text, span, last);
	dpe_text_puts(&text, span->replies.at ? span->replies.at : "");
	dpe_text_printf(&text, "],\"ret\":%llu", (unsigned long long)status_of(span));
	add_attributes(&text, span->json, name);
	end_message(otlp, span, span->end, &text);
}

/* ---- what traces do not say ------------------------------------------------------------------ */

static void add_exit_id(struct dpe_text *to, const struct span *span)
{
	dpe_text_puts(to, ",");
	add_id(to, span, "exit");
}

/* A successful call returns after its server's span has ended. */
static void note_reply(const struct span *server, struct span *client)
{
	if (server->end && kind_of(server) == SERVER && kind_of(client) == CLIENT && status_of(client) != STATUS_ERROR)
		add_exit_id(&client->replies, server);
}

static void note_parent(struct otlp *otlp, struct span *span)
{
	const char *id = id_of(span->json, "parentSpanId");
	uint64_t unknown = otlp->unknown;
	struct span *parent = *id ? find_span(otlp, span->trace, id) : NULL;

	otlp->unknown = unknown; /* counted when the enter is written */
	if (!parent)
		return;
	note_reply(span, parent);
	if (!strcmp(span->host, parent->host) && !attribute(span->json, "thread.id") && span->begin <= span->end)
		*DPE_GROW(parent->children, parent->nchildren, parent->capchildren) = span;
}

static int by_end(const void *a, const void *b)
{
	const struct span *left = *(struct span *const *)a, *right = *(struct span *const *)b;

	return left->end == right->end ? 0 : left->end < right->end ? -1 : 1;
}

static unsigned count_ended(const struct span *parent, uint64_t time)
{
	return DPE_PARTITION_POINT(i, 0, parent->nchildren, parent->children[i]->end <= time);
}

/* The latest children that had ended by that time; every other child ended before one of these began. */
static void add_last(struct dpe_text *to, const struct span *parent, uint64_t time)
{
	uint64_t begun = 0;

	for (unsigned i = count_ended(parent, time); i-- > 0 && parent->children[i]->end >= begun;) {
		add_exit_id(to, parent->children[i]);
		begun = parent->children[i]->begin > begun ? parent->children[i]->begin : begun;
	}
}

/* Within a process, the spans of a request are sequential unless their times overlap. */
static void order_children(struct span *parent)
{
	if (!parent->nchildren)
		return;
	qsort(parent->children, parent->nchildren, sizeof(struct span *), by_end);
	for (unsigned i = 0; i < parent->nchildren; i++) {
		struct span *child = parent->children[i];

		if (child->begin)
			add_last(&child->before, parent, child->begin - 1);
	}
	add_last(&parent->replies, parent, parent->end);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void add_messages(struct otlp *otlp)
{
	for (struct span *span = otlp->spans; span; span = span->hh.next)
		note_parent(otlp, span);
	for (struct span *span = otlp->spans; span; span = span->hh.next)
		order_children(span);
	for (struct span *span = otlp->spans; span; span = span->hh.next) {
		add_enter(otlp, span);
		add_exit(otlp, span, add_events(otlp, span));
		otlp->dropped += number_of(span->json, "droppedEventsCount");
	}
	dpe_import_sort(otlp->import);
}

/* ---- what is missing ------------------------------------------------------------------------ */

static void report_missing(struct otlp *otlp)
{
	if (otlp->repeated)
		dpe_diag_at(otlp->reader->diags, DPE_WARNING, otlp->reader->name, "%llu spans occur twice: the first one counts",
			(unsigned long long)otlp->repeated);
	if (otlp->unknown)
		dpe_diag_at(otlp->reader->diags, DPE_WARNING, otlp->reader->name,
			"%llu parents or links of spans are not in this log, which counts as a loss", (unsigned long long)otlp->unknown);
	otlp->reader->import_lost += otlp->unknown + otlp->dropped;
}

static void free_otlp(struct otlp *otlp)
{
	struct span *span, *next;

	HASH_ITER (hh, otlp->spans, span, next) {
		HASH_DEL(otlp->spans, span);
		dpe_text_free(&span->replies);
		dpe_text_free(&span->before);
		free(span->children);
		free(span->key);
		free(span);
	}
	for (unsigned i = 0; i < otlp->nrequests; i++)
		cJSON_Delete(otlp->requests[i]);
	free(otlp->requests);
	dpe_arena_free(otlp->arena);
}

struct dpe_import *dpe_otlp_new(struct dpe_log_reader *reader)
{
	struct otlp otlp = {.reader = reader};
	size_t len;
	char *text = dpe_import_text(reader, &len);

	if (!text)
		return NULL;
	otlp.arena = dpe_arena_new();
	otlp.import = dpe_xcalloc(1, sizeof(*otlp.import));
	if (collect(&otlp, text, len)) {
		add_messages(&otlp);
		report_missing(&otlp);
	} else {
		dpe_import_free(otlp.import);
		otlp.import = NULL;
	}
	free_otlp(&otlp);
	free(text);
	return otlp.import;
}
