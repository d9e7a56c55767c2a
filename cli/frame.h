/* The text of a stack frame, taken apart. Private to cli. */
#ifndef DPE_CLI_FRAME_H
#define DPE_CLI_FRAME_H

#include "dpe/dpe.h"

/* All that is text belongs to the frame's text. */
struct cli_frame {
	const char *function; /* "" with length 0: unknown */
	size_t function_len;
	const char *file; /* NULL: unknown */
	size_t file_len;
	unsigned line;
	const char *library; /* NULL: unknown; a frame that tells its file does not tell this */
	size_t library_len;
};

/* "function+0x1f (file:line)", "function (inlined) (file:line)", "function+0x1f (libc.so.6)",
 * "0x7f… (libc.so.6+0x1234)", or what else a log holds, which is then taken for a function. */
struct cli_frame cli_frame_split(const char *text);
/* The innermost frame that has a file in a folder, as a program's own sources do; else the
 * innermost that has a file. NULL where none has. */
const char *cli_frame_best(const struct dpe_message *message);
/* The frame as far as it tells findings apart: function and line, where there is a line. */
void cli_frame_key(struct dpe_text *to, const char *text);

#endif
