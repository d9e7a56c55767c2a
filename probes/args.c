/* args: signatures from DWARF, from the table of prototypes, or from nothing but a number. */
#include "probes/args.h"

#include "probes/abi.h"
#include "probes/bpf/record.h"
#include "probes/dwarf.h"
#include "probes/prototypes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SSE_REGISTERS 8
#define NO_WORD UINT_MAX

/* One argument, or the result. */
struct slot {
	enum dpe_abi_kind kind;
	unsigned size; /* bytes that count of the word; 16: and of the next one */
	unsigned word; /* the first; NO_WORD: in none */
	const char *why; /* it has no value; NULL: it has */
	/* Of a structure that is handed over as a whole: its eightbytes, each in a word or in NO_WORD.
	 * `words`: it lies in so many of the stack's, from `word` on. */
	bool is_structure;
	unsigned parts[2], words;
};

struct dpe_signature {
	unsigned nargs;
	struct slot *args;
	bool has_result;
	struct slot result;
};

/* What is taken so far while arguments are placed one after the other. */
struct places {
	struct slot *slots;
	unsigned nslots, capslots;
	unsigned integers, vectors, stack;
};

/* ---- placing ----------------------------------------------------------------------------- */

static unsigned take_stack(struct places *places, uint64_t size, bool aligned)
{
	unsigned word;

	if (aligned)
		places->stack += places->stack % 2;
	word = DPE_WORD_REGISTERS + places->stack;
	/* Beyond what a record holds it does not matter how far. */
	if (places->stack < DPE_WORDS)
		places->stack += size < 8 * DPE_WORDS ? (unsigned)(size + 7) / 8 : DPE_WORDS;
	return word;
}

static unsigned take_integer(struct places *places)
{
	if (places->integers < DPE_WORD_REGISTERS)
		return places->integers++;
	return take_stack(places, 8, false);
}

static const char in_vectors[] = "it is handed over in a register for floating point numbers, which "
				 "probes cannot read";
static const char is_structure[] = "it is a structure that is handed over as a whole: name its "
				   "members, as in x.member";
static const char is_returned[] = "it is a structure that is returned as a whole";
static const char is_long[] = "it is a floating point number of more than 8 bytes";
static const char in_nothing[] = "it is a floating point number, or where no probe can read";
static const char is_nothing[] = "it is nothing that has a value";

/* Why what is of no kind has no value. */
static const char *why_opaque(const struct dpe_abi_shape *shape)
{
	if (shape->kind)
		return NULL;
	if (!shape->memory && !shape->hidden && shape->words[0] == DPE_ABI_SSE &&
		shape->words[1] != DPE_ABI_INTEGER)
		return in_vectors;
	if (shape->aggregate)
		return is_structure;
	return shape->size ? is_long : is_nothing;
}

static unsigned size_of_slot(enum dpe_abi_kind kind, uint64_t size)
{
	return size < 8 || (size == 16 && kind) ? (unsigned)size : 8;
}

static struct slot *add_slot(
	struct places *places, enum dpe_abi_kind kind, uint64_t size, unsigned word)
{
	struct slot *slot = DPE_GROW(places->slots, places->nslots, places->capslots);

	*slot = (struct slot){.kind = kind, .size = size_of_slot(kind, size), .word = word};
	return slot;
}

static void note_parts(struct slot *slot, const struct dpe_abi_shape *shape, unsigned word, bool stack)
{
	slot->is_structure = true;
	slot->words = stack ? (unsigned)((shape->size + 7) / 8) : 0;
	slot->word = stack ? word : NO_WORD;
	for (unsigned i = 0; i < 2; i++)
		slot->parts[i] =
			!stack && shape->words[i] == DPE_ABI_INTEGER ? word++ : NO_WORD;
}

