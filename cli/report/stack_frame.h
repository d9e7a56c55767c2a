/* The parts of a stack frame's text. Private to report. */
#ifndef DPE_CLI_STACK_FRAME_H
#define DPE_CLI_STACK_FRAME_H

#include "dpe/dpe.h"

/* All text is borrowed from the frame's text. */
struct cli_frame {
	const char *function; /* "" with length 0: unknown */
	size_t function_len;
	const char *file; /* NULL: unknown */
	size_t file_len;
	unsigned line;
	const char *library; /* NULL: unknown; absent if the file is known */
	size_t library_len;
};

/* "function+0x1f (file:line)", "function (inlined) (file:line)", "function+0x1f (libc.so.6)",
 * "0x7f… (libc.so.6+0x1234)"; any other text of a log counts as a function. */
struct cli_frame cli_frame_split(const char *text);
/* The innermost frame with a file in a folder, as the program's own sources have, else the
 * innermost with a file; NULL if there is none. */
const char *cli_frame_best(const struct dpe_message *message);
/* The part of the frame that identifies findings: the function, and the line if known. */
void cli_frame_key(struct dpe_text *to, const char *text);

#endif
