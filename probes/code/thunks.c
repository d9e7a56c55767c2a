/* Thunks of C++ (Itanium ABI, 5.1.4.2): a call through a pointer to a secondary base enters one. It jumps to the method, unless the
 * compiler has copied the method's code into it. */
#include "probes/code/instructions.h"

#include <string.h>

#define JUMP_INSTRUCTIONS 4 /* at most, of a thunk that jumps by the linkage table; one that contains the function has more */

static bool is_thunk_of(const char *symbol, const char *function)
{
	size_t all = strlen(symbol), part = strlen(function);

	if (strncmp(symbol, "_ZT", 3) || !strchr("hvc", symbol[3]) || strncmp(function, "_Z", 2) || all < part + 3)
		return false;
	return symbol[all - part + 1] == '_' && !strcmp(symbol + all - part + 2, function + 2);
}

static bool jumps_to(const struct dpe_module *module, const struct dpe_function *thunk, uint64_t function)
{
	struct dpe_instruction instruction;
	struct dpe_code code;
	uint64_t target;
	unsigned count = 0;
	bool found = false;

	if (dpe_code_open(&code, module, thunk, DPE_ENTRY_BYTES))
		return true; /* not known: nothing is said */
	for (size_t at = 0; at < code.size && !found; at += instruction.is.length) {
		if (!dpe_code_decode(&code, at, &instruction))
			break;
		count++;
		if (instruction.is.mnemonic != ZYDIS_MNEMONIC_JMP)
			continue;
		found = count <= JUMP_INSTRUCTIONS || (dpe_code_target(&instruction, &target) && target == function);
	}
	dpe_code_close(&code);
	return found;
}

const char *dpe_code_thunk_of(struct dpe_module *module, const struct dpe_function *function)
{
	unsigned count;
	const struct dpe_function *functions = dpe_module_functions(module, &count);

	for (unsigned i = 0; i < count; i++) {
		if (is_thunk_of(functions[i].name, function->name) && !jumps_to(module, &functions[i], function->address))
			return functions[i].name;
	}
	return NULL;
}
