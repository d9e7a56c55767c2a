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
	unsigned size; /* bytes that count of the word */
	unsigned word; /* NO_WORD: in none */
	const char *why; /* it has no value; NULL: it has */
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
static const char is_structure[] = "it is a structure, or a number of more than 8 bytes";
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
	return shape->size ? is_structure : is_nothing;
}

static void add_slot(struct places *places, enum dpe_abi_kind kind, uint64_t size, unsigned word)
{
	*DPE_GROW(places->slots, places->nslots, places->capslots) =
		(struct slot){kind, size < 8 ? (unsigned)size : 8, word, NULL};
}

/* A value goes into registers as a whole, or not at all. */
static void place(struct places *places, const struct dpe_abi_shape *shape)
{
	unsigned integers = 0, vectors = 0, word = NO_WORD;

	for (unsigned i = 0; i < DPE_COUNT(shape->words); i++) {
		integers += shape->words[i] == DPE_ABI_INTEGER;
		vectors += shape->words[i] == DPE_ABI_SSE;
	}
	if (!shape->memory && !integers && !vectors) {
		add_slot(places, DPE_ABI_OPAQUE, 0, NO_WORD);
		places->slots[places->nslots - 1].why = why_opaque(shape);
		return;
	}
	if (shape->memory || places->integers + integers > DPE_WORD_REGISTERS ||
		places->vectors + vectors > SSE_REGISTERS) {
		word = take_stack(places, shape->size, shape->aligned);
	} else {
		if (integers)
			word = places->integers;
		places->integers += integers;
		places->vectors += vectors;
	}
	add_slot(places, shape->kind, shape->size, shape->kind ? word : NO_WORD);
	places->slots[places->nslots - 1].why = why_opaque(shape);
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
		add_slot(places, DPE_ABI_OPAQUE, 0, NO_WORD);
		places->slots[places->nslots - 1].why = "Go hands over values in its own ways";
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

static const struct dpe_signature *from_dwarf(
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
	s->result = (struct slot){result.hidden ? DPE_ABI_OPAQUE : result.kind,
		result.size < 8 ? (unsigned)result.size : 8, 0, NULL};
	if (has_result && (result.hidden || !result.kind))
		s->result.why = foreign ? "Go hands over values in its own ways"
				: result.hidden ? is_structure : why_opaque(&result);
	return s;
}

/* ---- without debug information ----------------------------------------------------------- */

static struct slot slot_of_letter(char letter, unsigned word)
{
	switch (letter) {
	case 'i':
		return (struct slot){DPE_ABI_SIGNED, 4, word, NULL};
	case 'u':
		return (struct slot){DPE_ABI_UNSIGNED, 4, word, NULL};
	case 'z':
		return (struct slot){DPE_ABI_UNSIGNED, 8, word, NULL};
	default:
		return (struct slot){DPE_ABI_POINTER, 8, word, NULL};
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
	s->result = (struct slot){DPE_ABI_SIGNED, 8, 0, NULL};
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
		return from_dwarf(&die, nargs_wanted, arena);
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

		add_slot(&places, kind, (uint64_t)abs(sizes[i]), i);
		if (!sizes[i])
			places.slots[i].why = in_nothing;
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
	if (arg >= s->nargs || !s->args[arg].kind || s->args[arg].word >= DPE_WORDS)
		return -1;
	return (int)s->args[arg].word;
}

const char *dpe_signature_obstacle(const struct dpe_signature *s, unsigned arg)
{
	if (arg >= s->nargs)
		return NULL;
	if (s->args[arg].why)
		return s->args[arg].why;
	if (s->args[arg].kind && s->args[arg].word >= DPE_WORDS)
		return "it lies too far up the stack";
	return s->args[arg].kind ? NULL : "it is no number";
}

const char *dpe_signature_ret_obstacle(const struct dpe_signature *s)
{
	return s->has_result ? s->result.why : NULL;
}

unsigned dpe_signature_needed(const struct dpe_signature *s)
{
	unsigned words = 0;

	for (unsigned i = 0; i < s->nargs; i++)
		if (s->args[i].word < DPE_WORDS && s->args[i].word >= words)
			words = s->args[i].word + 1;
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

static struct dpe_value opaque(void)
{
	return (struct dpe_value){.kind = DPE_RAW, .len = 4, .text = "null"};
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
	struct dpe_value *args, unsigned max)
{
	unsigned count = s->nargs < max ? s->nargs : max;

	for (unsigned i = 0; i < count; i++) {
		const struct slot *slot = &s->args[i];

		args[i] = slot->word < nwords ? value_of(slot, words[slot->word]) : opaque();
	}
	return count;
}

struct dpe_value dpe_signature_ret(const struct dpe_signature *s, uint64_t rax)
{
	return s->has_result ? value_of(&s->result, rax) : (struct dpe_value){.kind = DPE_NONE};
}
