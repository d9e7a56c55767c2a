/* Writes JSON Lines: one message a line, members in the order of docs/formats.md. */
#include "event/logs/log.h"

#include <inttypes.h>
#include <string.h>

void dpe_jsonl_header(struct dpe_text *to, struct dpe_log_header header)
{
	dpe_text_printf(to, "{\"dpe_log\":1%s%s}\n", header.ordered ? ",\"ordered\":true" : "",
		header.omits_reads ? ",\"omits_reads\":true" : "");
}

static void print_member(struct dpe_text *to, const char *name, struct dpe_value value)
{
	if (value.kind == DPE_NONE)
		return;
	dpe_text_printf(to, ",\"%s\":", name);
	dpe_value_print_json(to, value);
}

void dpe_jsonl_write_lost(struct dpe_text *to, struct dpe_value thread, uint64_t count)
{
	dpe_text_printf(to, "{\"dpe_lost\":%" PRIu64, count);
	print_member(to, "thread", thread);
	dpe_text_puts(to, "}\n");
}

static void print_text(struct dpe_text *to, const char *name, const char *text)
{
	if (!text)
		return;
	dpe_text_printf(to, ",\"%s\":", name);
	dpe_json_string(to, text, strlen(text));
}

static void print_values(
	struct dpe_text *to, const char *name, const struct dpe_value *values, unsigned count)
{
	if (!count)
		return;
	dpe_text_printf(to, ",\"%s\":[", name);
	for (unsigned i = 0; i < count; i++) {
		dpe_text_puts(to, i ? "," : "");
		dpe_value_print_json(to, values[i]);
	}
	dpe_text_puts(to, "]");
}

static void print_preds(struct dpe_text *to, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds)
{
	const char *comma = "";

	if (!message->npreds && !npreds)
		return;
	dpe_text_puts(to, ",\"pred\":[");
	for (unsigned i = 0; i < message->npreds + npreds; i++) {
		dpe_text_puts(to, comma);
		if (i < message->npreds)
			dpe_value_print_json(to, message->preds[i]);
		else
			dpe_message_print_json_id(to, preds[i - message->npreds]);
		comma = ",";
	}
	dpe_text_puts(to, "]");
}

static void print_vars(
	struct dpe_text *to, const struct dpe_names *names, const struct dpe_message *message)
{
	if (!message->nvars)
		return;
	dpe_text_puts(to, ",\"vars\":{");
	for (unsigned i = 0; i < message->nvars; i++) {
		const char *name = dpe_name_text(names, message->vars[i].name);

		dpe_text_puts(to, i ? "," : "");
		dpe_json_string(to, name, strlen(name));
		dpe_text_puts(to, ":");
		dpe_value_print_json(to, message->vars[i].value);
	}
	dpe_text_puts(to, "}");
}

static void print_stack(struct dpe_text *to, const struct dpe_message *message)
{
	if (!message->nstack && !message->npcs)
		return;
	dpe_text_puts(to, ",\"stack\":[");
	for (unsigned i = 0; i < message->nstack; i++) {
		dpe_text_puts(to, i ? "," : "");
		dpe_json_string(to, message->stack[i], strlen(message->stack[i]));
	}
	for (unsigned i = 0; !message->nstack && i < message->npcs; i++)
		dpe_text_printf(to, "%s\"0x%" PRIx64 "\"", i ? "," : "", message->pcs[i]);
	dpe_text_puts(to, "]");
}

static void print_event(struct dpe_text *to, const struct dpe_names *names, const struct dpe_message *message)
{
	struct dpe_text event = {0};

	dpe_event_print(&event, names, message->name, message->phase);
	dpe_text_puts(to, "{\"event\":");
	dpe_json_string(to, event.at, event.len);
	dpe_text_free(&event);
}

/* What comes after the id and the predecessors. */
static void print_members(struct dpe_text *to, const struct dpe_names *names, const struct dpe_message *message)
{
	print_member(to, "host", message->host);
	print_member(to, "process", message->process);
	print_member(to, "thread", message->thread);
	print_text(to, "comm", message->comm);
	if (message->has_seq)
		dpe_text_printf(to, ",\"seq\":%" PRIu64, message->seq);
	if (message->has_time)
		dpe_text_printf(to, ",\"time\":%" PRIu64, message->time);
	print_text(to, "module", message->module ? dpe_name_text(names, message->module) : NULL);
	print_values(to, "args", message->args, message->nargs);
	print_member(to, "ret", message->ret);
	print_vars(to, names, message);
	print_stack(to, message);
	if (message->extra)
		dpe_text_printf(to, ",%s", message->extra);
	dpe_text_puts(to, "}");
}

void dpe_jsonl_write(struct dpe_text *to, const struct dpe_names *names, bool with_id,
	const struct dpe_message *message, const struct dpe_message *const *preds, unsigned npreds)
{
	print_event(to, names, message);
	if (with_id || message->id.kind != DPE_NONE) {
		dpe_text_puts(to, ",\"id\":");
		dpe_message_print_json_id(to, message);
	}
	print_preds(to, message, preds, npreds);
	print_members(to, names, message);
	dpe_text_puts(to, "\n");
}

void dpe_message_print_json(
	struct dpe_text *to, const struct dpe_names *names, const struct dpe_message *message)
{
	print_event(to, names, message);
	dpe_text_puts(to, ",\"id\":");
	dpe_message_print_json_id(to, message);
	print_preds(to, message, NULL, 0);
	print_members(to, names, message);
}
