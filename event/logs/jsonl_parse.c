/* Parses the JSON of a line with yajl. Numbers are taken as text, so that they keep their
 * precision. */
#include "event/logs/jsonl_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#define DEEPEST 64

/* ---- what yajl calls --------------------------------------------------------------------- */

/* Before an element of a nested value. */
static void add_comma(struct dpe_jsonl *j)
{
	if (j->raw.len && !strchr("[{:", j->raw.at[j->raw.len - 1]))
		dpe_text_puts(&j->raw, ",");
}

static int on_word(struct dpe_jsonl *j, const char *word)
{
	if (j->raw_depth) {
		add_comma(j);
		dpe_text_puts(&j->raw, word);
		return 1;
	}
	return dpe_jsonl_take_value(j,
		(struct dpe_value){.kind = DPE_RAW, .len = (uint32_t)strlen(word), .text = word});
}

static int on_null(void *context)
{
	return on_word(context, "null");
}

static int on_boolean(void *context, int value)
{
	return on_word(context, value ? "true" : "false");
}

static struct dpe_value number_value(struct dpe_jsonl *j, const char *text, size_t len)
{
	char *copy = dpe_arena_strndup(j->arena, text, len), *end;
	struct dpe_value value = {.kind = DPE_RAW, .len = (uint32_t)len, .text = copy};
	int64_t num;

	if (strspn(copy, "-0123456789") != len || !strcmp(copy, "-0"))
		return value;
	errno = 0;
	num = strtoll(copy, &end, 10);
	if (!errno)
		return dpe_value_int(num);
	errno = 0;
	num = (int64_t)strtoull(copy, &end, 10);
	if (!errno && *copy != '-')
		return (struct dpe_value){.kind = DPE_UINT, .num = num};
	return value;
}

static int on_number(void *context, const char *text, size_t len)
{
	struct dpe_jsonl *j = context;

	if (!j->raw_depth)
		return dpe_jsonl_take_value(j, number_value(j, text, len));
	add_comma(j);
	dpe_text_add(&j->raw, text, len);
	return 1;
}

/* "0x…" in the form in which pointers are printed is a pointer; anything else is text. */
static bool is_pointer(const char *text, size_t len, uint64_t *num)
{
	if (len < 3 || len > 18 || text[0] != '0' || text[1] != 'x' || (text[2] == '0' && len > 3))
		return false;
	*num = 0;
	for (size_t i = 2; i < len; i++) {
		const char *digit = memchr("0123456789abcdef", text[i], 16);

		if (!digit)
			return false;
		*num = *num << 4 | (uint64_t)(*digit <= '9' ? *digit - '0' : *digit - 'a' + 10);
	}
	return true;
}

static int on_string(void *context, const unsigned char *bytes, size_t len)
{
	const char *text = (const char *)bytes;
	struct dpe_jsonl *j = context;
	struct dpe_value value = {.kind = DPE_STRING, .len = (uint32_t)len};
	uint64_t num;

	if (j->raw_depth) {
		add_comma(j);
		dpe_json_string(&j->raw, text, len);
		return 1;
	}
	if (memchr(text, '\0', len))
		return dpe_jsonl_fail(j, "a string holds the character \\u0000, which no text can");
	if (is_pointer(text, len, &num))
		return dpe_jsonl_take_value(j, dpe_value_pointer(num));
	value.text = dpe_arena_strndup(j->arena, text, len);
	return dpe_jsonl_take_value(j, value);
}

static int on_key(void *context, const unsigned char *bytes, size_t len)
{
	const char *text = (const char *)bytes;
	struct dpe_jsonl *j = context;

	if (j->raw_depth) {
		add_comma(j);
		dpe_json_string(&j->raw, text, len);
		dpe_text_puts(&j->raw, ":");
		return 1;
	}
	if (memchr(text, '\0', len))
		return dpe_jsonl_fail(j, "a name holds the character \\u0000, which no text can");
	if (j->depth == 1)
		return dpe_jsonl_begin_member(j, text, len);
	j->var = dpe_intern(j->names, text, len);
	return 1;
}

static int begin_raw(struct dpe_jsonl *j, const char *bracket)
{
	if (j->depth + j->raw_depth >= DEEPEST)
		return dpe_jsonl_fail(j, "values are nested more than %d deep", DEEPEST);
	if (!j->raw_depth++)
		j->raw.len = 0;
	else
		add_comma(j);
	dpe_text_puts(&j->raw, bracket);
	return 1;
}

