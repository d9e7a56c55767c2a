/* Targets are launched, attached to, stopped and left; and diagnostics where that fails. */
#include "tests/live/observe.h"

#include <fcntl.h>
#include <sys/prctl.h>

/* ---- launching
 * -------------------------------------------------------------------------------------------- */

static void waits_for_its_start(void **state)
{
	struct run run;
	struct stat own, its;
	char path[32];

	begin(&run);
	add_site(&run, NULL, "work", 0);
	launch(&run, ARGV(targets_of(state)->plain, "exit", "3"));
	snprintf(path, sizeof(path), "/proc/%d/exe", dpe_probes_pid(run.probes));
	poll_once(&run, 20);
	assert_int_equal(stat(path, &its) | stat("/proc/self/exe", &own), 0);
	assert_int_equal(its.st_ino, own.st_ino);
	assert_int_equal(getpgid(dpe_probes_pid(run.probes)), getpgrp());
	assert_int_equal(dpe_probes_start(run.probes, run.diags), 0);
	finish(&run);
	assert_int_equal(WEXITSTATUS(run.status), 3);
	end(&run);
}

/* What is observed is observed in the program that the target executes, too. */
static void executes_another_program(void **state)
{
	struct run run;

	begin(&run);
	run.plan.threads = true;
	add_site(&run, "libc", "pthread_join", 2);
	observe(&run, ARGV("env", targets_of(state)->plain, "threads", "3", "1"));
	assert_true(WIFEXITED(run.status) && !WEXITSTATUS(run.status));
	assert_int_equal(count_events(&run, "pthread_join", DPE_ENTER), 3);
	assert_int_equal(count_events(&run, "pthread_join", DPE_EXIT), 3);
	assert_int_equal(count_events(&run, "thread::start", DPE_BARE), 3);
	assert_no_gaps(&run);
	end(&run);
}

/* The kernel keeps the probes with the first thread, and drops them with it, which is a loss. */
static void a_thread_calls_exec(void **state)
{
	struct run run;

	begin(&run);
	add_site(&run, NULL, "work", 1);
	observe(&run, ARGV(targets_of(state)->plain, "again"));
	assert_true(WIFEXITED(run.status) && !WEXITSTATUS(run.status));
	assert_true(run.count >= 2);
	assert_int_equal(run.nlosses, 1);
	assert_int_equal(run.losses[0].thread, dpe_probes_pid(run.probes));
	end(&run);
}

static void freed_before_its_start(void **state)
{
	struct run run;
	pid_t pid;

	begin(&run);
	add_site(&run, NULL, "work", 0);
	launch(&run, ARGV(targets_of(state)->plain, "exit", "3"));
	pid = dpe_probes_pid(run.probes);
	end(&run);
	assert_int_equal(kill(pid, 0), -1);
}

static void exec_fails(void **state)
{
	struct run run;
	int busy;

	begin(&run);
	add_site(&run, NULL, "work", 0);
	launch(&run, ARGV(targets_of(state)->plain, "exit", "3"));
	busy = open(targets_of(state)->plain, O_WRONLY);
	assert_true(busy >= 0);
	assert_int_equal(dpe_probes_start(run.probes, run.diags), -1);
	close(busy);
	assert_error(&run, "cannot be run: Text file busy");
	end(&run);
}

static void crashes(void **state)
{
	struct run run;

	begin(&run);
	add_site(&run, NULL, "work", 0);
	observe(&run, ARGV(targets_of(state)->plain, "crash"));
	assert_true(WIFSIGNALED(run.status));
	assert_int_equal(WTERMSIG(run.status), SIGSEGV);
	assert_int_equal(run.count, 2);
	end(&run);
}

static void refuse(char *program, const char *module, const char *function, const char *words)
{
	struct run run;

	begin(&run);
	add_site(&run, module, function, 0);
	run.probes =
		dpe_probes_launch(&run.plan, run.names, ARGV(program), &run.options, run.diags);
	if (run.probes)
		fail_msg("launched, though %s cannot be: %s", function, words);
	assert_error(&run, words);
	end(&run);
}

