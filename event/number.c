/* Numbers outside the range of 64-bit integers: as exact text, and compared with all others by their
 * decimal digits, so that nothing is rounded. */
#include "event/event.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_DIGITS = 20 }; /* of UINT64_MAX */

/* ---- as text ----------------------------------------------------------------------------- */

/* True if the text is exactly this number. All whole numbers below 2^64 are long doubles. */
static bool reads_back(const char *text, double real, bool single)
{
	double size = fabs(real);

	if (size < 0x1p64 && (double)(uint64_t)size == size)
		return strtold(text, NULL) == real;
	return single ? strtof(text, NULL) == (float)real : strtod(text, NULL) == real;
}

/* The shortest text that reads back as the same number; whole numbers below 2^64 as they are, since they are compared with
 * integers. */
static void print_real(double real, bool single, char text[DPE_NUMBER_TEXT])
{
	for (int digits = single ? 6 : 15; digits <= WORD_DIGITS; digits++) {
		snprintf(text, DPE_NUMBER_TEXT, "%.*g", digits, real);
		if (reads_back(text, real, single))
			break;
	}
	if (!strpbrk(text, ".e"))
		strcat(text, ".0");
}

static struct dpe_value with_text(enum dpe_value_kind kind, const char *text)
{
	return (struct dpe_value){.kind = kind, .len = (uint32_t)strlen(text), .text = text};
}

static struct dpe_value integer(int64_t num)
{
	return (struct dpe_value){.kind = DPE_INT, .num = num};
}

struct dpe_value dpe_value_real(double real, bool single, char text[DPE_NUMBER_TEXT])
{
	if (isnan(real))
		return with_text(DPE_STRING, "nan");
	if (isinf(real))
		strcpy(text, real < 0 ? "-1e999" : "1e999");
	else
		print_real(real, single, text);
	return with_text(DPE_RAW, text);
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
		return integer((int64_t)bits);
	for (*--at = 0; left; left /= 10)
		*--at = (char)('0' + (int)(left % 10));
	if (negative)
		*--at = '-';
	memcpy(text, at, (size_t)(digits + sizeof(digits) - at));
	return with_text(DPE_RAW, text);
}

/* ---- as decimal digits ------------------------------------------------------------------- */

/* A number as 0.d1d2…dn * 10^magnitude, d1 and dn not being 0. Equal numbers have equal parts. */
struct decimal {
	bool negative;
	const char *first, *end; /* the digits, perhaps with a point among them; both NULL: zero */
	int64_t magnitude;
	char word[WORD_DIGITS]; /* the digits of a 64-bit integer */
};

static bool is_digit(const char *at, const char *end)
{
	return at < end && *at >= '0' && *at <= '9';
}

/* Reads an optional exponent up to `end`. False if there is none, or it is so large that nothing but text can
 * distinguish it from another. */
static bool read_exponent(const char *at, const char *end, bool zero, int64_t *exponent)
{
	const int64_t max = 1000000000000000;
	bool negative;

	*exponent = 0;
	if (at == end)
		return true;
	if (*at != 'e' && *at != 'E')
		return false;
	at++;
	negative = at < end && *at == '-';
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	if (at == end)
		return false;
	for (; is_digit(at, end); at++) {
		if (*exponent < max)
			*exponent = *exponent * 10 + (*at - '0');
	}
	if (*exponent >= max && !zero)
		return false;
	*exponent = negative ? -*exponent : *exponent;
	return at == end;
}

/* Digits with an optional sign, point and exponent. */
static bool read_digits(const char *at, const char *end, struct decimal *decimal)
{
	const char *point = NULL;
	unsigned digits = 0;
	int64_t exponent;

	decimal->first = decimal->end = NULL;
	decimal->magnitude = 0;
	decimal->negative = at < end && *at == '-';
	for (at += decimal->negative; is_digit(at, end) || (at < end && *at == '.' && !point); at++) {
		if (*at == '.') {
			point = at;
			continue;
		}
		digits++;
		if (*at != '0') {
			decimal->first = decimal->first ? decimal->first : at;
			decimal->end = at + 1;
		}
	}
	if (!digits || !read_exponent(at, end, !decimal->first, &exponent))
		return false;
	if (!decimal->first) {
		decimal->negative = false;
		return true;
	}
	if (!point)
		point = at;
	decimal->magnitude = exponent + (point - decimal->first) + (point < decimal->first);
	return true;
}

