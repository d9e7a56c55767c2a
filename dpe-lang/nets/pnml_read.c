/* Reads PNML (ISO/IEC 15909-2): places, transitions and arcs of the P/T nets of a document, on all
 * pages. Graphics are skipped. */
#include "dpe-lang/nets/limits.h"
#include "dpe-lang/nets/nets.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define PTNET "http://www.pnml.org/version-2009/grammar/ptnet"

enum pnml_node_kind { PLACE, TRANSITION, ALIAS };

struct pnml_node {
	enum pnml_node_kind kind;
	const char *id, *name;
	bool silent;
	unsigned number; /* of the place or transition */
	unsigned tokens;
	const char *target; /* of a reference: the node that it refers to */
	unsigned line;
	UT_hash_handle hh;
};

struct pnml_arc {
	const char *source, *target;
	unsigned weight, line;
};

/* The kind of label in whose text the parser is. */
enum pnml_label { NO_LABEL, NAME, MARKING, INSCRIPTION };

struct pnml_reader {
	struct translation *tr;
	XML_Parser parser;
	unsigned wanted, nnets; /* which net of the document; how many were met */
	bool here;              /* within the wanted net */
	bool failed;
	const char *net_name;
	struct pnml_node *nodes; /* by id, in the order of the text */
	unsigned nplaces, ntransitions;
	struct pnml_arc *arcs;
	unsigned narcs, caparcs;
	struct pnml_node *node; /* open, or NULL */
	struct pnml_arc *arc;
	enum pnml_label label;
	bool in_text;
	struct dpe_text text;
	unsigned depth, skip; /* > 0: within what is skipped, from that depth on */
};

static void complain(struct pnml_reader *r, unsigned line, const char *fmt, ...) DPE_PRINTF(3, 4);

static void complain(struct pnml_reader *r, unsigned line, const char *fmt, ...)
{
	char where[strlen(r->tr->file) + 16];
	struct dpe_text text = {0};
	va_list args;

	r->failed = true;
	snprintf(where, sizeof(where), "%s:%u", r->tr->file, line);
	va_start(args, fmt);
	dpe_text_vprintf(&text, fmt, args);
	va_end(args);
	dpe_diag_at(r->tr->diags, DPE_ERROR, where, "%s", text.at);
	dpe_text_free(&text);
	XML_StopParser(r->parser, XML_FALSE);
}

static unsigned line_of(struct pnml_reader *r)
{
	return (unsigned)XML_GetCurrentLineNumber(r->parser);
}

/* The name without its namespace. */
static const char *local(const char *name)
{
	const char *bar = strrchr(name, '|');

	return bar ? bar + 1 : name;
}

static const char *attribute(struct pnml_reader *r, const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2) {
		if (!strcmp(attributes[0], name))
			return dpe_arena_strndup(
				r->tr->arena, attributes[1], strlen(attributes[1]));
	}
	return NULL;
}

/* ---- elements -------------------------------------------------------------------------------- */

static struct pnml_node *find(struct pnml_reader *r, const char *id)
{
	struct pnml_node *node;

	HASH_FIND_STR(r->nodes, id, node);
	return node;
}

static void begin_net(struct pnml_reader *r, const char **attributes)
{
	const char *type = attribute(r, attributes, "type"), *id = attribute(r, attributes, "id");

	r->here = r->nnets++ == r->wanted;
	if (!r->here)
		return;
	r->net_name = id ? id : "net";
	if (!type || strcmp(type, PTNET))
		complain(r, line_of(r), "a net of type '%s': only P/T nets, '%s', are read",
			type ? type : "", PTNET);
}

static void begin_node(struct pnml_reader *r, enum pnml_node_kind kind, const char **attributes)
{
	const char *id = attribute(r, attributes, "id");
	struct pnml_node *node;

	if (!id || find(r, id)) {
		complain(r, line_of(r), id ? "the id '%s' occurs twice" : "a node without id%s",
			id ? id : "");
		return;
	}
	if (HASH_COUNT(r->nodes) == MAX_NODES) {
		complain(r, line_of(r), "a net of more than %u nodes", MAX_NODES);
		return;
	}
	node = dpe_arena_alloc(r->tr->arena, sizeof(*node));
	node->kind = kind;
	node->id = id;
	node->line = line_of(r);
	if (kind == ALIAS && !(node->target = attribute(r, attributes, "ref")))
		complain(r, line_of(r), "the reference '%s' does not name its target ('ref')", id);
	if (kind == PLACE)
		node->number = r->nplaces++;
	if (kind == TRANSITION)
		node->number = r->ntransitions++;
	HASH_ADD_KEYPTR(hh, r->nodes, node->id, strlen(node->id), node);
	r->node = node;
}

