/* Finds instructions at which returns are observed at less cost than by a return probe: from each `ret` backwards, on
 * every path, to the nearest instruction that the kernel emulates. docs/internals/probe-points.md has the conditions. */
#include "probes/code/register_flow.h"
#include "probes/kernel/bpf/kernel_layout.h"

#include <stdlib.h>
#include <string.h>

enum { RSP = 4, RBP = 5, WORD = 8 };

struct exit_search {
	struct dpe_flow flow;
	const struct dpe_exit_use *use;
	bool emulates_nops;
	struct dpe_arena *arena;
	struct dpe_exit_point *points;
	unsigned npoints, cappoints;
};

static void decode(const struct exit_search *search, uint32_t number, struct dpe_instruction *instruction)
{
	dpe_code_decode(search->flow.code, search->flow.steps[number].at, instruction);
}

/* ---- what may come before the return ----------------------------------------------------- */

static bool is_harmless_kind(const ZydisDecodedInstruction *is)
{
	if (dpe_code_is_locked(is) || is->mnemonic == ZYDIS_MNEMONIC_XCHG)
		return false;
	return dpe_code_only_computes(is) || is->meta.category == ZYDIS_CATEGORY_PUSH ||
	       is->meta.category == ZYDIS_CATEGORY_POP;
}

static bool is_harmless(const struct exit_search *search, uint32_t number)
{
	const struct dpe_flow_step *step = &search->flow.steps[number];
	struct dpe_instruction instruction;
	int below;

	decode(search, number, &instruction);
	if (!is_harmless_kind(&instruction.is))
		return false;
	for (unsigned i = 0; i < instruction.is.operand_count; i++) {
		const ZydisDecodedOperand *operand = &instruction.operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && !search->use->may_write &&
			operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
			!dpe_flow_on_stack(&step->before, operand, &below))
			return false;
	}
	return true;
}

/* ---- one point --------------------------------------------------------------------------- */

static uint8_t register_offset(int number)
{
	static const uint8_t offsets[] = {
#define AT(member) offsetof(struct pt_regs, member)
		AT(ax), AT(cx), AT(dx), AT(bx), AT(sp), AT(bp), AT(si), AT(di), AT(r8), AT(r9),
		AT(r10), AT(r11), AT(r12), AT(r13), AT(r14), AT(r15),
#undef AT
	};

	return offsets[number];
}

static bool find_word(const struct dpe_flow_state *state, int word, struct dpe_point_word *found)
{
	for (int i = 0; i < DPE_FLOW_REGISTERS; i++) {
		if (state->registers[i].what != DPE_HOLDS_ARGUMENT ||
			state->registers[i].number != word)
			continue;
		*found = (struct dpe_point_word){.base = register_offset(i)};
		return true;
	}
	for (unsigned i = 0; i < state->nslots; i++) {
		int distance = state->depth - state->slots[i].below;

		if (state->slots[i].holding.what != DPE_HOLDS_ARGUMENT ||
			state->slots[i].holding.number != word || distance < INT16_MIN ||
			distance > INT16_MAX)
			continue;
		*found = (struct dpe_point_word){register_offset(RSP), 1, (int16_t)distance};
		return true;
	}
	return false;
}

static const char lost_words[] = "arguments are gone before the function returns";

static const char *find_words(
	const struct exit_search *search, const struct dpe_flow_state *state, struct dpe_point_entry *entry)
{
	entry->nwords = (uint8_t)search->use->nwords;
	for (unsigned i = 0; i < search->use->nwords; i++) {
		if (!find_word(state, (int)i, &entry->words[i]))
			return lost_words;
	}
	return NULL;
}

static const char *find_frame(const struct dpe_flow_state *state, struct dpe_point_entry *entry)
{
	struct dpe_holding frame = state->registers[RBP];

	entry->above = state->depth;
	/* A function with a frame of its own has pushed the caller's rbp right below the return address. */
	entry->own_frame = frame.what == DPE_HOLDS_STACK && frame.number == WORD;
	if (entry->own_frame || frame.what == DPE_HOLDS_FRAME)
		return NULL;
	return "rbp is not the frame pointer where the function returns";
}

