/* Reading messages as JSON, one object a line. yajl parses; numbers keep their text through it.
 *
 * What is wrong with a line is told with what to do about it, and the line is skipped. */
#include "event/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <yajl/yajl_parse.h>

#define DEEPEST 64

enum member {
	M_EVENT,
	M_ID,
	M_PRED,
	M_THREAD,
	M_PROCESS,
	M_HOST,
	M_SEQ,
	M_TIME,
	M_ARGS,
	M_RET,
	M_VARS,
	M_STACK,
	M_MODULE,
	M_COMM,
	M_HEADER,  /* dpe_log */
	M_ORDERED, /* of a header */
	M_LOST,    /* dpe_lost: a line that is no message */
	M_UNKNOWN,
};

static const char *const member_names[M_UNKNOWN] = {"event", "id", "pred", "thread", "process",
	"host", "seq", "time", "args", "ret", "vars", "stack", "module", "comm", "dpe_log",
	"ordered", "dpe_lost"};

struct dpe_jsonl {
	yajl_handle parser;      /* made again after each error */
	struct dpe_arena *arena; /* of the line's values */
	struct dpe_text line;
	bool pending; /* the first line was read to see whether it is a header */
	bool whole;
	/* The line at hand. */
	struct dpe_names *names;
	struct dpe_message draft;
	unsigned depth, objects;
	enum member member;
	uint32_t seen; /* members, by bit */
	char *error;
	struct dpe_text raw; /* a nested value that is kept as text */
	unsigned raw_depth;  /* open brackets of it */
	struct dpe_text extra;
	int64_t version;
	uint64_t lost;
	bool ordered;
	struct dpe_value *list; /* elements of args, pred or stack */
	unsigned nlist, caplist;
	struct dpe_var *vars;
	unsigned nvars, capvars;
	dpe_name var;
};

/* ---- errors ------------------------------------------------------------------------------ */

static int fail(struct dpe_jsonl *j, const char *fmt, ...) DPE_PRINTF(2, 3);

/* Keeps the first error; 0 makes yajl stop. */
static int fail(struct dpe_jsonl *j, const char *fmt, ...)
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
	return 0;
}

static int wrong_type(struct dpe_jsonl *j, const char *wanted, struct dpe_value value)
{
	struct dpe_text text = {0};

	dpe_value_print_json(&text, value);
	if (text.len > 40) {
		text.len = 37;
		dpe_text_puts(&text, "…");
	}
	fail(j, "\"%s\" must be %s, not %s", member_names[j->member], wanted, text.at);
	dpe_text_free(&text);
	return 0;
}

/* ---- members ----------------------------------------------------------------------------- */

static bool is_whole(struct dpe_value value)
{
	return value.kind == DPE_UINT || (value.kind == DPE_INT && value.num >= 0);
}

static bool is_id(struct dpe_value value)
{
	return value.kind == DPE_INT || value.kind == DPE_UINT || value.kind == DPE_POINTER ||
	       value.kind == DPE_STRING;
}

/* The text of a JSON string, also where it looks like a pointer. */
static const char *string_of(struct dpe_jsonl *j, struct dpe_value value)
{
	if (value.kind == DPE_STRING)
		return value.text;
	if (value.kind == DPE_POINTER)
		return dpe_arena_printf(j->arena, "0x%" PRIx64, (uint64_t)value.num);
	return NULL;
}

static int set_id(struct dpe_jsonl *j, struct dpe_value *to, struct dpe_value value)
{
	if (!is_id(value))
		return wrong_type(j, "a string or a whole number", value);
	*to = value;
	return 1;
}

static int set_number(struct dpe_jsonl *j, uint64_t *to, bool *has, struct dpe_value value)
{
	if (!is_whole(value))
		return wrong_type(j, "a whole number, 0 or greater", value);
	*to = (uint64_t)value.num;
	*has = true;
	return 1;
}

static int set_event(struct dpe_jsonl *j, struct dpe_value value)
{
	const char *text = string_of(j, value);

	if (!text || !*text)
		return wrong_type(j, "the event's name", value);
	dpe_event_parse(j->names, text, strlen(text), &j->draft.name, &j->draft.phase);
	return 1;
}

