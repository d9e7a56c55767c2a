/* The string table of a .dpel log that is written: numbers of texts and names; kinds of values. */
#include "event/logs/dpel_write.h"

void dpe_dpel_add_padded(struct dpe_text *to, const char *text, size_t len)
{
	static const char zeros[8];

	dpe_text_add(to, text, len);
	dpe_text_add(to, zeros, 8 - len % 8);
}

void dpe_dpel_add_word(struct dpe_text *to, uint64_t word)
{
	word = htole64(word);
	dpe_text_add(to, (const char *)&word, sizeof(word));
}

uint32_t dpe_dpel_string_number(struct dpe_dpel_writer *dpel, const char *text, size_t len)
{
	dpe_name number = dpe_intern(dpel->strings, text, len);

	if (number <= dpel->nstrings)
		return number;
	dpel->nstrings = number;
	dpel->written++;
	dpe_dpel_add_word(&dpel->table, len);
	dpe_dpel_add_padded(&dpel->table, text, len);
	return number;
}

uint32_t dpe_dpel_name_number(struct dpe_log_writer *writer, dpe_name name)
{
	struct dpe_dpel_writer *dpel = writer->dpel;
	uint32_t more = name * 2 + 64;
	const char *text;

	if (!name)
		return 0;
	if (name >= dpel->nof_name) {
		dpel->of_name = dpe_xrealloc(dpel->of_name, more * sizeof(*dpel->of_name));
		memset(dpel->of_name + dpel->nof_name, 0,
			(more - dpel->nof_name) * sizeof(*dpel->of_name));
		dpel->nof_name = more;
	}
	if (!dpel->of_name[name]) {
		text = dpe_name_text(writer->names, name);
		dpel->of_name[name] = dpe_dpel_string_number(dpel, text, strlen(text));
	}
	return dpel->of_name[name];
}

/* True if the value's text is to be looked up in the string table. */
static bool is_shared(const struct dpe_dpel_writer *dpel, struct dpe_value value)
{
	return value.len <= DPEL_MAX_TEXT && dpel->nstrings < DPEL_MAX_TEXTS;
}

uint8_t dpe_dpel_kind_of(const struct dpe_dpel_writer *dpel, struct dpe_value value)
{
	switch (value.kind) {
	case DPE_NONE:
		return DPEL_NONE;
	case DPE_INT:
		return DPEL_INT;
	case DPE_UINT:
		return DPEL_UINT;
	case DPE_POINTER:
		return DPEL_POINTER;
	case DPE_STRING:
		return is_shared(dpel, value) ? DPEL_STRING : DPEL_NO_KIND;
	case DPE_RAW:
		return is_shared(dpel, value) ? DPEL_RAW : DPEL_NO_KIND;
	}
	return DPEL_NO_KIND;
}
