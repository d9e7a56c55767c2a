/* Where arguments of USDT probes are, as the assembler writes it. */
#include "tests/probes/open_target.h"

#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/binary/usdt.h"

static struct dpe_usdt parse(const char *text)
{
	struct dpe_module *module = open_target("variables");
	struct dpe_usdt usdt = {0};

	dpe_usdt_parse_args(module, text, &usdt);
	dpe_module_free(module);
	return usdt;
}

static void registers_and_constants(void **state)
{
	struct dpe_usdt usdt = parse("-4@%edi 8@%r15 1@%ah 2@$-7  -1@$0x10");

	(void)state;
	assert_int_equal(usdt.nargs, 5);
	assert_int_equal(usdt.operands[0].size, -4);
	assert_int_equal(usdt.args[0].kind, DPE_USDT_REGISTER);
	assert_int_equal(usdt.args[0].base, offsetof(struct pt_regs, di));
	assert_int_equal(usdt.args[1].base, offsetof(struct pt_regs, r15));
	assert_int_equal(usdt.args[2].base, offsetof(struct pt_regs, ax));
	assert_int_equal(usdt.args[2].shift, 8);
	assert_int_equal(usdt.args[3].kind, DPE_USDT_CONSTANT);
	assert_int_equal(usdt.args[3].number, -7);
	assert_int_equal(usdt.args[4].number, 16);
}

static void memory(void **state)
{
	struct dpe_usdt usdt =
		parse("-4@-20(%rbp) 8@(%rax) 4@8(%rax,%rbx,4) 8@16(,%rcx,8) 8@(%rax,%rdx)");

	(void)state;
	assert_int_equal(usdt.nargs, 5);
	for (unsigned i = 0; i < usdt.nargs; i++)
		assert_int_equal(usdt.args[i].kind, DPE_USDT_MEMORY);
	assert_int_equal(usdt.args[0].number, -20);
	assert_int_equal(usdt.args[0].base, offsetof(struct pt_regs, bp));
	assert_int_equal(usdt.args[0].index, DPE_USDT_NO_REGISTER);
	assert_int_equal(usdt.args[2].number, 8);
	assert_int_equal(usdt.args[2].index, offsetof(struct pt_regs, bx));
	assert_int_equal(usdt.args[2].scale, 4);
	assert_int_equal(usdt.args[3].base, DPE_USDT_NO_REGISTER);
	assert_int_equal(usdt.args[3].scale, 8);
	assert_int_equal(usdt.args[4].scale, 1);
}

static void variables(void **state)
{
	struct dpe_usdt usdt = parse("-4@counter(%rip) -4@counter+8(%rip) 4@-8+counter(%rip)");

	(void)state;
	assert_int_equal(usdt.nargs, 3);
	assert_int_equal(usdt.args[0].kind, DPE_USDT_RELATIVE);
	assert_int_equal(usdt.args[1].number - usdt.args[0].number, 8);
	assert_int_equal(usdt.args[2].number - usdt.args[0].number, -8);
}

static void floating_point(void **state)
{
	struct dpe_usdt usdt = parse("8f@%xmm0 4f@%xmm15 8f@-8(%rbp) 4f@%eax -8f@%xmm3 8@$1");

	(void)state;
	assert_int_equal(usdt.nargs, 6);
	assert_int_equal(usdt.args[0].kind, DPE_USDT_NONE);
	assert_int_equal(usdt.operands[0].size, 0);
	assert_int_equal(usdt.operands[1].size, 0);
	assert_int_equal(usdt.args[2].kind, DPE_USDT_MEMORY);
	assert_int_equal(usdt.args[3].kind, DPE_USDT_REGISTER);
	assert_int_equal(usdt.operands[4].size, 0);
	assert_true(usdt.operands[2].is_real && usdt.operands[3].is_real);
	assert_false(usdt.operands[5].is_real);
}

static void non_numbers_are_unordered(void **state)
{
	static const char *const wrong[] = {"8f@%xmm16", "8f@%xmm", "8f@%xmm0x", "2f@%eax", "16f@%xmm0", "8@%xmm0", "16@%rax", "8@nowhere(%rip)",
		"8@counter", "8@8(%rip)", "8@(%rax", "8@(%eip)", "8@", "8", "@", "8@$", "8@%",
		"8@counter+counter(%rip)", "8@$x", "8@(,,)", "x@%rax"};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(wrong); i++) {
		struct dpe_usdt usdt = parse(wrong[i]);

		assert_int_equal(usdt.nargs, 1);
		assert_int_equal(usdt.args[0].kind, DPE_USDT_NONE);
		assert_int_equal(usdt.operands[0].size, 0);
	}
	assert_int_equal(parse("").nargs, 0);
	assert_int_equal(
		parse("4@$1 4@$1 4@$1 4@$1 4@$1 4@$1 4@$1 4@$1 4@$1 4@$1 4@$1 4@$1 4@$1").nargs,
		DPE_WORDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_and_constants),
		cmocka_unit_test(memory),
		cmocka_unit_test(variables),
		cmocka_unit_test(floating_point),
		cmocka_unit_test(non_numbers_are_unordered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
