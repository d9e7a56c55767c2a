/* Both take the cache first. No circle can close, whoever comes when. */
#define ORDERED
#include "lock-inversion.c"