static int set_text(struct dpe_jsonl *j, struct dpe_value value)
{
	const char *text = string_of(j, value);

	if (!text)
		return wrong_type(j, "a string", value);
	if (j->member == M_MODULE)
		j->draft.module = dpe_intern_string(j->names, text);
	else
		j->draft.comm = text;
	return 1;
}

static int set_header(struct dpe_jsonl *j, struct dpe_value value)
{
	if (value.kind != DPE_INT)
		return wrong_type(j, "the version of the format, 1", value);
	j->version = value.num;
	return 1;
}

static void add_extra(struct dpe_jsonl *j, struct dpe_value value)
{
	dpe_value_print_json(&j->extra, value);
}

/* A value that stands right in the object. */
static int set_member(struct dpe_jsonl *j, struct dpe_value value)
{
	struct dpe_message *draft = &j->draft;

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
		return set_number(j, &draft->seq, &draft->has_seq, value);
	case M_TIME:
		return set_number(j, &draft->time, &draft->has_time, value);
	case M_RET:
		draft->ret = value;
		return 1;
	case M_MODULE:
	case M_COMM:
		return set_text(j, value);
	case M_HEADER:
		return set_header(j, value);
	case M_ORDERED:
		j->ordered = value.kind == DPE_RAW && !strcmp(value.text, "true");
		add_extra(j, value); /* of a message, where it means nothing */
		return 1;
	case M_LOST:
		if (!is_whole(value))
			return wrong_type(j, "how many messages were lost", value);
		j->lost = (uint64_t)value.num;
		return 1;
	case M_PRED:
		return wrong_type(j, "an array of ids", value);
	case M_ARGS:
		return wrong_type(j, "an array of values", value);
	case M_STACK:
		return wrong_type(j, "an array of strings", value);
	case M_VARS:
		return wrong_type(j, "an object", value);
	case M_UNKNOWN:
		add_extra(j, value);
		return 1;
	}
	return 1;
}

static int add_element(struct dpe_jsonl *j, struct dpe_value value)
{
	if (j->member == M_PRED && !is_id(value))
		return wrong_type(j, "an array of ids (strings or whole numbers)", value);
	if (j->member == M_STACK && !string_of(j, value))
		return wrong_type(j, "an array of strings", value);
	if (j->nlist == UINT16_MAX)
		return fail(
			j, "\"%s\" has more than %d elements", member_names[j->member], UINT16_MAX);
	*DPE_GROW(j->list, j->nlist, j->caplist) = value;
	return 1;
}

static int take_value(struct dpe_jsonl *j, struct dpe_value value)
{
	if (j->depth == 0)
		return fail(j, "a message is an object, {\"event\":…}");
	if (j->depth == 1)
		return set_member(j, value);
	if (j->member != M_VARS)
		return add_element(j, value);
	if (j->nvars == UINT16_MAX)
		return fail(j, "\"vars\" has more than %d members", UINT16_MAX);
	*DPE_GROW(j->vars, j->nvars, j->capvars) = (struct dpe_var){j->var, value};
	return 1;
}

static const struct dpe_value *keep_list(struct dpe_jsonl *j)
{
	struct dpe_value *kept = dpe_arena_alloc(j->arena, (j->nlist + 1) * sizeof(*kept));

	if (j->nlist)
		memcpy(kept, j->list, j->nlist * sizeof(*kept));
	return kept;
}

static void end_list(struct dpe_jsonl *j)
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

/* ---- what yajl calls --------------------------------------------------------------------- */

/* Before a value within a nested one. */
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
	return take_value(j,
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
		return take_value(j, number_value(j, text, len));
	add_comma(j);
	dpe_text_add(&j->raw, text, len);
	return 1;
}

/* "0x…" as it would be printed again is a pointer; anything else is text. */
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
		return fail(j, "a string holds the character \\u0000, which no text can");
	if (is_pointer(text, len, &num))
		return take_value(j, dpe_value_pointer(num));
	value.text = dpe_arena_strndup(j->arena, text, len);
	return take_value(j, value);
}

static enum member find_member(const char *text, size_t len)
{
	for (unsigned i = 0; i < M_UNKNOWN; i++) {
		if (strlen(member_names[i]) == len && !memcmp(member_names[i], text, len))
			return i;
	}
	return M_UNKNOWN;
}

