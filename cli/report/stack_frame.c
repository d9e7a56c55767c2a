/* Splits stack frames, as text from probes or logs, into their parts. */
#include "cli/report/stack_frame.h"
#include "cli/report/report.h"

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

/* ---- language libraries ------------------------------------------------------------------ */

static bool begins_with_any(const char *text, size_t len, const char *const *prefixes)
{
	for (; *prefixes; prefixes++) {
		if (len >= strlen(*prefixes) && !strncmp(text, *prefixes, strlen(*prefixes)))
			return true;
	}
	return false;
}

/* Code of the C++ or Rust library, most of which is compiled into the program, of our preloaded ones, and of the C library, whose debug
 * information has such folders. */
bool cli_frame_is_of_language(const char *text)
{
	static const char *const folders[] = {"/usr/include/", "/usr/lib/gcc/", "/usr/lib/llvm", "/rustc/", "library/core/",
		"library/alloc/", "library/std/", "../sysdeps/", "../csu/", "./nptl/", "./malloc/", "./stdlib/", "./libio/", "probes/inside/", NULL};
	static const char *const libraries[] = {"libstdc++.so", "libc++.so", "libc++abi.so", "libgomp.so", "libomp.so", NULL};
	struct cli_frame frame = cli_frame_split(text);

	return frame.file ? begins_with_any(frame.file, frame.file_len, folders)
			  : frame.library && begins_with_any(frame.library, frame.library_len, libraries);
}

/* The program's source does not call it: a function of dpe's preloaded libraries, or one that the compiler calls for OpenMP. */
static bool is_implicit(const char *text)
{
	static const char *const folders[] = {"probes/inside/", NULL}, *const functions[] = {"GOMP_", "__kmpc_", NULL};
	struct cli_frame frame = cli_frame_split(text);

	return frame.file ? begins_with_any(frame.file, frame.file_len, folders)
			  : begins_with_any(frame.function, frame.function_len, functions);
}

static bool has_own_frame(const char *const *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (!cli_frame_is_of_language(frames[i]) && cli_frame_split(frames[i]).file)
			return true;
	}
	return false;
}

/* NULL ends the names. */
static bool is_function_of(const char *text, const char *const *functions)
{
	struct cli_frame frame = cli_frame_split(text);

	for (unsigned i = 0; functions[i]; i++) {
		if (strlen(functions[i]) == frame.function_len && !strncmp(frame.function, functions[i], frame.function_len))
			return true;
	}
	return false;
}

/* The C library's callers of main and of thread functions. */
static bool is_of_start(const char *text)
{
	static const char *const functions[] = {"_start", "__libc_start_main", "__libc_start_call_main", "start_thread",
		"clone3", "__clone3", "clone", "__clone", NULL};

	return is_function_of(text, functions);
}

unsigned cli_frames_of_creation(const char *const *frames, unsigned count)
{
	static const char *const functions[] = {"pthread_create", "__pthread_create_2_1", "thrd_create", NULL};
	unsigned last = 0;

	for (unsigned i = 0; i + 1 < count; i++)
		last = is_function_of(frames[i], functions) ? i + 1 : last;
	return last;
}

/* Most of these have no names where the C library's debug information is not installed. */
static bool is_unnamed_of_libc(const char *text)
{
	struct cli_frame frame = cli_frame_split(text);

	return !frame.function_len && frame.library_len >= 7 && !strncmp(frame.library, "libc.so", 7);
}

static unsigned without_start(const char *const *frames, unsigned count)
{
	unsigned unnamed = 2; /* start_thread and clone3 */

	if (count > 1 && !strcmp(frames[count - 1], "…") && (is_of_start(frames[count - 2]) || is_unnamed_of_libc(frames[count - 2]))) /* the callers of these are known */
		count--;
	while (count > 1 && (is_of_start(frames[count - 1]) || (is_unnamed_of_libc(frames[count - 1]) && unnamed-- > 0)))
		count--;
	return count;
}

