/* Finds and compiles specifications. Shipped ones are searched in the folders of $DPE_PATH, in
 * the installation, and beside the command in the build tree. */
#include "cli/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct paths {
	char **at;
	unsigned count, cap;
};

static void add_path(struct paths *paths, char *path)
{
	*DPE_GROW(paths->at, paths->count, paths->cap) = path;
}

static void add_environment(struct paths *paths)
{
	const char *at = getenv("DPE_PATH");

	while (at && *at) {
		size_t len = strcspn(at, ":");

		if (len)
			add_path(paths, dpe_xasprintf("%.*s", (int)len, at));
		at += len + (at[len] == ':');
	}
}

static void add_beside_command(struct paths *paths)
{
	char *folder = cli_command_folder();

	add_path(paths, dpe_xasprintf("%s/dpe-lang/std", folder));
	add_path(paths, dpe_xasprintf("%s/../dpe-lang/std", folder));
	add_path(paths, dpe_xasprintf("%s/../share/dpe", folder));
	free(folder);
}

static struct paths find_paths(const struct cli *cli)
{
	struct paths paths = {0};

	for (unsigned i = 0; i < cli->includes.count; i++)
		add_path(&paths, dpe_xstrdup(cli->includes.at[i]));
	add_environment(&paths);
	add_beside_command(&paths);
	add_path(&paths, dpe_xstrdup(DPE_DATADIR));
	return paths;
}

static void free_paths(struct paths *paths)
{
	for (unsigned i = 0; i < paths->count; i++)
		free(paths->at[i]);
	free(paths->at);
}

/* A shipped specification, whatever is in the current folder. */
static char *find_shipped(const struct paths *paths, const char *word)
{
	for (unsigned i = 0; i < paths->count; i++) {
		char *path = dpe_xasprintf("%s/%s", paths->at[i], word);

		if (!access(path, F_OK))
			return path;
		free(path);
	}
	return dpe_xstrdup(word);
}

/* The file that a word of -s names: itself, or a shipped specification. */
static char *find_spec(const struct paths *paths, const char *word)
{
	if (!*word || !strcmp(word, "-") || strchr(word, '/') || !access(word, F_OK))
		return dpe_xstrdup(word);
	return find_shipped(paths, word);
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A shipped file is named without its path. */
bool cli_rule_is_own(const struct cli *cli, const struct dpe_rule *rule)
{
	const char *name = last_component(dpe_source_name(dpe_rule_place(rule).source));

	if (!strcmp(name, CLI_COMMAND_LINE))
		return true;
	for (unsigned i = 0; i < cli->specs.count; i++) {
		if (!strcmp(cli->specs.at[i], "-") || !strcmp(last_component(cli->specs.at[i]), name))
			return true;
	}
	return false;
}

/* The command may have been copied without the specifications that come with it. */
static bool add_shipped(struct cli *cli, const struct paths *paths, struct paths *files)
{
	for (unsigned i = 0; cli->shipped && cli->shipped[i]; i++) {
		struct dpe_text tried = {0};
		char *path = find_shipped(paths, cli->shipped[i]);

		add_path(files, path);
		if (strchr(path, '/'))
			continue;
		for (unsigned j = 0; j < paths->count; j++)
			dpe_text_printf(&tried, "%s%s", j ? ", " : "", paths->at[j]);
		dpe_diag_at(cli->diags, DPE_ERROR, "dpe", "'%s', which comes with dpe, is in none of %s: run 'make install', or "
			"name its folder by --include or DPE_PATH", path, tried.at);
		dpe_text_free(&tried);
		return false;
	}
	return true;
}

static struct dpe_spec *compile(struct cli *cli)
{
	struct paths paths, files = {0};
	struct dpe_compile_options options = {
		.text = cli->rules.at,
		.text_name = CLI_COMMAND_LINE,
		.dump = (enum dpe_dump)(cli->dump + 1),
		.dump_to = stdout,
		.confirm = (cli->command->mask & FOR_EXPLORE) && !cli->predicting,
	};
	struct dpe_spec *spec = NULL;

	if (cli->dump == CLI_DUMP_NETS) {
		cli_usage_error(cli, "--dump=nets is for 'compile NET.pnml'");
		return NULL;
	}
	paths = find_paths(cli);
	options.include_path = (const char *const *)paths.at;
	options.ninclude_path = paths.count;
	for (unsigned i = 0; i < cli->specs.count; i++)
		add_path(&files, find_spec(&paths, cli->specs.at[i]));
	if (add_shipped(cli, &paths, &files))
		spec = dpe_spec_compile((const char *const *)files.at, files.count, cli->names, &options, cli->diags);
	free_paths(&files);
	free_paths(&paths);
	return spec;
}

bool cli_format(struct cli *cli, struct dpe_text *to, const char *path, const struct dpe_text *text)
{
	struct paths paths = find_paths(cli);
	const struct dpe_compile_options options = {
		.include_path = (const char *const *)paths.at,
		.ninclude_path = paths.count,
	};
	bool good = dpe_format(to, path, text->at, text->len, &options, cli->diags);

	free_paths(&paths);
	return good;
}

struct dpe_spec *cli_compile_words(struct cli *cli)
{
	cli->specs = cli->words;
	cli->words = (struct cli_words){0};
	if (cli->specs.count || cli->rules.len)
		return compile(cli);
	cli_usage_error(cli, "no specification: name one");
	return NULL;
}

struct dpe_spec *cli_compile_runnable(struct cli *cli, bool live)
{
	struct dpe_spec *spec;

	if (!cli->specs.count && !cli->shipped && !cli->rules.len) {
		cli_usage_error(cli, "no specification: use -s SPEC, or -e RULE");
		return NULL;
	}
	spec = compile(cli);
	if (spec && !dpe_spec_runnable(spec, live, cli->diags)) {
		/* before the specification is freed, whose lines they show */
		dpe_diags_print(cli->diags, stderr);
		dpe_spec_free(spec);
		return NULL;
	}
	cli->log_names = dpe_names_count(cli->names);
	return spec;
}
