/* shared_objects: pairs of functions about the same object. Private to cmd_race.c. */
#ifndef DPE_CLI_SHARED_OBJECTS_H
#define DPE_CLI_SHARED_OBJECTS_H

#include "cli/cli.h"

/* "put(object),get(object)" where debug information says that both take a pointer of the same type first, with a note;
 * the caller's to free. NULL otherwise, also if the events have arguments already. */
char *cli_pair_of_object(const struct cli *cli, const char *first, const char *second);

#endif
