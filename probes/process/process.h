/* process: programs and what they have mapped, users and their rights, and the watchdog process. */
#ifndef DPE_PROBES_PROCESS_PROCESS_H
#define DPE_PROBES_PROCESS_PROCESS_H

#include "probes/binary/binary.h"
#include "probes/limits.h"
#include "probes/process/credentials.h"

/* ---- programs ---------------------------------------------------------------------------- */

/* The program that is to run, before there is a process. */
struct dpe_program {
	char *path;      /* for exec */
	char *real_path; /* symbolic links followed; of a script, its interpreter's */
};

/* Finds a program as a shell would. False after one error. For dpe_program_free. */
bool dpe_program_find(struct dpe_program *program, const char *name, struct dpe_diags *diags);
void dpe_program_free(struct dpe_program *program);
/* 0, or the reason why it cannot be run. */
int dpe_program_check(const char *path);
/* The program that interprets the script, or the path itself if it is not a script; the caller's. NULL after
 * an error. */
char *dpe_script_interpreter(const char *path, struct dpe_diags *diags);

/* Whether the program translates the code that it runs instead of letting the processor do so, as Valgrind and
 * QEMU do. It would read our breakpoints. */
bool dpe_translates_code(int file);
/* Whether it is a program for another machine than x86-64, such as one for i386. */
bool dpe_is_for_other_machine(int file);

/* ---- what they map ----------------------------------------------------------------------- */

/* The program and the libraries that it will load, by asking its ELF interpreter. */
bool dpe_libraries_of_program(struct dpe_modules *modules, const struct dpe_program *program,
	char *const *environment, struct dpe_diags *diags);
/* Which of the modules a process has mapped, by number. */
struct dpe_mapped {
	bool *at; /* for free */
	unsigned count;
};
/* The files from which a process has mapped code; `mapped` may be NULL. */
bool dpe_libraries_of_process(struct dpe_modules *modules, pid_t pid, struct dpe_mapped *mapped,
	struct dpe_diags *diags);

/* Files that are to be loaded later, and the libraries that these need. False after an error for each that is
 * not a library. */
bool dpe_libraries_add(struct dpe_modules *modules, const char *const *paths, unsigned count,
	struct dpe_diags *diags);

/* One line of /proc/PID/maps that is code from a file. */
struct dpe_mapping {
	uint64_t start, end, offset, inode;
	char *path; /* without " (deleted)"; valid during the call */
};
/* The module of a mapping, opened and added if it is new; NULL if it is no library. */
struct dpe_module *dpe_libraries_open(
	struct dpe_modules *modules, pid_t pid, const struct dpe_mapping *mapping);
/* Adds where the process has mapped code, in order of address, and the modules that are new. */
void dpe_process_maps(struct dpe_modules *modules, pid_t pid, struct dpe_map **at, unsigned *count, unsigned *cap);
/* -1 with errno if the process's maps cannot be read. */
int dpe_mappings_each(
	pid_t pid, void (*each)(void *context, const struct dpe_mapping *mapping), void *context);

/* ---- preloading --------------------------------------------------------------------------- */

/* Our environment with the library before others in LD_PRELOAD, and with the variables `added`, "NAME=value", in place of others
 * of these names. Takes over their texts. The caller's. */
char **dpe_environment_preloading(const char *library, char *const *added, unsigned nadded);
void dpe_environment_free(char **environment); /* accepts NULL */

/* ---- whether dpe may observe ------------------------------------------------------------- */

/* Whether we may observe at all. False after one error that names what is missing and what to do.
 */
bool dpe_privilege_check(struct dpe_diags *diags);
/* One error for a step of ours that the kernel refused with `error` (positive). */
void dpe_privilege_explain(const char *step, int error, struct dpe_diags *diags);
/* Whether we may read the mappings of the process. False after one error. */
bool dpe_privilege_check_process(pid_t pid, struct dpe_diags *diags);

