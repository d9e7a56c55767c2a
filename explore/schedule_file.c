/* schedule_file: schedules as text, a line a switch:
 *
 *	# thread  operation  continues: thread  the operation and its place
 *	1 12 2 pthread_mutex_lock 'b' transfer+0x1f (bank.c:12)
 */
#include "explore/runs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const NAMES[] = {
#define NAME(name, text) text,
	DPE_SCHED_OPERATIONS(NAME)
#undef NAME
};

#define HEADING "dpe schedule 1"

const char *dpe_sched_kind_name(unsigned kind)
{
	return kind < DPE_SCHED_KINDS ? NAMES[kind] : "?";
}

void dpe_schedule_take(struct dpe_schedule *schedule, const struct dpe_sched_header *memory)
{
	schedule->count = 0;
	schedule->epoch = memory->epoch;
	memcpy(schedule->race, memory->race, sizeof(schedule->race));
	for (uint32_t i = 0; i < memory->nswitches; i++)
		*DPE_GROW(schedule->at, schedule->count, schedule->cap) = memory->switches[i];
}

void dpe_schedule_put_back(const struct dpe_schedule *schedule, struct dpe_sched_header *memory)
{
	memcpy(memory->race, schedule->race, sizeof(memory->race));
	memory->nswitches = schedule->count;
	if (schedule->count)
		memcpy(memory->switches, schedule->at, schedule->count * sizeof(*schedule->at));
}

void dpe_schedule_give(const struct dpe_schedule *schedule, struct dpe_sched_header *memory)
{
	memory->strategy = DPE_SCHED_FIRST;
	memory->epoch = schedule->epoch;
	memcpy(memory->race, schedule->race, sizeof(schedule->race));
	memory->nforced = schedule->count;
	if (schedule->count)
		memcpy(memory->forced, schedule->at, schedule->count * sizeof(*schedule->at));
}

void dpe_schedule_free(struct dpe_schedule *schedule)
{
	free(schedule->at);
	free(schedule->build_id);
	free(schedule->finding);
}

/* ---- writing ----------------------------------------------------------------------------- */

static void print_switch(
	const struct dpe_sched_switch *change, const struct dpe_symbols *symbols, struct dpe_text *to)
{
	dpe_text_printf(to, "%u %u %u %s ", change->from + 1u, change->step, change->to + 1u,
		dpe_sched_kind_name(change->kind));
	if (dpe_sched_names_thread(change->kind))
		dpe_text_printf(to, "thread %u", (unsigned)change->object + 1);
	else if (change->object)
		dpe_object_print(symbols, change->object, to);
	else
		dpe_text_puts(to, "-");
	dpe_text_puts(to, " ");
	dpe_place_print(symbols, change->pc, to);
	dpe_text_puts(to, "\n");
}

static void print_heading(const struct dpe_schedule *schedule, const struct dpe_server *server,
	char *const *argv, struct dpe_text *to)
{
	dpe_text_puts(to, HEADING "\n# program:");
	for (; *argv; argv++)
		dpe_text_printf(to, " %s", *argv);
	dpe_text_puts(to, "\nbuild ");
	dpe_build_id_print(&server->symbols, to);
	dpe_text_printf(to, "\ntime %" PRIu64 "\n", schedule->epoch);
	if (server->memory->spurious)
		dpe_text_puts(to, "spurious\n");
	if (schedule->race[0])
		dpe_text_printf(to, "race 0x%" PRIx64 " 0x%" PRIx64 "\n", schedule->race[0], schedule->race[1]);
	if (schedule->finding)
		dpe_text_printf(to, "finding %s\n", schedule->finding);
	dpe_text_puts(to, "# thread, number of its operation, next thread, operation\n");
}

bool dpe_schedule_write(const struct dpe_schedule *schedule, const char *path,
	const struct dpe_server *server, char *const *argv, struct dpe_diags *diags)
{
	struct dpe_text text = {0};
	FILE *file = fopen(path, "we");
	bool good;

	print_heading(schedule, server, argv, &text);
	for (unsigned i = 0; i < schedule->count; i++)
		print_switch(&schedule->at[i], &server->symbols, &text);
	good = file && fwrite(text.at, 1, text.len, file) == text.len;
	if (file && fclose(file))
		good = false;
	if (!good)
		dpe_diag_at(diags, DPE_ERROR, path, "%s", strerror(errno));
	dpe_text_free(&text);
	return good;
}

/* ---- reading ----------------------------------------------------------------------------- */

static int kind_named(const char *name)
{
	for (unsigned i = 0; i < DPE_SCHED_KINDS; i++)
		if (!strcmp(NAMES[i], name))
			return (int)i;
	return -1;
}

static bool read_switch(struct dpe_schedule *schedule, const char *line)
{
	unsigned from, step, to;
	char name[64];
	int kind;

	if (sscanf(line, "%u %u %u %63s", &from, &step, &to, name) != 4)
		return false;
	kind = kind_named(name);
	if (kind < 0 || !from || !to || from > DPE_SCHED_THREADS || to > DPE_SCHED_THREADS ||
		schedule->count == DPE_SCHED_SWITCHES)
		return false;
	*DPE_GROW(schedule->at, schedule->count, schedule->cap) = (struct dpe_sched_switch){
		.from = (uint16_t)(from - 1),
		.step = step,
		.to = (uint16_t)(to - 1),
		.kind = (uint32_t)kind,
	};
	return true;
}

/* The rest of a line that begins with the word; NULL if it does not. */
static const char *after(const char *line, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(line, word, len) && line[len] == ' ' ? line + len + 1 : NULL;
}

/* False if there is such a line already. */
static bool keep(char **to, const char *text)
{
	return !*to && (*to = dpe_xstrdup(text));
}

static bool read_line(struct dpe_schedule *schedule, const char *line)
{
	const char *rest;

	if (!*line || *line == '#' || !strcmp(line, HEADING))
		return true;
	if (!strcmp(line, "spurious"))
		return schedule->spurious = true;
	if ((rest = after(line, "build")))
		return keep(&schedule->build_id, rest);
	if ((rest = after(line, "finding")))
		return keep(&schedule->finding, rest);
	if ((rest = after(line, "race")))
		return sscanf(rest, "%" SCNx64 " %" SCNx64, &schedule->race[0], &schedule->race[1]) == 2;
	if ((rest = after(line, "time")))
		return sscanf(rest, "%" SCNu64, &schedule->epoch) == 1;
	return read_switch(schedule, line);
}

static bool read_lines(
	struct dpe_schedule *schedule, FILE *file, const char *path, struct dpe_diags *diags)
{
	char *line = NULL;
	size_t size = 0;
	bool good = true;

	for (unsigned number = 1; good && getline(&line, &size, file) >= 0; number++) {
		line[strcspn(line, "\n")] = '\0';
		good = (number > 1 || !strcmp(line, HEADING)) && read_line(schedule, line);
		if (!good)
			dpe_diag_at(diags, DPE_ERROR, path,
				"line %u is not a line of a schedule: '%s'", number, line);
	}
	free(line);
	return good;
}

bool dpe_schedule_read(struct dpe_schedule *schedule, const char *path, struct dpe_diags *diags)
{
	FILE *file = fopen(path, "re");
	bool good;

	if (!file) {
		dpe_diag_at(diags, DPE_ERROR, path, "%s", strerror(errno));
		return false;
	}
	good = read_lines(schedule, file, path, diags);
	fclose(file);
	return good;
}
