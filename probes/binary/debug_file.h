/* debug_file: where the debug information of a stripped file is installed. */
#ifndef DPE_PROBES_BINARY_DEBUG_FILE_H
#define DPE_PROBES_BINARY_DEBUG_FILE_H

#include <elfutils/libdwfl.h>

/* A callback for libdwfl: an open file and its path, or -1. Searched by build id under
 * /usr/lib/debug, then by the link's name next to the file, in .debug and under /usr/lib/debug.
 * libdwfl's own search would ask servers too, and nobody has to know what is being debugged. */
int dpe_debugfile_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
	const char *path, const char *link, GElf_Word crc, char **found);

#endif
