/* Tracing by domain: `--debug=stabilizer:2,probes`. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static const char *const domains[] = {
	"lang",
	"stabilizer",
	"recognizer",
	"probes",
	"report",
	"log",
};

struct dpe_debug {
	FILE *to;
	int levels[DPE_COUNT(domains)];
};

static int find_domain(const char *text, size_t len)
{
	for (unsigned i = 0; i < DPE_COUNT(domains); i++) {
		if (strlen(domains[i]) == len && !strncmp(domains[i], text, len))
			return (int)i;
	}
	return -1;
}

static void report_unknown(const char *text, size_t len, struct dpe_diags *diags)
{
	char *word = dpe_xasprintf("%.*s", (int)len, text);
	const char *best;

	if (dpe_nearest(word, domains, DPE_COUNT(domains), &best, 1))
		dpe_diag_at(diags, DPE_ERROR, "--debug", "no domain '%s'; did you mean '%s'?", word,
			best);
	else
		dpe_diag_at(diags, DPE_ERROR, "--debug",
			"no domain '%s'; there are all, lang, stabilizer, recognizer, probes, "
			"report, log",
			word);
	free(word);
}

static bool set_level(
	struct dpe_debug *debug, const char *text, size_t len, struct dpe_diags *diags)
{
	const char *colon = memchr(text, ':', len);
	size_t name = colon ? (size_t)(colon - text) : len;
	int domain = find_domain(text, name), level = 1;

	if (colon) {
		if (len - name != 2 || colon[1] < '0' || colon[1] > '9') {
			dpe_diag_at(diags, DPE_ERROR, "--debug",
				"a level is one digit, 0 to 9, not '%.*s'", (int)(len - name - 1),
				colon + 1);
			return false;
		}
		level = colon[1] - '0';
	}
	if (name == 3 && !strncmp(text, "all", 3)) {
		for (unsigned i = 0; i < DPE_COUNT(domains); i++)
			debug->levels[i] = level;
		return true;
	}
	if (domain < 0) {
		report_unknown(text, name, diags);
		return false;
	}
	debug->levels[domain] = level;
	return true;
}

struct dpe_debug *dpe_debug_parse(const char *text, FILE *to, struct dpe_diags *diags)
{
	struct dpe_debug *debug = dpe_xcalloc(1, sizeof(*debug));

	debug->to = to;
	for (;;) {
		size_t len = strcspn(text, ",");

		if (!set_level(debug, text, len, diags)) {
			dpe_debug_free(debug);
			return NULL;
		}
		if (!text[len])
			return debug;
		text += len + 1;
	}
}

void dpe_debug_free(struct dpe_debug *debug)
{
	free(debug);
}

bool dpe_debug_on(const struct dpe_debug *debug, const char *domain, int level)
{
	int at;

	if (!debug)
		return false;
	at = find_domain(domain, strlen(domain));
	return at >= 0 && debug->levels[at] >= level;
}

void dpe_debug(const struct dpe_debug *debug, const char *domain, int level, const char *fmt, ...)
{
	va_list args;

	if (!dpe_debug_on(debug, domain, level))
		return;
	fprintf(debug->to, "%s: ", domain);
	va_start(args, fmt);
	vfprintf(debug->to, fmt, args);
	va_end(args);
	fputc('\n', debug->to);
}
