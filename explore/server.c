/* server: starts the program, which stops in the library's constructor and forks a process for each run. */
#include "explore/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the child needs, made before the fork. */
struct launch {
	const struct dpe_explore_options *options;
	struct dpe_program program;
	char **environment;
	int memory, socket, errors, null;
	int failed; /* a pipe: errno of an exec that failed */
};

/* Symbols are bound before the first run. libgomp waits in the kernel at once, unless the user has a policy: it would spin for what
 * another thread does, which does not run meanwhile. */
static char **make_environment(const char *library, int memory, int socket)
{
	const char *others = getenv("LD_PRELOAD");
	char *added[4];
	unsigned count = 0;

	added[count++] = dpe_xstrdup("LD_BIND_NOW=1");
	added[count++] = dpe_xasprintf(DPE_SCHED_VARIABLE "=%d,%d", memory, socket);
	if (!getenv("OMP_WAIT_POLICY"))
		added[count++] = dpe_xstrdup("OMP_WAIT_POLICY=passive");
	if (others)
		added[count++] = dpe_xasprintf(DPE_SCHED_OTHERS "=LD_PRELOAD=%s", others);
	return dpe_environment_preloading(library, added, count);
}

/* ---- the process ------------------------------------------------------------------------- */

static void place_files(const struct launch *launch)
{
	int flags = fcntl(STDIN_FILENO, F_GETFL);

	if (flags < 0 || launch->options->debugger || launch->options->commands || lseek(STDIN_FILENO, 0, SEEK_CUR) < 0)
		dup2(launch->null, STDIN_FILENO);
	if (launch->errors < 0)
		return;
	dup2(launch->null, STDOUT_FILENO);
	dup2(launch->errors, STDERR_FILENO);
	setsid(); /* an interrupt from the terminal is for dpe, and a signal to the run's group is for the run */
}

