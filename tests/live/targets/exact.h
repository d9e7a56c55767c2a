/* What the target exact shares with its test. */
#ifndef DPE_TESTS_EXACT_H
#define DPE_TESTS_EXACT_H

#define RUNNERS 2

struct shared {
	volatile int round, changed, over;
	void (*functions[2])(int);
	struct runner {
		volatile long count, last; /* ns */
	} runners[RUNNERS];
};

#endif
