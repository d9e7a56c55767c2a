/* Rules about pairs of independent events: what pairs.c makes of them and pair_events.c follows. Private
 * to these.
 *
 * Rules that stand one after another and look at the same object, the first argument of each of
 * their events, share their slices: a race detector's write_write(x) and read_write(x) keep a write
 * once, and find it with one look. A literal is one bit, and each rule has its own. */
#ifndef DPE_RECOGNIZER_RACES_PAIRS_H
#define DPE_RECOGNIZER_RACES_PAIRS_H

#include "recognizer/races/pair_table.h"

#define DPE_PAIR_LITERALS 32
#define DPE_PAIR_RULES 8

/* How an event may be read: literals are one bit each, as are rules. */
struct dpe_pair_reading {
	uint32_t literals; /* as these, … */
	uint32_t wanted;   /* … of which those that lack different ones; */
	uint32_t alike;    /* all that lack the same as one of them; */
	uint32_t meets;    /* those that lack one of them */
	uint8_t rules;     /* whose literals they are */
	uint8_t ends;      /* whose slice the event ends */
};

struct dpe_pair_literal {
	uint32_t alike;    /* literals that lack the same, this one among them */
	uint32_t partners; /* what each lacks */
	uint16_t first;    /* the position that it takes as the first event … */
	uint16_t second[DPE_PAIR_LITERALS]; /* … and of each partner as the second */
};

struct dpe_pair_rule {
	struct dpe_run *run;
	uint32_t literals;                 /* its own */
	unsigned *keys;                    /* the variables that all its patterns bind */
	struct dpe_pair_reading *readings; /* by pattern */
	uint64_t count;                    /* of its slices */
	struct dpe_slice *view;            /* in which a slice is shown to others, … */
	struct dpe_value *view_values;           /* … and its values */
};

struct dpe_pairs {
	struct dpe_recognizer *recognizer;
	struct dpe_pair_table table; /* of the slices */
	unsigned nrules, nliterals;
	unsigned few; /* with fewer events than that a slice has room whatever they are kept as */
	bool single; /* the first argument is the key, and nothing else decides */
	struct dpe_pair_rule rules[DPE_PAIR_RULES];
	struct dpe_pair_literal at[DPE_PAIR_LITERALS];
};

/* What events of a name are to the rules that share slices, where the phase and the first argument
 * decide. */
struct dpe_pair_access {
	struct dpe_pairs *pairs;
	struct dpe_pair_reading by_phase[DPE_EXIT + 1];
};

/* Of literals that lack the same the first. */
uint32_t dpe_pairs_reduce(const struct dpe_pairs *pairs, uint32_t literals);
/* The slice as others see that of one of its rules. */
struct dpe_slice *dpe_pairs_view(const struct dpe_pairs *pairs, const struct dpe_pair_rule *rule,
	const struct dpe_pair_slice *slice);

static inline void dpe_pair_reading_add(
	struct dpe_pair_reading *to, const struct dpe_pair_reading *reading)
{
	to->literals |= reading->literals;
	to->alike |= reading->alike;
	to->meets |= reading->meets;
	to->rules |= reading->rules;
	to->ends |= reading->ends;
}

#endif
