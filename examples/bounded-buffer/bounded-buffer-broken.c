/*
 * A producer that was woken does not look whether there is a place: the second of the two puts its
 * item over item 2, which nobody has taken yet. Item 2 is lost, and the other taken twice.
 */
#define BROKEN
#include "bounded-buffer.c"
