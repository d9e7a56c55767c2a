/* text_values: bytes of the target as UTF-8, and texts that events are compared with before they are sent.
 */
#include "probes/plan/text_values.h"

#include <bpf/bpf.h>
#include <string.h>

/* ---- as values --------------------------------------------------------------------------- */

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

void dpe_texts_tell_cut(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	uint64_t count = dpe_attach_cut_texts(probes);

	if (count)
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"%llu event%s lost: a text by which rules tell things apart was longer "
			"than %d "
			"bytes",
			(unsigned long long)count, count == 1 ? " is" : "s are", DPE_TEXT_SIZE - 1);
}

/* ---- wanted by the kernel's side --------------------------------------------------------- */

/* The filter number `number` of all that compare texts; NULL: there is none. */
static const char *text_at(const struct dpe_plan *plan, unsigned number)
{
	for (unsigned i = 0; i < 2 * plan->nsites; i++) {
		const struct dpe_filters *filters = &plan->sites[i / 2].filters[i % 2];

		for (unsigned j = 0; j < filters->count; j++)
			if (filters->at[j].text && !number--)
				return filters->at[j].text;
	}
	return NULL;
}

int dpe_wanted_text(const struct dpe_probes *probes, const char *text)
{
	for (unsigned i = 0; i < DPE_WANTED_TEXTS; i++) {
		const char *wanted = text_at(probes->plan, i);

		if (!wanted)
			return -1;
		if (!strcmp(wanted, text))
			return (int)i;
	}
	return -1;
}

void dpe_wanted_texts_tell(const struct dpe_probes *probes, int map)
{
	const char *text;

	for (unsigned i = 0; i < DPE_WANTED_TEXTS && (text = text_at(probes->plan, i)); i++) {
		char bytes[DPE_TEXT_SIZE] = "";

		memcpy(bytes, text, strlen(text)); /* is shorter: see plan_reads.c */
		bpf_map_update_elem(map, &i, bytes, BPF_ANY);
	}
}
