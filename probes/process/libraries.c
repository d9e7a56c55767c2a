/* libraries: which files' code a program will map, and which a process has mapped. The program's own ELF
 * interpreter is asked, by --list: it alone knows the search path, $ORIGIN, LD_PRELOAD and its cache, and it
 * runs no code of the program. */
#include "probes/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- of a program ------------------------------------------------------------------------- */

static _Noreturn void run_interpreter(
	const char *interpreter, const char *program, char *const *environment, int output)
{
	char *argv[] = {(char *)interpreter, (char *)"--list", (char *)program, NULL};
	int null = open("/dev/null", O_RDONLY);

	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execve(interpreter, argv, environment);
	_exit(127);
}

static void read_all(int fd, struct dpe_text *text)
{
	char bytes[4096];
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0 || (got < 0 && errno == EINTR))
		if (got > 0)
			dpe_text_add(text, bytes, got);
}

/* What the interpreter writes, errors included; its wait status, or -1 with errno. */
static int ask_interpreter(const char *interpreter, const char *program, char *const *environment,
	struct dpe_text *answer)
{
	int ends[2], status;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		run_interpreter(interpreter, program, environment, ends[1]);
	close(ends[1]);
	if (pid > 0)
		read_all(ends[0], answer);
	close(ends[0]);
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static void add_file(struct dpe_modules *modules, const char *path, struct dpe_diags *diags)
{
	char *real = realpath(path, NULL);
	const char *name = real ? real : path;

	if (!dpe_modules_find(modules, name)) {
		struct dpe_module *module = dpe_module_open(name, name, diags);

		if (module)
			dpe_modules_add(modules, module);
	}
	free(real);
}

/* "\tlibc.so.6 => /lib/libc.so.6 (0x7f…)", "\t/lib64/ld-linux-x86-64.so.2 (0x7f…)", "\tliba.so =>
 * ./liba.so (0x7f…)" by a search path that is relative, or something without a path: the vdso, or a
 * library that is not found, which the target itself will report. */
static void add_line(struct dpe_modules *modules, char *line, struct dpe_diags *diags)
{
	char *arrow = strstr(line, " => "), *path = arrow ? arrow + 4 : line;
	char *end = strstr(path, " (0x");

	path += strspn(path, " \t");
	if (!end)
		return;
	*end = '\0';
	if (strchr(path, '/'))
		add_file(modules, path, diags);
}

static void add_lines(struct dpe_modules *modules, struct dpe_text *answer, struct dpe_diags *diags)
{
	char *rest = NULL;

	for (char *line = answer->at ? strtok_r(answer->at, "\n", &rest) : NULL; line;
		line = strtok_r(NULL, "\n", &rest))
		add_line(modules, line, diags);
}

static bool add_libraries(struct dpe_modules *modules, const struct dpe_module *program,
	char *const *environment, struct dpe_diags *diags)
{
	struct dpe_text answer = {0};
	int status;

	if (access(program->interpreter, X_OK)) {
		dpe_diag_at(diags, DPE_ERROR, program->path,
			"cannot be run: its ELF interpreter %s: %s", program->interpreter,
			strerror(errno));
		return false;
	}
	status = ask_interpreter(program->interpreter, program->path,
		dpe_module_is_of_musl(program) ? environ : environment, &answer); /* musl loads no library of ours */
	if (status) {
		const char *why = status < 0  ? strerror(errno)
				  : answer.at ? answer.at
					      : "it crashes with this file, which may be damaged";

		dpe_diag_at(diags, DPE_ERROR, program->path,
			"%s does not list the libraries it will load: %.*s", program->interpreter,
			(int)strcspn(why, "\n"), why);
		dpe_text_free(&answer);
		return false;
	}
	add_lines(modules, &answer, diags);
	dpe_text_free(&answer);
	return true;
}

bool dpe_libraries_of_program(struct dpe_modules *modules, const struct dpe_program *program,
	char *const *environment, struct dpe_diags *diags)
{
	const char *path = program->real_path;
	struct dpe_module *module;

	module = dpe_module_open(path, path, diags);
	if (!module)
		return false;
	module->program = true;
	module = dpe_modules_add(modules, module);
	return !module->interpreter || add_libraries(modules, module, environment, diags);
}

/* ---- that are loaded later ---------------------------------------------------------------- */

/* A plugin may need symbols that only the program has: then nothing more is known. */
static void add_needed(struct dpe_modules *modules, const char *path, struct dpe_diags *diags)
{
	const struct dpe_module *program = dpe_modules_program(modules);
	const char *interpreter = program ? program->interpreter : NULL;
	struct dpe_text answer = {0};

	if (interpreter && !access(interpreter, X_OK) &&
		!ask_interpreter(interpreter, path, environ, &answer))
		add_lines(modules, &answer, diags);
	dpe_text_free(&answer);
}

static bool add_later(struct dpe_modules *modules, const char *path, struct dpe_diags *diags)
{
	char *real = realpath(path, NULL);
	struct dpe_module *module = real ? dpe_modules_find(modules, real) : NULL;

	if (!real)
		dpe_diag_at(diags, DPE_ERROR, path, "cannot be read: %s", strerror(errno));
	if (real && !module) {
		module = dpe_module_open(real, real, diags);
		if (module)
			dpe_modules_add(modules, module)->late = true;
		if (module)
			add_needed(modules, real, diags);
	}
	free(real);
	return module;
}

bool dpe_libraries_add(struct dpe_modules *modules, const char *const *paths, unsigned count,
	struct dpe_diags *diags)
{
	bool complete = true;

