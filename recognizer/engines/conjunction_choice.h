/* What choosing partial matches has in hand. Private to conjunction_choice.c and conjunction_search.c. */
#ifndef DPE_RECOGNIZER_ENGINES_CONJUNCTION_CHOICE_H
#define DPE_RECOGNIZER_ENGINES_CONJUNCTION_CHOICE_H

#include "recognizer/engines/conjunction.h"

/* An operand for which a partial match is to be chosen. */
struct dpe_want {
	const struct dpe_conjunction *conjunction;
	unsigned operand;
	unsigned from, to; /* its candidates */
	unsigned next;     /* those from here on were tried */
	bool nullable, absent;
	unsigned group;    /* the first want of its conjunction, one of which must not be absent; … */
	bool grouped;      /* … if so */
	/* What there was before it. */
	unsigned nchosen, nwants, ncandidates;
};

struct dpe_search {
	struct dpe_chosen *chosen;
	const struct dpe_preds *preds; /* closed partial matches are looked for that end there; or NULL */
	struct dpe_want *wants;
	unsigned nwants, capwants;
	struct dpe_partial **candidates;
	unsigned ncandidates, capcandidates;
	uint64_t *work;
};

/* conjunction_search.c: fills in what is chosen for all wants, which are of conjunctions without others within, and
 * changes what the candidates are. As the callback's: true where it was enough for it. */
bool dpe_search_hard(struct dpe_search *s, dpe_chosen_fn *each, void *context);
/* Whether there is anything that it is not for. */
bool dpe_search_is_plain(const struct dpe_search *s);

#endif
