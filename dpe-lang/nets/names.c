/* Sets of names. */
#include "dpe-lang/nets/names.h"

#include <string.h>

struct names dpe_nets_no_names(void)
{
	return (struct names){{0}};
}

bool dpe_nets_has_no_names(const struct names *names)
{
	struct names none = dpe_nets_no_names();

	return !memcmp(names, &none, sizeof(none));
}

bool dpe_nets_names_meet(const struct names *a, const struct names *b)
{
	for (unsigned i = 0; i < NAME_WORDS; i++) {
		if (a->bits[i] & b->bits[i])
			return true;
	}
	return false;
}

struct names dpe_nets_more_names(struct names names, const struct names *more)
{
	for (unsigned i = 0; i < NAME_WORDS; i++)
		names.bits[i] |= more->bits[i];
	return names;
}

bool dpe_nets_has_name(const struct names *names, unsigned name)
{
	return names->bits[name / 64] >> name % 64 & 1;
}

void dpe_nets_flip_name(struct names *names, unsigned name)
{
	names->bits[name / 64] ^= UINT64_C(1) << name % 64;
}

unsigned dpe_nets_first_name(const struct names *names)
{
	unsigned word = 0;

	while (!names->bits[word])
		word++;
	return word * 64 + (unsigned)__builtin_ctzll(names->bits[word]);
}

struct names dpe_nets_first_names(unsigned count)
{
	struct names names = dpe_nets_no_names();

	for (unsigned i = 0; i < count; i++)
		dpe_nets_flip_name(&names, i);
	return names;
}

struct names dpe_nets_take_names(struct names *left, unsigned count)
{
	struct names taken = dpe_nets_no_names();

	for (; count && !dpe_nets_has_no_names(left); count--) {
		unsigned name = dpe_nets_first_name(left);

		dpe_nets_flip_name(&taken, name);
		dpe_nets_flip_name(left, name);
	}
	return taken;
}

int dpe_nets_compare_names(const struct names *a, const struct names *b)
{
	for (unsigned i = NAME_WORDS; i-- > 0;) {
		if (a->bits[i] != b->bits[i])
			return a->bits[i] < b->bits[i] ? -1 : 1;
	}
	return 0;
}
