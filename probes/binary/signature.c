/* signature: signatures from DWARF, from the table of prototypes, or from nothing but a number. */
#include "probes/binary/signature.h"

#include "probes/binary/abi.h"
#include "probes/kernel/bpf/record.h"
#include "probes/binary/dwarf.h"
#include "probes/binary/parameter_locations.h"
#include "probes/binary/prototypes.h"
#include "probes/binary/signature_slots.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SSE_REGISTERS 8

/* What is taken so far while arguments are placed one after the other. */
struct places {
	struct slot *slots;
	unsigned nslots, capslots;
	unsigned integers, fpregs, stack;
	unsigned ncertain; /* slots before the first whose place is not known; UINT_MAX: all are */
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

static const char is_structure[] = "it is a structure that is handed over as a whole: name its "
				   "members, as in x.member";
static const char is_returned[] = "it is a structure that is returned as a whole";
static const char is_no_double[] = "it is in registers for floating point numbers, and neither float "
				   "nor double";
const char dpe_signature_in_fpreg[] = "it is in a floating point register, which a probe cannot read";
static const char is_long[] = "it is a floating point number of more than 8 bytes";
static const char in_nothing[] = "it is where no probe can read";
static const char is_nothing[] = "it is nothing that has a value";

/* Why what is of no kind has no value. */
static const char *why_opaque(const struct dpe_abi_shape *shape)
{
	if (shape->kind)
		return NULL;
	if (!shape->memory && !shape->hidden && shape->words[0] == DPE_ABI_SSE &&
		shape->words[1] != DPE_ABI_INTEGER)
		return is_no_double;
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

static void note_stack_parts(struct slot *slot, uint64_t size, unsigned word)
{
	slot->is_structure = true;
	slot->word = word;
	slot->words = (unsigned)((size + 7) / 8);
	slot->parts[0] = slot->parts[1] = NO_WORD;
}

/* Each eightbyte in the next register of its class. */
static void note_parts(struct slot *slot, const struct dpe_abi_shape *shape, unsigned word)
{
	slot->is_structure = true;
	slot->word = NO_WORD;
	for (unsigned i = 0; i < 2; i++) {
		slot->parts[i] = shape->words[i] == DPE_ABI_INTEGER ? word++ : NO_WORD;
		slot->part_in_fpreg[i] = shape->words[i] == DPE_ABI_SSE;
	}
}

static void place_on_stack(struct places *places, const struct dpe_abi_shape *shape)
{
	unsigned word = take_stack(places, shape->size, shape->aligned);
	struct slot *slot =
		add_slot(places, shape->kind, shape->size, shape->kind ? word : NO_WORD);

	slot->why = why_opaque(shape);
	if (shape->aggregate)
		note_stack_parts(slot, shape->size, word);
}

/* A value goes into registers as a whole, or not at all. */
static void place(struct places *places, const struct dpe_abi_shape *shape)
{
	unsigned integers = 0, fpregs = 0, word;
	struct slot *slot;

	for (unsigned i = 0; i < DPE_COUNT(shape->words); i++) {
		integers += shape->words[i] == DPE_ABI_INTEGER;
		fpregs += shape->words[i] == DPE_ABI_SSE;
	}
	if (!shape->memory && !integers && !fpregs) {
		add_slot(places, DPE_ABI_OPAQUE, 0, NO_WORD)->why = why_opaque(shape);
		return;
	}
	if (shape->memory || places->integers + integers > DPE_WORD_REGISTERS ||
		places->fpregs + fpregs > SSE_REGISTERS) {
		place_on_stack(places, shape);
		return;
	}
	word = integers ? places->integers : NO_WORD;
	places->integers += integers;
	places->fpregs += fpregs;
	slot = add_slot(places, shape->kind, shape->size, shape->kind ? word : NO_WORD);
	slot->in_fpreg = shape->kind == DPE_ABI_REAL;
	slot->why = slot->in_fpreg ? dpe_signature_in_fpreg : why_opaque(shape);
	if (shape->aggregate)
		note_parts(slot, shape, word);
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

static bool is_in(Dwarf_Die *function, int language)
{
	Dwarf_Die unit;

	return dwarf_diecu(function, &unit, NULL, NULL) && dwarf_srclang(&unit) == language;
}

/* Rust hands over structures in its own ways, in one register, in two, or by their addresses: only the
 * places of what stands before them are known. A reference of two words is two arguments. */
static bool is_uncertain(Dwarf_Die *parameter, const struct dpe_abi_shape *shape)
{
	Dwarf_Die type;
	const char *name;

	if (shape->kind || !shape->size)
		return false;
	name = dpe_dwarf_type(parameter, &type) ? dwarf_diename(&type) : NULL;
	return shape->size != 16 || !name || *name != '&';
}

static void place_parameter(struct places *places, Dwarf_Die *parameter, bool foreign, bool rust)
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
	if (rust && places->ncertain == UINT_MAX && is_uncertain(parameter, &shape))
		places->ncertain = places->nslots;
	place(places, &shape);
}

/* True where the function takes further arguments that are not declared. */
static bool place_parameters(struct places *places, Dwarf_Die *function, bool foreign, bool rust)
{
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			place_parameter(places, &child, foreign, rust);
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

/* Why the result has no value; NULL: it may have one. */
static const char *why_no_result(
	Dwarf_Die *function, const struct dpe_abi_shape *result, bool foreign, bool exported)
{
	if (foreign)
		return "Go hands over values in its own ways";
	if (!exported && dpe_passed_otherwise(function))
		return dpe_passed_not;
	if (result->hidden || (!result->kind && result->aggregate))
		return is_returned;
	if (result->kind == DPE_ABI_REAL)
		return dpe_signature_in_fpreg;
	return result->kind ? NULL : why_opaque(result);
}

static struct dpe_signature *from_dwarf(
	Dwarf_Die *function, bool exported, unsigned nargs_wanted, struct dpe_arena *arena)
{
	/* Go's functions take and give values in registers of their own choice. */
	bool foreign = is_in(function, DW_LANG_Go), rust = is_in(function, DW_LANG_Rust), has_result;
	struct dpe_abi_shape result = {0};
	struct places places = {.ncertain = UINT_MAX};
	struct dpe_signature *s;
	Dwarf_Die type;

	has_result = dpe_dwarf_type(function, &type);
	if (has_result && !foreign)
		result = dpe_abi_shape(&type);
	result.hidden |= rust && !result.kind && result.size > 16;
	if (result.hidden)
		places.integers++;
	if (place_parameters(&places, function, foreign, rust))
		place_numbers(&places, nargs_wanted);
	if (rust || (!exported && !foreign))
		dpe_passed_check(function, places.slots, places.nslots, places.ncertain);
	if (places.ncertain < places.nslots)
		places.integers = DPE_WORD_REGISTERS; /* any of them may be in use */
	s = finish(&places, arena);
	s->has_result = has_result;
	s->result = (struct slot){.kind = result.hidden ? DPE_ABI_OPAQUE : result.kind,
		.size = size_of_slot(result.kind, result.size)};
	if (has_result)
		s->result.why = why_no_result(function, &result, foreign, exported);
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

/* What others can call of the C library is as declared, and to read its debug information takes long. */
static bool is_of_c_library(const struct dpe_module *module, const struct dpe_function *function)
{
	return function->exported &&
	       (dpe_module_is(module, "libc") || dpe_module_is(module, "libpthread"));
}

const struct dpe_signature *dpe_signature_of(struct dpe_module *module,
	const struct dpe_function *function, unsigned nargs_wanted, struct dpe_arena *arena)
{
	const struct dpe_prototype *prototype = dpe_prototype_find(function->name);
	Dwarf_Die die;

	if (prototype && is_of_c_library(module, function))
		return from_prototype(prototype, arena);
	if (!is_copy(function) && dpe_dwarf_function(module, function->address, &die))
		return with_handles(from_dwarf(&die, function->exported, nargs_wanted, arena), prototype);
	if (prototype)
		return from_prototype(prototype, arena);
	return from_number(nargs_wanted, arena);
}

static enum dpe_abi_kind kind_of_operand(const struct dpe_operand *operand)
{
	if (!operand->size)
		return DPE_ABI_OPAQUE;
	if (operand->is_real)
		return DPE_ABI_REAL;
	return operand->size < 0 ? DPE_ABI_SIGNED : DPE_ABI_UNSIGNED;
}

const struct dpe_signature *dpe_signature_of_operands(
	const struct dpe_operand *operands, unsigned count, struct dpe_arena *arena)
{
	/* Each has its word, whatever it is. */
	struct places places = {.integers = DPE_WORD_REGISTERS, .stack = DPE_WORDS};

	for (unsigned i = 0; i < count; i++) {
		struct slot *slot = add_slot(&places, kind_of_operand(&operands[i]),
			(uint64_t)abs(operands[i].size), i);

		if (!operands[i].size)
			slot->why = in_nothing;
	}
	return finish(&places, arena);
}
