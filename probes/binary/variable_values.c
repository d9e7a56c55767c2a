/* The value of a variable, from its bytes. */
#include "probes/binary/variable.h"

#include <string.h>

int64_t dpe_variable_number(const struct dpe_variable *variable, uint64_t bytes)
{
	unsigned unused = variable->size < 8 ? 64 - 8 * (unsigned)variable->size : 0;

	bytes <<= unused;
	return variable->is_signed ? (int64_t)bytes >> unused : (int64_t)(bytes >> unused);
}

char *dpe_variable_check(const struct dpe_variable *variable)
{
	uint64_t size = variable->size;

	if (variable->is_text || variable->is_wide)
		return NULL;
	if (variable->is_complex)
		return dpe_xasprintf("it is a complex number");
	if (variable->is_real && size != 4 && size != 8)
		return dpe_xasprintf("a floating point number has 4 or 8 bytes, not %llu",
			(unsigned long long)size);
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return dpe_xasprintf(
			"a value has 1, 2, 4 or 8 bytes, or is an integer of 16, not %llu",
			(unsigned long long)size);
	return NULL;
}

struct dpe_value dpe_variable_value(
	const struct dpe_variable *variable, uint64_t bytes, char text[DPE_NUMBER_TEXT])
{
	struct dpe_value value;
	double real;
	float single;

	if (!variable->is_real) {
		value = dpe_value_int(dpe_variable_number(variable, bytes));
		if (variable->is_address)
			value.kind = DPE_POINTER;
		else if (!variable->is_signed && value.num < 0)
			value.kind = DPE_UINT;
		return value;
	}
	memcpy(&single, &bytes, sizeof(single));
	memcpy(&real, &bytes, sizeof(real));
	if (variable->size == sizeof(single))
		return dpe_value_real((double)single, true, text);
	return dpe_value_real(real, false, text);
}
