#include "probes/features/features.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A function that is a nop of five bytes and a return. */
__asm__(".pushsection .text\n"
	".globl dpe_long_nop\n"
	".hidden dpe_long_nop\n"
	".type dpe_long_nop, @function\n"
	"dpe_long_nop:\n"
	"	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
	"	ret\n"
	".size dpe_long_nop, . - dpe_long_nop\n"
	".popsection\n");
extern void dpe_long_nop(void);

/* Where code of ours is: in which file, and where in it. */
struct own_place {
	uint64_t address, offset;
	char path[4096];
};

static int find_place(struct dl_phdr_info *info, size_t size, void *context)
{
	struct own_place *place = context;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + load->p_vaddr;

		if (load->p_type != PT_LOAD || place->address < start ||
			place->address >= start + load->p_filesz)
			continue;
		place->offset = place->address - start + load->p_offset;
		snprintf(place->path, sizeof(place->path), "%s",
			*info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
		return 1;
	}
	return 0;
}

static bool find_own_place(uint64_t address, struct own_place *place)
{
	*place = (struct own_place){.address = address};
	return dl_iterate_phdr(find_place, place);
}

static int read_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &type) != 1)
		type = -1;
	fclose(file);
	return type;
}

/* The page where instructions are executed out of line is there once one was. */
static bool was_single_stepped(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = !file;

	while (file && !found && getline(&line, &size, file) > 0)
		found = strstr(line, "[uprobes]\n");
	free(line);
	if (file)
		fclose(file);
	return found;
}

static bool try_nop(void)
{
	struct own_place place;
	struct perf_event_attr attr = {.size = sizeof(attr)};
	int type = read_type(), event;

	if (type < 0 || !find_own_place((uintptr_t)dpe_long_nop, &place))
		return false;
	attr.type = (unsigned)type;
	attr.config1 = (uintptr_t)place.path;
	attr.config2 = place.offset;
	event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return false;
	dpe_long_nop();
	return !was_single_stepped();
}

static _Noreturn void answer_and_end(int answer)
{
	char yes = try_nop();

	if (write(answer, &yes, 1) != 1)
		_exit(1);
	_exit(0);
}

void dpe_nop_trial_begin(struct dpe_nop_trial *trial)
{
	int ends[2];

	*trial = (struct dpe_nop_trial){.answer = -1};
	if (pipe2(ends, O_CLOEXEC))
		return;
	trial->child = fork();
	if (!trial->child) {
		close(ends[0]);
		answer_and_end(ends[1]);
	}
	close(ends[1]);
	trial->answer = ends[0];
}

bool dpe_nop_trial_answer(const struct dpe_nop_trial *trial)
{
	char yes = 0;

	while (trial->answer >= 0 && read(trial->answer, &yes, 1) < 0 && errno == EINTR)
		;
	return yes;
}

void dpe_nop_trial_end(struct dpe_nop_trial *trial)
{
	while (trial->child > 0 && waitpid(trial->child, NULL, 0) < 0 && errno == EINTR)
		;
	if (trial->answer >= 0)
		close(trial->answer);
	*trial = (struct dpe_nop_trial){.answer = -1};
}
