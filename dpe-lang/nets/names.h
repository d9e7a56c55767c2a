/* Names for what flows through a net, and the net that is made with them. Private to the steps that
 * do that; see tokens.c. */
#ifndef DPE_NETS_NAMES_H
#define DPE_NETS_NAMES_H

#include "dpe-lang/nets/net.h"

#include <uthash.h>

#define NAME_WORDS 4
#define MANY_NAMES (NAME_WORDS * 64)
#define NO_COPY UINT32_MAX

struct names {
	uint64_t bits[NAME_WORDS];
};

struct copy {
	unsigned place;
	struct names names; /* none outside of the flow */
};

struct known_copy {
	struct copy copy;
	UT_hash_handle hh;
};

struct namer {
	struct work *work;
	const struct net *old;
	const unsigned *weight; /* by place */
	unsigned total;         /* names */
	struct copy *copies;    /* in order, once all are known */
	unsigned ncopies, capcopies;
	unsigned *first; /* by place: the first of its copies; those found since come after all */
	struct known_copy *known;
	struct net *new; /* NULL while copies are looked for */
	unsigned firings;
	bool large;
	/* One firing under construction. */
	const struct transition *t;
	unsigned *in;      /* by arc: the copy that is taken */
	struct names *out; /* by arc: what the new token gets */
};

/* ---- sets of names ----------------------------------------------------------------------------
 */

struct names dpe_nets_no_names(void);
bool dpe_nets_has_no_names(const struct names *names);
bool dpe_nets_names_meet(const struct names *a, const struct names *b);
struct names dpe_nets_more_names(struct names names, const struct names *more);
bool dpe_nets_has_name(const struct names *names, unsigned name);
void dpe_nets_flip_name(struct names *names, unsigned name);
/* The first of a set that is not empty. */
unsigned dpe_nets_first_name(const struct names *names);
struct names dpe_nets_first_names(unsigned count);
/* The first so many of them, or all, which are taken out. */
struct names dpe_nets_take_names(struct names *left, unsigned count);
int dpe_nets_compare_names(const struct names *a, const struct names *b);

/* ---- copies.c ---------------------------------------------------------------------------------
 */

/* The net with names for what flows with these weights, `total` in the beginning, and by its places
 * those of `old`. NULL where it would be large. */
struct net *dpe_nets_name_flow(struct work *work, const struct net *old, const unsigned *weight,
	unsigned total, unsigned **origins);
/* Once copies are in order. NO_COPY where there is none. */
unsigned dpe_nets_copy_number(const struct namer *n, unsigned place, struct names names);

/* ---- arrivals.c -------------------------------------------------------------------------------
 */

/* Marks where the new net ends: all ways in which the names can stand there, but for those that
 * differ only in names which may be exchanged. Sets `large` where there are too many. */
void dpe_nets_mark_arrivals(struct namer *n);

#endif
