/* Pairs of functions that `dpe race` watches: whether both take a pointer to the same kind of object first. Then calls
 * about different objects are no race. */
#include "cli/shared_objects.h"

#include <stdlib.h>
#include <string.h>

/* The type that all functions of one name have first, up to its last * or &. */
struct first_type {
	char *text; /* owned; NULL: none yet */
	bool other; /* there is one that is no pointer to an object, or differs */
};

/* "struct queue *" of "program::put(struct queue *queue, int item)"; NULL if that is no pointer, or one to text. */
static char *type_in(const char *line)
{
	const char *begin = strchr(line, '('), *end;
	char *text;

	if (!begin)
		return NULL;
	begin++;
	end = begin + strcspn(begin, ",)");
	while (end > begin && end[-1] != '*' && end[-1] != '&')
		end--;
	text = dpe_xasprintf("%.*s", (int)(end - begin), begin);
	if (*text && !strstr(text, "char"))
		return text;
	free(text);
	return NULL;
}

static void take_line(void *context, const char *line)
{
	struct first_type *type = context;
	char *text = type_in(line);

	type->other |= !text || (type->text && strcmp(type->text, text) != 0);
	free(type->text);
	type->text = text;
}

static char *first_type(const struct cli *cli, const char *event)
{
	const struct dpe_probes_options options = {
		.libraries = cli->libraries.at,
		.nlibraries = cli->libraries.count,
	};
	struct dpe_diags *ignored = dpe_diags_new();
	struct first_type type = {0};
	char *name = dpe_xasprintf("%.*s", (int)strcspn(event, ". "), event);

	dpe_probes_list(cli->pid ? NULL : cli->target[0], cli->pid, name, false, &options, take_line,
		&type, ignored);
	dpe_diags_free(ignored);
	free(name);
	if (!type.other)
		return type.text;
	free(type.text);
	return NULL;
}

/* Both events, with this as their argument. */
static char *pair_with(const char *argument, const char *first, const char *second)
{
	int one = (int)strcspn(first, "."), other = (int)strcspn(second, ".");

	return dpe_xasprintf("%.*s(%s)%s,%.*s(%s)%s", one, first, argument, first + one, other,
		second, argument, second + other);
}

char *cli_pair_of_object(const struct cli *cli, const char *first, const char *second)
{
	char *one, *other, *pair = NULL, *any;

	if (strpbrk(first, "([\" ") || strpbrk(second, "([\" ") ||
		(!cli->pid && !(cli->target && cli->target[0])))
		return NULL;
	one = first_type(cli, first);
	other = one ? first_type(cli, second) : NULL;
	if (other && !strcmp(one, other)) {
		pair = pair_with("object", first, second);
		any = pair_with("_", first, second);
		dpe_diag_at(cli->diags, DPE_NOTE, "dpe race",
			"%s,%s: calls with the same first argument (%s); write '%s' for all calls",
			first, second, one, any);
		free(any);
	}
	free(one);
	free(other);
	return pair;
}