static const char *find_result(
	const struct exit_search *search, uint32_t from, struct dpe_point_entry *entry)
{
	struct dpe_exit_value result = dpe_exit_value_from(&search->flow, from);

	entry->result = DPE_POINT_NO_REGISTER;
	if (!search->use->nresult)
		return NULL;
	if (!result.known)
		return "the result is made right before the function returns";
	entry->mask = result.mask;
	if (result.from >= 0)
		entry->result = register_offset(result.from);
	else
		entry->constant = result.constant & result.mask;
	return NULL;
}

/* Whether the step can be reached from itself. */
static bool is_in_loop(const struct exit_search *search, uint32_t number)
{
	const struct dpe_flow *flow = &search->flow;
	bool *seen = dpe_xcalloc(flow->count, sizeof(*seen)), found = false;
	uint32_t *todo = dpe_xcalloc(2 * flow->count + 2, sizeof(*todo)), ntodo = 0;

	todo[ntodo++] = number;
	while (ntodo && !found) {
		const struct dpe_flow_step *step = &flow->steps[todo[--ntodo]];
		const uint32_t after[] = {step->next, step->target};

		for (unsigned i = 0; i < DPE_COUNT(after) && !found; i++) {
			if (after[i] == DPE_FLOW_NONE || seen[after[i]])
				continue;
			seen[after[i]] = true;
			todo[ntodo++] = after[i];
			found = after[i] == number;
		}
	}
	free(seen);
	free(todo);
	return found;
}

static struct dpe_exit_point *new_point(struct exit_search *search, uint32_t number)
{
	struct dpe_exit_point *point =
		DPE_GROW(search->points, search->npoints, search->cappoints);
	struct dpe_instruction instruction;
	char text[96];

	decode(search, number, &instruction);
	dpe_code_print(&instruction, text, sizeof(text));
	*point = (struct dpe_exit_point){
		.entry.distance = search->flow.steps[number].at,
		.entry.condition = DPE_POINT_ALWAYS,
		.instruction = dpe_arena_printf(search->arena, "%s", text),
		.when = "",
	};
	return point;
}

/* The condition code in a conditional jump's opcode; its lowest bit negates. */
static uint8_t condition_of(const struct exit_search *search, uint32_t number, bool taken)
{
	struct dpe_instruction instruction;
	uint8_t opcode;

	decode(search, number, &instruction);
	opcode = instruction.bytes[0] == 0x0f ? instruction.bytes[1] : instruction.bytes[0];
	return (opcode & 0xf) ^ !taken;
}

/* Adds a point at this step, which the kernel emulates: the call returns if it continues at `after`. */
static const char *add_point(struct exit_search *search, uint32_t number, uint32_t after)
{
	const struct dpe_flow_step *step = &search->flow.steps[number];
	struct dpe_exit_point *point;
	const char *why;

	if (is_in_loop(search, number))
		return "a loop comes before the function returns";
	point = new_point(search, number);
	if (step->kind == DPE_FLOW_BRANCH && step->next != step->target) {
		point->entry.condition = condition_of(search, number, after == step->target);
		point->when = after == step->target ? "where it jumps" : "where it does not jump";
	}
	why = find_words(search, &step->before, &point->entry);
	if (!why)
		why = find_frame(&step->before, &point->entry);
	if (!why)
		why = find_result(search, step->kind == DPE_FLOW_PLAIN ? number : after, &point->entry);
	return why;
}

/* ---- all of them ------------------------------------------------------------------------- */

static const char *cover(struct exit_search *search, uint32_t number, unsigned length);

/* Covers the path from one step to the next. */
static const char *cover_edge(
	struct exit_search *search, uint32_t from, uint32_t to, unsigned length)
{
	const struct dpe_flow_step *step = &search->flow.steps[from];
	struct dpe_instruction instruction;

