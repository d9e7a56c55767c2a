/* debug_file: finds the separate debug file of a stripped file. Private to binary/. */
#ifndef DPE_PROBES_BINARY_DEBUG_FILE_H
#define DPE_PROBES_BINARY_DEBUG_FILE_H

#include <elfutils/libdwfl.h>

/* A callback for libdwfl: an open file and its path, or -1. Searches by build ID under /usr/lib/debug, then by
 * the name in .gnu_debuglink next to the file, in .debug and under /usr/lib/debug. libdwfl's own search would
 * also send the build ID to debuginfod servers. */
int dpe_debugfile_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
	const char *path, const char *link, GElf_Word crc, char **found);

#endif
