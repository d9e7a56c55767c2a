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
 * innermost with a file; NULL if there is none. Frames of language libraries come last. */
const char *cli_frame_best(const struct dpe_message *message);
/* Calls for the frames that matter to users, from the innermost: all where `full`; else those down to main or a
 * thread's function, and if some are the program's, of those of language libraries (of C++, Rust and OpenMP) only
 * which it called directly. */
void cli_frames_each(const char *const *frames, unsigned count, bool full,
	void (*each)(void *context, const char *frame, bool innermost), void *context);
/* The number of innermost frames that are of the C library's function that creates threads and of what it calls; not all. */
unsigned cli_frames_of_creation(const char *const *frames, unsigned count);
/* Whether the frames reach what calls main or a thread's function. */
bool cli_frames_reach_start(const char *const *frames, unsigned count);
/* Adds the function's name without template arguments and parameters: "std::map::find()". */
void cli_frame_function(struct dpe_text *to, const struct cli_frame *frame);
/* Adds the frame without template arguments and parameters: "std::map::find()+0x8c (file:line)". */
void cli_frame_print(struct dpe_text *to, const char *text);
/* The part of the frame that identifies findings: the function, and the line if known. */
void cli_frame_key(struct dpe_text *to, const char *text);

#endif
