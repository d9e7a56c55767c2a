/* The limits of the language and of its searches. A specification that exceeds one is an error. A search that
 * exceeds one gives up, and its caller reports that or follows the rule otherwise. With DPE_TINY the tests meet them. */
#ifndef DPE_LANG_LIMITS_H
#define DPE_LANG_LIMITS_H

#include "base/base.h"

/* Bounds of specifications. They are the same with DPE_TINY, since the shipped specifications must compile there. */
enum {
	DPE_MAX_FILE_BYTES = 64 << 20,
	DPE_MAX_INCLUDES = 100,    /* files that include one another */
	DPE_MAX_ERRORS = 500,      /* then compiling stops */
	DPE_MAX_WARNINGS = 50,     /* about definitions; the others are counted */
	DPE_MAX_DEPTH = 1000,      /* nesting of brackets, expressions and statements */
	DPE_MAX_OPEN_BRACKETS = 1100, /* that the layout follows; at least DPE_MAX_DEPTH */
	DPE_PARSER_DEPTH = 20000,  /* of bison's stack */
	DPE_MAX_OPERATORS = 4000,  /* nesting of operators on events; a;b;c counts as two */
	DPE_MAX_NODES = 100000,    /* of a rule with its definitions expanded */
	DPE_MAX_POSITIONS = 30000, /* event positions of a rule */
	DPE_MAX_VARIABLES = 64,    /* of a rule */
	DPE_MAX_ARGS = 64,         /* of an event */
	DPE_MAX_GLOBALS = 10000,   /* `var`s of a specification */
	DPE_MAX_KEYS = 3,          /* variables of a rule that a `var` is kept for */
	DPE_MAX_WIDTH = 4096,      /* width and precision of a conversion in a format */
	DPE_POMSET_EVENTS = 8,     /* of a behaviour of a `predict` rule */
	DPE_MAX_POMSETS = DPE_TINY_OR(3, 256), /* its behaviours */
};

/* Bounds of searches and of composed automata. */
enum {
	DPE_MODERATE_STATES = DPE_TINY_OR(3, 65536), /* of an automaton that a run may visit and keep */
	DPE_SMALL_STATES = DPE_TINY_OR(2, 512),      /* of one that dividing does not improve */
	DPE_SEARCH_BYTES = DPE_TINY_OR(1 << 12, 128 << 20), /* for finding dead states, … */
	DPE_SEARCH_WORK = DPE_TINY_OR(3, 4000000),   /* … configurations, for the moves of one state */
	DPE_MAX_EXPANDED_EVENTS = DPE_TINY_OR(3, 20000), /* of a repetition that is rewritten without ε */
	/* Rules whose prerequisites are computed: patterns, one bit each, and positions, since the computation recurses. */
	DPE_PREREQUISITE_PATTERNS = DPE_TINY_OR(2, 64),
	DPE_PREREQUISITE_POSITIONS = DPE_TINY_OR(3, 1000),
	/* The search for examples: */
	DPE_MAX_VISITS = DPE_TINY_OR(3, 5000),       /* states, … */
	DPE_MAX_REJECTED_VISITS = DPE_TINY_OR(2, 500), /* … and for what is rejected */
	DPE_MAX_EXAMPLE_EVENTS = DPE_TINY_OR(3, 64),
	DPE_EXAMPLE_WALKS = DPE_TINY_OR(2, 400),
	DPE_WALK_EVENTS = DPE_TINY_OR(3, 24),
};

#endif