/* ---- the state of threads ----------------------------------------------------------------- */

/* Reads a small file of /proc, as text; false, with errno, if that fails. */
bool dpe_proc_text(char *text, size_t size, const char *path);
/* The value of a line of /proc/PID/status, such as "Uid". False if there is none. */
bool dpe_proc_status(pid_t pid, const char *member, char *value, size_t size);
/* What /proc/PID/task/TID/stat says. */
struct dpe_proc_stat {
	char name[16];
	char state; /* 'S' sleeps, 'R' runs, 'T' and 't' are stopped, 'Z' is over */
	pid_t parent;
	unsigned flags;
	unsigned processor; /* that it runs on, or ran on last */
};
/* False, and all zero, if the thread no longer exists. */
bool dpe_proc_stat(pid_t pid, pid_t thread, struct dpe_proc_stat *stat);
/* One thread. */
struct dpe_thread_state {
	struct dpe_proc_stat stat;
	uint64_t times;    /* how often it has slept: changes whenever it has run and sleeps again */
	pid_t own_id;      /* in its PID namespace, as it sees itself */
	/* The system call that it is in; -1: none. Unless `denied`: that needs the right to trace it. */
	long call;
	uint64_t args[6], sp, pc;
	bool denied;
};
/* False if the thread no longer exists. */
bool dpe_thread_look(pid_t pid, pid_t thread, struct dpe_thread_state *state);
/* The name of a system call that blocks, and the number of the argument that is a file descriptor (-1: none). NULL
 * for all others. */
const char *dpe_blocking_call(long number, int *file);
/* What a descriptor of the process is open on, the caller's to free; NULL: nothing. */
char *dpe_descriptor_file(pid_t pid, unsigned number);
/* Calls `each` for all threads, until it returns false. -1 with errno if they cannot be listed. */
int dpe_threads_each(pid_t pid, bool (*each)(void *context, pid_t thread), void *context);
/* Whether an address of the process is in memory that others may have, too; true if that is unknown. */
bool dpe_memory_is_shared(pid_t pid, uint64_t address);
/* Whether the process has a handler for a signal that none of its threads causes itself. */
bool dpe_handles_signals(pid_t pid);

/* ---- the watchdog ------------------------------------------------------------------------ */

/* The process that continues a stopped target if we die; pid 0: none. */
struct dpe_watchdog {
	pid_t pid;
	int channel; /* a byte: it is no longer needed; end of file: we died */
};

/* What a watchdog does if we die, in a process that has only these files of ours. */
struct dpe_watchdog_task {
	void (*act)(const void *context);
	/* Called again and again as long as we live; returns the ms until the next call. NULL: nothing. */
	int (*watch)(const void *context);
	const void *context;
	int files[DPE_WATCHDOG_FILES];
	unsigned nfiles;
};
/* A thread that others wait for; how long it had run, and waited for a processor, at the last look. */
struct dpe_paced {
	pid_t process, thread;
	uint64_t ran, waited;
};
/* How many of the `pause` ns since the last look the thread had for itself. If it sleeps or is stopped: all but the time it
 * waited for a processor; if it waits for a processor: what it ran; if it waits in the kernel: also a part of the pause, as
 * that may never end. All if nothing is known. */
uint64_t dpe_watchdog_pace(struct dpe_paced *paced, uint64_t pause);
/* Makes a watchdog, unless it is there already. When this returns, it has closed its copies of our other files,
 * so that a probe is gone once we close it. 0 or -errno. */
int dpe_watchdog_make(struct dpe_watchdog *watchdog, const struct dpe_watchdog_task *duty);
/* If the target's process group becomes orphaned by our death while a member is stopped, the kernel would send
 * it SIGHUP. This starts processes that prevent it, until a file becomes readable or is closed. */
void dpe_keep_process_group(pid_t target, int until);
/* Ends the watchdog without waking the target. */
void dpe_watchdog_dismiss(struct dpe_watchdog *watchdog);

#endif
