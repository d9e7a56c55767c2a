/* Writes the page: the files of page/ with the collected data in between. Names of events, values and paths are
 * the target's or the log's: as JSON in which no tag can begin, and the page shows them as text only. */
#include "view/collection.h"

#include <inttypes.h>
#include <string.h>

/* page/, embedded by embed.S */
extern const char dpe_view_html[], dpe_view_css[], dpe_view_compare[], dpe_view_model[], dpe_view_diagram[], dpe_view_automaton[],
	dpe_view_net[], dpe_view_panels[];

/* Within a script element, "</script" and "<!--" would be read as tags. */
static void put_json(FILE *to, const char *text, size_t len)
{
	for (const char *end = text + len; text < end;) {
		const char *tag = memchr(text, '<', (size_t)(end - text));

		fwrite(text, 1, (size_t)((tag ? tag : end) - text), to);
		if (!tag)
			return;
		fputs("\\u003c", to);
		text = tag + 1;
	}
}

/* "name":{…} */
static void put_object(FILE *to, const char *member, const struct dpe_text *members)
{
	fprintf(to, ",\n\"%s\":{", member);
	put_json(to, members->at, members->len);
	fputs("}", to);
}

static void put_array(FILE *to, const char *member, const struct dpe_text *rows)
{
	fprintf(to, ",\n\"%s\":[", member);
	put_json(to, rows->at, rows->len);
	fputs("]", to);
}

static void put_texts(FILE *to, const struct dpe_view *view)
{
	struct dpe_text text = {0};

	fputs(",\n\"texts\":[\"\"", to);
	for (dpe_name i = 1; i <= view->ntexts; i++) {
		const char *is = dpe_name_text(view->texts, i);

		text.len = 0;
		dpe_text_puts(&text, ",");
		dpe_json_string(&text, is, strlen(is));
		put_json(to, text.at, text.len);
	}
	fputs("]", to);
	dpe_text_free(&text);
}

static void put_lanes(FILE *to, const struct dpe_view *view)
{
	fputs(",\n\"lanes\":[", to);
	for (unsigned i = 0; i < view->nlanes; i++) {
		const struct dpe_view_lane *lane = &view->lanes[i];

		fprintf(to, "%s[%u,%u,%u,%u]", i ? "," : "", lane->thread, lane->comm, lane->process, lane->host);
	}
	fprintf(to, "],\n\"shared\":%d", view->left_lanes ? (int)DPE_VIEW_LANES - 1 : -1);
}

/* All rules: edges and locks are named by those of `sync`. */
static void put_rules(FILE *to, const struct dpe_view *view)
{
	struct dpe_text text = {0};

	for (unsigned i = 0; i < dpe_spec_nrules(view->spec); i++) {
		const struct dpe_rule *rule = dpe_spec_rule(view->spec, i);
		bool sync = dpe_rule_mode(rule) == DPE_SYNC;

		dpe_text_puts(&text, i ? ",[" : "[");
		dpe_json_string(&text, dpe_rule_name(rule), strlen(dpe_rule_name(rule)));
		dpe_text_printf(&text, ",\"%s\",\"%s\"]", sync ? dpe_pairing_name(dpe_rule_pairing(rule)) : "",
			dpe_rule_mode_name(rule));
	}
	put_array(to, "rules", &text);
	dpe_text_free(&text);
}

static void cut(struct dpe_view *view, uint64_t count, const char *what)
{
	struct dpe_text text = {0};

	if (!count)
		return;
	dpe_text_printf(&text, "%s%" PRIu64 " %s", view->notes.len ? ",\"" : "\"", count, what);
	dpe_text_printf(&view->notes, "%s\"", text.at);
	dpe_text_free(&text);
}

/* What is missing is said. */
static void note_limits(struct dpe_view *view)
{
	cut(view, view->left_events, "events after the first ones are left out");
	cut(view, view->left_findings, "findings after the first ones of their rules are left out");
	cut(view, view->left_lanes, "threads share the last lane, which shows no order");
	cut(view, view->left_edges, "edges are left out: chains may be missing");
	cut(view, view->left_steps, "steps of rules after the first ones are left out");
	cut(view, view->left_texts, "texts were too long and are cut");
	cut(view, view->left_notes, "further remarks on the run are left out");
}

