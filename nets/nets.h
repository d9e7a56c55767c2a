/* nets: Petri nets → DPEs (paper, appendix I.2). The other way, from a DPE to its net, is
 * dpe-lang's.
 *
 * A place/transition net is read from PNML and taken through these steps, one file each:
 *
 *	pnml.c        text → net, with weights and several tokens in a place
 *	explore.c     its markings; a firing sequence that shows it unsafe, where it is
 *	tokens.c      k tokens that flow through a component: k copies of it
 *	slots.c       other k-safe → 1-safe, with the same causal order
 *	silent.c      transitions without a name are taken out, with the same causal order
 *	defer.c       those that can wait for who takes what they leave
 *	saturate.c, makers.c, pasts.c, handover.c, factor.c
 *	              those on a circle of such
 *	sequential.c  its places in sets of which one at most is marked: sequential machines
 *	regular.c     each machine as an expression of ; + *
 *	dpe.c         these side by side, synchronised (&) on the transitions that they share */
#ifndef DPE_NETS_H
#define DPE_NETS_H

#include "base/base.h"

/* Appends a specification with one `expect` rule for each net of a PNML document of type P/T net,
 * whose behaviours are those of the net: what takes it from its initial marking to its end. The end
 * is one token in each place named "end" and none elsewhere, where there is such a place; else the
 * markings in which nothing can happen any more; else, in a net that never stops, where it began.
 * Transitions without a name are silent, unless none has one: then their ids are their names.
 *
 * False after diagnostics that begin with `name`: what is no such document (with its line), a net
 * that is not safe (with a firing sequence that shows it), one that never ends, or one with more
 * than 100,000 markings. */
bool dpe_nets_to_dpe(struct dpe_text *to, const char *name, const char *text, size_t len,
	struct dpe_diags *diags);

#endif