static void read_word(struct dpe_value value, struct decimal *decimal)
{
	bool negative = dpe_value_is_negative(value);
	uint64_t left = negative ? -(uint64_t)value.num : (uint64_t)value.num;
	char *end = decimal->word + WORD_DIGITS, *at = end;

	for (; left; left /= 10)
		*--at = (char)('0' + left % 10);
	decimal->magnitude = end - at;
	while (end > at && end[-1] == '0')
		end--;
	decimal->negative = negative;
	decimal->first = at < end ? at : NULL;
	decimal->end = at < end ? end : NULL;
}

/* true and false are 1 and 0, as in C. */
static bool read_raw(struct dpe_value value, struct decimal *decimal)
{
	if (!strcmp(value.text, "true") || !strcmp(value.text, "false")) {
		read_word(integer(*value.text == 't'), decimal);
		return true;
	}
	return read_digits(value.text, value.text + value.len, decimal);
}

static bool read_number(struct dpe_value value, struct decimal *decimal)
{
	if (dpe_value_is_word(value)) {
		read_word(value, decimal);
		return true;
	}
	return value.kind == DPE_RAW && read_raw(value, decimal);
}

static const char *next_digit(const char *at, const char *end)
{
	at++;
	return at < end && *at == '.' ? at + 1 : at;
}

static int order_of_digits(const struct decimal *a, const struct decimal *b)
{
	const char *x = a->first, *y = b->first;

	while (x < a->end && y < b->end && *x == *y) {
		x = next_digit(x, a->end);
		y = next_digit(y, b->end);
	}
	if (x < a->end && y < b->end)
		return *x < *y ? -1 : 1;
	return (x < a->end) - (y < b->end);
}

static int order_of_sizes(const struct decimal *a, const struct decimal *b)
{
	if (!a->first || !b->first)
		return !!a->first - !!b->first;
	if (a->magnitude != b->magnitude)
		return a->magnitude < b->magnitude ? -1 : 1;
	return order_of_digits(a, b);
}

/* ---- in order ---------------------------------------------------------------------------- */

/* 64-bit integers, the common case. Those of the same sign compare as their bits do. */
static int order_of_words(struct dpe_value a, struct dpe_value b)
{
	bool negative = dpe_value_is_negative(a);
	uint64_t x = (uint64_t)a.num, y = (uint64_t)b.num;

	if (negative != dpe_value_is_negative(b))
		return negative ? -1 : 1;
	return (x > y) - (x < y);
}

bool dpe_value_compare(struct dpe_value a, struct dpe_value b, int *order)
{
	struct decimal x, y;

	if (dpe_value_is_word(a) && dpe_value_is_word(b)) {
		*order = order_of_words(a, b);
		return true;
	}
	if (!read_number(a, &x) || !read_number(b, &y))
		return false;
	if (x.negative != y.negative)
		*order = x.negative ? -1 : 1;
	else
		*order = x.negative ? order_of_sizes(&y, &x) : order_of_sizes(&x, &y);
	return true;
}

bool dpe_value_is_number(struct dpe_value value)
{
	struct decimal decimal;

	return read_number(value, &decimal);
}

/* ---- hash -------------------------------------------------------------------------------- */

/* True for a 64-bit integer, signed or unsigned. */
static bool word_of(const struct decimal *decimal, uint64_t *bits)
{
	dpe_wide size = 0;
	int64_t left = decimal->magnitude;
	const char *at = decimal->first;

	if (!at) {
		*bits = 0;
		return true;
	}
	if (left < 1 || left > WORD_DIGITS)
		return false;
	for (; left && at < decimal->end; at = next_digit(at, decimal->end), left--)
		size = size * 10 + (unsigned)(*at - '0');
	if (at < decimal->end)
		return false;
	for (; left; left--)
		size *= 10;
	*bits = decimal->negative ? -(uint64_t)size : (uint64_t)size;
	return size <= (decimal->negative ? (dpe_wide)INT64_MAX + 1 : UINT64_MAX);
}

bool dpe_number_hash(struct dpe_value value, uint64_t *hash)
{
	struct decimal decimal;
	uint64_t bits;

	if (!read_number(value, &decimal))
		return false;
	if (!word_of(&decimal, &bits)) {
		bits = (uint64_t)decimal.magnitude * 2 + decimal.negative;
		for (const char *at = decimal.first; at < decimal.end;
			at = next_digit(at, decimal.end))
			bits = (bits ^ (unsigned char)*at) * 0x100000001b3ull;
	}
	*hash = dpe_value_mix(bits);
	return true;
}