static void put_data(FILE *to, struct dpe_view *view)
{
	struct dpe_text text = {0};
	uint64_t left = 0;

	dpe_json_string(&text, view->title, strlen(view->title));
	fputs("{\"title\":", to);
	put_json(to, text.at, text.len);
	text.len = 0;
	dpe_view_sources(&text, view, &left);
	put_object(to, "sources", &text);
	put_object(to, "objects", &view->objects);
	put_object(to, "automata", &view->automata);
	dpe_text_free(&text);
	cut(view, left, "places have no source lines here, as there are too many");
	put_array(to, "notes", &view->notes);
	put_lanes(to, view);
	put_rules(to, view);
	put_array(to, "findings", &view->findings);
	put_array(to, "events", &view->rows);
	put_array(to, "parts", &view->parts);
	put_array(to, "steps", &view->steps);
	put_texts(to, view);
	if (view->beside) {
		fputs(",\n\"beside\":", to);
		put_data(to, view->beside);
	}
	fputs("}", to);
}

/* The page, with what its marks stand for. */
static void write_page(struct dpe_view *view, FILE *to)
{
	const char *rest = dpe_view_html;

	for (const char *mark; (mark = strstr(rest, "<!--")); rest = strstr(mark, "-->") + 3) {
		fwrite(rest, 1, (size_t)(mark - rest), to);
		if (!strncmp(mark, "<!--STYLE", 9))
			fputs(dpe_view_css, to);
		else if (!strncmp(mark, "<!--DATA", 8))
			put_data(to, view);
		else if (!strncmp(mark, "<!--SCRIPT", 10))
			fprintf(to, "%s\n%s\n%s\n%s\n%s\n%s", dpe_view_compare, dpe_view_model, dpe_view_diagram, dpe_view_automaton, dpe_view_net,
				dpe_view_panels);
	}
	fputs(rest, to);
}

/* ---- formats ------------------------------------------------------------------------------ */

static bool ends(const char *path, const char *with)
{
	size_t len = strlen(path), end = strlen(with);

	return len > end && !strcmp(path + len - end, with);
}

enum dpe_view_format dpe_view_format_of(const char *path)
{
	return ends(path, ".json")     ? DPE_VIEW_CHROME
	       : ends(path, ".shiviz") ? DPE_VIEW_SHIVIZ
	       : ends(path, ".locks.dot") ? DPE_VIEW_LOCKS
	       : ends(path, ".dot")    ? DPE_VIEW_DOT
				       : DPE_VIEW_PAGE;
}

static char *missing(const struct dpe_view *view, enum dpe_view_format format, uint64_t left)
{
	struct dpe_text text = {0};

	if (format == DPE_VIEW_SHIVIZ)
		dpe_text_puts(&text, "stacks, times, locks held, kinds of edges and findings");
	else if (format == DPE_VIEW_LOCKS)
		dpe_text_puts(&text, view->nlocks ? "anything but the order of locks"
						 : "anything but the order of locks, of which no rule knows any here: "
						   "include \"locks.dpe\"");
	else if (format == DPE_VIEW_DOT)
		dpe_text_puts(&text, "anything but the first finding and what lies around it");
	if (left)
		dpe_text_printf(&text, ", and the last %" PRIu64 " events", left);
	if (view->notes.len)
		dpe_text_puts(&text, "; nor the remarks that a page has at its top, such as losses");
	return text.at;
}

char *dpe_view_write(struct dpe_view *view, enum dpe_view_format format, FILE *to)
{
	uint64_t left = 0;

	if (format == DPE_VIEW_PAGE)
		dpe_view_note_clocks(view);
	note_limits(view);
	if (view->beside) {
		dpe_view_note_clocks(view->beside);
		note_limits(view->beside);
	}
	switch (format) {
	case DPE_VIEW_CHROME:
		return dpe_view_write_chrome(view, to);
	case DPE_VIEW_SHIVIZ:
		left = dpe_view_write_shiviz(view, to);
		break;
	case DPE_VIEW_DOT:
		dpe_view_write_dot(view, to);
		break;
	case DPE_VIEW_LOCKS:
		dpe_view_write_locks(view, to);
		break;
	case DPE_VIEW_PAGE:
		write_page(view, to);
		return NULL;
	}
	return missing(view, format, left);
}
