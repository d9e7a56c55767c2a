/*
 * Who finds no task gives the mutex back before it waits. The broadcast comes just then, when nobody
 * waits for it, and is lost: the tasks are there, both threads wait, and the first thread waits
 * for them.
 */
#define BROKEN
#include "thread-pool.c"
