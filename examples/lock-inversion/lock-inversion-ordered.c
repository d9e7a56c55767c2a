/* Both take the cache first. No cycle can close, in whichever order they come. */
#define ORDERED
#include "lock-inversion.c"
