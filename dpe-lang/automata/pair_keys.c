/* Keys of states, and those of &: the registers of both operands, and where the operands synchronise the order among these. */
#include "dpe-lang/automata/attributes.h"

#define ROW_BITS 16

struct dpe_key *dpe_key_new(unsigned ndata)
{
	const struct dpe_key *key;

	return dpe_xcalloc(1, sizeof(*key) + ndata * sizeof(*key->data));
}

static unsigned row_words(unsigned nregs)
{
	return (nregs + ROW_BITS - 1) / ROW_BITS;
}

/* The word that says whether the event of register i precedes that of register j. */
static unsigned word_of(const struct dpe_key *key, unsigned i, unsigned j)
{
	return key->nregs + key->nplaces + i * row_words(key->nregs) + j / ROW_BITS;
}

bool dpe_key_precedes(const struct dpe_key *key, unsigned i, unsigned j)
{
	return key->data[word_of(key, i, j)] >> j % ROW_BITS & 1;
}

void dpe_key_set_precedes(struct dpe_key *key, unsigned i, unsigned j)
{
	key->data[word_of(key, i, j)] |= 1u << j % ROW_BITS;
}

static unsigned place_of(uint16_t source, const uint16_t *sources, unsigned count)
{
	unsigned at = 0;

	while (at < count && sources[at] != source)
		at++;
	return at;
}

struct dpe_key *dpe_key_pair(const struct dpe_key_operand *left, const struct dpe_key_operand *right, bool synchronises,
	uint16_t *sources, unsigned *ndata)
{
	uint16_t places[right->nregs + 1];
	unsigned nregs = left->nregs;
	struct dpe_key *key;

	for (unsigned i = 0; i < nregs; i++)
		sources[i] = left->sources[i];
	for (unsigned i = 0; i < right->nregs; i++) {
		places[i] = place_of(right->sources[i], sources, nregs);
		sources[places[i]] = right->sources[i];
		nregs += places[i] == nregs;
	}
	*ndata = nregs + right->nregs + (synchronises ? nregs * row_words(nregs) : 0);
	key = dpe_key_new(*ndata);
	key->form = DPE_FORM_BOTH;
	key->left = left->state;
	key->right = right->state;
	key->nregs = nregs;
	key->nplaces = right->nregs;
	for (unsigned i = 0; i < right->nregs; i++)
		key->data[nregs + i] = places[i];
	return key;
}
