/* Which functions of a file have atomic instructions: what they order, no probe sees. Those of reference counts order nothing
 * that users mean. */
#include "dpe/dpe-probes.h"
#include "probes/code/instructions.h"

#include <stdlib.h>
#include <string.h>

/* What is no instruction is passed over: code without symbols can have data in between. */
static bool has_atomics(const struct dpe_module *module, const struct dpe_function *function)
{
	struct dpe_instruction instruction;
	struct dpe_code code;
	bool found = false;

	if (dpe_code_open(&code, module, function, DPE_ATOMICS_BYTES))
		return false;
	for (size_t at = 0, length; !found && at < code.size; at += length) {
		bool good = dpe_code_decode(&code, at, &instruction);

		length = good ? instruction.is.length : 1;
		found = good && dpe_code_is_atomic(&instruction);
	}
	dpe_code_close(&code);
	return found;
}

/* What is not searched leaves nothing to search. */
static bool spend(uint64_t *bytes, uint64_t size)
{
	bool enough = size < *bytes;

	*bytes = enough ? *bytes - size : 0;
	return enough;
}

/* The code of a stripped file as a whole: only the functions that others call have symbols. */
static bool is_atomic_somewhere(const struct dpe_module *module, uint64_t *bytes)
{
	bool found = false;

	for (unsigned i = 0; !found && i < module->nsegments; i++) {
		const struct dpe_segment *segment = &module->segments[i];
		const struct dpe_function code = {.address = segment->address, .offset = segment->offset, .size = segment->size};

		if (!segment->executable || !spend(bytes, segment->size))
			continue;
		found = has_atomics(module, &code);
	}
	return found;
}

