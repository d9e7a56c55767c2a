/* Groups rows of choices into few Cartesian products that contain exactly these rows: two products
 * that differ in one column are one. */
#include "dpe-lang/nets/marking_products.h"

#include <stdlib.h>
#include <string.h>

struct products dpe_nets_products(unsigned ncolumns, unsigned choices)
{
	return (struct products){.ncolumns = ncolumns, .nwords = (choices + 63) / 64};
}

void dpe_nets_products_add(struct products *p, const unsigned *row, unsigned group)
{
	uint64_t *set = dpe_xcalloc((size_t)p->ncolumns * p->nwords + 1, sizeof(*set));
	unsigned count = p->count;

	for (unsigned c = 0; c < p->ncolumns; c++)
		set[c * p->nwords + row[c] / 64] |= UINT64_C(1) << row[c] % 64;
	*DPE_GROW(p->sets, p->count, p->cap) = set;
	*DPE_GROW(p->groups, count, p->capgroups) = group;
}

bool dpe_nets_products_have(
	const struct products *p, unsigned product, unsigned column, unsigned choice)
{
	return p->sets[product][column * p->nwords + choice / 64] >> choice % 64 & 1;
}

/* How many columns differ, 2 for more; `*column` is the last that does. */
static unsigned differ(const struct products *p, unsigned a, unsigned b, unsigned *column)
{
	size_t size = p->nwords * sizeof(uint64_t);
	unsigned count = 0;

	for (unsigned c = 0; c < p->ncolumns && count < 2; c++) {
		if (!memcmp(p->sets[a] + c * p->nwords, p->sets[b] + c * p->nwords, size))
			continue;
		*column = c;
		count++;
	}
	return count;
}

static bool merge(struct products *p, unsigned a, unsigned b)
{
	unsigned column = 0, count;

	if (p->groups[a] != p->groups[b])
		return false;
	count = differ(p, a, b, &column);
	if (count > 1)
		return false;
	if (count && (dpe_nets_products_have(p, a, column, 0) ||
			     dpe_nets_products_have(p, b, column, 0)))
		return false;
	for (unsigned w = 0; count && w < p->nwords; w++)
		p->sets[a][column * p->nwords + w] |= p->sets[b][column * p->nwords + w];
	free(p->sets[b]);
	p->count--;
	p->sets[b] = p->sets[p->count];
	p->groups[b] = p->groups[p->count];
	return true;
}

void dpe_nets_products_merge(struct products *p)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (unsigned a = 0; a < p->count; a++) {
			for (unsigned b = a + 1; b < p->count;) {
				if (merge(p, a, b))
					changed = true;
				else
					b++;
			}
		}
	}
}

void dpe_nets_products_free(struct products *p)
{
	for (unsigned i = 0; i < p->count; i++)
		free(p->sets[i]);
	free(p->sets);
	free(p->groups);
}