static int end_raw(struct dpe_jsonl *j, const char *bracket)
{
	struct dpe_value value = {.kind = DPE_RAW};

	dpe_text_puts(&j->raw, bracket);
	if (--j->raw_depth)
		return 1;
	value.len = (uint32_t)j->raw.len;
	value.text = dpe_arena_strndup(j->arena, j->raw.at, j->raw.len);
	return dpe_jsonl_take_value(j, value);
}

static int on_map(void *context)
{
	struct dpe_jsonl *j = context;

	if (!j->depth && !j->raw_depth) {
		if (j->objects++)
			return dpe_jsonl_fail(j,
				"a second value stands on this line: write one message a "
				"line");
		j->depth = 1;
		return 1;
	}
	if (j->depth == 1 && !j->raw_depth && j->member == M_VARS) {
		j->depth = 2;
		return 1;
	}
	return begin_raw(j, "{");
}

static int on_map_end(void *context)
{
	struct dpe_jsonl *j = context;

	if (j->raw_depth)
		return end_raw(j, "}");
	j->depth--;
	return 1;
}

static int on_array(void *context)
{
	struct dpe_jsonl *j = context;

	if (!j->depth)
		return dpe_jsonl_fail(j, "a message is an object, {\"event\":…}");
	if (j->depth == 1 && !j->raw_depth &&
		(j->member == M_ARGS || j->member == M_PRED || j->member == M_STACK)) {
		j->depth = 2;
		j->nlist = 0;
		return 1;
	}
	return begin_raw(j, "[");
}

static int on_array_end(void *context)
{
	struct dpe_jsonl *j = context;

	if (j->raw_depth)
		return end_raw(j, "]");
	dpe_jsonl_end_list(j);
	j->depth--;
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_map_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_array_end,
};

/* ---- lines ------------------------------------------------------------------------------- */

void dpe_jsonl_reset_line(struct dpe_jsonl *j)
{
	dpe_arena_reset(j->arena);
	free(j->error);
	j->error = NULL;
	j->draft = (struct dpe_message){0};
	j->depth = j->objects = j->raw_depth = j->nlist = j->nvars = 0;
	j->seen = 0;
	j->extra.len = 0;
	j->version = 0;
	j->ordered = false;
	if (j->parser)
		return;
	j->parser = yajl_alloc(&callbacks, NULL, j);
	if (!j->parser)
		abort();
	yajl_config(j->parser, yajl_allow_multiple_values, 1);
}

void dpe_jsonl_end_parser(struct dpe_jsonl *j)
{
	if (j->parser)
		yajl_free(j->parser);
	j->parser = NULL;
}

/* Reports the first line of yajl's message without "parse error: ". */
static void report_syntax(struct dpe_jsonl *j)
{
	const unsigned char *line = (const unsigned char *)j->line.at;
	unsigned char *text = yajl_get_error(j->parser, 0, line, j->line.len);
	size_t at = yajl_get_bytes_consumed(j->parser);
	const char *what = text ? (const char *)text : "";
	const char *colon = strstr(what, ": ");

	what = colon ? colon + 2 : what;
	dpe_jsonl_fail(
		j, "no JSON at column %zu: %.*s", at ? at : 1, (int)strcspn(what, "\n"), what);
	yajl_free_error(j->parser, text);
}

bool dpe_jsonl_parse(struct dpe_jsonl *j)
{
	yajl_status status;

	dpe_jsonl_reset_line(j);
	/* The newline ends a word or number, which yajl would otherwise expect to go on. */
	j->line.at[j->line.len] = '\n';
	status = yajl_parse(j->parser, (const unsigned char *)j->line.at, j->line.len + 1);
	j->line.at[j->line.len] = '\0';
	if (status == yajl_status_ok && !j->depth && j->objects)
		return true;
	if (status == yajl_status_error)
		report_syntax(j);
	else if (!j->error)
		dpe_jsonl_fail(j, "the object does not end on this line: write one message a line");
	dpe_jsonl_end_parser(j);
	return false;
}

bool dpe_jsonl_is_json(const struct dpe_text *line)
{
	yajl_handle parser = yajl_alloc(NULL, NULL, NULL);
	bool is;

	if (!parser)
		abort();
	yajl_config(parser, yajl_allow_multiple_values, 1);
	is = yajl_parse(parser, (const unsigned char *)line->at, line->len) == yajl_status_ok &&
	     yajl_complete_parse(parser) == yajl_status_ok;
	yajl_free(parser);
	return is;
}