static void begin_arc(struct pnml_reader *r, const char **attributes)
{
	const char *source = attribute(r, attributes, "source");
	const char *target = attribute(r, attributes, "target");

	if (!source || !target) {
		complain(r, line_of(r), "an arc needs 'source' and 'target'");
		return;
	}
	r->arc = DPE_GROW(r->arcs, r->narcs, r->caparcs);
	*r->arc = (struct pnml_arc){source, target, 1, line_of(r)};
}

/* As ProM, and what reads and writes its nets, says that a transition is no event. */
static bool is_invisible(struct pnml_reader *r, const char **attributes)
{
	const char *activity = attribute(r, attributes, "activity");

	return activity && !strcmp(activity, "$invisible$");
}

static void begin_label(struct pnml_reader *r, const char *name, const char **attributes)
{
	if (r->node && !strcmp(name, "toolspecific"))
		r->node->silent |= is_invisible(r, attributes);
	if (!strcmp(name, "name"))
		r->label = NAME;
	else if (!strcmp(name, "initialMarking") && r->node && r->node->kind == PLACE)
		r->label = MARKING;
	else if (!strcmp(name, "inscription") && r->arc)
		r->label = INSCRIPTION;
	else
		r->skip = r->depth;
}

/* Only the label's text counts: what else is in a label, with all that it contains, is skipped. */
static void begin_in_label(struct pnml_reader *r, const char *name)
{
	if (r->in_text || strcmp(name, "text") != 0)
		r->skip = r->depth;
	else
		r->in_text = true;
}

static void begin(void *user, const char *full_name, const char **attributes)
{
	struct pnml_reader *r = user;
	const char *name = local(full_name);

	if (++r->depth > MAX_XML_DEPTH)
		complain(r, line_of(r), "elements within elements, more than %u deep",
			MAX_XML_DEPTH);
	if (r->failed || r->skip)
		return;
	if (r->label)
		begin_in_label(r, name);
	else if (!strcmp(name, "net"))
		begin_net(r, attributes);
	else if (!r->here || !strcmp(name, "page"))
		return;
	else if (!strcmp(name, "place"))
		begin_node(r, PLACE, attributes);
	else if (!strcmp(name, "transition"))
		begin_node(r, TRANSITION, attributes);
	else if (!strcmp(name, "referencePlace") || !strcmp(name, "referenceTransition"))
		begin_node(r, ALIAS, attributes);
	else if (!strcmp(name, "arc"))
		begin_arc(r, attributes);
	else
		begin_label(r, name, attributes);
}

/* The text without blanks around it; line breaks and control characters become blanks. */
static char *trimmed(struct pnml_reader *r)
{
	const char *from = r->text.len ? r->text.at : "";
	size_t len;
	char *text;

	from += strspn(from, " \t\r\n");
	for (len = strlen(from); len && strchr(" \t\r\n", from[len - 1]); len--)
		;
	text = dpe_arena_strndup(r->tr->arena, from, len);
	for (char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ')
			*c = ' ';
	}
	return text;
}

static unsigned number_in(struct pnml_reader *r, const char *what, unsigned least)
{
	const char *text = trimmed(r);
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number < least || number > MAX_TOKENS)
		complain(r, line_of(r), "%s: a number from %u to %u, not '%s'", what, least,
			MAX_TOKENS, text);
	return (unsigned)number;
}

/* Silent transitions have the empty word as a name. */
static void take_name(struct pnml_node *node, const char *name)
{
	node->silent |= !*name;
	if (*name)
		node->name = name;
}

static void take_label(struct pnml_reader *r)
{
	if (r->label == MARKING)
		r->node->tokens = number_in(r, "the tokens of a place", 0);
	else if (r->label == INSCRIPTION)
		r->arc->weight = number_in(r, "the weight of an arc", 1);
	else if (r->node)
		take_name(r->node, trimmed(r));
	else if (!r->node && !r->arc && *trimmed(r))
		r->net_name = trimmed(r);
}

