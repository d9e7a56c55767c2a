/* The members of a message in JSON: their types and what they mean. */
#include "event/logs/jsonl_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME(text) {text, sizeof(text) - 1}
static const struct {
	const char *text;
	size_t len;
} member_names[M_UNKNOWN] = {NAME("event"), NAME("id"), NAME("pred"), NAME("thread"),
	NAME("process"), NAME("host"), NAME("seq"), NAME("time"), NAME("args"), NAME("ret"),
	NAME("vars"), NAME("stack"), NAME("module"), NAME("comm"), NAME("dpe_log"),
	NAME("ordered"), NAME("omits_reads"), NAME("dpe_lost")};

/* ---- errors ------------------------------------------------------------------------------ */

bool dpe_jsonl_fail(struct dpe_jsonl *j, const char *fmt, ...)
{
	struct dpe_text text = {0};
	va_list args;

	va_start(args, fmt);
	dpe_text_vprintf(&text, fmt, args);
	va_end(args);
	if (j->error)
		free(text.at);
	else
		j->error = text.at;
	return false;
}

static bool wrong_type(struct dpe_jsonl *j, const char *wanted, struct dpe_value value)
{
	struct dpe_text text = {0};

	dpe_value_print_json(&text, value);
	if (text.len > 40) {
		text.len = 37;
		dpe_text_puts(&text, "…");
	}
	dpe_jsonl_fail(j, "\"%s\" must be %s, not %s", member_names[j->member].text, wanted, text.at);
	dpe_text_free(&text);
	return false;
}

/* ---- members ----------------------------------------------------------------------------- */

static bool is_whole(struct dpe_value value)
{
	return value.kind == DPE_UINT || (value.kind == DPE_INT && value.num >= 0);
}

static bool is_true(struct dpe_value value)
{
	return value.kind == DPE_RAW && !strcmp(value.text, "true");
}

static bool is_id(struct dpe_value value)
{
	return value.kind == DPE_INT || value.kind == DPE_UINT || value.kind == DPE_POINTER ||
	       value.kind == DPE_STRING;
}

/* The text of a JSON string, even if it looks like a pointer. */
static const char *string_of(struct dpe_jsonl *j, struct dpe_value value)
{
	if (value.kind == DPE_STRING)
		return value.text;
	if (value.kind == DPE_POINTER)
		return dpe_arena_printf(j->arena, "0x%" PRIx64, (uint64_t)value.num);
	return NULL;
}

static bool set_id(struct dpe_jsonl *j, struct dpe_value *to, struct dpe_value value)
{
	if (!is_id(value))
		return wrong_type(j, "a string or a whole number", value);
	*to = value;
	return true;
}

static bool set_number(struct dpe_jsonl *j, uint64_t *to, struct dpe_value value)
{
	if (!is_whole(value))
		return wrong_type(j, "a whole number, 0 or greater", value);
	*to = (uint64_t)value.num;
	return true;
}

static bool set_event(struct dpe_jsonl *j, struct dpe_value value)
{
	const char *text = string_of(j, value);
	size_t len = value.kind == DPE_STRING ? value.len : text ? strlen(text) : 0;

	if (!len)
		return wrong_type(j, "the event's name", value);
	dpe_event_parse(j->names, text, len, &j->draft.name, &j->draft.phase);
	return true;
}

static bool set_text(struct dpe_jsonl *j, struct dpe_value value)
{
	const char *text = string_of(j, value);

	if (!text)
		return wrong_type(j, "a string", value);
	if (j->member == M_MODULE)
		j->draft.module = dpe_intern_string(j->names, text);
	else
		j->draft.comm = text;
	return true;
}

static bool set_header(struct dpe_jsonl *j, struct dpe_value value)
{
	if (value.kind != DPE_INT)
		return wrong_type(j, "the version of the format, 1", value);
	j->version = value.num;
	return true;
}

static void add_extra(struct dpe_jsonl *j, struct dpe_value value)
{
	dpe_value_print_json(&j->extra, value);
}

static bool set_lost(struct dpe_jsonl *j, struct dpe_value value)
{
	if (!is_whole(value))
		return wrong_type(j, "how many messages were lost", value);
	j->lost = (uint64_t)value.num;
	return true;
}