/* A value goes into registers as a whole, or not at all. */
static void place(struct places *places, const struct dpe_abi_shape *shape)
{
	unsigned integers = 0, vectors = 0, word = NO_WORD;
	bool stack = false;
	struct slot *slot;

	for (unsigned i = 0; i < DPE_COUNT(shape->words); i++) {
		integers += shape->words[i] == DPE_ABI_INTEGER;
		vectors += shape->words[i] == DPE_ABI_SSE;
	}
	if (!shape->memory && !integers && !vectors) {
		add_slot(places, DPE_ABI_OPAQUE, 0, NO_WORD)->why = why_opaque(shape);
		return;
	}
	if (shape->memory || places->integers + integers > DPE_WORD_REGISTERS ||
		places->vectors + vectors > SSE_REGISTERS) {
		word = take_stack(places, shape->size, shape->aligned);
		stack = true;
	} else {
		if (integers)
			word = places->integers;
		places->integers += integers;
		places->vectors += vectors;
	}
	slot = add_slot(places, shape->kind, shape->size, shape->kind ? word : NO_WORD);
	slot->why = why_opaque(shape);
	if (shape->aggregate)
		note_parts(slot, shape, word, stack);
}

static struct dpe_signature *finish(struct places *places, struct dpe_arena *arena)
{
	struct dpe_signature *s = dpe_arena_alloc(arena, sizeof(*s));

	s->nargs = places->nslots;
	if (s->nargs) {
		s->args = dpe_arena_alloc(arena, s->nargs * sizeof(*s->args));
		memcpy(s->args, places->slots, s->nargs * sizeof(*s->args));
	}
	free(places->slots);
	return s;
}

/* ---- from debug information -------------------------------------------------------------- */

/* Go's functions take and give values in registers of their own choice. */
static bool is_foreign(Dwarf_Die *function)
{
	Dwarf_Die unit;

	return dwarf_diecu(function, &unit, NULL, NULL) && dwarf_srclang(&unit) == DW_LANG_Go;
}

static void place_parameter(struct places *places, Dwarf_Die *parameter, bool foreign)
{
	struct dpe_abi_shape shape = {.kind = DPE_ABI_SIGNED, .size = 8};
	Dwarf_Die type;

	shape.words[0] = DPE_ABI_INTEGER;
	if (foreign) {
		add_slot(places, DPE_ABI_OPAQUE, 0, NO_WORD)->why =
			"Go hands over values in its own ways";
		return;
	}
	if (dpe_dwarf_type(parameter, &type))
		shape = dpe_abi_shape(&type);
	place(places, &shape);
}

