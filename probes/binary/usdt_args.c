/* Operands of USDT notes, in assembler syntax after "N@". */
#include "probes/binary/usdt.h"

#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/binary/variable.h"

#include <stdlib.h>
#include <string.h>

/* ---- registers --------------------------------------------------------------------------- */

/* The names of one register by size; the last one is that of its second byte. */
static const struct {
	const char *names[5];
	uint8_t offset;
} registers[] = {
#define AT(member) offsetof(struct pt_regs, member)
	{{"rax", "eax", "ax", "al", "ah"}, AT(ax)},
	{{"rbx", "ebx", "bx", "bl", "bh"}, AT(bx)},
	{{"rcx", "ecx", "cx", "cl", "ch"}, AT(cx)},
	{{"rdx", "edx", "dx", "dl", "dh"}, AT(dx)},
	{{"rsi", "esi", "si", "sil", ""}, AT(si)},
	{{"rdi", "edi", "di", "dil", ""}, AT(di)},
	{{"rbp", "ebp", "bp", "bpl", ""}, AT(bp)},
	{{"rsp", "esp", "sp", "spl", ""}, AT(sp)},
	{{"r8", "r8d", "r8w", "r8b", ""}, AT(r8)},
	{{"r9", "r9d", "r9w", "r9b", ""}, AT(r9)},
	{{"r10", "r10d", "r10w", "r10b", ""}, AT(r10)},
	{{"r11", "r11d", "r11w", "r11b", ""}, AT(r11)},
	{{"r12", "r12d", "r12w", "r12b", ""}, AT(r12)},
	{{"r13", "r13d", "r13w", "r13b", ""}, AT(r13)},
	{{"r14", "r14d", "r14w", "r14b", ""}, AT(r14)},
	{{"r15", "r15d", "r15w", "r15b", ""}, AT(r15)},
#undef AT
};

/* "%rax" at `*at`, which is advanced past it. */
static bool read_register(const char **at, uint8_t *offset, uint8_t *shift)
{
	size_t len;

	if (**at != '%')
		return false;
	len = strcspn(*at + 1, " ,)");
	for (unsigned i = 0; len && i < DPE_COUNT(registers); i++) {
		for (unsigned j = 0; j < DPE_COUNT(registers[i].names); j++) {
			const char *name = registers[i].names[j];

			if (strlen(name) != len || strncmp(name, *at + 1, len))
				continue;
			*offset = registers[i].offset;
			*shift = j == 4 ? 8 : 0;
			*at += 1 + len;
			return true;
		}
	}
	return false;
}

/* ---- memory ------------------------------------------------------------------------------ */

/* A sum of numbers and at most one name: "-8", "table", "table+8", "8+table". */
static bool read_sum(struct dpe_module *module, const char **at, int64_t *sum, bool *has_name)
{
	*sum = 0;
	*has_name = false;
	while (**at && !strchr(" (", **at)) {
		bool minus = **at == '-';
		struct dpe_variable variable;
		char *end, *name, *why;
		int64_t term;

		*at += minus || **at == '+';
		term = (int64_t)strtoull(*at, &end, 0);
		if (end == *at) {
			end += strcspn(*at, " (+-");
			if (end == *at || *has_name)
				return false;
			name = dpe_xasprintf("%.*s", (int)(end - *at), *at);
			why = dpe_variable_find(module, name, &variable);
			term = why ? 0 : (int64_t)variable.address;
			free(name);
			free(why);
			if (why)
				return false;
			*has_name = true;
		}
		*sum += minus ? -term : term;
		*at = end;
	}
	return true;
}

/* "(%rbp)", "(%rax,%rbx,4)", "(,%rbx,8)" or nothing. */
static bool read_place(const char **at, struct dpe_usdt_arg *arg)
{
	uint8_t shift;
	char *end;

	if (**at != '(')
		return !**at || **at == ' ';
	++*at;
	if (**at != ',' && !read_register(at, &arg->base, &shift))
		return false;
	if (**at == ',') {
		++*at;
		arg->scale = 1;
		if (!read_register(at, &arg->index, &shift))
			return false;
	}
	if (**at == ',') {
		arg->scale = (uint8_t)strtoul(*at + 1, &end, 0);
		*at = end;
	}
	return *(*at)++ == ')' && (!**at || **at == ' ');
}

static bool read_memory(struct dpe_module *module, const char *text, struct dpe_usdt_arg *arg)
{
	bool has_name;
	int64_t sum;

	if (!*text || *text == ' ' || !read_sum(module, &text, &sum, &has_name))
		return false;
	arg->number = sum;
	if (!strncmp(text, "(%rip)", 6)) {
		arg->kind = DPE_USDT_RELATIVE;
		return has_name;
	}
	/* A symbol without (%rip) is an absolute address, which a position-independent program has not. */
	arg->kind = has_name ? DPE_USDT_NONE : DPE_USDT_MEMORY;
	arg->base = arg->index = DPE_USDT_NO_REGISTER;
	return !has_name && read_place(&text, arg);
}

/* ---- all --------------------------------------------------------------------------------- */

static bool read_operand(struct dpe_module *module, const char *text, struct dpe_usdt_arg *arg)
{
	char *end;

	if (*text == '$') {
		arg->kind = DPE_USDT_CONSTANT;
		arg->number = (int64_t)strtoull(text + 1, &end, 0);
		return end != text + 1 && (!*end || *end == ' ');
	}
	if (*text == '%') {
		arg->kind = DPE_USDT_REGISTER;
		return read_register(&text, &arg->base, &arg->shift);
	}
	return read_memory(module, text, arg);
}

static bool is_size(long size, bool real)
{
	return size == 4 || size == 8 || (!real && (size == 1 || size == 2));
}

static void read_arg(
	struct dpe_module *module, const char *text, struct dpe_usdt_arg *arg, struct dpe_operand *to)
{
	char *end;
	long size = strtol(text, &end, 10);
	bool real = *end == 'f';

	end += real;
	if (!is_size(labs(size), real) || *end != '@')
		return;
	*to = (struct dpe_operand){.size = (int)size, .is_real = real};
	arg->size = (uint8_t)labs(size);
	if (!read_operand(module, end + 1, arg)) {
		*arg = (struct dpe_usdt_arg){0};
		*to = (struct dpe_operand){0};
	}
}

void dpe_usdt_parse_args(struct dpe_module *module, const char *text, struct dpe_usdt *usdt)
{
	while (*(text += strspn(text, " ")) && usdt->nargs < DPE_WORDS) {
		struct dpe_usdt_arg *arg = &usdt->args[usdt->nargs];
		struct dpe_operand *operand = &usdt->operands[usdt->nargs];

		*arg = (struct dpe_usdt_arg){0};
		*operand = (struct dpe_operand){0};
		read_arg(module, text, arg, operand);
		usdt->nargs++;
		text += strcspn(text, " ");
	}
}
