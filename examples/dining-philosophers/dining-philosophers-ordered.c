/* The same table with a rule: the fork of the lower number first. No cycle can close. */
#define ORDERED
#include "dining-philosophers.c"
