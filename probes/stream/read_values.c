/* Variables of the target in a record: numbers by their DWARF type, text as UTF-8. */
#include "probes/stream/read_values.h"
#include "probes/stream/stream.h"

#include <string.h>

/* ---- text -------------------------------------------------------------------------------- */

#define REPLACEMENT "\xef\xbf\xbd"
#define ELLIPSIS "\xe2\x80\xa6"

_Static_assert(DPE_TEXT_ROOM >= (DPE_TEXT_SIZE - 1) * (sizeof(REPLACEMENT) + 1) + sizeof(ELLIPSIS),
	"no byte may be a character");

static char *add_byte(char *to, unsigned char byte)
{
	return to + sprintf(to, REPLACEMENT "%02x", byte);
}

static char *add_characters(char *to, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = dpe_utf8_length((const unsigned char *)bytes + i, len - i);

		if (!n || (n == 3 && !memcmp(bytes + i, REPLACEMENT, 3))) {
			to = add_byte(to, (unsigned char)bytes[i++]);
			continue;
		}
		memcpy(to, bytes + i, n);
		to += n;
		i += n;
	}
	return to;
}

struct dpe_value dpe_text_value(const char *bytes, uint64_t length, char room[DPE_TEXT_ROOM])
{
	size_t len = length <= DPE_TEXT_SIZE ? (size_t)length : DPE_TEXT_SIZE;
	char *end;

	if (!length)
		return (struct dpe_value){.kind = DPE_RAW, .len = 4, .text = "null"};
	end = add_characters(room, bytes, strnlen(bytes, len - 1));
	*end = 0;
	if (length == DPE_TEXT_CUT)
		strcpy(end, ELLIPSIS);
	return dpe_value_string(room);
}

void dpe_texts_report_cut(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	uint64_t count = dpe_attach_cut_texts(probes);

	if (count)
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"%llu event%s lost: a text that rules compare was longer "
			"than %d "
			"bytes",
			(unsigned long long)count, count == 1 ? " is" : "s are", DPE_TEXT_SIZE - 1);
}

/* ---- variables of a record --------------------------------------------------------------- */

/* Whether all of a value was read. */
static bool is_known(const struct dpe_record *record, unsigned number, unsigned slots)
{
	uint32_t bits = (1u << slots) - 1;

	return (record->known >> number & bits) == bits;
}

/* A text that cannot be read is reported; before the return there is no result. */
static bool is_expected(const struct dpe_variable *variable, const struct dpe_record *record)
{
	return variable->is_text &&
	       (variable->word != DPE_WORD_RESULT || record->kind == DPE_RECORD_EXIT);
}

static struct dpe_value value_of(
	const struct dpe_variable *variable, const uint64_t *values, char text[DPE_NUMBER_TEXT])
{
	if (!variable->is_wide)
		return dpe_variable_value(variable, values[0], text);
	return dpe_value_wide((dpe_wide)values[1] << 64 | values[0], variable->is_signed, text);
}

unsigned dpe_reads_fill(const struct dpe_probes *probes, uint64_t reads,
	const struct dpe_record *record, size_t size, struct dpe_var *vars,
	struct dpe_value_texts *texts)
{
	const char *end = (const char *)record + size;
	const char *characters = end - (record->ntexts ? DPE_TEXTS * DPE_TEXT_SIZE : 0);
	const uint64_t *values = (const uint64_t *)characters - DPE_VALUES;
	const struct dpe_site *site =
		record->kind <= DPE_RECORD_EXIT ? &probes->sites[record->site] : NULL;
	unsigned count = 0, number = 0, ntexts = 0;

	for (unsigned i = 0; i < probes->plan->nreads && number < record->nvalues; i++) {
		const struct dpe_variable *variable;
		struct dpe_var var = {.name = probes->plan->reads[i].name};
		unsigned slots;
		bool known;

		if (!(reads >> i & 1))
			continue;
		variable = dpe_read_variable(probes, site, i);
		slots = dpe_read_slots(variable);
		known = is_known(record, number, slots);
		if (variable->is_text) {
			var.value = dpe_text_value(characters + ntexts * DPE_TEXT_SIZE,
				known ? values[number] : 0, texts->strings[ntexts]);
			ntexts++;
		} else if (known) {
			var.value = value_of(variable, &values[number], texts->numbers[count]);
		}
		number += slots;
		if (known || is_expected(variable, record))
			vars[count++] = var;
	}
	return count;
}