	for (unsigned i = 0; i < count; i++)
		complete &= add_later(modules, paths[i], diags);
	return complete;
}

/* ---- of a process ------------------------------------------------------------------------- */

static bool parse_mapping(char *line, struct dpe_mapping *mapping)
{
	static const char deleted[] = " (deleted)";
	size_t len, cut = sizeof(deleted) - 1;
	char rights[5];
	int at = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %*s %lu %n", &mapping->start, &mapping->end, rights,
		    &mapping->offset, &mapping->inode, &at) < 5 ||
		!at || rights[2] != 'x' || line[at] != '/')
		return false;
	mapping->path = line + at;
	len = strcspn(mapping->path, "\n");
	mapping->path[len] = '\0';
	if (len > cut && !strcmp(mapping->path + len - cut, deleted))
		mapping->path[len - cut] = '\0';
	return true;
}

int dpe_mappings_each(
	pid_t pid, void (*each)(void *context, const struct dpe_mapping *mapping), void *context)
{
	char path[32], *line = NULL;
	struct dpe_mapping mapping;
	size_t cap = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (getline(&line, &cap, file) > 0)
		if (parse_mapping(line, &mapping))
			each(context, &mapping);
	free(line);
	fclose(file);
	return 0;
}

/* True if the path leads to another file now, such as a rebuilt plugin. Overlay file systems may show two
 * inodes for one file. */
static bool is_replaced(
	const struct dpe_module *module, const struct dpe_mapping *mapping, const char *way)
{
	struct stat own, now;

	if (fstat(module->fd, &own) || own.st_ino == mapping->inode || stat(way, &now))
		return false;
	return now.st_ino != own.st_ino &&
	       (now.st_size != own.st_size || now.st_mtim.tv_sec != own.st_mtim.tv_sec ||
		       now.st_mtim.tv_nsec != own.st_mtim.tv_nsec);
}

/* The module that is mapped. Processes may have different files of one path. */
static struct dpe_module *find_mapped(
	struct dpe_modules *modules, const struct dpe_mapping *mapping, const char *way)
{
	for (unsigned i = 0; i < modules->count; i++) {
		struct dpe_module *module = modules->at[i];

		if (!strcmp(module->path, mapping->path) && !is_replaced(module, mapping, way))
			return module;
	}
	return NULL;
}

static struct dpe_module *open_mapped(
	struct dpe_modules *modules, const struct dpe_mapping *mapping, const char *way)
{
	struct dpe_module *former = dpe_modules_find(modules, mapping->path), *module;
	struct dpe_diags *ignored = dpe_diags_new();

	if (former)
		former->replaced = true;
	module = dpe_module_open(mapping->path, way, ignored);
	dpe_diags_free(ignored);
	return module ? dpe_modules_add(modules, module) : NULL;
}

static bool is_file_of(const struct dpe_mapping *mapping, const char *path)
{
	struct stat status;

	return !stat(path, &status) && status.st_ino == mapping->inode && !access(path, R_OK);
}

/* Without the right to read map_files: by the root directory of the process, or by our own, where the process has changed its
 * root directory (chroot) and not its mounts. */
