/* Numbers outside the range of 64-bit integers: as exact text, and compared with all others. */
#include "event/event.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- as text ----------------------------------------------------------------------------- */

/* The shortest text that reads back as the same number. */
static void print_real(double real, bool single, char text[DPE_NUMBER_TEXT])
{
	for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
		snprintf(text, DPE_NUMBER_TEXT, "%.*g", digits, real);
		if (single ? strtof(text, NULL) == (float)real : strtod(text, NULL) == real)
			break;
	}
	if (!strpbrk(text, ".e"))
		strcat(text, ".0");
}

static struct dpe_value raw(const char *text)
{
	return (struct dpe_value){.kind = DPE_RAW, .len = (uint32_t)strlen(text), .text = text};
}

struct dpe_value dpe_value_real(double real, bool single, char text[DPE_NUMBER_TEXT])
{
	if (isnan(real))
		return dpe_value_string("nan");
	if (isinf(real))
		strcpy(text, real < 0 ? "-1e999" : "1e999");
	else
		print_real(real, single, text);
	return raw(text);
}

struct dpe_value dpe_value_wide(dpe_wide bits, bool is_signed, char text[DPE_NUMBER_TEXT])
{
	bool negative = is_signed && bits >> 127;
	dpe_wide left = negative ? -bits : bits;
	char digits[DPE_NUMBER_TEXT], *at = digits + sizeof(digits);

	if (!negative && left <= UINT64_MAX)
		return (struct dpe_value){
			.kind = left > INT64_MAX ? DPE_UINT : DPE_INT, .num = (int64_t)left};
	if (negative && left <= (dpe_wide)INT64_MAX + 1)
		return dpe_value_int((int64_t)bits);
	for (*--at = 0; left; left /= 10)
		*--at = (char)('0' + (int)(left % 10));
	if (negative)
		*--at = '-';
	memcpy(text, at, (size_t)(digits + sizeof(digits) - at));
	return raw(text);
}

/* ---- in order ---------------------------------------------------------------------------- */

/* A number in the form in which any two are compared. */
struct number {
	bool whole; /* an integer of up to 128 bits: negative, size */
	bool negative;
	dpe_wide size; /* the magnitude */
	long double real;
};

static void set_whole(struct number *number, bool negative, dpe_wide size)
{
	*number = (struct number){
		true, negative && size, size, negative ? -(long double)size : (long double)size};
}

/* Digits with an optional sign, up to 128 bits. */
static bool read_whole(const char *text, struct number *number)
{
	bool negative = *text == '-';
	const char *at = text + negative;
	dpe_wide size = 0;

	if (!*at || at[strspn(at, "0123456789")])
		return false;
	for (; *at; at++) {
		unsigned digit = (unsigned)(*at - '0');

		if (size > (~(dpe_wide)0 - digit) / 10)
			return false;
		size = size * 10 + digit;
	}
	set_whole(number, negative, size);
	return true;
}

static bool read_number(struct dpe_value value, struct number *number)
{
	char *end;

	switch (value.kind) {
	case DPE_INT:
		set_whole(number, value.num < 0,
			value.num < 0 ? -(uint64_t)value.num : (uint64_t)value.num);
		return true;
	case DPE_UINT:
	case DPE_POINTER:
		set_whole(number, false, (uint64_t)value.num);
		return true;
	case DPE_RAW:
		if (read_whole(value.text, number))
			return true;
		*number = (struct number){.real = strtold(value.text, &end)};
		return end != value.text && !*end && !isnan(number->real);
	default:
		return false;
	}
}

static int order_of_wholes(const struct number *a, const struct number *b)
{
	int sizes = (a->size > b->size) - (a->size < b->size);

	if (a->negative != b->negative)
		return a->negative ? -1 : 1;
	return a->negative ? -sizes : sizes;
}

/* A long double of this size that is equal to a rounded integer is an integer itself. */
static void make_whole(struct number *number)
{
	const long double limit = 0x1p128L;

	if (!number->whole && fabsl(number->real) < limit)
		set_whole(number, number->real < 0, (dpe_wide)fabsl(number->real));
}

static bool is_word(struct dpe_value value)
{
	return value.kind == DPE_INT || value.kind == DPE_UINT || value.kind == DPE_POINTER;
}

/* 64-bit integers, the common case. Those of the same sign compare as their bits do. */
static int order_of_words(struct dpe_value a, struct dpe_value b)
{
	bool negative = a.kind == DPE_INT && a.num < 0;
	uint64_t x = (uint64_t)a.num, y = (uint64_t)b.num;

	if (negative != (b.kind == DPE_INT && b.num < 0))
		return negative ? -1 : 1;
	return (x > y) - (x < y);
}

bool dpe_value_compare(struct dpe_value a, struct dpe_value b, int *order)
{
	struct number x, y;

	if (is_word(a) && is_word(b)) {
		*order = order_of_words(a, b);
		return true;
	}
	if (!read_number(a, &x) || !read_number(b, &y))
		return false;
	*order = (x.real > y.real) - (x.real < y.real);
	if (*order || (!x.whole && !y.whole))
		return true;
	make_whole(&x);
	make_whole(&y);
	if (x.whole && y.whole)
		*order = order_of_wholes(&x, &y);
	return true;
}
