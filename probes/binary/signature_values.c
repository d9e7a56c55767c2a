/* Values of arguments and results, by a signature and the words of a record. */
#include "probes/binary/signature.h"
#include "probes/binary/signature_slots.h"
#include "probes/kernel/bpf/record.h"

#include <string.h>

static const char too_far[] = "it is too far up the stack";

unsigned dpe_signature_count(const struct dpe_signature *s)
{
	return s->nargs;
}

int dpe_signature_word(const struct dpe_signature *s, unsigned arg)
{
	const struct dpe_signature_slot *slot = arg < s->nargs ? &s->args[arg] : NULL;

	if (!slot || !slot->kind || slot->kind == DPE_ABI_REAL || slot->word >= DPE_WORDS ||
		slot->size > 8)
		return -1;
	return (int)slot->word;
}

static unsigned last_word(const struct dpe_signature_slot *slot)
{
	return slot->word + (slot->size > 8);
}

/* ---- structures -------------------------------------------------------------------------- */

bool dpe_signature_is_structure(const struct dpe_signature *s, unsigned arg)
{
	return arg < s->nargs && s->args[arg].is_structure;
}

int dpe_signature_part(
	const struct dpe_signature *s, unsigned arg, uint64_t offset, const char **why)
{
	const struct dpe_signature_slot *slot = &s->args[arg];
	bool in_fpreg = offset < 16 && slot->part_in_fpreg[offset / 8];
	unsigned word = DPE_NO_WORD;

	*why = in_fpreg ? dpe_signature_in_fpreg : too_far;
	if (slot->words)
		word = offset / 8 < slot->words ? slot->word + (unsigned)(offset / 8) : DPE_NO_WORD;
	else if (offset < 16)
		word = slot->parts[offset / 8];
	return word < DPE_WORDS ? (int)word : -1;
}

enum dpe_signature_type dpe_signature_type_of(const struct dpe_signature *s, unsigned arg)
{
	const struct dpe_signature_slot *slot = arg < s->nargs ? &s->args[arg] : NULL;

	if (arg == DPE_SIGNATURE_RESULT && s->has_result)
		slot = &s->result;
	if (!slot || slot->untyped || slot->why)
		return DPE_TYPE_UNKNOWN;
	if (slot->kind == DPE_ABI_POINTER)
		return DPE_TYPE_POINTER;
	return slot->kind == DPE_ABI_SIGNED || slot->kind == DPE_ABI_UNSIGNED ? DPE_TYPE_NUMBER
									      : DPE_TYPE_UNKNOWN;
}

/* ---- what has no value ------------------------------------------------------------------- */

const char *dpe_signature_obstacle(const struct dpe_signature *s, unsigned arg)
{
	const struct dpe_signature_slot *slot = arg < s->nargs ? &s->args[arg] : NULL;

	if (!slot || slot->why)
		return slot ? slot->why : NULL;
	if (slot->kind && last_word(slot) >= DPE_WORDS)
		return too_far;
	return slot->kind ? NULL : "it is no number";
}

const char *dpe_signature_ret_obstacle(const struct dpe_signature *s)
{
	return s->has_result ? s->result.why : NULL;
}

/* ---- words ------------------------------------------------------------------------------- */

