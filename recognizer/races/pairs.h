/* Rules about pairs. Adjacent rules with the same key, the first argument of each event, share
 * their slices: write_write(x) and read_write(x) keep a write once and look it up once. Literals
 * and rules are bits, so that sets of them are words. Private to races/. */
#ifndef DPE_RECOGNIZER_RACES_PAIRS_H
#define DPE_RECOGNIZER_RACES_PAIRS_H

#include "recognizer/limits.h"
#include "recognizer/races/pair_table.h"

/* As what an event may be read: literals are one bit each, as are rules. */
struct dpe_pair_reading {
	uint32_t literals; /* it may be these … */
	uint32_t wanted;   /* … of which these represent all that have different partners; */
	uint32_t alike;    /* literals with the same partners as one of them; */
	uint32_t meets;    /* literals that are partners of one of them */
	uint8_t rules;     /* whose literals they are */
	uint8_t ends;      /* whose slice the event ends */
};

struct dpe_pair_literal {
	uint32_t alike;    /* literals with the same partners, this one among them */
	uint32_t partners; /* the literals that complete it */
	uint16_t first;    /* its position as the first event … */
	uint16_t second[DPE_PAIR_LITERALS]; /* … and as the second, by partner */
};

struct dpe_pair_rule {
	struct dpe_run *run;
	uint32_t literals;                 /* its own */
	unsigned *keys;                    /* the variables that all its patterns bind */
	struct dpe_pair_reading *readings; /* by pattern */
	uint64_t count;                    /* number of its slices */
	struct dpe_slice *view; /* a slice in the form that engines and verdicts expect … */
	struct dpe_value *view_values; /* … and its values */
};

struct dpe_pairs {
	struct dpe_recognizer *recognizer;
	struct dpe_pair_table table; /* of the slices */
	unsigned nrules, nliterals;
	unsigned few; /* a slice with fewer events has room for one more as any literal */
	bool single;  /* the first argument is the key and nothing else decides */
	struct dpe_pair_rule rules[DPE_PAIR_RULES];
	struct dpe_pair_literal at[DPE_PAIR_LITERALS];
};

/* What events of a name are to the rules that share slices, where phase and first argument decide.
 */
struct dpe_pair_access {
	struct dpe_pairs *pairs;
	struct dpe_pair_reading by_phase[DPE_EXIT + 1];
};

/* One literal of each class with the same partners. */
uint32_t dpe_pairs_reduce(const struct dpe_pairs *pairs, uint32_t literals);
/* The slice of one of its rules in the form that verdicts expect; valid until the next call. */
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

/* As struct dpe_rule_engine says. */
void dpe_pairs_take(
	struct dpe_run *run, const struct dpe_event *event, struct dpe_occurrence **occurrence);

#endif
