/* Signatures from DWARF, from the table of prototypes, or of a number of integers. */
#include "probes/binary/signature.h"

#include "probes/binary/demangle.h"
#include "probes/binary/dwarf.h"
#include "probes/binary/go.h"
#include "probes/binary/go_signature.h"
#include "probes/binary/llvm_calls.h"
#include "probes/binary/prototypes.h"
#include "probes/kernel/bpf/record.h"

#include <stdlib.h>
#include <string.h>

#define SSE_REGISTERS 8

/* Registers and stack words that the arguments placed so far occupy. */
struct argument_places {
	struct dpe_signature_slot *slots;
	unsigned nslots, capslots;
	unsigned integers, fpregs, stack;
	const char *unknown; /* why the places of further values are not known, or NULL */
};

/* ---- placing ----------------------------------------------------------------------------- */

static unsigned take_stack(struct argument_places *places, uint64_t size, bool aligned)
{
	unsigned word;

	if (aligned)
		places->stack += places->stack % 2;
	word = DPE_WORD_REGISTERS + places->stack;
	/* Beyond the words of a record the exact place does not matter. */
	if (places->stack < DPE_WORDS)
		places->stack += size < 8 * DPE_WORDS ? (unsigned)(size + 7) / 8 : DPE_WORDS;
	return word;
}

static unsigned take_integer(struct argument_places *places)
{
	if (places->integers < DPE_WORD_REGISTERS)
		return places->integers++;
	return take_stack(places, 8, false);
}

static const char is_structure[] =
	"it is a structure that is passed by value: name its members, as in x.member";
static const char is_returned[] = "it is a structure that is returned by value";
static const char is_no_double[] =
	"it is in floating point registers, and neither a float nor a double";
const char dpe_signature_in_fpreg[] = "it is in a floating point register, which a probe cannot read";
static const char is_long[] = "it is a floating point number of more than 8 bytes";
static const char is_nowhere[] = "it is in a place that no probe can read";
static const char is_empty[] = "its type has no values";
static const char is_rust[] = "Rust passes structures, and the arguments after them, by a convention of its own";

static const char is_foreign[] = "its language passes arguments by a convention of its own";

/* Why a value that is not one number cannot be read. */
static const char *why_opaque(const struct dpe_abi_shape *shape)
{
	if (shape->kind)
		return NULL;
	if (!shape->memory && !shape->hidden && shape->words[0] == DPE_ABI_SSE &&
		shape->words[1] != DPE_ABI_INTEGER)
		return is_no_double;
	if (shape->aggregate)
		return is_structure;
	return shape->size ? is_long : is_empty;
}

static unsigned size_of_slot(enum dpe_abi_kind kind, uint64_t size)
{
	return size < 8 || (size == 16 && kind) ? (unsigned)size : 8;
}

static struct dpe_signature_slot *add_slot(
	struct argument_places *places, enum dpe_abi_kind kind, uint64_t size, unsigned word)
{
	struct dpe_signature_slot *slot = DPE_GROW(places->slots, places->nslots, places->capslots);

	*slot = (struct dpe_signature_slot){.kind = kind, .size = size_of_slot(kind, size), .word = word};
	return slot;
}

static void set_stack_parts(struct dpe_signature_slot *slot, uint64_t size, unsigned word)
{
	slot->is_structure = true;
	slot->word = word;
	slot->words = (unsigned)((size + 7) / 8);
	slot->parts[0] = slot->parts[1] = DPE_NO_WORD;
}

/* Each eightbyte is in the next register of its class. */
static void set_parts(struct dpe_signature_slot *slot, const struct dpe_abi_shape *shape, unsigned word)
{
	slot->is_structure = true;
	slot->word = DPE_NO_WORD;
	for (unsigned i = 0; i < 2; i++) {
		slot->parts[i] = shape->words[i] == DPE_ABI_INTEGER ? word++ : DPE_NO_WORD;
		slot->part_in_fpreg[i] = shape->words[i] == DPE_ABI_SSE;
	}
}

static void place_on_stack(struct argument_places *places, const struct dpe_abi_shape *shape)
{
	unsigned word = take_stack(places, shape->size, shape->aligned);
	struct dpe_signature_slot *slot =
		add_slot(places, shape->kind, shape->size, shape->kind ? word : DPE_NO_WORD);

	slot->why = why_opaque(shape);
	if (shape->aggregate)
		set_stack_parts(slot, shape->size, word);
}

