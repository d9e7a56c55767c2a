/* Random executions in the STD format: threads with locks, which fork and join each other. */
#ifndef DPE_TESTS_PROGRAMS_H
#define DPE_TESTS_PROGRAMS_H

#include "tests/recognizer/transcript.h"

#define SYNC                                                                                       \
	"sync last lock(l): rel(l) ; acq(l)\nsync last begun(t): fork(t) ; begin(t)\n"             \
	"sync last ended(t): end(t) ; join(t)\n"

enum { THREADS = 5, LOCKS = 2, VARIABLES = 3, MOST = 400 };

struct program {
	struct dpe_text log;
	unsigned dice;
	int owner[LOCKS]; /* -1: nobody */
	bool alive[THREADS], born[THREADS];
};

static inline unsigned roll(struct program *program, unsigned sides)
{
	return rand_r(&program->dice) % sides;
}

static inline void use_lock(struct program *program, int thread)
{
	unsigned lock = roll(program, LOCKS);

	if (program->owner[lock] == thread) {
		dpe_text_printf(&program->log, "T%d|rel(L%u)|1\n", thread, lock);
		program->owner[lock] = -1;
	} else if (program->owner[lock] < 0) {
		dpe_text_printf(&program->log, "T%d|acq(L%u)|1\n", thread, lock);
		program->owner[lock] = thread;
	}
}

static inline void fork_or_join(struct program *program, int thread)
{
	int other = (int)roll(program, THREADS);

	if (!other || other == thread)
		return;
	if (!program->born[other]) {
		dpe_text_printf(&program->log, "T%d|fork(T%d)|1\n", thread, other);
		program->born[other] = program->alive[other] = true;
	} else if (program->alive[other]) {
		dpe_text_printf(&program->log, "T%d|join(T%d)|1\n", thread, other);
		program->alive[other] = false;
	}
}

/* Threads are not equally busy, so that some see little of the others for long. */
static inline void step(struct program *program)
{
	int thread = (int)roll(program, roll(program, THREADS) + 1);

	if (!program->alive[thread] || (thread == 1 && roll(program, 20)))
		return;
	if (!roll(program, 20))
		fork_or_join(program, thread);
	else if (!roll(program, 3))
		use_lock(program, thread);
	else
		dpe_text_printf(&program->log, "T%d|%s(V%u)|1\n", thread,
			roll(program, 2) ? "r" : "w", roll(program, VARIABLES));
}

static inline struct program random_program(unsigned seed)
{
	struct program program = {.dice = seed, .owner = {-1, -1}};
	unsigned steps;

	program.born[0] = program.alive[0] = true;
	steps = roll(&program, MOST) + 50;
	for (unsigned i = 0; i < steps; i++)
		step(&program);
	dpe_text_puts(&program.log, "T0|r(V0)|1\n");
	return program;
}

#endif
