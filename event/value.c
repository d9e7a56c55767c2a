/* Values: equality by meaning, hash, text and JSON. */
#include "event/event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct dpe_value dpe_value_int(int64_t num)
{
	return (struct dpe_value){.kind = DPE_INT, .num = num};
}

struct dpe_value dpe_value_pointer(uint64_t num)
{
	return (struct dpe_value){.kind = DPE_POINTER, .num = (int64_t)num};
}

struct dpe_value dpe_value_string(const char *text)
{
	return (struct dpe_value){.kind = DPE_STRING, .len = (uint32_t)strlen(text), .text = text};
}

static bool has_same_text(struct dpe_value a, struct dpe_value b)
{
	return a.len == b.len && (a.text == b.text || !memcmp(a.text, b.text, a.len));
}

/* A number may have several texts, and may be an integer as well: 1, 1.0 and 1e0. */
static bool is_equal_raw(struct dpe_value a, struct dpe_value b)
{
	int order;

	if (a.kind == b.kind && has_same_text(a, b))
		return true;
	return dpe_value_compare(a, b, &order) && !order;
}

bool dpe_value_equal(struct dpe_value a, struct dpe_value b)
{
	if (dpe_value_is_word(a) && dpe_value_is_word(b))
		return a.num == b.num && dpe_value_is_negative(a) == dpe_value_is_negative(b);
	if (a.kind == DPE_RAW || b.kind == DPE_RAW)
		return is_equal_raw(a, b);
	if (a.kind != b.kind)
		return false;
	if (a.shared && b.shared) /* interned texts are equal iff they are the same */
		return a.text == b.text;
	return a.kind == DPE_NONE || has_same_text(a, b);
}

uint64_t dpe_value_hash(struct dpe_value value)
{
	uint64_t hash = 0xcbf29ce484222325ull + value.kind;

	if (dpe_value_is_word(value))
		return dpe_value_mix((uint64_t)value.num);
	if (value.kind == DPE_NONE || (value.kind == DPE_RAW && dpe_number_hash(value, &hash)))
		return hash;
	if (value.shared) { /* see names.c */
		memcpy(&hash, value.text - sizeof(hash), sizeof(hash));
		return hash;
	}
	for (uint32_t i = 0; i < value.len; i++)
		hash = (hash ^ (unsigned char)value.text[i]) * 0x100000001b3ull;
	return dpe_value_mix(hash);
}

bool dpe_value_as_int(struct dpe_value value, int64_t *num)
{
	if (!dpe_value_is_word(value) || (value.kind != DPE_INT && value.num < 0))
		return false;
	*num = value.num;
	return true;
}

void dpe_value_print(struct dpe_text *to, struct dpe_value value)
{
	switch (value.kind) {
	case DPE_NONE:
		return;
	case DPE_INT:
		dpe_text_printf(to, "%" PRId64, value.num);
		return;
	case DPE_UINT:
		dpe_text_printf(to, "%" PRIu64, (uint64_t)value.num);
		return;
	case DPE_POINTER:
		dpe_text_printf(to, "0x%" PRIx64, (uint64_t)value.num);
		return;
	case DPE_STRING:
	case DPE_RAW:
		dpe_text_add(to, value.text, value.len);
		return;
	}
}

void dpe_value_print_json(struct dpe_text *to, struct dpe_value value)
{
	switch (value.kind) {
	case DPE_NONE:
		dpe_text_puts(to, "null");
		return;
	case DPE_POINTER:
		dpe_text_printf(to, "\"0x%" PRIx64 "\"", (uint64_t)value.num);
		return;
	case DPE_STRING:
		dpe_json_string(to, value.text, value.len);
		return;
	default:
		dpe_value_print(to, value);
		return;
	}
}

static void add_escaped(struct dpe_text *to, unsigned char byte)
{
	static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *at = letters; *at; at += 2) {
		if ((unsigned char)*at == byte) {
			dpe_text_printf(to, "\\%c", at[1]);
			return;
		}
	}
	dpe_text_printf(to, "\\u%04x", byte);
}

void dpe_json_string(struct dpe_text *to, const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t plain = 0; /* start of the run copied unchanged */

	dpe_text_puts(to, "\"");
	for (size_t i = 0; i < len;) {
		size_t n = dpe_utf8_length(at + i, len - i);

		if (n && at[i] >= 0x20 && at[i] != '"' && at[i] != '\\' && at[i] != 0x7f) {
			i += n;
			continue;
		}
		dpe_text_add(to, text + plain, i - plain);
		if (n)
			add_escaped(to, at[i]);
		else
			dpe_text_puts(to, "\xef\xbf\xbd");
		plain = ++i;
	}
	dpe_text_add(to, text + plain, len - plain);
	dpe_text_puts(to, "\"");
}

struct dpe_value dpe_value_copy(struct dpe_value value)
{
	char *text;

	if (!dpe_value_has_own_text(value))
		return value;
	text = dpe_xmalloc(value.len + 1);
	memcpy(text, value.text, value.len);
	text[value.len] = '\0';
	value.text = text;
	return value;
}

void dpe_value_drop(struct dpe_value value)
{
	if (dpe_value_has_own_text(value))
		free((char *)value.text);
}