/* True where the function takes further arguments that are not declared. */
static bool place_parameters(struct places *places, Dwarf_Die *function, bool foreign)
{
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			place_parameter(places, &child, foreign);
		else if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static void place_numbers(struct places *places, unsigned until)
{
	while (places->nslots < until)
		add_slot(places, DPE_ABI_SIGNED, 8, take_integer(places));
}

static struct dpe_signature *from_dwarf(
	Dwarf_Die *function, unsigned nargs_wanted, struct dpe_arena *arena)
{
	bool foreign = is_foreign(function), has_result;
	struct dpe_abi_shape result = {0};
	struct places places = {0};
	struct dpe_signature *s;
	Dwarf_Die type;

	has_result = dpe_dwarf_type(function, &type);
	if (has_result && !foreign)
		result = dpe_abi_shape(&type);
	if (result.hidden)
		places.integers++;
	if (place_parameters(&places, function, foreign))
		place_numbers(&places, nargs_wanted);
	s = finish(&places, arena);
	s->has_result = has_result;
	s->result = (struct slot){.kind = result.hidden ? DPE_ABI_OPAQUE : result.kind,
		.size = size_of_slot(result.kind, result.size)};
	if (has_result && (result.hidden || !result.kind))
		s->result.why = foreign ? "Go hands over values in its own ways"
				: result.hidden || result.aggregate ? is_returned
								    : why_opaque(&result);
	return s;
}

/* ---- without debug information ----------------------------------------------------------- */

static struct slot slot_of_letter(char letter, unsigned word)
{
	switch (letter) {
	case 'i':
		return (struct slot){.kind = DPE_ABI_SIGNED, .size = 4, .word = word};
	case 'u':
		return (struct slot){.kind = DPE_ABI_UNSIGNED, .size = 4, .word = word};
	case 'z':
		return (struct slot){.kind = DPE_ABI_UNSIGNED, .size = 8, .word = word};
	default:
		return (struct slot){.kind = DPE_ABI_POINTER, .size = 8, .word = word};
	}
}

static const struct dpe_signature *from_prototype(
	const struct dpe_prototype *prototype, struct dpe_arena *arena)
{
	struct places places = {0};
	struct dpe_signature *s;

	for (const char *arg = prototype->args; *arg; arg++) {
		struct slot slot = slot_of_letter(*arg, 0);

		add_slot(&places, slot.kind, slot.size, take_integer(&places));
	}
	s = finish(&places, arena);
	s->has_result = prototype->result != 'v';
	s->result = slot_of_letter(prototype->result, 0);
	return s;
}

static const struct dpe_signature *from_number(unsigned nargs, struct dpe_arena *arena)
{
	struct places places = {0};
	struct dpe_signature *s;

	place_numbers(&places, nargs);
	s = finish(&places, arena);
	s->has_result = true;
	s->result = (struct slot){.kind = DPE_ABI_SIGNED, .size = 8};
	return s;
}

/* A pthread_t is the thread's address, whatever its type. */
static const struct dpe_signature *with_handles(
	struct dpe_signature *s, const struct dpe_prototype *prototype)
{
	for (unsigned i = 0; prototype && i < s->nargs && prototype->args[i]; i++)
		if (prototype->args[i] == 'h' && s->args[i].size == 8)
			s->args[i].kind = DPE_ABI_POINTER;
	return s;
}

/* The compiler's copies (f.isra.0) may take other arguments than debug information says. */
static bool is_copy(const struct dpe_function *function)
{
	return strchr(function->name, '.');
}

const struct dpe_signature *dpe_signature_of(struct dpe_module *module,
	const struct dpe_function *function, unsigned nargs_wanted, struct dpe_arena *arena)
{
	const struct dpe_prototype *prototype = dpe_prototype_find(function->name);
	Dwarf_Die die;

	if (!is_copy(function) && dpe_dwarf_function(module, function->address, &die))
		return with_handles(from_dwarf(&die, nargs_wanted, arena), prototype);
	if (prototype)
		return from_prototype(prototype, arena);
	return from_number(nargs_wanted, arena);
}

const struct dpe_signature *dpe_signature_of_sizes(
	const int *sizes, unsigned count, struct dpe_arena *arena)
{
	struct places places = {0};

	for (unsigned i = 0; i < count; i++) {
		enum dpe_abi_kind kind = sizes[i] < 0   ? DPE_ABI_SIGNED
					 : sizes[i] > 0 ? DPE_ABI_UNSIGNED
							: DPE_ABI_OPAQUE;

		struct slot *slot = add_slot(&places, kind, (uint64_t)abs(sizes[i]), i);

		if (!sizes[i])
			slot->why = in_nothing;
	}
	return finish(&places, arena);
}

/* ---- values ------------------------------------------------------------------------------ */

unsigned dpe_signature_count(const struct dpe_signature *s)
{
	return s->nargs;
}

int dpe_signature_word(const struct dpe_signature *s, unsigned arg)
{
	if (arg >= s->nargs || !s->args[arg].kind || s->args[arg].word >= DPE_WORDS ||
		s->args[arg].size > 8)
		return -1;
	return (int)s->args[arg].word;
}

static unsigned last_word(const struct slot *slot)
{
	return slot->word + (slot->size > 8);
}

bool dpe_signature_is_structure(const struct dpe_signature *s, unsigned arg)
{
	return arg < s->nargs && s->args[arg].is_structure;
}

int dpe_signature_part(
	const struct dpe_signature *s, unsigned arg, uint64_t offset, const char **why)
{
	const struct slot *slot = &s->args[arg];
	unsigned word;

	if (slot->words)
		word = offset / 8 < slot->words ? slot->word + (unsigned)(offset / 8) : NO_WORD;
	else
		word = offset < 16 ? slot->parts[offset / 8] : NO_WORD;
	*why = word == NO_WORD ? in_vectors : "it lies too far up the stack";
	return word < DPE_WORDS ? (int)word : -1;
}

const char *dpe_signature_obstacle(const struct dpe_signature *s, unsigned arg)
{
	if (arg >= s->nargs)
		return NULL;
	if (s->args[arg].why)
		return s->args[arg].why;
	if (s->args[arg].kind && last_word(&s->args[arg]) >= DPE_WORDS)
		return "it lies too far up the stack";
	return s->args[arg].kind ? NULL : "it is no number";
}

const char *dpe_signature_ret_obstacle(const struct dpe_signature *s)
{
	return s->has_result ? s->result.why : NULL;
}

static unsigned max(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* How many words must be there to have all of it, as far as records hold them. */
static unsigned words_for(const struct slot *slot)
{
	unsigned words = 0;

	if (slot->word < DPE_WORDS)
		words = slot->word + max(slot->words, 1 + (slot->size > 8));
	for (unsigned i = 0; slot->is_structure && i < 2; i++)
		words = max(words, slot->parts[i] < DPE_WORDS ? slot->parts[i] + 1 : 0);
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

static struct dpe_value opaque(void)
{
	return (struct dpe_value){.kind = DPE_RAW, .len = 4, .text = "null"};
}

static struct dpe_value wide_value(
	const struct slot *slot, uint64_t low, uint64_t high, char text[DPE_NUMBER_TEXT])
{
	return dpe_value_wide(
		(dpe_wide)high << 64 | low, slot->kind == DPE_ABI_SIGNED, text);
}

/* The upper part of a word whose value is shorter holds anything. */
static struct dpe_value value_of(const struct slot *slot, uint64_t word)
{
	unsigned unused = slot->size && slot->size < 8 ? 64 - 8 * slot->size : 0;
	struct dpe_value value;

	switch (slot->kind) {
	case DPE_ABI_SIGNED:
		return dpe_value_int((int64_t)(word << unused) >> unused);
	case DPE_ABI_UNSIGNED:
		value = dpe_value_int((int64_t)(word << unused >> unused));
		if (value.num < 0)
			value.kind = DPE_UINT;
		return value;
	case DPE_ABI_POINTER:
		return dpe_value_pointer(word);
	default:
		return opaque();
	}
}

unsigned dpe_signature_args(const struct dpe_signature *s, const uint64_t *words, unsigned nwords,
	struct dpe_value *args, unsigned max, char (*texts)[DPE_NUMBER_TEXT])
{
	unsigned count = s->nargs < max ? s->nargs : max;

	for (unsigned i = 0; i < count; i++) {
		const struct slot *slot = &s->args[i];

		if (slot->word >= nwords || last_word(slot) >= nwords)
			args[i] = opaque();
		else if (slot->size > 8)
			args[i] = wide_value(
				slot, words[slot->word], words[slot->word + 1], *texts++);
		else
			args[i] = value_of(slot, words[slot->word]);
	}
	return count;
}

bool dpe_signature_integer(
	const struct dpe_signature *s, unsigned index, unsigned *word, unsigned *size)
{
	const struct slot *slot = index < s->nargs ? &s->args[index] : NULL;

	if (!slot || slot->kind == DPE_ABI_OPAQUE || slot->word >= DPE_WORDS || slot->size > 8)
		return false;
	*word = slot->word;
	*size = slot->kind == DPE_ABI_POINTER || !slot->size ? 8 : slot->size;
	return true;
}

struct dpe_value dpe_signature_ret(const struct dpe_signature *s, uint64_t rax, uint64_t rdx,
	char text[DPE_NUMBER_TEXT])
{
	if (s->has_result && s->result.kind && s->result.size > 8)
		return wide_value(&s->result, rax, rdx, text);
	return s->has_result ? value_of(&s->result, rax) : (struct dpe_value){.kind = DPE_NONE};
}