/* `name` is that of a method, as well. */
static bool begins_with_any(const char *name, const char *const *prefixes, unsigned count)
{
	name += strspn(name, "<&");
	for (unsigned i = 0; i < count; i++) {
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return false;
}

/* Its functions are the library's, and in them, inlined, the closures that threads run. */
static bool is_thread_body(const char *name)
{
	return !strncmp(name, "std::thread::_", 14) || strstr(name, "::__rust_begin_short_backtrace");
}

/* Parts of the C++ library that are compiled into programs, and only count references. */
static bool is_of_cplusplus(const char *name)
{
	static const char *const prefixes[] = {"std::_Sp_", "std::__shared_", "std::shared_ptr", "std::stop_token", "std::stop_source", "std::thread",
		"std::jthread", "__gnu_cxx::"};

	return !is_thread_body(name) && begins_with_any(name, prefixes, DPE_COUNT(prefixes));
}

/* A function of Rust's libraries, or of the libraries that these are linked with. */
static bool is_of_rust(const char *name)
{
	static const char *const prefixes[] = {"std::", "core::", "alloc::", "gimli::", "addr2line::", "object::", "miniz_oxide::",
		"memchr::", "rustc_demangle::", "hashbrown::", "compiler_builtins::"};

	return !is_thread_body(name) && begins_with_any(name, prefixes, DPE_COUNT(prefixes));
}

/* Parts of Rust's libraries that only count references, or in all programs print panics and end threads. */
static bool is_of_rust_runtime(const char *name)
{
	static const char *const prefixes[] = {"alloc::sync::Arc", "std::backtrace", "std::sys::", "std::rt::", "std::io::",
		"std::thread", "std::panic", "std::alloc", "gimli::", "addr2line::", "core::ptr::drop_in_place::<", "core::cell::"};

	return !is_thread_body(name) && begins_with_any(name, prefixes, DPE_COUNT(prefixes));
}

/* Symbols of Rust begin with _R, older ones end with a hash. */
static bool is_rust_symbol(const char *symbol)
{
	size_t len = strlen(symbol);

	return !strncmp(symbol, "_R", 2) || (len > 20 && !strncmp(symbol + len - 20, "17h", 3));
}

/* What runs in the thread: "main::{lambda()#1}" of "std::thread::_State_impl<…std::tuple<main::{lambda()#1}> > >::_M_run". */
static char *body_of(const char *name)
{
	const char *begin = strstr(name, "std::tuple<"), *end;
	unsigned depth = 0;

	if (strstr(name, "::__rust_begin_short_backtrace"))
		return dpe_xstrdup("the closure of a thread");
	if (!begin)
		return dpe_xasprintf("%s()", name);
	begin += strlen("std::tuple<");
	for (end = begin; *end && (depth || !strchr(",>", *end)); end++) {
		depth += !!strchr("<({", *end);
		depth -= strchr(">)}", *end) && depth;
	}
	return dpe_xasprintf("%.*s()", (int)(end - begin), begin);
}

/* The names of functions, the first of them and how many there are; owned. */
struct listed {
	char *names[DPE_LISTED_ATOMICS];
	unsigned count;
};

/* The constructors and destructors of a class have several symbols. */
static bool is_listed(const struct listed *listed, const char *name)
{
	for (unsigned i = 0; i < listed->count && i < DPE_LISTED_ATOMICS; i++)
		if (!strcmp(listed->names[i], name))
			return true;
	return false;
}

static void add_name(struct listed *to, const char *name)
{
	char *text = is_thread_body(name) ? body_of(name) : dpe_xasprintf("%s()", name);

	if (is_listed(to, text) || to->count >= DPE_LISTED_ATOMICS) {
		to->count += !is_listed(to, text);
		free(text);
		return;
	}
	to->names[to->count++] = text;
}

/* "push(), pop() and 3 more functions": of the program's own code first. */
static unsigned print_listed(struct dpe_text *to, const struct listed *own, const struct listed *others)
{
	unsigned printed = 0, count = own->count + others->count;

	for (unsigned i = 0; i < own->count && printed < DPE_LISTED_ATOMICS; i++, printed++)
		dpe_text_printf(to, "%s%s", printed ? ", " : "", own->names[i]);
	for (unsigned i = 0; i < others->count && printed < DPE_LISTED_ATOMICS; i++, printed++)
		dpe_text_printf(to, "%s%s", printed ? ", " : "", others->names[i]);
	if (count > printed)
		dpe_text_printf(to, " and %u more function%s", count - printed, count - printed == 1 ? "" : "s");
	return count;
}

static void free_listed(struct listed *listed)
{
	for (unsigned i = 0; i < listed->count && i < DPE_LISTED_ATOMICS; i++)
		free(listed->names[i]);
}

/* Go's own packages, as the symbols have them: what others see of their order is that of calls. */
static bool is_of_go(const char *symbol)
{
	static const char *const packages[] = {"runtime.", "runtime/", "sync.", "sync/", "internal/", "syscall.", "time.", "os.", "os/", "net.",
		"net/", "context.", "crypto/", "encoding/", "reflect.", "vendor/", "log.", "math/", "testing.", "go.", "type."};

	return begins_with_any(symbol, packages, DPE_COUNT(packages));
}

static bool is_skipped(const char *symbol, const char *name)
{
	return is_rust_symbol(symbol) ? is_of_rust_runtime(name) : is_of_cplusplus(name);
}

/* Adds the function where it is one to report. */
static void add_function(struct listed *own, struct listed *others, const struct dpe_function *function)
{
	static const char *const libraries[] = {"std::", "core::", "alloc::", "tbb::", "__gnu_cxx::"};
	char *name = dpe_demangle(function->name, false);

	if (!name)
		add_name(own, function->name);
	else if (is_thread_body(name))
		add_name(own, name);
	else if (!is_skipped(function->name, name))
		add_name(begins_with_any(name, libraries, DPE_COUNT(libraries)) ? others : own, name);
	free(name);
}

unsigned dpe_atomics_print(struct dpe_text *to, struct dpe_module *module, uint64_t *bytes)
{
	const struct dpe_function *functions;
	struct listed own = {0}, others = {0};
	unsigned count, found;
	bool go = dpe_go_is(module);

	functions = dpe_module_functions(module, &count);
	for (unsigned i = 0; i < count; i++) {
		if (go && is_of_go(functions[i].name))
			continue;
		if (!spend(bytes, functions[i].size))
			break;
		if (has_atomics(module, &functions[i]))
			add_function(&own, &others, &functions[i]);
	}
	found = print_listed(to, &own, &others);
	free_listed(&own);
	free_listed(&others);
	if (found || !module->stripped || !is_atomic_somewhere(module, bytes))
		return found;
	dpe_text_puts(to, "code without symbols");
	return 1;
}

bool dpe_rust_is_inlined(struct dpe_module *module)
{
	const struct dpe_function *functions;
	uint64_t bytes = DPE_ATOMICS_BYTES;
	bool found = false;
	unsigned count;

	functions = dpe_module_functions(module, &count);
	for (unsigned i = 0; !found && i < count; i++) {
		char *name = dpe_demangle(functions[i].name, false);

		found = name && !is_of_rust(name) && spend(&bytes, functions[i].size) && has_atomics(module, &functions[i]);
		free(name);
	}
	return found;
}
