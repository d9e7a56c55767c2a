/* The string table of a .dpel log. Everything is checked before it is used. */
#include "event/logs/dpel_read.h"

const char *dpe_dpel_take_text(const char **at, const char *end, uint64_t len)
{
	const char *text = *at;
	uint64_t whole = len / 8 * 8 + 8;

	if (len > UINT32_MAX - 8 || (uint64_t)(end - text) < whole || text[len] ||
		memchr(text, '\0', len))
		return NULL;
	*at += whole;
	return text;
}

struct dpel_string *dpe_dpel_find_string(struct dpe_dpel *dpel, uint64_t number)
{
	if (number && number < dpel->nstrings)
		return &dpel->strings[number];
	dpel_fail(dpel, "names a string that the log does not have");
	return NULL;
}

dpe_name dpe_dpel_find_name(struct dpe_log_reader *reader, uint64_t number)
{
	const struct dpel_string *string;

	if (!number)
		return 0;
	string = dpe_dpel_find_string(reader->dpel, number);
	if (!string)
		return 0;
	if (!string->name)
		reader->dpel->strings[number].name =
			dpe_intern(reader->names, string->text, string->len);
	return string->name;
}

bool dpe_dpel_find_value(struct dpe_log_reader *reader, struct dpe_value *to,
	enum dpe_value_kind kind, uint64_t number)
{
	struct dpel_string *string = dpe_dpel_find_string(reader->dpel, number);
	struct dpe_value *value;

	if (!string)
		return false;
	if (kind == DPE_RAW) {
		string->is_json = string->is_json || dpe_json_is_value(string->text, string->len);
		*to = (struct dpe_value){.kind = kind, .len = string->len, .text = string->text};
		return string->is_json || dpel_fail(reader->dpel, "holds a value that is not JSON");
	}
	value = &reader->dpel->values[number];
	if (value->kind == DPE_NONE)
		*value = dpe_value_intern(reader->names, string->text, string->len);
	*to = *value;
	return true;
}