static void end(void *user, const char *full_name)
{
	struct pnml_reader *r = user;
	const char *name = local(full_name);

	r->depth--;
	if (r->failed || r->skip) {
		if (r->skip > r->depth)
			r->skip = 0;
		return;
	}
	if (r->label && !strcmp(name, "text")) {
		take_label(r);
		r->in_text = false;
		r->text.len = 0;
		return;
	}
	if (!strcmp(name, "name") || !strcmp(name, "initialMarking") ||
		!strcmp(name, "inscription"))
		r->label = NO_LABEL;
	if (!strcmp(name, "place") || !strcmp(name, "transition") || !strncmp(name, "reference", 9))
		r->node = NULL;
	if (!strcmp(name, "arc"))
		r->arc = NULL;
	if (!strcmp(name, "net"))
		r->here = false;
}

static void characters(void *user, const char *text, int len)
{
	struct pnml_reader *r = user;

	if (r->in_text && !r->failed && !r->skip)
		dpe_text_add(&r->text, text, (size_t)len);
}

/* ---- the net --------------------------------------------------------------------------------- */

/* The place or transition that a name in an arc means, through references; NULL after a diagnostic.
 */
static struct pnml_node *resolve(struct pnml_reader *r, const char *id, unsigned line)
{
	struct pnml_node *node = find(r, id);
	unsigned steps = 0;

	while (node && node->kind == ALIAS && steps++ < MAX_NODES)
		node = find(r, node->target);
	if (node && node->kind != ALIAS)
		return node;
	complain(r, line, "there is no place or transition '%s'", id);
	return NULL;
}

static void add_arc(struct pnml_reader *r, struct net *net, const struct pnml_arc *arc)
{
	struct pnml_node *source = resolve(r, arc->source, arc->line);
	struct pnml_node *target = resolve(r, arc->target, arc->line);

	if (!source || !target)
		return;
	if (source->kind == target->kind) {
		complain(r, arc->line,
			"an arc from '%s' to '%s': one end is a place, the other a transition",
			arc->source, arc->target);
		return;
	}
	for (unsigned i = 0; i < arc->weight; i++) {
		if (source->kind == TRANSITION)
			dpe_nets_add_arc(&net->transitions[source->number], true, target->number);
		else
			dpe_nets_add_arc(&net->transitions[target->number], false, source->number);
	}
}

/* NULL: it is silent. */
static const char *label_of(const struct pnml_reader *r, const struct pnml_node *transition)
{
	if (transition->silent)
		return r->tr->name_silent ? transition->id : NULL;
	return transition->name ? transition->name : transition->id;
}

static struct net *build(struct pnml_reader *r)
{
	struct net *net = dpe_nets_new(r->tr, r->net_name, r->nplaces);
	tokens *initial = dpe_nets_marking(r->tr, net);

	for (struct pnml_node *node = r->nodes; node; node = node->hh.next) {
		if (node->kind == TRANSITION)
			dpe_nets_add(net,
				&(struct transition){.label = label_of(r, node), .id = node->id});
		if (node->kind != PLACE)
			continue;
		net->places[node->number] = node->name ? node->name : node->id;
		initial[node->number] = (tokens)node->tokens;
	}
	for (unsigned i = 0; i < r->narcs; i++)
		add_arc(r, net, &r->arcs[i]);
	dpe_nets_mark(&net->initial, initial);
	return net;
}

static void parse(struct pnml_reader *r, const char *text, size_t len)
{
	enum XML_Status status;

	if (len > INT32_MAX) {
		complain(r, 1, "more than 2 GiB");
		return;
	}
	status = XML_Parse(r->parser, text, (int)len, XML_TRUE);
	if (status != XML_STATUS_ERROR || r->failed)
		return;
	complain(r, line_of(r), "this is not XML: %s", XML_ErrorString(XML_GetErrorCode(r->parser)));
}

struct net *dpe_nets_read(
	struct translation *tr, const char *text, size_t len, unsigned which, unsigned *count)
{
	const XML_Memory_Handling_Suite memory = {dpe_xmalloc, dpe_xrealloc, free};
	struct pnml_reader r = {.tr = tr, .wanted = which};
	struct net *net = NULL;

	r.parser = XML_ParserCreate_MM(NULL, &memory, "|");
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, begin, end);
	XML_SetCharacterDataHandler(r.parser, characters);
	parse(&r, text, len);
	if (!r.failed && !r.nnets)
		complain(&r, 1, "this file has no net");
	if (!r.failed)
		net = build(&r);
	*count = r.nnets;
	if (r.failed)
		net = NULL;
	HASH_CLEAR(hh, r.nodes);
	free(r.arcs);
	dpe_text_free(&r.text);
	XML_ParserFree(r.parser);
	return net;
}
