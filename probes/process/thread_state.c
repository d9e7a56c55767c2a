/* The state of the threads of a process, from /proc. */
#include "probes/process/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

bool dpe_proc_text(char *text, size_t size, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t len;
	int error;

	if (!file)
		return false;
	errno = 0;
	len = fread(text, 1, size - 1, file);
	error = errno;
	fclose(file);
	errno = error;
	text[len] = '\0';
	return len > 0;
}

bool dpe_proc_status(pid_t pid, const char *member, char *value, size_t size)
{
	size_t len = strlen(member);
	char path[32], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, member, len) && line[len] == ':';
	if (file)
		fclose(file);
	if (found)
		snprintf(value, size, "%s", line + len + 1);
	return found;
}

/* "4711 (name) S ...", where the name may have parentheses of its own. */
bool dpe_proc_stat(pid_t pid, pid_t thread, struct dpe_proc_stat *stat)
{
	char path[64], text[1024], *name, *end;

	*stat = (struct dpe_proc_stat){0};
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, thread);
	if (!dpe_proc_text(text, sizeof(text), path))
		return false;
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || end < name ||
		sscanf(end,
			") %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			"%*s %*s %*s %*s %*s %*s %*s %u",
			&stat->state, &stat->parent, &stat->flags, &stat->processor) != 4)
		return false;
	snprintf(stat->name, sizeof(stat->name), "%.*s", (int)(end - name - 1), name + 1);
	return true;
}

/* The number at the end of a line: of "NSpid:" the innermost namespace's. */
static uint64_t last_number(const char *line)
{
	uint64_t number = 0;

	for (const char *at = line; *at && *at != '\n'; at++) {
		if (isdigit((unsigned char)*at) && !isdigit((unsigned char)at[-1]))
			number = strtoull(at, NULL, 10);
	}
	return number;
}

static bool look_at_status(const char *folder, struct dpe_thread_state *state)
{
	char path[96], text[4096];
	const char *times, *id;

	snprintf(path, sizeof(path), "%s/status", folder);
	if (!dpe_proc_text(text, sizeof(text), path))
		return false;
	times = strstr(text, "\nvoluntary_ctxt_switches:");
	id = strstr(text, "\nNSpid:");
	if (!times)
		return false;
	state->times = last_number(times + 1);
	state->own_id = id ? (pid_t)last_number(id + 1) : 0;
	return true;
}

/* "202 0x7f.. 0x80 ... SP PC"; "-1 SP PC" outside of system calls; "running". */
static void look_at_call(const char *folder, struct dpe_thread_state *state)
{
	char path[96], text[512];
	uint64_t *args = state->args;

	snprintf(path, sizeof(path), "%s/syscall", folder);
	state->call = -1;
	if (!dpe_proc_text(text, sizeof(text), path)) {
		state->denied = errno == EPERM || errno == EACCES;
		return;
	}
	if (sscanf(text, "-1 %" SCNx64 " %" SCNx64, &state->sp, &state->pc) == 2)
		return;
	sscanf(text, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64,
		&state->call, &args[0], &args[1], &args[2], &args[3], &args[4], &args[5], &state->sp, &state->pc);
}

bool dpe_thread_look(pid_t pid, pid_t thread, struct dpe_thread_state *state)
{
	char folder[64];

	*state = (struct dpe_thread_state){0};
	snprintf(folder, sizeof(folder), "/proc/%d/task/%d", pid, thread);
	if (!look_at_status(folder, state) || !dpe_proc_stat(pid, thread, &state->stat))
		return false;
	look_at_call(folder, state);
	if (!state->own_id)
		state->own_id = thread;
	return true;
}

int dpe_threads_each(pid_t pid, bool (*each)(void *context, pid_t thread), void *context)
{
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return -1;
	while ((entry = readdir(tasks))) {
		if (isdigit((unsigned char)entry->d_name[0]) && !each(context, (pid_t)atoi(entry->d_name)))
			break;
	}
	closedir(tasks);
	return 0;
}

bool dpe_memory_is_shared(pid_t pid, uint64_t address)
{
	char path[32], line[512], rights[5];
	uint64_t start, end;
	bool shared = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return true;
	while (!shared && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, rights) == 3)
			shared = address >= start && address < end && rights[3] == 's';
	}
	fclose(maps);
	return shared;
}

/* Signals that a thread causes itself, which wake no sleeping thread, and signals that the C library
 * reserves. */
static uint64_t own_signals(void)
{
	static const int own[] = {
		SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, SIGSYS, 32, 33, 34};
	uint64_t mask = 0;

	for (unsigned i = 0; i < DPE_COUNT(own); i++)
		mask |= UINT64_C(1) << (own[i] - 1);
	return mask;
}

bool dpe_handles_signals(pid_t pid)
{
	char caught[64];

	return !dpe_proc_status(pid, "SigCgt", caught, sizeof(caught)) || strtoull(caught, NULL, 16) & ~own_signals();
}