static unsigned max(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static unsigned count_up_to(unsigned word)
{
	return word < DPE_WORDS ? word + 1 : 0;
}

/* How many words of the call, from the first, the value needs; at most those of a record. */
static unsigned words_for(const struct dpe_signature_slot *slot)
{
	unsigned words = 0;

	if (slot->word < DPE_WORDS)
		words = slot->word + max(slot->words, 1 + (slot->size > 8));
	for (unsigned i = 0; slot->is_structure && i < 2; i++)
		words = max(words, count_up_to(slot->parts[i]));
	return words < DPE_WORDS ? words : DPE_WORDS;
}

unsigned dpe_signature_needed(const struct dpe_signature *s)
{
	unsigned words = 0;

	for (unsigned i = 0; i < s->nargs; i++)
		words = max(words, words_for(&s->args[i]));
	return words;
}

unsigned dpe_signature_words(const struct dpe_signature *s)
{
	unsigned words = dpe_signature_needed(s);

	if (!words)
		return 0;
	if (words <= 2)
		return 2;
	return words <= DPE_WORD_REGISTERS ? DPE_WORD_REGISTERS : DPE_WORDS;
}

unsigned dpe_signature_addresses(const struct dpe_signature *s)
{
	unsigned words = 0;

	for (unsigned i = 0; i < s->nargs; i++)
		if (s->args[i].kind == DPE_ABI_POINTER && s->args[i].word < DPE_WORDS)
			words |= 1u << s->args[i].word;
	return words;
}

/* ---- values ------------------------------------------------------------------------------ */

static struct dpe_value opaque(void)
{
	return (struct dpe_value){.kind = DPE_RAW, .len = 4, .text = "null"};
}

static struct dpe_value wide_value(
	const struct dpe_signature_slot *slot, uint64_t low, uint64_t high, char text[DPE_NUMBER_TEXT])
{
	return dpe_value_wide(
		(dpe_wide)high << 64 | low, slot->kind == DPE_ABI_SIGNED, text);
}

static struct dpe_value real_value(unsigned size, uint64_t word, char text[DPE_NUMBER_TEXT])
{
	double real;
	float single;

	memcpy(&real, &word, sizeof(real));
	memcpy(&single, &word, sizeof(single));
	if (size == sizeof(single))
		return dpe_value_real((double)single, true, text);
	return dpe_value_real(real, false, text);
}

/* Whether Linux places programs, libraries, heaps and stacks there: random addresses begin with 0x55, 0x56, 0x7e or 0x7f. */
static bool looks_like_address(uint64_t word)
{
	uint64_t top = word >> 40;

	return top == 0x55 || top == 0x56 || top == 0x7e || top == 0x7f;
}

/* The upper bytes of a word are undefined where the value is shorter. */
static struct dpe_value value_of(
	const struct dpe_signature_slot *slot, uint64_t word, char text[DPE_NUMBER_TEXT])
{
	unsigned unused = slot->size && slot->size < 8 ? 64 - 8 * slot->size : 0;
	struct dpe_value value;

	switch (slot->kind) {
	case DPE_ABI_SIGNED:
		if (slot->untyped && !unused && looks_like_address(word))
			return dpe_value_pointer(word);
		return dpe_value_int((int64_t)(word << unused) >> unused);
	case DPE_ABI_UNSIGNED:
		value = dpe_value_int((int64_t)(word << unused >> unused));
		if (value.num < 0)
			value.kind = DPE_UINT;
		return value;
	case DPE_ABI_POINTER:
		return dpe_value_pointer(word);
	case DPE_ABI_REAL:
		return real_value(slot->size, word, text);
	default:
		return opaque();
	}
}

static bool is_recorded(const struct dpe_signature_slot *slot, unsigned nwords)
{
	return slot->word < nwords && last_word(slot) < nwords;
}

unsigned dpe_signature_args(const struct dpe_signature *s, const uint64_t *words, unsigned nwords,
	struct dpe_value *args, unsigned max, char (*texts)[DPE_NUMBER_TEXT])
{
	unsigned count = s->nargs < max ? s->nargs : max;

	for (unsigned i = 0; i < count; i++) {
		const struct dpe_signature_slot *slot = &s->args[i];

		if (!is_recorded(slot, nwords)) {
			args[i] = opaque();
			continue;
		}
		if (slot->size > 8)
			args[i] = wide_value(
				slot, words[slot->word], words[slot->word + 1], *texts);
		else
			args[i] = value_of(slot, words[slot->word], *texts);
		texts += slot->size > 8 || slot->kind == DPE_ABI_REAL;
	}
	return count;
}

bool dpe_signature_integer(
	const struct dpe_signature *s, unsigned index, unsigned *word, unsigned *size)
{
	const struct dpe_signature_slot *slot = index < s->nargs ? &s->args[index] : NULL;

	if (!slot || slot->kind == DPE_ABI_OPAQUE || slot->kind == DPE_ABI_REAL ||
		slot->word >= DPE_WORDS || slot->size > 8)
		return false;
	*word = slot->word;
	*size = slot->kind == DPE_ABI_POINTER || !slot->size ? 8 : slot->size;
	return true;
}

struct dpe_value dpe_signature_ret(const struct dpe_signature *s, uint64_t low, uint64_t high,
	char text[DPE_NUMBER_TEXT])
{
	if (!s->has_result)
		return (struct dpe_value){.kind = DPE_NONE};
	if (s->result.kind == DPE_ABI_REAL)
		return opaque();
	if (s->result.kind && s->result.size > 8)
		return wide_value(&s->result, low, high, text);
	return value_of(&s->result, low, text);
}