/* All eightbytes of a value go into registers, or none. */
static void place(struct argument_places *places, const struct dpe_abi_shape *shape)
{
	unsigned integers = 0, fpregs = 0, word;
	struct dpe_signature_slot *slot;

	for (unsigned i = 0; i < DPE_COUNT(shape->words); i++) {
		integers += shape->words[i] == DPE_ABI_INTEGER;
		fpregs += shape->words[i] == DPE_ABI_SSE;
	}
	if (!shape->memory && !integers && !fpregs) {
		add_slot(places, DPE_ABI_OPAQUE, 0, DPE_NO_WORD)->why = why_opaque(shape);
		return;
	}
	if (shape->memory || places->integers + integers > DPE_WORD_REGISTERS ||
		places->fpregs + fpregs > SSE_REGISTERS) {
		place_on_stack(places, shape);
		return;
	}
	word = integers ? places->integers : DPE_NO_WORD;
	places->integers += integers;
	places->fpregs += fpregs;
	slot = add_slot(places, shape->kind, shape->size, shape->kind ? word : DPE_NO_WORD);
	slot->in_fpreg = shape->kind == DPE_ABI_REAL;
	slot->why = slot->in_fpreg ? dpe_signature_in_fpreg : why_opaque(shape);
	if (shape->aggregate)
		set_parts(slot, shape, word);
}

static struct dpe_signature *finish(struct argument_places *places, struct dpe_arena *arena)
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

/* Rust passes a structure in one register, in two, or by its address. A reference to a slice is two arguments. */
static bool is_unknown_in_rust(Dwarf_Die *parameter, const struct dpe_abi_shape *shape)
{
	Dwarf_Die type;
	const char *name;

	if (shape->kind || !shape->size)
		return false;
	name = dpe_dwarf_type(parameter, &type) ? dwarf_diename(&type) : NULL;
	return shape->size != 16 || !name || *name != '&';
}

/* Fortran passes addresses, Pascal some, D the last argument first. */
static bool is_unlike_c(int language)
{
	switch (language) {
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
	case 0x2d: /* Fortran 2018, which older elfutils do not know */
	case DW_LANG_Pascal83:
	case DW_LANG_Modula2:
	case DW_LANG_Modula3:
	case DW_LANG_Cobol74:
	case DW_LANG_Cobol85:
	case DW_LANG_D:
	case DW_LANG_Haskell:
	case DW_LANG_OCaml:
	case DW_LANG_Swift:
		return true;
	default:
		return false;
	}
}

static void place_nowhere(struct argument_places *places, const char *why)
{
	add_slot(places, DPE_ABI_OPAQUE, 0, DPE_NO_WORD)->why = why;
}

static void place_parameter(struct argument_places *places, Dwarf_Die *parameter, int language)
{
	struct dpe_abi_shape shape = {.kind = DPE_ABI_SIGNED, .size = 8, .words[0] = DPE_ABI_INTEGER};
	Dwarf_Die type;

	if (dpe_dwarf_type(parameter, &type))
		shape = dpe_abi_shape(&type);
	else
		shape.unknown = dpe_dwarf_lacks_type(parameter) ? dpe_abi_missing : NULL;
	if (!places->unknown && shape.unknown)
		places->unknown = shape.unknown;
	else if (!places->unknown && language == DW_LANG_Rust && is_unknown_in_rust(parameter, &shape))
		places->unknown = is_rust;
	if (places->unknown)
		place_nowhere(places, places->unknown);
	else
		place(places, &shape);
}