bool cli_frames_reach_start(const char *const *frames, unsigned count)
{
	return count > 1 && is_of_start(frames[count - 1]);
}

void cli_frames_each(const char *const *frames, unsigned count, bool full,
	void (*each)(void *context, const char *frame, bool innermost), void *context)
{
	bool all, innermost = true;

	count = full ? count : without_start(frames, count);
	all = full || !has_own_frame(frames, count);
	for (unsigned i = 0; i < count; i++) {
		bool called_by_own = i + 1 < count && !cli_frame_is_of_language(frames[i + 1]);

		if (!all && cli_frame_is_of_language(frames[i]) && (!called_by_own || is_implicit(frames[i])))
			continue;
		each(context, frames[i], innermost);
		innermost = false;
	}
}

/* ---- names --------------------------------------------------------------------------------- */

/* Behind the bracket that closes the one at `at`, at most `end`. */
static const char *skip_brackets(const char *at, const char *end)
{
	unsigned depth = 0;

	for (; at < end; at++) {
		depth += *at == '(' || *at == '<';
		if ((*at == ')' || (*at == '>' && at[-1] != '-')) && !--depth)
			return at + 1;
	}
	return end;
}

/* " as " outside brackets, or the end. */
static const char *find_as(const char *at, const char *end)
{
	while (at < end && strncmp(at, " as ", 4) != 0)
		at = *at == '<' || *at == '(' ? skip_brackets(at, end) : at + 1;
	return at;
}

static void add_name(struct dpe_text *to, const char *name, size_t len);

/* Rust's "<shop::Queue>::put" and "<shop::Queue as shop::Put>::put" are functions of shop::Queue. Returns how much of it
 * that is. */
static size_t add_type(struct dpe_text *to, const char *name, size_t len)
{
	const char *end = len && *name == '<' ? skip_brackets(name, name + len) : name;

	if (end - name < 3 || name + len - end < 2 || strncmp(end, "::", 2) != 0)
		return 0;
	add_name(to, name + 1, (size_t)(find_as(name + 1, end - 1) - name - 1));
	return (size_t)(end - name);
}

/* "std::map<int, int>::find(int const&)" as "std::map::find()". */
static void add_name(struct dpe_text *to, const char *name, size_t len)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *end = name + len;

	for (const char *at = name + add_type(to, name, len); at < end;) {
		size_t whole = dpe_operator_length(name, at);

		if (!strncmp(at, anonymous, sizeof(anonymous) - 1))
			whole = sizeof(anonymous) - 1;
		else if (!strncmp(at, "(*", 2) && at > name && at[-1] == '.') /* "main.(*queue).put" of Go */
			whole = (size_t)(skip_brackets(at, end) - at);
		if (whole && whole <= (size_t)(end - at)) {
			dpe_text_add(to, at, whole);
			at += whole;
			at += at + 1 < end && *at == ' ' && at[1] == '<';
		} else if (*at == '<' || *at == '(') {
			dpe_text_puts(to, *at == '(' ? "()" : at == name || at[-1] == ':' ? "<>" : "");
			at = skip_brackets(at, end);
		} else {
			dpe_text_add(to, at++, 1);
		}
	}
}

void cli_frame_function(struct dpe_text *to, const struct cli_frame *frame)
{
	add_name(to, frame->function, frame->function_len);
}

void cli_frame_print(struct dpe_text *to, const char *text)
{
	struct cli_frame frame = cli_frame_split(text);

	add_name(to, text, frame.function_len);
	dpe_text_puts(to, text + frame.function_len);
}

const char *cli_frame_best(const struct dpe_message *message)
{
	const char *best = NULL;
	bool own = has_own_frame(message->stack, message->nstack);

	for (unsigned i = 0; i < without_start(message->stack, message->nstack); i++) {
		struct cli_frame frame = cli_frame_split(message->stack[i]);

		if (!frame.file || (own && cli_frame_is_of_language(message->stack[i])))
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
