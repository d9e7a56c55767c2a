/* Rows of choices, one choice a column, grouped into Cartesian products of sets of choices. */
#ifndef DPE_NETS_MARKING_PRODUCTS_H
#define DPE_NETS_MARKING_PRODUCTS_H

#include "dpe-lang/nets/nets.h"

struct products {
	unsigned ncolumns, nwords; /* up to nwords × 64 choices a column */
	uint64_t **sets;           /* of each product: ncolumns × nwords words */
	unsigned *groups;          /* rows of different groups are never put together */
	unsigned count, cap, capgroups;
};

/* A product for up to `choices` choices a column. For dpe_nets_products_free. */
struct products dpe_nets_products(unsigned ncolumns, unsigned choices);
void dpe_nets_products_add(struct products *products, const unsigned *row, unsigned group);
/* Merges products that differ in one column; choice 0, "does not take part", with no other. */
void dpe_nets_products_merge(struct products *products);
bool dpe_nets_products_have(
	const struct products *products, unsigned product, unsigned column, unsigned choice);
void dpe_nets_products_free(struct products *products);

#endif
