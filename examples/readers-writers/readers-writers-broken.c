/*
 * The writer does not take the lock: it writes while others read. Nothing that a reader does makes
 * it wait, so the race is there in every run, also in one where no page was torn.
 */
#define BROKEN
#include "readers-writers.c"