/* True for a variadic function. */
static bool place_parameters(struct argument_places *places, Dwarf_Die *function, int language)
{
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			place_parameter(places, &child, language);
		else if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static void place_numbers(struct argument_places *places, unsigned until)
{
	while (places->nslots < until)
		add_slot(places, DPE_ABI_SIGNED, 8, take_integer(places))->untyped = true;
}

/* Why the result has no value; NULL: it has one. */
static const char *why_no_result(Dwarf_Die *function, const struct dpe_abi_shape *result, bool exported)
{
	if (!exported && dpe_llvm_is_private(function))
		return dpe_llvm_moved;
	if (result->unknown)
		return result->unknown;
	if (result->hidden || (!result->kind && result->aggregate))
		return is_returned;
	if (result->kind == DPE_ABI_REAL)
		return dpe_signature_in_fpreg;
	return result->kind ? NULL : why_opaque(result);
}

static int language_of(Dwarf_Die *function)
{
	Dwarf_Die unit;

	return dwarf_diecu(function, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
}

static struct dpe_signature *from_dwarf(
	Dwarf_Die *function, bool exported, unsigned nargs_wanted, struct dpe_arena *arena)
{
	int language = language_of(function);
	struct dpe_abi_shape result = {0};
	struct argument_places places = {0};
	struct dpe_signature *s;
	Dwarf_Die type;
	bool has_result = dpe_dwarf_type(function, &type);

	if (language == DW_LANG_Go)
		return dpe_go_signature(function, arena);
	if (has_result)
		result = dpe_abi_shape(&type);
	if (dpe_dwarf_lacks_type(function))
		result.unknown = dpe_abi_missing;
	/* A hidden argument is the address of a large result. */
	places.unknown = is_unlike_c(language) ? is_foreign : result.unknown;
	result.hidden |= language == DW_LANG_Rust && !result.kind && result.size > 16;
	if (result.hidden)
		places.integers++;
	if (place_parameters(&places, function, language))
		place_numbers(&places, nargs_wanted);
	if (!exported && !places.unknown)
		dpe_llvm_forget_moved(function, places.slots, places.nslots);
	s = finish(&places, arena);
	s->has_result = has_result;
	s->result = (struct dpe_signature_slot){
		.kind = result.hidden ? DPE_ABI_OPAQUE : result.kind,
		.size = size_of_slot(result.kind, result.size),
	};
	if (has_result)
		s->result.why = why_no_result(function, &result, exported);
	return s;
}

/* ---- without debug information ----------------------------------------------------------- */

static struct dpe_signature_slot slot_of_letter(char letter)
{
	switch (letter) {
	case 'i':
		return (struct dpe_signature_slot){.kind = DPE_ABI_SIGNED, .size = 4};
	case 'u':
		return (struct dpe_signature_slot){.kind = DPE_ABI_UNSIGNED, .size = 4};
	case 'z':
		return (struct dpe_signature_slot){.kind = DPE_ABI_UNSIGNED, .size = 8};
	default:
		return (struct dpe_signature_slot){.kind = DPE_ABI_POINTER, .size = 8};
	}
}

static const struct dpe_signature *from_prototype(
	const struct dpe_prototype *prototype, unsigned nargs_wanted, struct dpe_arena *arena)
{
	struct argument_places places = {0};
	struct dpe_signature *s;

	for (const char *arg = prototype->args; *arg && *arg != '.'; arg++) {
		struct dpe_signature_slot slot = slot_of_letter(*arg);

		add_slot(&places, slot.kind, slot.size, take_integer(&places))->untyped = *arg == 'h';
	}
	if (strchr(prototype->args, '.'))
		place_numbers(&places, nargs_wanted);
	s = finish(&places, arena);
	s->has_result = prototype->result != 'v';
	s->result = slot_of_letter(prototype->result);
	return s;
}

static const struct dpe_signature *from_number(unsigned nargs, struct dpe_arena *arena)
{
	struct argument_places places = {0};
	struct dpe_signature *s;

	place_numbers(&places, nargs);
	s = finish(&places, arena);
	s->has_result = true;
	s->result = (struct dpe_signature_slot){
		.kind = DPE_ABI_SIGNED, .size = 8, .untyped = true};
	return s;
}

/* A pthread_t is shown as an address. */
static const struct dpe_signature *with_handles(
	struct dpe_signature *s, const struct dpe_prototype *prototype)
{
	for (unsigned i = 0; prototype && i < s->nargs && prototype->args[i]; i++)
		if (prototype->args[i] == 'h' && s->args[i].size == 8) {
			s->args[i].kind = DPE_ABI_POINTER;
			s->args[i].untyped = true;
		}
	return s;
}

bool dpe_signature_is_of_libc(const struct dpe_module *module, const struct dpe_function *function)
{
	return function->exported &&
	       (dpe_module_is(module, "libc") || dpe_module_is(module, "libpthread"));
}

const struct dpe_signature *dpe_signature_of(struct dpe_module *module,
	const struct dpe_function *function, unsigned nargs_wanted, struct dpe_arena *arena)
{
	bool of_libc = dpe_signature_is_of_libc(module, function);
	const struct dpe_prototype *prototype = dpe_prototype_find(function->name, of_libc);
	Dwarf_Die die;

	if (prototype && of_libc)
		return from_prototype(prototype, nargs_wanted, arena);
	/* a clone may take other arguments than debug information says; Go's symbols only look like one */
	if ((!dpe_symbol_is_clone(function->name) || dpe_go_compiled(module, function)) && dpe_dwarf_call(module, function->address, &die))
		return with_handles(from_dwarf(&die, function->exported, nargs_wanted, arena), prototype);
	if (prototype)
		return from_prototype(prototype, nargs_wanted, arena);
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
	/* No further registers or stack words: each operand has the word of its number. */
	struct argument_places places = {.integers = DPE_WORD_REGISTERS, .stack = DPE_WORDS};

	for (unsigned i = 0; i < count; i++) {
		struct dpe_signature_slot *slot = add_slot(&places, kind_of_operand(&operands[i]),
			(uint64_t)abs(operands[i].size), i);

		slot->untyped = true;
		if (!operands[i].size)
			slot->why = is_nowhere;
	}
	return finish(&places, arena);
}
