/* Checks that text is JSON: text from binary logs is copied into JSON Lines as it is and must
 * not break them. */
#include "event/logs/log.h"

#include <string.h>

struct cursor {
	const unsigned char *at, *end;
	unsigned depth;
};

static bool take(struct cursor *c, char byte)
{
	if (c->at == c->end || *c->at != (unsigned char)byte)
		return false;
	c->at++;
	return true;
}

static bool take_word(struct cursor *c, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(c->end - c->at) < len || memcmp(c->at, word, len) != 0)
		return false;
	c->at += len;
	return true;
}

static bool take_digits(struct cursor *c)
{
	const unsigned char *begin = c->at;

	while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
		c->at++;
	return c->at > begin;
}

static bool take_number(struct cursor *c)
{
	take(c, '-');
	if (!take(c, '0') && !take_digits(c))
		return false;
	if (take(c, '.') && !take_digits(c))
		return false;
	if (!take(c, 'e') && !take(c, 'E'))
		return true;
	if (!take(c, '+'))
		take(c, '-');
	return take_digits(c);
}

static bool take_escape(struct cursor *c)
{
	if (c->at == c->end)
		return false;
	if (*c->at != 'u')
		return memchr("\"\\/bfnrt", *c->at++, 8);
	c->at++;
	for (unsigned i = 0; i < 4; i++, c->at++) {
		if (c->at == c->end || !memchr("0123456789abcdefABCDEF", *c->at, 22))
			return false;
	}
	return true;
}

static bool take_string(struct cursor *c)
{
	if (!take(c, '"'))
		return false;
	while (c->at < c->end && *c->at != '"') {
		unsigned char byte = *c->at++;

		if (byte < 0x20 || (byte == '\\' && !take_escape(c)))
			return false;
	}
	return take(c, '"');
}

static bool take_value(struct cursor *c);

static bool take_members(struct cursor *c)
{
	do {
		if (!take_string(c) || !take(c, ':') || !take_value(c))
			return false;
	} while (take(c, ','));
	return true;
}

static bool take_elements(struct cursor *c)
{
	do {
		if (!take_value(c))
			return false;
	} while (take(c, ','));
	return true;
}

static bool take_nested(struct cursor *c)
{
	bool good;

	if (++c->depth > DPE_MAX_COPIED_NESTING)
		return false;
	if (take(c, '{'))
		good = take(c, '}') || (take_members(c) && take(c, '}'));
	else
		good = take(c, '[') && (take(c, ']') || (take_elements(c) && take(c, ']')));
	c->depth--;
	return good;
}

static bool take_value(struct cursor *c)
{
	if (c->at == c->end)
		return false;
	switch (*c->at) {
	case '{':
	case '[':
		return take_nested(c);
	case '"':
		return take_string(c);
	case 't':
		return take_word(c, "true");
	case 'f':
		return take_word(c, "false");
	case 'n':
		return take_word(c, "null");
	default:
		return take_number(c);
	}
}

bool dpe_json_is_value(const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;
	struct cursor c = {at, at + len, 0};

	return take_value(&c) && c.at == c.end;
}

bool dpe_json_is_members(const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;
	struct cursor c = {at, at + len, 0};

	return take_members(&c) && c.at == c.end;
}