static char *find_way(pid_t pid, const struct dpe_mapping *mapping)
{
	char *way = dpe_xasprintf("/proc/%d/map_files/%lx-%lx", pid, mapping->start, mapping->end);

	if (!access(way, R_OK))
		return way;
	free(way);
	way = dpe_xasprintf("/proc/%d/root%s", pid, mapping->path);
	if (access(way, R_OK) && is_file_of(mapping, mapping->path)) {
		free(way);
		way = dpe_xstrdup(mapping->path);
	}
	return way;
}

/* The file as the process sees it, even if deleted or in another root directory. Mapped code in files that are
 * not libraries is not an error. */
struct dpe_module *dpe_libraries_open(
	struct dpe_modules *modules, pid_t pid, const struct dpe_mapping *mapping)
{
	char *way = find_way(pid, mapping);
	struct dpe_module *module;

	module = find_mapped(modules, mapping, way);
	if (!module)
		module = open_mapped(modules, mapping, way);
	free(way);
	return module;
}

struct maps_reading {
	struct dpe_modules *modules;
	pid_t pid;
	struct dpe_map **at;
	unsigned *count, *cap;
};

static void add_map(void *context, const struct dpe_mapping *mapping)
{
	struct maps_reading *reading = context;
	struct dpe_module *module = dpe_libraries_open(reading->modules, reading->pid, mapping);

	if (module)
		*DPE_GROW(*reading->at, *reading->count, *reading->cap) =
			(struct dpe_map){mapping->start, mapping->end, mapping->offset, module};
}

void dpe_process_maps(struct dpe_modules *modules, pid_t pid, struct dpe_map **at, unsigned *count, unsigned *cap)
{
	struct maps_reading reading = {modules, pid, at, count, cap};

	dpe_mappings_each(pid, add_map, &reading);
}

struct found {
	struct dpe_modules *modules;
	pid_t pid;
	struct dpe_mapped *mapped; /* or NULL */
};

static void note_mapped(struct found *found, const struct dpe_module *module)
{
	struct dpe_mapped *mapped = found->mapped;
	unsigned count = found->modules->count;

	if (!mapped || !module)
		return;
	if (mapped->count < count) {
		mapped->at = dpe_xrealloc(mapped->at, count * sizeof(*mapped->at));
		memset(&mapped->at[mapped->count], 0, (count - mapped->count) * sizeof(*mapped->at));
		mapped->count = count;
	}
	for (unsigned i = 0; i < count; i++)
		mapped->at[i] |= found->modules->at[i] == module;
}

static void add_mapping(void *context, const struct dpe_mapping *mapping)
{
	struct found *found = context;

	note_mapped(found, dpe_libraries_open(found->modules, found->pid, mapping));
}

static bool is_same_file(const struct dpe_module *module, const struct stat *status)
{
	struct stat own;

	return !fstat(module->fd, &own) && own.st_ino == status->st_ino &&
	       own.st_dev == status->st_dev;
}

static void report_unreadable(pid_t pid, const char *path, struct dpe_diags *diags)
{
	char process[32];

	snprintf(process, sizeof(process), "process %d", pid);
	if (errno == ENOENT || errno == ESRCH)
		dpe_diag_at(diags, DPE_ERROR, process, "it has ended, or is a kernel thread");
	else
		dpe_diag_at(diags, DPE_ERROR, path, "cannot be read: %s", strerror(errno));
}

/* The module that is the process's program. NULL after an error if there is none. */
static struct dpe_module *find_program(
	struct dpe_modules *modules, pid_t pid, const char *path, struct dpe_diags *diags)
{
	struct dpe_module *module;
	struct stat status;

	if (stat(path, &status)) {
		report_unreadable(pid, path, diags);
		return NULL;
	}
	for (unsigned i = 0; i < modules->count; i++)
		if (is_same_file(modules->at[i], &status))
			return modules->at[i];
	module = dpe_module_open(path, path, diags);
	return module ? dpe_modules_add(modules, module) : NULL;
}

bool dpe_libraries_of_process(struct dpe_modules *modules, pid_t pid, struct dpe_mapped *mapped,
	struct dpe_diags *diags)
{
	struct found found = {modules, pid, mapped};
	struct dpe_module *program = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (dpe_mappings_each(pid, add_mapping, &found))
		report_unreadable(pid, path, diags);
	else
		program = find_program(modules, pid, path, diags);
	if (program)
		program->program = true;
	note_mapped(&found, program);
	return program;
}