/* Its run ends with it, and it ends with dpe, even one that was killed: it may wait for a run that never ends. */
static _Noreturn void become_program(const struct launch *launch, pid_t dpe)
{
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != dpe)
		_exit(127);
	place_files(launch);
	fcntl(launch->memory, F_SETFD, 0);
	fcntl(launch->socket, F_SETFD, 0);
	personality(ADDR_NO_RANDOMIZE);
	execve(launch->program.path, launch->options->argv, launch->environment);
	error = errno;
	if (write(launch->failed, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* The errno of the exec, 0 after it. */
static int read_failure(int end)
{
	int error = 0;

	if (read(end, &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(end);
	return error;
}

static int start_process(struct dpe_server *server, struct launch *launch)
{
	int ends[2];
	pid_t dpe;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	launch->failed = ends[1];
	dpe = getpid();
	server->pid = fork();
	if (!server->pid)
		become_program(launch, dpe);
	close(ends[1]);
	if (server->pid < 0) {
		close(ends[0]);
		return errno;
	}
	return read_failure(ends[0]);
}

static bool map_memory(struct dpe_server *server, struct launch *launch)
{
	launch->memory = memfd_create("dpe-explore", MFD_CLOEXEC);
	if (launch->memory < 0 || ftruncate(launch->memory, sizeof(*server->memory)))
		return false;
	server->memory = mmap(NULL, sizeof(*server->memory), PROT_READ | PROT_WRITE, MAP_SHARED,
		launch->memory, 0);
	return server->memory != MAP_FAILED;
}

static bool open_files(struct dpe_server *server, struct launch *launch)
{
	int ends[2];

	launch->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (launch->null < 0 || !map_memory(server, launch) ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return false;
	server->commands = ends[0];
	launch->socket = ends[1];
	if (launch->options->replay && !launch->options->commands)
		return true;
	server->errors = launch->errors = memfd_create("dpe-errors", MFD_CLOEXEC);
	if (launch->errors >= 0)
		fcntl(launch->errors, F_SETFL, O_APPEND);
	return launch->errors >= 0;
}

static void prepare_memory(struct dpe_server *server, const struct dpe_explore_options *options)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	server->memory->magic = DPE_SCHED_MAGIC;
	server->memory->max_steps = options->max_steps;
	server->memory->spurious = options->spurious;
	server->memory->epoch = (uint64_t)now.tv_sec * 1000000000;
	server->memory->held = options->debugger != NULL;
	server->memory->once = server->memory->rules = options->rules != NULL;
	server->seconds = options->seconds;
	server->setup = options->setup;
	server->interrupted = options->interrupted;
	server->debugger = options->debugger;
	server->debugging = options->debugging;
	server->rules = options->rules;
}

/* The library answers as soon as it is loaded. */
static bool await_library(struct dpe_server *server)
{
	char ready;

	return read(server->commands, &ready, 1) == 1;
}

char *dpe_server_last_words(const struct dpe_server *server)
{
	char bytes[2048];
	off_t size = server->errors < 0 ? 0 : lseek(server->errors, 0, SEEK_END);
	off_t from = size > (off_t)sizeof(bytes) ? size - (off_t)sizeof(bytes) : 0;
	ssize_t got = size > 0 ? pread(server->errors, bytes, sizeof(bytes), from) : 0;
	ssize_t begin;

	while (got > 0 && strchr("\n\r", bytes[got - 1]))
		got--;
	for (begin = got; begin > 0 && bytes[begin - 1] != '\n';)
		begin--;
	return got > 0 ? dpe_xasprintf("%.*s", (int)(got - begin), bytes + begin) : NULL;
}

static void report_not_loaded(const struct dpe_server *server, const struct launch *launch, struct dpe_diags *diags)
{
	char *words = dpe_server_last_words(server);

	dpe_diag_at(diags, DPE_ERROR, launch->options->argv[0],
		"did not load %s: it ended at once, or gains privileges by running%s%s", launch->options->library,
		words ? "; its last output: " : "", words ? words : "");
	free(words);
}

static bool launch(struct dpe_server *server, struct launch *launch, struct dpe_diags *diags)
{
	const char *name = launch->options->argv[0];
	int error;

	if (!open_files(server, launch)) {
		dpe_diag_at(diags, DPE_ERROR, "dpe", "cannot prepare the runs: %s", strerror(errno));
		return false;
	}
	prepare_memory(server, launch->options);
	launch->environment =
		make_environment(launch->options->library, launch->memory, launch->socket);
	error = start_process(server, launch);
	close(launch->socket);
	launch->socket = -1;
	if (error) {
		dpe_diag_at(diags, DPE_ERROR, name, "cannot be run: %s", strerror(error));
		return false;
	}
	if (await_library(server))
		return true;
	report_not_loaded(server, launch, diags);
	return false;
}

static const char has_tsan[] =
	"is linked with ThreadSanitizer: compile with -fsanitize=thread, and link without it, but with -ldpe-mem";

/* Why the program does not load the library, or ends when it does; NULL: it may load it. */
static const char *find_obstacle(struct dpe_module *program)
{
	unsigned count;

	if (!program->interpreter)
		return "is linked statically: its calls cannot be controlled";
	if (dpe_module_is_of_musl(program))
		return "is linked with musl, and the library that controls calls with glibc: link it with glibc";
	return dpe_module_find(program, "__tsan_init", &count) ? has_tsan : NULL;
}

static bool check_program(const struct dpe_program *program, struct dpe_diags *diags)
{
	struct dpe_module *module = dpe_module_open(program->path, program->real_path, diags);
	const char *obstacle = module ? find_obstacle(module) : NULL;

	if (obstacle)
		dpe_diag_at(diags, DPE_ERROR, program->path, "%s", obstacle);
	dpe_module_free(module);
	return module && !obstacle;
}

/* ThreadSanitizer's own library creates and wakes threads by itself. */
static bool check_libraries(const struct dpe_server *server, struct dpe_diags *diags)
{
	const struct dpe_modules *modules = &server->symbols.modules;

	for (unsigned i = 0; i < modules->count; i++) {
		if (strncmp(modules->at[i]->name, "libtsan", 7))
			continue;
		dpe_diag_at(diags, DPE_ERROR, modules->at[0]->path, "%s", has_tsan);
		return false;
	}
	return true;
}

bool dpe_server_start(struct dpe_server *server, const struct dpe_explore_options *options,
	struct dpe_diags *diags)
{
	struct launch with = {
		.options = options, .memory = -1, .socket = -1, .errors = -1, .null = -1};
	bool good;

	*server = (struct dpe_server){.commands = -1, .errors = -1, .pid = -1};
	server->symbols.is_of_library = options->is_of_library;
	if (!dpe_program_find(&with.program, options->argv[0], diags))
		return false;
	good = check_program(&with.program, diags) && launch(server, &with, diags);
	if (good) {
		dpe_symbols_read(&server->symbols, server->pid);
		good = check_libraries(server, diags);
	}
	close(with.null);
	close(with.memory);
	dpe_environment_free(with.environment);
	dpe_program_free(&with.program);
	return good;
}

void dpe_server_stop(struct dpe_server *server)
{
	close(server->commands);
	if (server->errors >= 0)
		close(server->errors);
	if (server->pid > 0) {
		kill(server->pid, SIGKILL);
		waitpid(server->pid, NULL, 0);
	}
	if (server->memory && server->memory != MAP_FAILED)
		munmap(server->memory, sizeof(*server->memory));
	dpe_symbols_free(&server->symbols);
	dpe_text_free(&server->outside);
}

/* ---- runs -------------------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
	return dpe_clock(CLOCK_MONOTONIC) / 1000000;
}

static bool has_ended(const struct dpe_server *server, int timeout)
{
	struct pollfd file = {.fd = server->commands, .events = POLLIN};

	return poll(&file, 1, timeout) > 0;
}

static bool is_asked(const struct dpe_server *server)
{
	return __atomic_load_n(&server->memory->question.state, __ATOMIC_ACQUIRE) == DPE_SCHED_ASKED;
}

/* Takes events for at most `ms` milliseconds. If a run had begun before, its probes are in place afterwards, and it continues. */
static void take_events(const struct dpe_server *server, int ms)
{
	struct dpe_sched_header *memory = server->memory;
	bool waits = __atomic_load_n(&memory->pid, __ATOMIC_ACQUIRE) && !memory->observed;

	server->rules->wait(server->rules->context, waits ? 0 : ms);
	if (!waits)
		return;
	__atomic_store_n(&memory->observed, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &memory->observed, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Waits until then, unless there is a question or the run ends; whether it has ended. */
static bool await_question(const struct dpe_server *server, uint64_t end)
{
	static const struct timespec a_moment = {0, 1000000};
	uint32_t *state = &server->memory->question.state;

	while (!is_asked(server) && now_ms() < end) {
		if (has_ended(server, 0))
			return true;
		if (server->rules)
			take_events(server, 0);
		syscall(SYS_futex, state, FUTEX_WAIT, DPE_SCHED_NO_QUESTION, &a_moment, NULL, 0);
	}
	return false;
}

/* Waits until the next check, unless the run ends before. */
static bool is_over(const struct dpe_server *server)
{
	uint64_t end = now_ms() + DPE_EXPLORE_LOOK;

	if (server->answer)
		return await_question(server, end);
	if (!server->rules)
		return has_ended(server, DPE_EXPLORE_LOOK);
	while (now_ms() < end) {
		take_events(server, DPE_EXPLORE_LOOK);
		if (has_ended(server, 0))
			return true;
	}
	return false;
}

/* It keeps its id until the next run; the program may have overwritten the one in shared memory. */
static bool is_run(const struct dpe_server *server, pid_t pid)
{
	struct dpe_proc_stat stat;

	return pid > 0 && dpe_proc_stat(pid, pid, &stat) && stat.parent == server->pid;
}

static void kill_run(const struct dpe_server *server)
{
	pid_t pid = (pid_t)server->memory->pid;

	if (is_run(server, pid))
		kill(pid, SIGKILL);
}

/* Processes that a run created might wait for ever, if dpe or the library ended the run. They are in its process group, unless they
 * left it. */
static void kill_children(const struct dpe_server *server, const struct dpe_explored_run *run)
{
	const struct dpe_sched_header *memory = server->memory;
	pid_t pid = (pid_t)memory->pid;

	if (!run->timed_out && memory->end == DPE_SCHED_RAN && !dpe_server_is_interrupted(server))
		return;
	if (is_run(server, pid) && getpgid(pid) == pid)
		kill(-pid, SIGKILL);
}

bool dpe_server_is_interrupted(const struct dpe_server *server)
{
	return server->interrupted && *server->interrupted;
}

/* The run, which waits for it, continues or is ended. */
static void answer_question(struct dpe_server *server)
{
	uint32_t *state = &server->memory->question.state;

	if (!server->answer(server->answering))
		kill_run(server);
	__atomic_store_n(state, DPE_SCHED_NO_QUESTION, __ATOMIC_RELEASE);
	syscall(SYS_futex, state, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Whether a debugger controls the run, which continues without it. */
static bool is_debugged(struct dpe_server *server)
{
	struct dpe_sched_header *memory = server->memory;

	if (!server->debugger || !memory->pid)
		return false;
	if (server->debugger(server->debugging, (pid_t)memory->pid))
		return true;
	__atomic_store_n(&memory->held, 0, __ATOMIC_RELAXED);
	return false;
}

/* Time that the user spends in the debugger, or on an answer, does not count for the run. */
static void await_end(struct dpe_server *server, struct dpe_explored_run *run)
{
	struct dpe_run_watch watch = {0};
	struct dpe_run_time time = {0};

	while (!is_over(server)) {
		if (server->answer && is_asked(server)) {
			answer_question(server);
			time.had = 0;
			continue;
		}
		dpe_watch_run(server, &watch);
		dpe_run_time_add(server, &time);
		if (is_debugged(server))
			time.had = 0;
		if (dpe_server_is_interrupted(server))
			kill_run(server);
		if (time.had < server->seconds * UINT64_C(1000000000))
			continue;
		run->timed_out = true;
		kill_run(server);
	}
	while (!server->memory->again && is_debugged(server))
		poll(NULL, 0, DPE_EXPLORE_LOOK);
}

#define PF_FORKNOEXEC 0x40 /* of Linux: an exec clears it */

/* The run's process has ended, and its parent keeps it until the next run. */
static bool was_replaced(const struct dpe_server *server)
{
	pid_t pid = (pid_t)server->memory->pid;
	struct dpe_proc_stat stat;

	dpe_proc_stat(pid, pid, &stat);
	return stat.parent == server->pid && !(stat.flags & PF_FORKNOEXEC);
}

static void limit(uint32_t *number, uint32_t max)
{
	if (*number > max)
		*number = max;
}

/* The events from the first one of a thread that there is not are lost. */
static void bound_events(struct dpe_sched_header *memory)
{
	uint32_t good = 0;

	limit(&memory->nevents, DPE_SCHED_EVENTS);
	while (good < memory->nevents && memory->events[good].thread < memory->nthreads)
		good++;
	memory->events_lost += memory->nevents - good;
	memory->nevents = good;
}

/* The program can write to the shared memory: checks that the numbers we use are within bounds. */
static void bound_memory(struct dpe_sched_header *memory)
{
	limit(&memory->nthreads, DPE_SCHED_THREADS);
	limit(&memory->nswitches, DPE_SCHED_SWITCHES);
	limit(&memory->nforced, DPE_SCHED_SWITCHES);
	limit(&memory->diverged, memory->nforced);
	limit(&memory->ndelays, DPE_SCHED_DELAYS);
	bound_events(memory);
	limit(&memory->nraces, DPE_SCHED_RACES);
	if (memory->end > DPE_SCHED_PRUNED)
		memory->end = DPE_SCHED_RAN;
}

/* Unlike system(), this does not ignore interrupts, which need not come from the terminal. The status of the shell, or -1 if it cannot
 * be run. */
static int run_shell(const char *command)
{
	char *const argv[] = {"sh", "-c", (char *)command, NULL};
	pid_t pid;
	int status;

	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ))
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static bool set_up(const struct dpe_server *server, struct dpe_diags *diags)
{
	if (!server->setup || !run_shell(server->setup))
		return true;
	if (!dpe_server_is_interrupted(server))
		dpe_diag_at(diags, DPE_ERROR, "dpe", "--setup: '%s' failed", server->setup);
	return false;
}

static bool run_once(struct dpe_server *server, struct dpe_explored_run *run, struct dpe_diags *diags)
{
	*run = (struct dpe_explored_run){0};
	if (dpe_server_is_interrupted(server) || !set_up(server, diags))
		return false;
	server->memory->pid = 0;
	server->memory->observed = 0;
	server->memory->question.state = DPE_SCHED_NO_QUESTION;
	if (server->errors >= 0 && ftruncate(server->errors, 0))
		return false;
	if (send(server->commands, "r", 1, MSG_NOSIGNAL) == 1) {
		await_end(server, run);
		if (recv(server->commands, &run->status, sizeof(run->status), 0) ==
				sizeof(run->status) &&
			run->status >= 0) {
			bound_memory(server->memory);
			run->replaced = was_replaced(server);
			kill_children(server, run);
			return !dpe_server_is_interrupted(server);
		}
	}
	dpe_diag_at(diags, DPE_ERROR, "dpe", "the program's process can make no more runs");
	return false;
}

/* The user of gdb may go back, by another run. */
bool dpe_server_run(struct dpe_server *server, struct dpe_explored_run *run, struct dpe_diags *diags)
{
	bool made;

	do {
		server->memory->again = 0;
		made = run_once(server, run, diags);
	} while (made && server->debugger && server->memory->again);
	return made;
}
