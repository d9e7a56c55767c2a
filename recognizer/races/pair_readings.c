/* What literals of rules about pairs have in common, and slices of these rules as verdicts see them. */
#include "recognizer/races/pairs.h"

uint32_t dpe_pairs_reduce(const struct dpe_pairs *pairs, uint32_t literals)
{
	uint32_t reduced = 0;

	for (uint32_t left = literals; left;) {
		uint32_t first = left & -left;

		reduced |= first;
		left &= ~pairs->at[__builtin_ctz(first)].alike;
	}
	return reduced;
}

struct dpe_slice *dpe_pairs_view(const struct dpe_pairs *pairs, const struct dpe_pair_rule *rule,
	const struct dpe_pair_slice *slice)
{
	const struct dpe_value *key = dpe_pair_key(&pairs->table, slice);

	rule->view->overflown = slice->overflown >> rule->run->pair_rule & 1;
	for (unsigned i = 0; i < pairs->table.nkeys; i++)
		rule->view_values[rule->keys[i]] = key[i];
	return rule->view;
}
