/* binary: what the other folders of probes/ use of this one: ELF files with their functions, variables,
 * argument locations, line tables and USDT notes. libelf and libdw stay in here. */
#ifndef DPE_PROBES_BINARY_BINARY_H
#define DPE_PROBES_BINARY_BINARY_H

#include "probes/binary/demangle.h"
#include "probes/binary/go.h"
#include "probes/binary/lines.h"
#include "probes/binary/lock_layouts.h"
#include "probes/binary/module.h"
#include "probes/binary/signature.h"
#include "probes/binary/stack_text.h"
#include "probes/binary/unwind.h"
#include "probes/binary/unwind_rows.h"
#include "probes/binary/usdt.h"
#include "probes/binary/variable.h"

#endif
