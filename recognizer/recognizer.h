/* The vocabulary of the recognizer: rules at run time, and what their parts share. */
#ifndef DPE_RECOGNIZER_RECOGNIZER_H
#define DPE_RECOGNIZER_RECOGNIZER_H

#include "dpe-lang/automata/automata.h"
#include "dpe/dpe-recognizer.h"
#include "recognizer/events/events.h"
#include "stabilizer/stabilizer.h"

#define DPE_MAX_VARIABLES 64

/* ---- rules at work ----------------------------------------------------------------------- */

struct dpe_env;

/* What is followed for one combination of values, while it is at work. */
struct dpe_slice {
	struct dpe_slice *before, *next; /* among those at work */
	struct dpe_cell *cell;           /* see slices/cells.h */
	bool extended;                   /* a slice with these values and more exists */
	const struct dpe_value *params;  /* one a variable */
	uint64_t number; /* in the order of their beginning */
	uint64_t mask;   /* variables that are bound */
	bool done;       /* no further verdict */
	bool renewed;    /* it has ended before */
	bool overflown;  /* partial matches were given up: from then on in doubt; … */
	bool searched;   /* … as there was too much to choose from */
	struct dpe_order order;
	struct dpe_reading *readings; /* expect */
	unsigned nreadings, capreadings;
	struct dpe_partial *partials; /* detect */
	unsigned npartials, cappartials;
	unsigned many; /* partial matches, from which on the dead ones are looked for; 0: some */
	struct dpe_weave *weave; /* detect, operand by operand; NULL: nothing yet */
};

/* One rule being followed. */
struct dpe_run {
	struct dpe_recognizer *recognizer;
	const struct dpe_rule *rule;
	struct dpe_automaton *automaton; /* or … */
	size_t most_bytes;               /* of the automaton: when to start it afresh */
	struct dpe_stands *stands;       /* … or … */
	struct dpe_game *game;           /* … none of them for sync */
	struct dpe_shape *shape;         /* detect: the rule operand by operand; or NULL */
	uint64_t *masks;                 /* of the patterns */
	bool *late;                      /* patterns whose condition asks for other variables */
	bool *placed;                    /* … or for the events at other positions */
	unsigned *named;                 /* positions that conditions name, from 0 */
	unsigned nnamed, capnamed;
	bool wants_positions; /* an action names $i */
	bool acts;            /* an event has an action */
	/* The actions within the rule's expression. */
	const struct dpe_stmt *const *inner_actions;
	unsigned ninner_actions;
	bool one_thread; /* a variable is bound to the thread of each event: slices are chains */
	/* Variables that are bound to the threads of events, where nothing else decides about a slice
	 * but what these threads did; else none. */
	uint64_t owners;
	struct dpe_sequel *sequel; /* NULL: each event is looked at by someone */
	struct dpe_slices *slices; /* or … */
	struct dpe_pairs *pairs;   /* … where the rule is about two independent events, … */
	unsigned pair_rule;        /* … as the so many-th of those that share the slices */
	/* Scratch for the event at hand. */
	struct dpe_binding *bindings;
	unsigned nbindings;
	struct dpe_reads *reads;     /* by pattern */
	bool *all_literals;          /* room for those of several patterns */
	const bool *literals;        /* how the event may be read in the slice at hand */
	bool as_literal, ends;       /* it may be read at all; it ends the slice */
	bool *acted;                 /* positions whose action ran for this event */
	const struct dpe_stmt **ran; /* other actions that ran for this event */
	unsigned nran, capran;
	struct dpe_preds preds;
	struct dpe_partial *fresh; /* room for the partial matches that the event makes */
	unsigned capfresh;
	struct dpe_fresh *fresh_fibres; /* the same of fibres */
	unsigned capfresh_fibres;
	struct dpe_reading *spare; /* room for the readings after the event */
	unsigned capspare;
	struct dpe_occurrence **at_positions; /* of a partial match */
	struct dpe_step *steps;
	struct dpe_pred *step_preds;
	unsigned capsteps, cappreds;
	struct dpe_deferred *deferred; /* violations of slices that are parts of others, by number */
	uint64_t verdicts, inconclusive; /* told */
	uint64_t forgotten, forgotten_to; /* of those told: that cannot be taken back, up to an event */
	unsigned sync; /* its number among the `sync` rules */
};

struct dpe_section;

/* The sections of `during` rules that threads are in: a hash table by thread. */
struct dpe_sections {
	struct dpe_section **buckets;
	unsigned nbuckets, count;
};

struct dpe_recognizer {
	const struct dpe_spec *spec;
	struct dpe_recognizer_options options;
	struct dpe_recognizer_sink sink;
	struct dpe_stabilizer *stabilizer;
	struct dpe_run *runs;      /* one a rule */
	struct dpe_name_watchers *by_name; /* by interned name; none for names from nnames on */
	unsigned nnames;
	struct dpe_value *globals; /* owned */
	struct dpe_summary summary;
	uint64_t fed; /* messages; `summary` counts those that were released */
	struct dpe_wait_graph *waits;
	struct dpe_lock_order *lock_order;
	struct dpe_progress *progress;
	struct dpe_pool *pool;     /* of occurrences */
	struct dpe_horizon *horizon;
	uint64_t horizon_at;           /* when, in events; 0: never */
	uint64_t kept, forget_above;  /* events in the orders of slices, and when to forget some */
	struct dpe_unwatched *unwatched; /* or NULL */
	struct dpe_doubt *doubt;   /* what was lost */
	struct dpe_message **gaps; /* messages that come after a gap, counted */
	unsigned ngaps, capgaps;
	struct dpe_reported *reported;     /* what may have to be taken back */
	bool many_slices;       /* some rule has so many slices that they are far away, as memory goes */
	bool inspects_all;     /* each event is looked at, whatever its name is */
	bool started;   /* an event had a time: the first had … */
	uint64_t start; /* … this one */
	bool own_waits; /* who holds and awaits what, only the events of that thread say */
	bool ended;             /* break in a replay */
	bool finished;          /* the verdicts of the end were given */
	bool finishing;         /* nothing comes any more */
	dpe_name thread_found;         /* the first event of a thread that ran already */
	bool suppressing;             /* the action at hand is that of a suppressed finding */
	struct dpe_text text;   /* scratch of actions */
	struct dpe_roles *roles; /* scratch of the message at hand */
	struct dpe_sections sections;
	dpe_name ends_thread; /* the last event of a thread */
};

#endif