static void clear_errors(void **state)
{
	char *script = dpe_xasprintf("%s/script", targets_of(state)->folder);
	FILE *file = fopen(script, "w");

	assert_non_null(file);
	fputs("#!/bin/sh\nexit 0\n", file);
	fclose(file);
	refuse("no-such-program", NULL, "main", "cannot be run: No such file");
	refuse("/etc", NULL, "main", "cannot be run: Is a directory");
	refuse(script, NULL, "main", "cannot be run: Permission denied");
	chmod(script, 0755);
	refuse(script, NULL, "nobodys", "no function 'nobodys'");
	refuse(targets_of(state)->plain, NULL, "wrok", "did you mean 'work'");
	refuse(targets_of(state)->plain, "libnone", "work", "no class, namespace, program or library there is called 'libnone'");
	refuse(targets_of(state)->plain, "libc", "work", "no function 'work' in libc");
	refuse(targets_of(state)->plain, "libc", "gettimeofday",
		"is selected when the program loads");
	refuse(targets_of(state)->plain, NULL, "locked", "cannot put a probe on its first");
	free(script);
}

static void optional_functions(void **state)
{
	struct run run;

	begin(&run);
	add_site(&run, NULL, "work", 0);
	add_site(&run, NULL, "no_such_function", 0);
	run.sites[1].optional = true;
	observe(&run, ARGV(targets_of(state)->plain, "calls", "1"));
	assert_int_equal(run.count, 2);
	end(&run);
}

/* ---- attaching
 * ---------------------------------------------------------------------------------------------- */

/* How many threads a process has. */
static unsigned count_threads(pid_t pid)
{
	char path[32];
	struct stat tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return stat(path, &tasks) ? 0 : (unsigned)tasks.st_nlink - 2;
}

/* Returns when it has so many threads. */
static pid_t start_alone(char *const argv[], unsigned threads)
{
	pid_t pid = fork();

	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	for (int i = 0; i < 60000 && count_threads(pid) < threads; i++)
		usleep(1000);
	assert_int_equal(count_threads(pid), threads);
	return pid;
}

static void joins_a_process(void **state)
{
	pid_t pid = start_alone(ARGV(targets_of(state)->plain, "long", "3"), 4);
	struct run run;

	begin(&run);
	run.options.stack_depth = 4;
	add_site(&run, NULL, "work", 1);
	run.probes = dpe_probes_attach(&run.plan, run.names, pid, &run.options, run.diags);
	print_errors(&run);
	if (!run.probes)
		kill(pid, SIGKILL);
	assert_non_null(run.probes);
	while (run.count < 200)
		assert_int_equal(poll_once(&run, 1000), 1);
	assert_no_gaps(&run);
	kill(pid, SIGKILL);
	finish(&run);
	assert_int_equal(run.status, -1);
	assert_int_equal(run.nlosses, 0);
	end(&run);
	waitpid(pid, NULL, 0);
}

static void refuse_process(pid_t pid, const char *words)
{
	struct run run;

	begin(&run);
	add_site(&run, NULL, "work", 0);
	assert_null(dpe_probes_attach(&run.plan, run.names, pid, &run.options, run.diags));
	assert_error(&run, words);
	end(&run);
}

static void joins_no_process(void **state)
{
	(void)state;
	refuse_process(getpid(), "dpe itself");
	refuse_process(0x7ffffff0, "no such process");
	if (access("/proc/2/exe", F_OK)) /* a thread of the kernel */
		refuse_process(2, "cannot be observed");
}

/* ---- stopping
 * -----------------------------------------------------------------------------------------------
 */

static char state_of(pid_t pid)
{
	char path[32], line[256] = "", *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return end ? end[2] : 0;
}

static void stops_and_continues(void **state)
{
	struct run run;
	unsigned before;

	begin(&run);
	add_site(&run, NULL, "work", 1);
	launch(&run, ARGV(targets_of(state)->plain, "long", "3"));
	assert_int_equal(dpe_probes_start(run.probes, run.diags), 0);
	while (run.count < 100)
		poll_once(&run, 1000);
	assert_int_equal(dpe_probes_stop(run.probes), 0);
	assert_int_equal(state_of(dpe_probes_pid(run.probes)), 'T');
	poll_once(&run, 0);
	before = run.count;
	usleep(20000);
	poll_once(&run, 0);
	assert_int_equal(run.count, before);
	assert_int_equal(dpe_probes_continue(run.probes), 0);
	while (run.count < before + 100)
		poll_once(&run, 1000);
	assert_int_equal(dpe_probes_stop(run.probes), 0);
	assert_int_equal(dpe_probes_kill(run.probes), 0);
	finish(&run);
	assert_true(WIFSIGNALED(run.status));
	end(&run);
}

