/* The lexer's driver, and literals: numbers, strings, characters. */
#include "dpe-lang/syntax/token_stream.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* flex's header wants the types of token_stream.h */
#include "dpe-lang/syntax/lexer.h"

bool dpe_lex_is_prime(const struct dpe_lexer *lexer, struct dpe_place place)
{
	int kind = lexer->last.kind;

	return lexer->last.place.end == place.begin && place.begin &&
	       (kind == T_NAME || kind == ')' || kind == ']' || kind == T_PRIME);
}

/* ---- numbers -------------------------------------------------------------------------- */

static int digit_of(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isalpha((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : 99;
}

static bool is_suffix(const char *text)
{
	static const char *const suffixes[] = {"", "u", "l", "ul", "ll", "ull", "lu", "llu"};

	for (unsigned i = 0; i < DPE_COUNT(suffixes); i++) {
		if (!strcasecmp(text, suffixes[i]))
			return true;
	}
	return false;
}

/* Nanoseconds of a unit of time; 0 if it is not one. */
static unsigned long long time_unit(const char *text)
{
	static const struct {
		const char *name;
		unsigned long long ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000}};

	for (unsigned i = 0; i < DPE_COUNT(units); i++) {
		if (!strcmp(text, units[i].name))
			return units[i].ns;
	}
	return 0;
}

bool dpe_token_is_unit(const struct dpe_token *token)
{
	return token->kind == T_NAME && time_unit(token->value.text);
}

bool dpe_token_is_time(struct dpe_arena *arena, const struct dpe_token *token)
{
	const char *number = dpe_token_text(arena, token), *unit = number + strspn(number, "0123456789.");
	const struct dpe_token *next = token + 1;

	if (token->kind != T_NUMBER)
		return false;
	if (*unit)
		return time_unit(unit);
	next += next->kind == ';' && next->place.begin == next->place.end; /* inserted */
	return dpe_token_is_unit(next);
}

/* Returns the end of the digits; `overflow`: they exceed 128 bits. */
static const char *read_digits(const char *at, int base, dpe_wide *num, bool *overflow)
{
	for (*num = 0; digit_of(*at) < base; at++) {
		*overflow |= __builtin_mul_overflow(*num, (dpe_wide)(unsigned)base, num);
		*overflow |= __builtin_add_overflow(*num, (dpe_wide)(unsigned)digit_of(*at), num);
	}
	return at;
}

static const char *keep(struct dpe_lexer *lexer, struct dpe_value value)
{
	return dpe_arena_strndup(lexer->arena, value.text, value.len);
}

static int wide_number(struct dpe_lexer *lexer, dpe_wide num, DPE_YYSTYPE *value)
{
	char digits[DPE_NUMBER_TEXT];

	value->number.real = keep(lexer, dpe_value_wide(num, false, digits));
	return T_NUMBER;
}

int dpe_lex_number(
	struct dpe_lexer *lexer, const char *text, struct dpe_place place, DPE_YYSTYPE *value)
{
	const char *digits = text, *end;
	bool overflow = false;
	dpe_wide num;
	int base = 10;

	if (text[0] == '0' && text[1]) {
		base = strchr("xX", text[1]) ? 16 : strchr("bB", text[1]) ? 2 : 8;
		digits += base == 8 ? 1 : 2;
	}
	end = read_digits(digits, base, &num, &overflow);
	value->number = (struct ast_number){0};
	if ((end == digits && base != 8) || (!is_suffix(end) && !time_unit(end))) {
		dpe_diag(lexer->diags, DPE_ERROR, place,
			"'%s' is not a number: write it like 42, 0x2a, 052, 0b101010, 1.5, 1e-3 or, of time, 10ms",
			text);
		return T_BAD;
	}
	if (time_unit(end)) {
		value->number.time = dpe_arena_strndup(lexer->arena, text, strlen(text));
		overflow |= __builtin_mul_overflow(num, (dpe_wide)time_unit(end), &num);
	}
	if (overflow)
		dpe_diag(lexer->diags, DPE_ERROR, place,
			"integer overflow in a literal: %s does not fit into 128 bits", text);
	if (!overflow && num > UINT64_MAX)
		return wide_number(lexer, num, value);
	value->number.num = (uint64_t)num;
	return T_NUMBER;
}

/* As it is written, in the shortest form of that value: the double nearest to it may be another number. */
static const char *keep_exact(struct dpe_lexer *lexer, double real, const char *text, size_t len)
{
	char shortest[DPE_NUMBER_TEXT];
	struct dpe_value value = dpe_value_real(real, false, shortest);
	struct dpe_value written = {.kind = DPE_RAW, .len = (uint32_t)len, .text = text};
	int order;

	return keep(lexer, dpe_value_compare(value, written, &order) && !order ? value : written);
}

int dpe_lex_real(
	struct dpe_lexer *lexer, const char *text, struct dpe_place place, DPE_YYSTYPE *value)
{
	char shortest[DPE_NUMBER_TEXT], *end;
	long double exact = strtold(text, &end);
	double real = strtod(text, NULL);

	if (*end && (!strchr("fFlL", *end) || end[1]) && !time_unit(end)) {
		dpe_diag(lexer->diags, DPE_ERROR, place,
			"'%s' is not a number: write it like 1.5, 1e-3 or, of time, 1.5ms", text);
		return T_BAD;
	}
	if (time_unit(end))
		real = (double)(exact * (long double)time_unit(end)); // 1.001ms is a whole number of ns
	if (isinf(real) || (!real && strcspn(text, "123456789") < strcspn(text, "eE")))
		dpe_diag(lexer->diags, DPE_ERROR, place, "%s does not fit into a double", text);
	value->number = (struct ast_number){
		.real = time_unit(end) ? keep(lexer, dpe_value_real(real, false, shortest))
				       : keep_exact(lexer, real, text, (size_t)(end - text)),
		.time = time_unit(end) ? dpe_arena_strndup(lexer->arena, text, strlen(text)) : NULL};
	return T_NUMBER;
}

int dpe_lex_position(
	struct dpe_lexer *lexer, const char *digits, struct dpe_place place, DPE_YYSTYPE *value)
{
	bool overflow = false;
	dpe_wide num;

	read_digits(digits, 10, &num, &overflow);
	value->num = overflow || num > UINT32_MAX ? UINT32_MAX : (uint64_t)num;
	(void)lexer;
	(void)place;
	return T_POSITION;
}

/* ---- strings and characters ----------------------------------------------------------- */

/* The place of an escape within a token. */
static struct dpe_place part(struct dpe_place place, size_t begin, size_t len)
{
	place.begin += (uint32_t)begin;
	place.end = place.begin + (uint32_t)len;
	return place;
}

static int simple_escape(char c)
{
	static const char letters[] = "abefnrtv\\'\"?";
	static const char meanings[] = "\a\b\033\f\n\r\t\v\\'\"?";
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? meanings[at - letters] : -1;
}

/* Reads the escape that begins at text[0] == '\\' of `len` bytes; returns its length. -1 in `byte` for an
 * invalid one, -2 ffor a line continuation, which gives no byte. */
static size_t read_escape(const char *text, size_t len, int *byte)
{
	size_t used = 2;

	*byte = -1;
	if (len < 2)
		return 1;
	if (text[1] == '\n') {
		*byte = -2;
	} else if (text[1] == 'x') {
		int number = 0;

		for (; used < len && used < 4 && digit_of(text[used]) < 16; used++)
			number = number * 16 + digit_of(text[used]);
		*byte = used > 2 ? number : -1;
	} else if (digit_of(text[1]) < 8) {
		*byte = digit_of(text[1]);
		for (; used < len && used < 4 && digit_of(text[used]) < 8; used++)
			*byte = *byte * 8 + digit_of(text[used]);
		*byte = *byte > UINT8_MAX ? -1 : *byte;
	} else {
		*byte = simple_escape(text[1]);
	}
	return used;
}

static bool check_escape(
	struct dpe_lexer *lexer, const char *text, size_t used, int byte, struct dpe_place place)
{
	if (byte == -1)
		dpe_diag(lexer->diags, DPE_ERROR, place,
			"unknown escape '%.*s': write \\\\ for a backslash", (int)used, text);
	if (byte == 0)
		dpe_diag(lexer->diags, DPE_ERROR, place, "a string cannot hold a NUL byte");
	return byte > 0;
}

int dpe_lex_string(struct dpe_lexer *lexer, const char *text, size_t len, struct dpe_place place,
	DPE_YYSTYPE *value)
{
	char *to = dpe_arena_alloc(lexer->arena, len);

	value->text = to;
	for (size_t i = 1, used; i < len - 1; i += used) {
		int byte;

		if (text[i] != '\\') {
			*to++ = text[i];
			used = 1;
			continue;
		}
		used = read_escape(text + i, len - 1 - i, &byte);
		if (byte != -2 && check_escape(lexer, text + i, used, byte, part(place, i, used)))
			*to++ = (char)byte;
	}
	return T_STRING;
}

int dpe_lex_char(struct dpe_lexer *lexer, const char *text, size_t len, struct dpe_place place,
	DPE_YYSTYPE *value)
{
	int byte = len > 2 ? (unsigned char)text[1] : -1;
	size_t used = 1;

	if (len > 2 && text[1] == '\\')
		used = read_escape(text + 1, len - 2, &byte);
	if (byte < 0 || used != len - 2) {
		dpe_diag(lexer->diags, DPE_ERROR, place,
			"%.*s is not a character: write one character or escape between the quotes, "
			"or a string in \"\"",
			(int)len, text);
		return T_BAD;
	}
	value->number = (struct ast_number){.num = (uint64_t)byte};
	return T_NUMBER;
}

/* ---- invalid characters -------------------------------------------------------------- */

int dpe_lex_unknown(struct dpe_lexer *lexer, struct dpe_place place)
{
	size_t len;
	const char *text = dpe_source_text(lexer->source, &len) + place.begin;
	unsigned char c = (unsigned char)*text;

	if (c >= 0x80)
		dpe_diag(lexer->diags, DPE_ERROR, place,
			"'%.*s' has no meaning here: names consist of ASCII letters, digits and _",
			(int)(place.end - place.begin), text);
	else if (isprint(c))
		dpe_diag(lexer->diags, DPE_ERROR, place, "'%c' has no meaning in a specification%s",
			c, c == '#' ? ": comments begin with // or /*" : "");
	else
		dpe_diag(lexer->diags, DPE_ERROR, place,
			"byte 0x%02x has no meaning in a specification", c);
	return T_BAD;
}

void dpe_lex(struct dpe_lexer *lexer, struct dpe_tokens *tokens)
{
	size_t len;
	const char *text = dpe_source_text(lexer->source, &len);
	struct dpe_token token;
	yyscan_t scanner;

	lexer->offset = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	lexer->newline = true;
	dpe_scanlex_init_extra(lexer, &scanner);
	dpe_scan_scan_bytes(text + lexer->offset, (int)(len - lexer->offset), scanner);
	/* the last token is always T_END, also after too many errors */
	do {
		memset(&token, 0, sizeof(token));
		token.kind = dpe_diags_errors(lexer->diags) > DPE_MAX_ERRORS
				     ? T_END
				     : dpe_scanlex(&token.value, &token.place, scanner);
		token.first = lexer->newline;
		lexer->newline = false;
		if (token.kind == T_END)
			token.place =
				(struct dpe_place){lexer->source, (uint32_t)len, (uint32_t)len};
		lexer->last = token;
		*DPE_GROW(tokens->at, tokens->n, tokens->cap) = token;
	} while (token.kind != T_END);
	dpe_scanlex_destroy(scanner);
}
