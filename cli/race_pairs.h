/* race_pairs: the words of `dpe race` that are pairs of functions. Private to cmd_race.c. */
#ifndef DPE_CLI_RACE_PAIRS_H
#define DPE_CLI_RACE_PAIRS_H

#include "cli/cli.h"

/* The first of these characters outside brackets, quotes and template arguments, or the end. */
const char *cli_race_find(const char *word, const char *characters);

/* Whether the word has the name of an operator or a destructor of C++ in it. */
bool cli_race_is_cplusplus(const char *word);

/* The expression for "put,get": "put & get". Another call of the same function gets a caret; names with template arguments get
 * quotes. Where debug information says that both functions take a pointer of the same type first, they get the argument
 * `object`, with a note, and *objects becomes true. The caller's to free; NULL if the word is no pair. */
char *cli_race_pair(const struct cli *cli, const char *word, bool *objects);

#endif