bool dpe_jsonl_take_member(struct dpe_jsonl *j, struct dpe_value value)
{
	static const char *const lists[M_UNKNOWN + 1] = {[M_PRED] = "an array of ids",
		[M_ARGS] = "an array of values",
		[M_STACK] = "an array of strings",
		[M_VARS] = "an object"};
	struct dpe_message *draft = &j->draft;

	if (lists[j->member])
		return wrong_type(j, lists[j->member], value);
	switch (j->member) {
	case M_EVENT:
		return set_event(j, value);
	case M_ID:
		return set_id(j, &draft->id, value);
	case M_THREAD:
		return set_id(j, &draft->thread, value);
	case M_PROCESS:
		return set_id(j, &draft->process, value);
	case M_HOST:
		return set_id(j, &draft->host, value);
	case M_SEQ:
		return draft->has_seq = set_number(j, &draft->seq, value);
	case M_TIME:
		return draft->has_time = set_number(j, &draft->time, value);
	case M_RET:
		draft->ret = value;
		return true;
	case M_MODULE:
	case M_COMM:
		return set_text(j, value);
	case M_HEADER:
		return set_header(j, value);
	case M_ORDERED:
		j->header.ordered = is_true(value);
		add_extra(j, value); /* it has a meaning in a header only, as the next one */
		return true;
	case M_OMITS_READS:
		j->header.omits_reads = is_true(value);
		add_extra(j, value);
		return true;
	case M_LOST:
		return set_lost(j, value);
	default:
		add_extra(j, value);
		return true;
	}
}

static bool add_element(struct dpe_jsonl *j, struct dpe_value value)
{
	if (j->member == M_PRED && !is_id(value))
		return wrong_type(j, "an array of ids (strings or whole numbers)", value);
	if (j->member == M_STACK && !string_of(j, value))
		return wrong_type(j, "an array of strings", value);
	if (j->nlist == UINT16_MAX)
		return dpe_jsonl_fail(
			j, "\"%s\" has more than %d elements", member_names[j->member].text, UINT16_MAX);
	*DPE_GROW(j->list, j->nlist, j->caplist) = value;
	return true;
}

static bool is_of_text(const struct dpe_jsonl *j)
{
	return !strncmp(dpe_name_text(j->names, j->var), "text(", strlen("text("));
}

bool dpe_jsonl_take_element(struct dpe_jsonl *j, struct dpe_value value)
{
	if (j->member != M_VARS)
		return add_element(j, value);
	if (value.kind == DPE_POINTER && is_of_text(j))
		value = dpe_value_string(string_of(j, value));
	if (j->nvars == UINT16_MAX)
		return dpe_jsonl_fail(j, "\"vars\" has more than %d members", UINT16_MAX);
	*DPE_GROW(j->vars, j->nvars, j->capvars) = (struct dpe_var){j->var, value};
	return true;
}

static const struct dpe_value *keep_list(struct dpe_jsonl *j)
{
	struct dpe_value *kept = dpe_arena_alloc(j->arena, (j->nlist + 1) * sizeof(*kept));

	if (j->nlist)
		memcpy(kept, j->list, j->nlist * sizeof(*kept));
	return kept;
}

void dpe_jsonl_end_list(struct dpe_jsonl *j)
{
	const char **stack;

	if (j->member == M_ARGS) {
		j->draft.args = keep_list(j);
		j->draft.nargs = (uint16_t)j->nlist;
	} else if (j->member == M_PRED) {
		j->draft.preds = keep_list(j);
		j->draft.npreds = (uint16_t)j->nlist;
	} else {
		stack = dpe_arena_alloc(j->arena, (j->nlist + 1) * sizeof(*stack));
		for (unsigned i = 0; i < j->nlist; i++)
			stack[i] = string_of(j, j->list[i]);
		j->draft.stack = stack;
		j->draft.nstack = (uint16_t)j->nlist;
	}
}

static bool is_called(enum jsonl_member member, const char *text, size_t len)
{
	return member_names[member].len == len && !memcmp(member_names[member].text, text, len);
}

/* The lines of most logs have their members in the same order, so the member that came next in an earlier line is
 * tried first. */
static enum jsonl_member find_member(struct dpe_jsonl *j, const char *text, size_t len)
{
	enum jsonl_member *next = &j->next[j->member];

	if (is_called(*next, text, len))
		return *next;
	for (unsigned i = 0; i < M_UNKNOWN; i++) {
		if (is_called(i, text, len))
			return *next = i;
	}
	return M_UNKNOWN;
}

bool dpe_jsonl_begin_member(struct dpe_jsonl *j, const char *text, size_t len)
{
	j->member = find_member(j, text, len);
	if (j->member == M_UNKNOWN || j->member == M_ORDERED || j->member == M_OMITS_READS) {
		dpe_text_puts(&j->extra, j->extra.len ? "," : "");
		dpe_json_string(&j->extra, text, len);
		dpe_text_puts(&j->extra, ":");
	}
	if (j->member == M_UNKNOWN)
		return true;
	if (j->seen >> j->member & 1)
		return dpe_jsonl_fail(j, "\"%s\" is given twice", member_names[j->member].text);
	j->seen |= 1u << j->member;
	return true;
}
