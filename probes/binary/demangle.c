/* Names in the source of C++ and Rust symbols, by libiberty. */
#include "probes/binary/demangle.h"

#include "dpe/dpe-probes.h"
#include "probes/limits.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

static bool is_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R') &&
	       strlen(symbol) <= DPE_DEMANGLED_BYTES;
}

char *dpe_demangle(const char *symbol, bool parameters)
{
	int options = DMGL_ANSI | DMGL_RET_DROP | (parameters ? DMGL_PARAMS : 0);

	return is_mangled(symbol) ? cplus_demangle(symbol, options) : NULL;
}

/* Rust's "<shop::Queue>::push" and "<shop::Queue as Shop>::push" are methods of shop::Queue. */
static void unwrap_type(char *name)
{
	char *end = name, *as;
	unsigned depth = 0;

	if (*name != '<')
		return;
	do {
		depth += *end == '<';
		depth -= *end == '>';
	} while (*end++ && depth);
	if (depth)
		return;
	end[-1] = '\0';
	as = strstr(name, " as ");
	if (as)
		*as = '\0';
	memmove(name, name + 1, strlen(name));
	memmove(name + strlen(name), end, strlen(end) + 1);
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

size_t dpe_operator_length(const char *name, const char *at)
{
	static const char keyword[] = "operator";
	static const char *const symbols[] = {"<<=", ">>=", "<=>", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
		"--", "->", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<", ">", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "="};
	const size_t len = sizeof(keyword) - 1;

	if (strncmp(at, keyword, len) || is_letter(at[len]) || (at > name && is_letter(at[-1])))
		return 0;
	for (unsigned i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (!strncmp(at + len, symbols[i], strlen(symbols[i])))
			return len + strlen(symbols[i]);
	return len;
}

/* Removes <…> and [abi:…], which may be nested. */
static void drop_arguments(char *name)
{
	char *to = name, *const begin = name;
	unsigned depth = 0;

	for (const char *at = name; *at; at++) {
		size_t kept = depth ? 0 : dpe_operator_length(begin, at);

		if (kept) {
			memmove(to, at, kept);
			to += kept;
			at += kept - 1;
			continue;
		}
		bool opens = *at == '<' || *at == '[', closes = *at == '>' || *at == ']';

		if (opens && !depth && to - name > 2 && !strncmp(to - 2, "::", 2))
			to -= 2; /* Rust's f::<T> */
		depth += opens;
		if (!depth)
			*to++ = *at;
		depth -= closes && depth;
	}
	*to = '\0';
}

/* Rules do not name anonymous namespaces. */
static void drop_anonymous(char *name)
{
	static const char anonymous[] = "(anonymous namespace)::";

	for (char *at; (at = strstr(name, anonymous));)
		memmove(at, at + sizeof(anonymous) - 1, strlen(at) - sizeof(anonymous) + 2);
}

static char *find_operator(const char *name)
{
	char *at = strstr(name, "operator");

	while (at && !dpe_operator_length(name, at))
		at = strstr(at + 1, "operator");
	return at;
}

bool dpe_names_operator(const char *name)
{
	return find_operator(name);
}

/* Rust's older symbols have dots inside, and end with a hash: "…17h0123456789abcdefE". */
bool dpe_symbol_is_clone(const char *symbol)
{
	size_t len = strlen(symbol);

	return strchr(symbol, '.') && (len < 20 || strncmp(symbol + len - 20, "17h", 3) || symbol[len - 1] != 'E');
}

char *dpe_demangle_base(const char *symbol)
{
	char *name = dpe_symbol_is_clone(symbol) ? NULL : dpe_demangle(symbol, false);

	if (!name)
		return NULL;
	if (dpe_names_operator(name) || strstr(name, "thunk to ")) {
		free(name);
		return NULL;
	}
	unwrap_type(name);
	drop_arguments(name);
	drop_anonymous(name);
	return name;
}

char *dpe_written_base(const char *written)
{
	char *name = dpe_xstrdup(written), *parameters;

	drop_anonymous(name);
	drop_arguments(name);
	parameters = find_operator(name);
	parameters = parameters ? parameters + strlen("operator") : name;
	if (!strncmp(parameters, "()", 2) && parameters > name)
		parameters += 2;
	parameters[strcspn(parameters, "(")] = '\0';
	return name;
}

/* What of the written name its symbol has in it as it is: "push" of "box<int>::push(int)", "" of an operator. The caller's
 * to free. */
static char *part_in_symbol(const char *written)
{
	char *name = dpe_xstrdup(dpe_names_operator(written) ? "" : written), *last, *part;

	drop_arguments(name);
	name[strcspn(name, "(")] = '\0';
	last = strrchr(name, ':');
	last = last ? last + 1 : name;
	part = dpe_xstrdup(last + (*last == '~'));
	free(name);
	return part;
}

/* Replaces each `from` by `to`, which is shorter. */
static void shorten(char *name, const char *from, const char *to)
{
	size_t old = strlen(from), new = strlen(to);

	for (char *at = name; (at = strstr(at, from)); at += new) {
		memcpy(at, to, new);
		memmove(at + new, at + old, strlen(at + old) + 1);
	}
}

/* The names of the standard library's source, without its inline namespaces and defaults. */
static void shorten_standard(char *name)
{
	static const char *const names[][2] = {
		{"std::__cxx11::", "std::"},
		{"std::__1::", "std::"},
		{"std::basic_string<char,std::char_traits<char>,std::allocator<char>>", "std::string"},
		{"std::basic_string<char>", "std::string"},
		{"std::basic_string_view<char,std::char_traits<char>>", "std::string_view"},
		{"std::basic_string_view<char>", "std::string_view"},
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		shorten(name, names[i][0], names[i][1]);
}

/* Blanks and anonymous namespaces are written or not, the names of the standard library in their short or long form. */
static void drop_optional(char *name)
{
	char *to = name;

	drop_anonymous(name);
	for (const char *at = name; *at; at++)
		if (*at != ' ')
			*to++ = *at;
	*to = '\0';
	shorten_standard(name);
}

/* The > that closes the template arguments which the text is within, or the end. */
static const char *end_of_arguments(const char *at)
{
	for (unsigned depth = 0; *at && (depth || *at != '>'); at++) {
		depth += *at == '<';
		depth -= *at == '>';
	}
	return at;
}

/* The last template arguments may be left out, as those are that the source leaves to their defaults. */
static bool is_same_name(const char *whole, const char *written)
{
	for (; *written; written++, whole++) {
		if (*written == '>' && *whole == ',')
			whole = end_of_arguments(whole);
		if (*whole != *written)
			return false;
	}
	return !*whole;
}

static bool has_name(const char *symbol, const char *written, bool parameters)
{
	char *whole = dpe_demangle(symbol, parameters);
	bool so = false;

	if (whole)
		drop_optional(whole);
	for (const char *at = whole, *next; at && !so; at = next ? next + 2 : NULL) {
		so = is_same_name(at, written);
		next = strstr(at, "::");
	}
	free(whole);
	return so;
}

bool dpe_symbol_is_written(const char *symbol, const char *written)
{
	char *name, *part;
	bool so = false;

	if (!is_mangled(symbol) || dpe_symbol_is_clone(symbol))
		return false;
	part = part_in_symbol(written);
	if (strstr(symbol, part)) {
		name = dpe_xstrdup(written);
		drop_optional(name);
		so = has_name(symbol, name, true) || has_name(symbol, name, false);
		free(name);
	}
	free(part);
	return so;
}

bool dpe_demangled_is(const char *base, const char *scope, const char *name)
{
	size_t len = strlen(base), name_len = strlen(name), scope_len = strlen(scope);

	if (len < name_len || strcmp(base + len - name_len, name))
		return false;
	len -= name_len;
	if (!scope_len)
		return !len;
	if (len < scope_len + 2 || strncmp(base + len - 2, "::", 2))
		return false;
	len -= scope_len + 2;
	return !strncmp(base + len, scope, scope_len) &&
	       (!len || (len > 2 && !strncmp(base + len - 2, "::", 2)));
}