static void handed_over_to_a_debugger(void **state)
{
	struct run run;
	pid_t pid;

	begin(&run);
	add_site(&run, NULL, "work", 1);
	launch(&run, ARGV(targets_of(state)->plain, "long", "1"));
	assert_int_equal(dpe_probes_start(run.probes, run.diags), 0);
	while (run.count < 10)
		poll_once(&run, 1000);
	pid = dpe_probes_pid(run.probes);
	assert_int_equal(dpe_probes_stop(run.probes), 0);
	dpe_probes_leave(run.probes);
	end(&run);
	usleep(20000);
	assert_int_equal(state_of(pid), 'T');
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static _Noreturn void observe_and_die(bool while_stopped, char *const argv[], int tell)
{
	struct run run;
	pid_t target;

	begin(&run);
	add_site(&run, NULL, "work", 1);
	run.probes = dpe_probes_launch(&run.plan, run.names, argv, &run.options, run.diags);
	if (!run.probes || dpe_probes_start(run.probes, run.diags))
		_exit(1);
	while (run.count < 100)
		poll_once(&run, 1000);
	target = dpe_probes_pid(run.probes);
	if (while_stopped)
		dpe_probes_stop(run.probes);
	if (write(tell, &target, sizeof(target)) > 0)
		kill(getpid(), SIGKILL);
	_exit(1);
}

/* A separate observer that dies; the target is our child. */
static pid_t observer_that_dies(bool while_stopped, char *const argv[])
{
	pid_t observer, target = 0;
	ssize_t got;
	int ends[2];

	assert_int_equal(pipe(ends) | prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	observer = fork();
	if (!observer)
		observe_and_die(while_stopped, argv, ends[1]);
	close(ends[1]);
	got = read(ends[0], &target, sizeof(target));
	close(ends[0]);
	waitpid(observer, NULL, 0);
	assert_int_equal(got, sizeof(target));
	return target;
}

static void continues_without_the_observer(void **state)
{
	struct targets *targets = targets_of(state);
	pid_t target = observer_that_dies(false, ARGV(targets->plain, "threads", "4", "200000"));
	int status;

	assert_int_equal(waitpid(target, &status, 0), target);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void woken_when_the_observer_dies(void **state)
{
	struct targets *targets = targets_of(state);
	pid_t target = observer_that_dies(true, ARGV(targets->plain, "long", "2"));

	for (int i = 0; i < 60000 && state_of(target) == 'T'; i++)
		usleep(1000);
	assert_true(strchr("RSD", state_of(target)));
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
}

/* ---- privileges
 * -----------------------------------------------------------------------------------------------
 */

static void reports_what_is_missing(void **state)
{
	int status;
	pid_t pid;

	if (!is_root())
		skip();
	pid = fork();
	if (!pid) {
		struct run run;
		char *text;
		bool good;

		chmod(targets_of(state)->folder, 0755);
		begin(&run);
		add_site(&run, NULL, "work", 1);
		good = !setresgid(65534, 65534, 65534) && !setresuid(65534, 65534, 65534) &&
		       !dpe_probes_launch(&run.plan, run.names,
			       ARGV(targets_of(state)->plain, "exit", "0"), &run.options,
			       run.diags);
		text = errors_of(&run);
		good = good && strstr(text, "CAP_BPF and CAP_PERFMON") && strstr(text, "sudo");
		_exit(good ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

/* ---- all --------------------------------------------------------------------------------------
 */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_its_start),
		cmocka_unit_test(executes_another_program),
		cmocka_unit_test(a_thread_calls_exec),
		cmocka_unit_test(freed_before_its_start),
		cmocka_unit_test(exec_fails),
		cmocka_unit_test(crashes),
		cmocka_unit_test(clear_errors),
		cmocka_unit_test(optional_functions),
		cmocka_unit_test(joins_a_process),
		cmocka_unit_test(joins_no_process),
		cmocka_unit_test(stops_and_continues),
		cmocka_unit_test(handed_over_to_a_debugger),
		cmocka_unit_test(continues_without_the_observer),
		cmocka_unit_test(woken_when_the_observer_dies),
		cmocka_unit_test(reports_what_is_missing),
	};

	return may_run() ? cmocka_run_group_tests(tests, make_all, remove_all) : 0;
}
