/* The limits of the language and of its searches. Each one that a specification exceeds is an error.
 * A search that exceeds one gives up, and its caller reports that or follows the rule otherwise. */
#ifndef DPE_LANG_LIMITS_H
#define DPE_LANG_LIMITS_H

/* Of specifications. */
enum {
	DPE_MAX_FILE_BYTES = 64 << 20,
	DPE_MAX_INCLUDES = 100,    /* files that include one another */
	DPE_MAX_ERRORS = 500,      /* then compiling stops */
	DPE_MAX_WARNINGS = 50,     /* about definitions; the others are counted */
	DPE_MAX_DEPTH = 1000,      /* nesting of brackets, expressions and statements */
	DPE_MAX_OPERATORS = 4000,  /* nesting of operators on events; a;b;c counts as two */
	DPE_MAX_NODES = 100000,    /* of a rule with its definitions expanded */
	DPE_MAX_POSITIONS = 30000, /* event positions of a rule */
	DPE_MAX_VARIABLES = 64,    /* of a rule */
	DPE_MAX_ARGS = 64,         /* of an event */
	DPE_MAX_GLOBALS = 10000,   /* `var`s of a specification */
	DPE_MAX_KEYS = 3,          /* variables of a rule that a `var` is kept for */
	DPE_MAX_WIDTH = 4096,      /* width and precision of a conversion in a format */
};

/* Of searches and of what is composed. */
#ifdef DPE_TINY
enum {
	DPE_MODERATE_STATES = 3,
	DPE_SMALL_STATES = 2,
	DPE_SEARCH_BYTES = 1 << 12,
	DPE_SEARCH_WORK = 3,
	DPE_MAX_EXPANDED_EVENTS = 3,
	DPE_MAX_VISITS = 3,
	DPE_MAX_REJECTED_VISITS = 2,
	DPE_MAX_EXAMPLE_EVENTS = 3,
	DPE_EXAMPLE_WALKS = 2,
	DPE_WALK_EVENTS = 3,
};
#else
enum {
	DPE_MODERATE_STATES = 65536, /* of an automaton that a run may visit and keep */
	DPE_SMALL_STATES = 512,      /* of one that dividing does not improve */
	DPE_SEARCH_BYTES = 128 << 20, /* for finding dead states, … */
	DPE_SEARCH_WORK = 4000000,   /* … configurations, for the moves of one state */
	DPE_MAX_EXPANDED_EVENTS = 20000, /* of a repetition that is rewritten without ε */
	/* Of the search for examples: */
	DPE_MAX_VISITS = 5000,       /* states, … */
	DPE_MAX_REJECTED_VISITS = 500, /* … and for what is rejected */
	DPE_MAX_EXAMPLE_EVENTS = 64,
	DPE_EXAMPLE_WALKS = 400,
	DPE_WALK_EVENTS = 24,
};
#endif

#endif
