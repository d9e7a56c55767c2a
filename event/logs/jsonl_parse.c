/* Parses the JSON of a line in one pass, without a tree: members go to jsonl_members.c as they are
 * read. Numbers keep their text, so that they keep their precision. */
#include "event/logs/jsonl_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------------------------ */

static bool fail_syntax(struct dpe_jsonl *j, const char *what)
{
	if (j->at == j->end) {
		j->ended_early = true;
		return dpe_jsonl_fail(
			j, "the object does not end on this line: write one message a line");
	}
	return dpe_jsonl_fail(j, "no JSON at column %zu: %s", (size_t)(j->at - j->line.at) + 1, what);
}

/* ---- tokens ------------------------------------------------------------------------------ */

/* The line is followed by NUL. */
static inline void skip_blanks(struct dpe_jsonl *j)
{
	while (*j->at == ' ' || *j->at == '\t')
		j->at++;
}

static inline bool take(struct dpe_jsonl *j, char byte)
{
	if (*j->at != byte)
		skip_blanks(j);
	if (*j->at != byte)
		return false;
	j->at++;
	return true;
}

/* The code unit of the four digits behind "\u"; -1 if they are not hexadecimal. */
static int take_hex(struct dpe_jsonl *j)
{
	int unit = 0;

	for (unsigned i = 0; i < 4; i++, j->at++) {
		char c = j->at < j->end ? *j->at : '\0';

		if (c >= '0' && c <= '9')
			unit = unit << 4 | (c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			unit = unit << 4 | ((c | 32) - 'a' + 10);
		else
			return -1;
	}
	return unit;
}

static void add_utf8(struct dpe_text *to, unsigned code)
{
	char bytes[4];
	unsigned len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (unsigned i = len; i-- > 1; code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(len == 1 ? code : (0xf00u >> len & 0xff) | code);
	dpe_text_add(to, bytes, len);
}

/* "\u…", with a second unit if the first is a high surrogate. */
static bool take_unicode(struct dpe_jsonl *j)
{
	int high = take_hex(j), low;

	if (high < 0)
		return fail_syntax(j, "four hexadecimal digits are expected after \\u");
	if (!high)
		return dpe_jsonl_fail(j, "a string holds the character \\u0000, which text cannot");
	if (high < 0xd800 || high > 0xdfff) {
		add_utf8(&j->string, (unsigned)high);
		return true;
	}
	if (high > 0xdbff || j->end - j->at < 2 || j->at[0] != '\\' || j->at[1] != 'u')
		return fail_syntax(j, "a surrogate needs its pair");
	j->at += 2;
	low = take_hex(j);
	if (low < 0xdc00 || low > 0xdfff)
		return fail_syntax(j, "a surrogate needs its pair");
	add_utf8(&j->string, 0x10000u + ((unsigned)(high - 0xd800) << 10) + (unsigned)(low - 0xdc00));
	return true;
}

static bool take_escape(struct dpe_jsonl *j)
{
	static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";

	if (j->at == j->end)
		return fail_syntax(j, "");
	if (*j->at == 'u') {
		j->at++;
		return take_unicode(j);
	}
	for (const char *at = letters; *at; at += 2) {
		if (*at == *j->at) {
			dpe_text_add(&j->string, at + 1, 1);
			j->at++;
			return true;
		}
	}
	return fail_syntax(j, "this escape is unknown");
}

struct json_slice {
	const char *at;
	size_t len;
};

static __attribute__((noinline)) bool take_escaped(struct dpe_jsonl *j, struct json_slice *slice)
{
	j->string.len = 0;
	dpe_text_add(&j->string, slice->at, (size_t)(j->at - slice->at));
	while (j->at < j->end && *j->at != '"') {
		size_t len = dpe_utf8_length((const unsigned char *)j->at, (size_t)(j->end - j->at));

		if (*j->at == '\\') {
			j->at++;
			if (!take_escape(j))
				return false;
			continue;
		}
		if (!len || (unsigned char)*j->at < 0x20)
			return fail_syntax(j, "this byte cannot be in a string");
		dpe_text_add(&j->string, j->at, len);
		j->at += len;
	}
	if (j->at == j->end)
		return fail_syntax(j, "");
	j->at++;
	*slice = (struct json_slice){j->string.at, j->string.len};
	return true;
}

/* Plain bytes of strings: ASCII without quotes and escapes, and not the NUL behind a line. */
static const bool plain[256] = {[' ' ... '!'] = true, ['#' ... '['] = true, [']' ... 0x7f] = true};

/* A string, behind its first quote: a slice of the line if it has no escapes. */
static bool take_string(struct dpe_jsonl *j, struct json_slice *slice)
{
	slice->at = j->at;
	for (;;) {
		const char *at = j->at;

		while (plain[(unsigned char)*at])
			at++;
		j->at = at;
		if (j->at == j->end)
			return fail_syntax(j, "");
		if (*j->at == '"')
			break;
		if (*j->at == '\\' || !((unsigned char)*j->at >= 0x80))
			return take_escaped(j, slice);
		size_t len = dpe_utf8_length((const unsigned char *)j->at, (size_t)(j->end - j->at));

		if (!len)
			return fail_syntax(j, "this byte is not UTF-8");
		j->at += len;
	}
	slice->len = (size_t)(j->at++ - slice->at);
	return true;
}

static bool take_digits(struct dpe_jsonl *j)
{
	const char *begin = j->at;

	while (j->at < j->end && *j->at >= '0' && *j->at <= '9')
		j->at++;
	return j->at > begin || fail_syntax(j, "a digit is expected");
}

/* `*whole`: without fraction and exponent. */
static bool take_number(struct dpe_jsonl *j, bool *whole)
{
	const char *begin = j->at;

	j->at += *j->at == '-';
	if (j->at < j->end && *j->at == '0')
		j->at++;
	else if (!take_digits(j))
		return false;
	*whole = true;
	if (j->at < j->end && *j->at == '.') {
		*whole = false;
		j->at++;
		if (!take_digits(j))
			return false;
	}
	if (j->at < j->end && (*j->at | 32) == 'e') {
		*whole = false;
		j->at++;
		if (j->at < j->end && (*j->at == '+' || *j->at == '-'))
			j->at++;
		if (!take_digits(j))
			return false;
	}
	if (j->at < j->end && *j->at >= '0' && *j->at <= '9')
		return j->at = begin, fail_syntax(j, "a number does not begin with 0");
	return true;
}

static const char *take_word(struct dpe_jsonl *j)
{
	static const char *const words[] = {"true", "false", "null"};

	for (unsigned i = 0; i < DPE_COUNT(words); i++) {
		size_t len = strlen(words[i]), left = (size_t)(j->end - j->at);

		if (memcmp(j->at, words[i], left < len ? left : len) != 0)
			continue;
		j->at += left < len ? left : len;
		return left < len ? fail_syntax(j, ""), NULL : words[i];
	}
	fail_syntax(j, "a value is expected");
	return NULL;
}

/* ---- values ------------------------------------------------------------------------------ */

/* Up to 18 digits fit into 64 bits. */
static struct dpe_value number_value(struct dpe_jsonl *j, const char *text, size_t len, bool whole)
{
	bool negative = *text == '-';
	struct dpe_value value = {.kind = DPE_RAW, .len = (uint32_t)len};
	int64_t num = 0;
	char *end;

	if (whole && len <= 18 && !(negative && text[1] == '0')) {
		for (size_t i = negative; i < len; i++)
			num = num * 10 + (text[i] - '0');
		return dpe_value_int(negative ? -num : num);
	}
	value.text = dpe_arena_strndup(j->arena, text, len);
	if (!whole || !strcmp(value.text, "-0"))
		return value;
	errno = 0;
	num = strtoll(value.text, &end, 10);
	if (!errno)
		return dpe_value_int(num);
	errno = 0;
	num = (int64_t)strtoull(value.text, &end, 10);
	return !errno && !negative ? (struct dpe_value){.kind = DPE_UINT, .num = num} : value;
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

static struct dpe_value string_value(struct dpe_jsonl *j, struct json_slice slice)
{
	struct dpe_value value = {.kind = DPE_STRING, .len = (uint32_t)slice.len};
	uint64_t num;

	if (is_pointer(slice.at, slice.len, &num))
		return dpe_value_pointer(num);
	if (slice.at == j->string.at) {
		value.text = dpe_arena_strndup(j->arena, slice.at, slice.len);
		return value;
	}
	j->line.at[slice.at + slice.len - j->line.at] = '\0'; /* replaces the closing quote */
	value.text = slice.at;
	return value;
}

static bool add_nested(struct dpe_jsonl *j, unsigned depth);

/* Members of a nested object, or elements of a nested array, after the opening bracket. */
static bool add_nested_list(struct dpe_jsonl *j, char open, unsigned depth)
{
	const char close = open == '{' ? '}' : ']';
	struct json_slice key;

	if (depth >= DPE_MAX_NESTING)
		return dpe_jsonl_fail(j, "values are nested more than %d deep", DPE_MAX_NESTING);
	dpe_text_add(&j->raw, &open, 1);
	for (bool first = true; !take(j, close); first = false) {
		if (!first && !take(j, ','))
			return fail_syntax(j, "a comma or a bracket is expected");
		dpe_text_puts(&j->raw, first ? "" : ",");
		if (open == '{') {
			if (!take(j, '"'))
				return fail_syntax(j, "a name in quotes is expected");
			if (!take_string(j, &key))
				return false;
			dpe_json_string(&j->raw, key.at, key.len);
			if (!take(j, ':'))
				return fail_syntax(j, "a colon is expected");
			dpe_text_puts(&j->raw, ":");
		}
		if (!add_nested(j, depth))
			return false;
	}
	dpe_text_add(&j->raw, &close, 1);
	return true;
}

/* A value within a nested one: its text without blanks goes to j->raw. */
static bool add_nested(struct dpe_jsonl *j, unsigned depth)
{
	const char *begin, *word;
	struct json_slice slice;
	bool whole;

	skip_blanks(j);
	begin = j->at;
	if (take(j, '{') || take(j, '['))
		return add_nested_list(j, *begin, depth + 1);
	if (take(j, '"')) {
		if (!take_string(j, &slice))
			return false;
		dpe_json_string(&j->raw, slice.at, slice.len);
		return true;
	}
	if (j->at < j->end && (*j->at == '-' || (*j->at >= '0' && *j->at <= '9'))) {
		if (!take_number(j, &whole))
			return false;
		dpe_text_add(&j->raw, begin, (size_t)(j->at - begin));
		return true;
	}
	word = take_word(j);
	dpe_text_puts(&j->raw, word ? word : "");
	return word;
}

static bool take_nested(struct dpe_jsonl *j, unsigned depth, struct dpe_value *value)
{
	j->raw.len = 0;
	if (!add_nested_list(j, j->at[-1], depth))
		return false;
	*value = (struct dpe_value){.kind = DPE_RAW, .len = (uint32_t)j->raw.len};
	value->text = dpe_arena_strndup(j->arena, j->raw.at, j->raw.len);
	return true;
}

/* `depth`: of the value in the line, if it is nested. */
static bool take_any(struct dpe_jsonl *j, unsigned depth, struct dpe_value *value)
{
	const char *begin, *word;
	struct json_slice slice;
	bool whole;

	skip_blanks(j);
	begin = j->at;
	if (take(j, '"')) {
		if (!take_string(j, &slice))
			return false;
		*value = string_value(j, slice);
		return true;
	}
	if (j->at < j->end && (*j->at == '-' || (*j->at >= '0' && *j->at <= '9'))) {
		if (!take_number(j, &whole))
			return false;
		*value = number_value(j, begin, (size_t)(j->at - begin), whole);
		return true;
	}
	if (take(j, '{') || take(j, '['))
		return take_nested(j, depth, value);
	word = take_word(j);
	if (!word)
		return false;
	*value = (struct dpe_value){.kind = DPE_RAW, .len = (uint32_t)strlen(word), .text = word};
	return true;
}

/* ---- the object of a line ---------------------------------------------------------------- */

/* The array of args, pred or stack, or the object of vars, behind its bracket. */
static bool take_collection(struct dpe_jsonl *j, char close)
{
	struct dpe_value value;
	struct json_slice key;

	j->nlist = 0;
	for (bool first = true; !take(j, close); first = false) {
		if (!first && !take(j, ','))
			return fail_syntax(j, "a comma or a bracket is expected");
		if (close == '}') {
			if (!take(j, '"'))
				return fail_syntax(j, "a name in quotes is expected");
			if (!take_string(j, &key))
				return false;
			j->var = dpe_intern(j->names, key.at, key.len);
			if (!take(j, ':'))
				return fail_syntax(j, "a colon is expected");
		}
		if (!take_any(j, 2, &value) || !dpe_jsonl_take_element(j, value))
			return false;
	}
	if (close == ']')
		dpe_jsonl_end_list(j);
	return true;
}

static bool take_member(struct dpe_jsonl *j)
{
	struct dpe_value value;
	struct json_slice key;

	if (!take(j, '"'))
		return fail_syntax(j, "a name in quotes is expected");
	if (!take_string(j, &key) || !dpe_jsonl_begin_member(j, key.at, key.len))
		return false;
	if (!take(j, ':'))
		return fail_syntax(j, "a colon is expected");
	if ((j->member == M_ARGS || j->member == M_PRED || j->member == M_STACK) && take(j, '['))
		return take_collection(j, ']');
	if (j->member == M_VARS && take(j, '{'))
		return take_collection(j, '}');
	return take_any(j, 1, &value) && dpe_jsonl_take_member(j, value);
}

static bool check_end(struct dpe_jsonl *j)
{
	skip_blanks(j);
	return j->at == j->end ||
	       dpe_jsonl_fail(j, "something follows the object on this line: write one message a line");
}

void dpe_jsonl_reset_line(struct dpe_jsonl *j)
{
	dpe_arena_reset(j->arena);
	free(j->error);
	j->error = NULL;
	j->draft = (struct dpe_message){0};
	j->nlist = j->nvars = 0;
	j->seen = 0;
	j->member = M_UNKNOWN;
	j->extra.len = 0;
	j->version = 0;
	j->header = (struct dpe_log_header){0};
	j->ended_early = false;
	j->at = j->line.at;
	j->end = j->line.at + j->line.len;
}

bool dpe_jsonl_parse(struct dpe_jsonl *j)
{
	struct dpe_value value;

	dpe_jsonl_reset_line(j);
	if (!take(j, '{'))
		return take_any(j, 0, &value) &&
		       dpe_jsonl_fail(j, "a message is an object, {\"event\":…}");
	for (bool first = true; !take(j, '}'); first = false) {
		if (!first && !take(j, ','))
			return fail_syntax(j, "a comma or } is expected");
		if (!take_member(j))
			return false;
	}
	return check_end(j);
}

/* ---- JSON in binary logs, which is copied into lines as it is and must not break them ------ */

/* Frees the text. */
static bool is_one_value(struct dpe_text *text)
{
	struct dpe_jsonl j = {.line = *text, .at = text->at, .end = text->at + text->len};
	bool good = add_nested(&j, 0) && j.at == j.end;

	free(j.error);
	dpe_text_free(&j.raw);
	dpe_text_free(&j.string);
	dpe_text_free(text);
	return good;
}

bool dpe_json_is_value(const char *text, size_t len)
{
	struct dpe_text copy = {0};

	dpe_text_puts(&copy, "");
	dpe_text_add(&copy, text, len);
	return is_one_value(&copy);
}

bool dpe_json_is_members(const char *text, size_t len)
{
	struct dpe_text copy = {0};

	dpe_text_puts(&copy, "{");
	dpe_text_add(&copy, text, len);
	dpe_text_puts(&copy, "}");
	return is_one_value(&copy) && len;
}