	if (step->kind == DPE_FLOW_CALL)
		return "a call comes right before the function returns";
	decode(search, from, &instruction);
	if (dpe_code_is_emulated(&instruction, search->emulates_nops))
		return add_point(search, from, to);
	if (step->kind != DPE_FLOW_PLAIN || !is_harmless(search, from))
		return "the function has effects right before it returns";
	return cover(search, from, length + 1);
}

static const char *cover(struct exit_search *search, uint32_t number, unsigned length)
{
	const char *why = NULL;

	if (!number || length > DPE_EXIT_DISTANCE)
		return "the kernel emulates nothing close to the function's returns";
	for (uint32_t i = 0; i < search->flow.count && !why; i++) {
		const struct dpe_flow_step *step = &search->flow.steps[i];

		if (step->next == number || step->target == number)
			why = cover_edge(search, i, number, length);
	}
	return why;
}

static const char *add_leave(struct exit_search *search, uint32_t number)
{
	const struct dpe_flow_state *state = &search->flow.steps[number].before;
	static const uint8_t arguments[] = {7, 6, 2, 1, 8, 9};
	struct dpe_exit_point *point = new_point(search, number);

	point->leaves = true;
	point->entry.nwords = (uint8_t)search->use->nwords;
	for (unsigned i = 0; i < search->use->nwords; i++) {
		const struct dpe_holding *held = &state->registers[arguments[i]];

		if (held->what != DPE_HOLDS_ARGUMENT || held->number != (int)i)
			return lost_words;
	}
	return NULL;
}

static const char *find_points(struct exit_search *search)
{
	const char *why = NULL;

	for (uint32_t i = 0; i < search->flow.count && !why; i++) {
		const struct dpe_flow_step *step = &search->flow.steps[i];

		if (!step->before.reached)
			continue;
		if (step->kind == DPE_FLOW_RETURN)
			why = cover(search, i, 0);
		else if (step->kind == DPE_FLOW_LEAVE)
			why = add_leave(search, i);
	}
	if (!why && !search->npoints)
		why = "the function does not return";
	return why;
}

static const char *search_code(
	struct exit_search *search, struct dpe_module *module, const struct dpe_code *code)
{
	const char *why = dpe_flow_follow(&search->flow, module, code, search->arena);

	if (!why)
		why = find_points(search);
	if (!why)
		why = dpe_code_entered(module, code->function, code->size - 1);
	return why;
}

static int by_distance(const void *a, const void *b)
{
	const struct dpe_exit_point *one = a, *other = b;
	uint32_t d = one->entry.distance, e = other->entry.distance;

	return d != e ? (d > e) - (d < e) : one->entry.condition - other->entry.condition;
}

static struct dpe_exit_point *copy_points(const struct exit_search *search)
{
	size_t size = search->npoints * sizeof(*search->points);
	struct dpe_exit_point *copy = dpe_arena_alloc(search->arena, size);

	memcpy(copy, search->points, size);
	qsort(copy, search->npoints, sizeof(*copy), by_distance);
	return copy;
}

struct dpe_exits dpe_place_exits(struct dpe_module *module, const struct dpe_function *function,
	const struct dpe_exit_use *use, bool emulates_nops, struct dpe_arena *arena)
{
	struct exit_search search = {.use = use, .emulates_nops = emulates_nops, .arena = arena};
	struct dpe_exits exits = {0};
	struct dpe_code code;

	if (use->nwords > DPE_WORD_REGISTERS) {
		exits.reason = "arguments are on the stack";
		return exits;
	}
	if (use->nresult > 1) {
		exits.reason = "the result is in two registers";
		return exits;
	}
	exits.reason = dpe_code_open(&code, module, function, DPE_EXIT_BYTES);
	if (exits.reason)
		return exits;
	exits.reason = search_code(&search, module, &code);
	if (!exits.reason) {
		exits.points = copy_points(&search);
		exits.count = search.npoints;
	}
	free(search.points);
	dpe_flow_free(&search.flow);
	dpe_code_close(&code);
	return exits;
}
