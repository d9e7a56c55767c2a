/* keyed: tables of things that are found by a value. Private. */
#ifndef DPE_RECOGNIZER_KEYED_H
#define DPE_RECOGNIZER_KEYED_H

#include "recognizer/run.h"

/* The first member of what is found by a value. */
struct dpe_keyed {
	UT_hash_handle hh;
	uint64_t hash;
	struct dpe_value value;
	struct dpe_keyed *same; /* another one with this hash */
};

/* NULL: there is none. */
struct dpe_keyed *dpe_keyed_find(struct dpe_keyed *table, struct dpe_value value);
/* The value is copied. */
void dpe_keyed_add(struct dpe_keyed **table, struct dpe_keyed *entry, struct dpe_value value);
/* Takes it out of the table; the value stays the entry's. */
void dpe_keyed_remove(struct dpe_keyed **table, struct dpe_keyed *entry);
/* Takes out any; NULL where the table is empty. */
struct dpe_keyed *dpe_keyed_pop(struct dpe_keyed **table);

#endif
