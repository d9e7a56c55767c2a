/*
 * The producer forgets P(s): enqueue() and dequeue() may run at the same time.
 *
 * The race is there in every run, however the threads take turns: the producer waits for nothing
 * that the consumer does, so putting in the next number never follows from taking out the last.
 */
#define BROKEN
#include "producer-consumer.c"
