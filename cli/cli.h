/* cli: the command line. One file a command. It knows of the rooms below what their users know. */
#ifndef DPE_CLI_H
#define DPE_CLI_H

#include "dpe/dpe-probes.h"
#include "dpe/dpe.h"

#include <sys/types.h>

/* Exit statuses, worst last but for usage errors. */
enum cli_status { CLI_GOOD = 0, CLI_FINDING = 1, CLI_ERROR = 2, CLI_INCONCLUSIVE = 3 };

enum cli_on_break { CLI_ASK, CLI_CONTINUE, CLI_GDB, CLI_KILL };
enum cli_break_at { CLI_BREAK_AUTO, CLI_BREAK_EVENT, CLI_BREAK_LATER };
enum cli_on_deadlock { CLI_HANG, CLI_HALT, CLI_DEADLOCK_KILL, CLI_DEADLOCK_GDB };

enum cli_draw_when { CLI_DRAW_AUTO, CLI_DRAW_ALWAYS, CLI_DRAW_NEVER };

struct cli_words {
	const char **at;
	unsigned count, cap;
};

/* What the words of the command line say, and what every command needs. */
struct cli {
	const struct cli_command *command;
	struct dpe_diags *diags;
	struct dpe_names *names;
	struct dpe_debug *debug;       /* or NULL */
	struct cli_words specs, words; /* words: logs, programs, patterns */
	struct cli_words includes, suppressions, libraries;
	struct dpe_text rules; /* that the command makes, beside the specifications */
	char **target; /* what stands after "--", ended by NULL; or NULL */
	bool json, target_status, plan, placement, stabilize, all, help, preload, follow;
	bool dynamic, gdb;
	bool in_place, check; /* of fmt */
	bool explain, sarif;
	bool show_suppressions, trace, name_silent;
	enum cli_draw_when draw;
	const char *report, *output, *rule, *emit, *from, *to, *dump, *debug_text;
	const char *user;     /* who is to run the program; NULL: who runs us */
	const char *trace_to; /* NULL: standard error */
	pid_t pid;
	unsigned max_instances, max_states, stack_depth, ring_bytes, rings;
	unsigned duration; /* seconds; 0: until the end */
	unsigned progress; /* seconds from line to line; 0: none */
	bool has_progress; /* else it is found out */
	enum cli_on_break on_break;
	enum cli_break_at break_at;
	enum cli_on_deadlock on_deadlock;
	enum dpe_engine_choice engine;
	FILE *report_to;
};

/* ---- options.c --------------------------------------------------------------------------- */

/* Where options apply. */
enum {
	FOR_CHECK = 1 << 0,
	FOR_COMPILE = 1 << 1,
	FOR_RUN = 1 << 2,
	FOR_ATTACH = 1 << 3,
	FOR_RECORD = 1 << 4,
	FOR_REPLAY = 1 << 5,
	FOR_CONVERT = 1 << 6,
	FOR_LIST = 1 << 7,
	FOR_DEADLOCK = 1 << 8,
	FOR_FMT = 1 << 9,
	FOR_RACE = 1 << 10,
	FOR_LIVE = FOR_RUN | FOR_ATTACH | FOR_RECORD | FOR_DEADLOCK | FOR_RACE,
	FOR_RECOGNIZING = FOR_RUN | FOR_ATTACH | FOR_REPLAY | FOR_DEADLOCK | FOR_RACE,
	FOR_ALL = (1 << 11) - 1,
};

struct cli_command {
	const char *name;
	unsigned mask;
	int (*run)(struct cli *cli);
	const char *synopsis, *summary;
};

/* Fills in the options; false after a diagnostic. */
bool cli_parse(struct cli *cli, char *const *argv);
void cli_print_help(const struct cli_command *command, FILE *to);
/* One usage error: what is wrong, and where help is. */
void cli_usage_error(struct cli *cli, const char *fmt, ...) DPE_PRINTF(2, 3);
/* The names nearest to a misspelt word, as "; did you mean 'x'?", or "". In `text`. */
const char *cli_did_you_mean(
	struct dpe_text *text, const char *word, const char *const *names, unsigned count);

/* ---- specs.c ----------------------------------------------------------------------------- */

/* Compiles cli->specs with the shipped specifications on the include path. NULL after
 * diagnostics. */
struct dpe_spec *cli_compile(struct cli *cli);
/* The same where specifications are all that the command line names. */
struct dpe_spec *cli_compile_words(struct cli *cli);
/* dpe_format with the same include path. */
bool cli_format(
	struct cli *cli, struct dpe_text *to, const char *path, const struct dpe_text *text);
/* As cli_compile, and everything in it must be able to run. */
struct dpe_spec *cli_compile_runnable(struct cli *cli, bool live);

/* ---- report.c ---------------------------------------------------------------------------- */

struct cli_report;
/* Opens cli->report or the stream that the format asks for; NULL after a diagnostic. */
struct cli_report *cli_report_new(struct cli *cli, const struct dpe_spec *spec);
/* With `probes`, stacks get their text and `break` stops the target. */
void cli_report_live(struct cli_report *report, struct dpe_probes *probes, int signals);
/* Whose verdicts it tells, and whose first event is when time begins. Before any is told. */
void cli_report_on(struct cli_report *report, const struct dpe_recognizer *recognizer);
/* Writes down each event as the stabilizer releases it. */
void cli_report_log(struct cli_report *report, struct dpe_log_writer *log);
/* `live`: of a running program, whose losses are known as they happen. */
struct dpe_recognizer_sink cli_report_sink(struct cli_report *report, bool live);
/* The closing lines. */
void cli_report_finish(struct cli_report *report, const struct dpe_recognizer *recognizer);
/* How things stand at this moment, and who waits for whom, to standard error. */
void cli_report_state(
	struct cli_report *report, const struct dpe_recognizer *recognizer, uint64_t lost);
/* How many breaks came at events that stopped the program themselves. */
uint64_t cli_report_stops(const struct cli_report *report);
/* True where the user asked for the end at a `break`. */
bool cli_report_left(const struct cli_report *report);
/* The status that the verdicts ask for. False output of the report itself is an error. */
int cli_report_free(struct cli_report *report);

/* ---- debugger.c -------------------------------------------------------------------------- */

/* Takes --gdb into account. False after an error where gdb is asked for, and not there. */
bool cli_debugger_check(struct cli *cli);

/* ---- commands ---------------------------------------------------------------------------- */

int cli_check(struct cli *cli);
int cli_fmt(struct cli *cli);
int cli_compile_command(struct cli *cli);
int cli_run(struct cli *cli);
int cli_attach(struct cli *cli);
int cli_record(struct cli *cli);
int cli_replay(struct cli *cli);
int cli_convert(struct cli *cli);
int cli_list(struct cli *cli);
int cli_deadlock(struct cli *cli);
int cli_race(struct cli *cli);

#endif
