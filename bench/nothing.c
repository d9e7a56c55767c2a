/* nothing FILE ENTRY… [-r RETURN…] -- COMMAND…: runs a command while BPF programs that do nothing are
 * attached at these offsets in a file, or to the returns of the functions there. This measures the kernel's
 * share of the cost of observing. */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UPROBE_MULTI = 48, AT_RETURN = 1 };

/* What the kernel takes for BPF_LINK_CREATE of UPROBE_MULTI. */
struct request {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, counters, cookies;
	uint32_t count, how, pid, unused;
};

static int load(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = (enum bpf_attach_type)UPROBE_MULTI);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", code, 2, &options);
}

static bool attach(int program, const char *file, const char *place, bool at_return)
{
	uint64_t offset = strtoull(place, NULL, 0);
	struct request request = {
		.program = (uint32_t)program,
		.type = UPROBE_MULTI,
		.path = (uintptr_t)file,
		.offsets = (uintptr_t)&offset,
		.count = 1,
		.how = at_return ? AT_RETURN : 0,
	};

	return syscall(SYS_bpf, BPF_LINK_CREATE, &request, sizeof(request)) >= 0;
}

/* The links stay as long as this process does. */
static int run(char **argv)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		execvp(*argv, argv);
		perror(*argv);
		_exit(2);
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status ? 0 : 2;
}

int main(int argc, char **argv)
{
	bool at_return = false;
	int program, at = 2;

	if (argc < 4) {
		fprintf(stderr, "usage: nothing FILE ENTRY... [-r RETURN...] -- COMMAND...\n");
		return 2;
	}
	program = load();
	for (; at < argc && strcmp(argv[at], "--"); at++) {
		if (!strcmp(argv[at], "-r"))
			at_return = true;
		else if (program < 0 || !attach(program, argv[1], argv[at], at_return)) {
			perror(argv[at]);
			return 2;
		}
	}
	if (at + 1 >= argc)
		return 2;
	return run(&argv[at + 1]);
}
