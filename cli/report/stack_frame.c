/* Splits stack frames, as text from probes or logs, into their parts. */
#include "cli/report/stack_frame.h"

#include <stdlib.h>
#include <string.h>

/* The last ` (`: paths may hold parentheses, but hardly after a blank. */
static const char *find_last(const char *text, size_t len, const char *what)
{
	size_t size = strlen(what);

	for (size_t at = len; at-- > 0;) {
		if (at + size <= len && !strncmp(text + at, what, size))
			return text + at;
	}
	return NULL;
}

/* "+0x1f" at the end, which is never part of a function's name. */
static size_t without_offset(const char *text, size_t len)
{
	const char *plus = find_last(text, len, "+0x");
	size_t digits = plus ? strspn(plus + 3, "0123456789abcdef") : 0;

	return digits && plus + 3 + digits == text + len ? (size_t)(plus - text) : len;
}

static size_t without_end(const char *text, size_t len, const char *end)
{
	size_t size = strlen(end);

	return len > size && !strncmp(text + len - size, end, size) ? len - size : len;
}

static void split_place(struct cli_frame *frame, const char *text, size_t len)
{
	const char *colon = find_last(text, len, ":");
	unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;

	if (line) {
		frame->file = text;
		frame->file_len = (size_t)(colon - text);
		frame->line = (unsigned)line;
		return;
	}
	frame->library = text;
	frame->library_len = without_offset(text, len);
}

struct cli_frame cli_frame_split(const char *text)
{
	struct cli_frame frame = {.function = text};
	size_t len = strlen(text);
	const char *open = find_last(text, len, " (");

	if (open && text[len - 1] == ')') {
		split_place(&frame, open + 2, len - 3 - (size_t)(open - text));
		len = (size_t)(open - text);
	}
	frame.function_len = without_offset(text, without_end(text, len, " (inlined)"));
	if (!strncmp(text, "0x", 2) && strspn(text + 2, "0123456789abcdef") + 2 == len)
		frame.function_len = 0;
	return frame;
}

const char *cli_frame_best(const struct dpe_message *message)
{
	const char *best = NULL;

	for (unsigned i = 0; i < message->nstack; i++) {
		struct cli_frame frame = cli_frame_split(message->stack[i]);

		if (!frame.file)
			continue;
		if (memchr(frame.file, '/', frame.file_len))
			return message->stack[i];
		best = best ? best : message->stack[i];
	}
	return best;
}

void cli_frame_key(struct dpe_text *to, const char *text)
{
	struct cli_frame frame = cli_frame_split(text);

	if (!frame.file) {
		dpe_text_puts(to, text);
		return;
	}
	dpe_text_add(to, frame.function, frame.function_len);
	dpe_text_printf(to, " %.*s:%u", (int)frame.file_len, frame.file, frame.line);
}