static int begin_member(struct dpe_jsonl *j, const char *text, size_t len)
{
	j->member = find_member(text, len);
	if (j->member == M_UNKNOWN || j->member == M_ORDERED) {
		dpe_text_puts(&j->extra, j->extra.len ? "," : "");
		dpe_json_string(&j->extra, text, len);
		dpe_text_puts(&j->extra, ":");
	}
	if (j->member == M_UNKNOWN)
		return 1;
	if (j->seen >> j->member & 1)
		return fail(j, "\"%s\" stands here twice", member_names[j->member]);
	j->seen |= 1u << j->member;
	return 1;
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
		return fail(j, "a name holds the character \\u0000, which no text can");
	if (j->depth == 1)
		return begin_member(j, text, len);
	j->var = dpe_intern(j->names, text, len);
	return 1;
}

static int begin_raw(struct dpe_jsonl *j, const char *bracket)
{
	if (j->depth + j->raw_depth >= DEEPEST)
		return fail(j, "values are nested more than %d deep", DEEPEST);
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
	return take_value(j, value);
}

static int on_map(void *context)
{
	struct dpe_jsonl *j = context;

	if (!j->depth && !j->raw_depth) {
		if (j->objects++)
			return fail(j, "a second value stands on this line: write one message a "
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
		return fail(j, "a message is an object, {\"event\":…}");
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
	end_list(j);
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

struct dpe_jsonl *dpe_jsonl_new(void)
{
	struct dpe_jsonl *j = dpe_xcalloc(1, sizeof(*j));

	j->arena = dpe_arena_new();
	return j;
}

void dpe_jsonl_free(struct dpe_jsonl *j)
{
	if (!j)
		return;
	if (j->parser)
		yajl_free(j->parser);
	dpe_arena_free(j->arena);
	dpe_text_free(&j->line);
	dpe_text_free(&j->raw);
	dpe_text_free(&j->extra);
	free(j->error);
	free(j->list);
	free(j->vars);
	free(j);
}

static void begin_line(struct dpe_jsonl *j)
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

static void end_parser(struct dpe_jsonl *j)
{
	yajl_free(j->parser);
	j->parser = NULL;
}

/* What yajl has to say, its first line without "parse error: ". */
static void tell_syntax(struct dpe_jsonl *j)
{
	const unsigned char *line = (const unsigned char *)j->line.at;
	unsigned char *text = yajl_get_error(j->parser, 0, line, j->line.len);
	size_t at = yajl_get_bytes_consumed(j->parser);
	const char *what = text ? (const char *)text : "";
	const char *colon = strstr(what, ": ");

	what = colon ? colon + 2 : what;
	fail(j, "no JSON at column %zu: %.*s", at ? at : 1, (int)strcspn(what, "\n"), what);
	yajl_free_error(j->parser, text);
}

/* False where the line is no message and no header; j->error then says why. */
static bool parse_line(struct dpe_jsonl *j)
{
	yajl_status status;

	begin_line(j);
	/* The newline ends what a word or a number would go on with on the next line. */
	j->line.at[j->line.len] = '\n';
	status = yajl_parse(j->parser, (const unsigned char *)j->line.at, j->line.len + 1);
	j->line.at[j->line.len] = '\0';
	if (status == yajl_status_ok && !j->depth && j->objects)
		return true;
	if (status == yajl_status_error)
		tell_syntax(j);
	else if (!j->error)
		fail(j, "the object does not end on this line: write one message a line");
	end_parser(j);
	return false;
}

static bool is_blank(const struct dpe_text *line)
{
	return strspn(line->at, " \t") == line->len;
}

/* The next line that is not blank. */
static bool next_line(struct dpe_log_reader *reader)
{
	struct dpe_jsonl *j = reader->jsonl;

	if (j->pending) {
		j->pending = false;
		return true;
	}
	do {
		if (!dpe_log_line(reader, &j->line, &j->whole))
			return false;
	} while (is_blank(&j->line));
	return true;
}

/* True where no line of a file can have predecessors: the member's name is nowhere in it, nor what
 * could spell it otherwise. What is no file cannot be looked at twice. */
static bool lacks_preds(FILE *from)
{
	static const char member[] = "\"pred\"";
	enum { OVERLAP = sizeof(member) - 2, PIECE = 1 << 20 };
	char *piece = dpe_xmalloc(PIECE);
	bool lacks = true;
	struct stat st;
	off_t at = 0;
	ssize_t got;

	if (fstat(fileno(from), &st) || !S_ISREG(st.st_mode))
		lacks = false;
	while (lacks && (got = pread(fileno(from), piece, PIECE, at)) != 0) {
		lacks = got > 0 && !memmem(piece, (size_t)got, member, sizeof(member) - 1) &&
			!memchr(piece, '\\', (size_t)got);
		if (got <= OVERLAP)
			break;
		at += got - OVERLAP;
	}
	free(piece);
	return lacks;
}

bool dpe_jsonl_begin(struct dpe_log_reader *reader)
{
	struct dpe_jsonl *j = reader->jsonl;

	reader->unnamed = lacks_preds(reader->from);
	if (!next_line(reader))
		return true;
	j->names = reader->names;
	j->pending = true;
	if (j->line.len > DPE_LONGEST_LINE) /* told when it is read */
		return true;
	if (!parse_line(j) || !(j->seen >> M_HEADER & 1))
		return true;
	j->pending = false;
	reader->ordered = j->ordered;
	if (j->version == 1)
		return true;
	dpe_log_error(reader, DPE_ERROR, reader->line,
		"this log is of version %" PRId64 "; only version 1 is known here", j->version);
	return false;
}

static bool check_message(struct dpe_jsonl *j)
{
	if (j->seen >> M_HEADER & 1)
		return fail(j, "a header can only be the first line of a log");
	if (!(j->seen >> M_EVENT & 1) && !(j->seen >> M_LOST & 1))
		return fail(j, "a message needs an \"event\", the name of what happened");
	if ((j->seen >> M_EVENT & 1) && (j->seen >> M_LOST & 1))
		return fail(j, "\"dpe_lost\" stands on a line of its own, without an \"event\"");
	return true;
}

/* True where the line is JSON from its beginning to its end, message or not. */
static bool is_json(const struct dpe_text *line)
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

static int skip_line(struct dpe_log_reader *reader)
{
	struct dpe_jsonl *j = reader->jsonl;

	if (!j->whole && !is_json(&j->line)) {
		dpe_log_error(reader, DPE_WARNING, reader->line,
			"the log ends in the middle of a line: what came after is lost");
		reader->cut_off = true;
		return 0;
	}
	dpe_log_error(reader, DPE_ERROR, reader->line, "%s", j->error);
	return -1;
}

/* No thread has the id 0. */
static struct dpe_value nobodys(struct dpe_value thread)
{
	bool nobody = thread.kind == DPE_INT && !thread.num;

	return nobody ? (struct dpe_value){.kind = DPE_NONE} : thread;
}

/* As dpe_jsonl_read; 2 after a line that is no message. */
static int read_one(struct dpe_log_reader *reader, struct dpe_message **message)
{
	struct dpe_jsonl *j = reader->jsonl;
	struct dpe_message *draft = &j->draft;

	if (!next_line(reader))
		return 0;
	j->names = reader->names;
	if (j->line.len > DPE_LONGEST_LINE) {
		begin_line(j);
		fail(j, "the line has more than %u bytes", DPE_LONGEST_LINE);
		return skip_line(reader);
	}
	if (!parse_line(j) || !check_message(j))
		return skip_line(reader);
	if (j->seen >> M_LOST & 1) {
		dpe_log_add_loss(reader, nobodys(draft->thread), j->lost);
		return 2;
	}
	draft->log = reader->index;
	draft->place = ++reader->place;
	draft->unnamed = reader->unnamed;
	draft->vars = j->vars;
	draft->nvars = (uint16_t)j->nvars;
	draft->extra = j->extra.len ? j->extra.at : NULL;
	*message = dpe_message_new_in(reader->pool, draft);
	return 1;
}

int dpe_jsonl_read(struct dpe_log_reader *reader, struct dpe_message **message)
{
	int got;

	do
		got = read_one(reader, message);
	while (got == 2);
	return got;
}
