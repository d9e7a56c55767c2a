/*
 * Only the second step is locked. Two threads withdraw from account 0 as if they were alone, and one
 * writes back a balance that does not know of the other: money is made from nothing.
 */
#define BROKEN
#include "bank-transfer.c"
