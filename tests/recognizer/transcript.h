/* The output of a recognizer for a log, as text: one line for each verdict, print, error, stop and so on.
 * For tests. */
#ifndef DPE_TESTS_TRANSCRIPT_H
#define DPE_TESTS_TRANSCRIPT_H

#include "dpe/dpe-recognizer.h"
#include "dpe-lang/dpe-lang.h"
#include "stabilizer/stabilizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct transcript {
	struct dpe_text text;
	struct dpe_names *names;
	unsigned max_instances;
	uint64_t forget_from, search_work;
	size_t automaton_bytes;
	enum dpe_engine_choice engine;
	bool end_at_break;
	bool traced; /* traced: the sink gets each step */
	bool ordered; /* the log is in causal order */
	bool at_every_message; /* what is kept after each */
	struct dpe_text *states; /* slices by state after each message are written here; NULL: nobody asks */
	struct dpe_summary summary; /* of the run, before its end … */
	struct dpe_summary ended;   /* … and after it */
};

static inline void transcript_verdict(void *context, const struct dpe_verdict *verdict)
{
	static const char *const kinds[] = {
		"satisfied", "violated", "incomplete", "inconclusive", "match"};
	struct transcript *to = context;

	dpe_text_printf(&to->text, "%s %s", verdict->rule->name, kinds[verdict->kind]);
	if (verdict->event) {
		dpe_text_puts(&to->text, " at ");
		dpe_message_print_id(&to->text, to->names, verdict->event);
	}
	for (unsigned i = 0; i < verdict->nevents; i++) {
		dpe_text_puts(&to->text, i ? " " : ": ");
		dpe_message_print_id(&to->text, to->names, verdict->events[i]);
		dpe_text_printf(&to->text, "=$%u", verdict->positions[i]);
	}
	for (unsigned i = 0; i < verdict->rule->nvariables; i++) {
		if (verdict->params[i].kind == DPE_NONE)
			continue;
		dpe_text_printf(
			&to->text, " [%s=", dpe_name_text(to->names, verdict->rule->variables[i]));
		dpe_value_print(&to->text, verdict->params[i]);
		dpe_text_puts(&to->text, "]");
	}
	for (unsigned i = 0; i < verdict->nexpected; i++)
		dpe_text_printf(&to->text, "%s%s", i ? " | " : " expected ", verdict->expected[i]);
	if (verdict->reason)
		dpe_text_printf(&to->text, " (%s)", verdict->reason);
	dpe_text_puts(&to->text, "\n");
}

static inline void transcript_print(void *context, const struct dpe_rule *rule, const char *text)
{
	struct transcript *to = context;

	dpe_text_printf(&to->text, "%s prints '%s'\n", rule->name, text);
}

static inline void transcript_error(void *context, const struct dpe_rule *rule, const char *text)
{
	struct transcript *to = context;

	dpe_text_printf(&to->text, "%s error '%s'\n", rule->name, text);
}

static inline void transcript_deadlock(
	void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	static const char *const kinds[] = {"deadlock", "potential deadlock", "hang", "long wait"};
	struct transcript *to = context;

	(void)rule;
	dpe_text_printf(
		&to->text, "%s%s: ", deadlock->reason ? "possible " : "", kinds[deadlock->kind]);
	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		dpe_text_puts(&to->text, i ? ", " : "");
		dpe_value_print(&to->text, deadlock->waits[i].thread);
		if (deadlock->waits[i].alike)
			dpe_text_printf(&to->text, "+%u", deadlock->waits[i].alike);
		dpe_text_puts(&to->text, " waits for ");
		dpe_value_print(&to->text, deadlock->waits[i].object);
		if (deadlock->waits[i].holder.kind == DPE_NONE)
			continue;
		dpe_text_puts(&to->text, " held by ");
		dpe_value_print(&to->text, deadlock->waits[i].holder);
	}
	if (deadlock->others)
		dpe_text_puts(&to->text, ", and others");
	if (deadlock->reason)
		dpe_text_printf(&to->text, " (%s)", deadlock->reason);
	dpe_text_puts(&to->text, "\n");
}

static inline enum dpe_break transcript_stop(
	void *context, const struct dpe_rule *rule, const struct dpe_message *at)
{
	struct transcript *to = context;

	dpe_text_printf(&to->text, "%s breaks at ", rule->name);
	dpe_message_print_id(&to->text, to->names, at);
	dpe_text_puts(&to->text, "\n");
	return to->end_at_break ? DPE_BREAK_END : DPE_BREAK_CONTINUE;
}

static inline void transcript_held(
	void *context, const struct dpe_message *message, const char *missing)
{
	struct transcript *to = context;

	dpe_text_puts(&to->text, "held ");
	dpe_message_print_id(&to->text, to->names, message);
	dpe_text_printf(&to->text, " for %s\n", missing);
}

static inline void transcript_lost(void *context, const struct dpe_gap *gap)
{
	struct transcript *to = context;

	dpe_text_printf(&to->text, "lost %d before ", (int)gap->count);
	dpe_message_print_id(&to->text, to->names, gap->after);
	dpe_text_puts(&to->text, "\n");
}

static inline void transcript_trace(void *context, const struct dpe_trace *trace)
{
	(void)context;
	(void)trace;
}

/* Replaces the JSON Lines in that file by a binary log of them. */
static inline void transcript_convert(const char *path, struct dpe_diags *diags)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_log_reader *reader = dpe_log_open(names, path, DPE_LOG_JSONL, 0, diags);
	struct dpe_log_writer *writer;
	struct dpe_message *message;

	assert_non_null(reader);
	unlink(path); /* the reader has it still */
	writer = dpe_log_create(names, path, DPE_LOG_DPEL, (struct dpe_log_header){0}, diags);
	assert_non_null(writer);
	while (dpe_log_read(reader, &message) > 0) {
		dpe_log_write(writer, message, NULL, 0);
		dpe_message_unref(message);
	}
	dpe_log_close(reader);
	assert_int_equal(dpe_log_finish(writer, diags), 0);
	dpe_names_free(names);
}

/* Reads a log given as text, in the format of that name; a binary one as JSON lines. */
static inline struct dpe_log_reader *transcript_log(
	struct transcript *to, const char *format, const char *log, struct dpe_diags *diags)
{
	char path[] = "/tmp/dpe-test-XXXXXX";
	struct dpe_log_reader *reader;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, log, strlen(log)), strlen(log));
	close(fd);
	if (dpe_log_format_named(format) == DPE_LOG_DPEL)
		transcript_convert(path, diags);
	reader = dpe_log_open(to->names, path, dpe_log_format_named(format), 0, diags);
	unlink(path);
	if (!reader)
		dpe_diags_print(diags, stderr);
	assert_non_null(reader);
	return reader;
}

static inline void transcript_state(void *context, const struct dpe_rule *rule, const char *state, uint64_t slices)
{
	dpe_text_printf(context, "%s %s: %llu\n", rule->name, state, (unsigned long long)slices);
}

static inline void transcript_states(struct transcript *to, struct dpe_recognizer *recognizer, const struct dpe_spec *spec)
{
	for (unsigned i = 0; to->states && i < spec->nrules; i++)
		dpe_text_printf(to->states, "of %llu\n",
			(unsigned long long)dpe_recognizer_slice_states(recognizer, &spec->rules[i], transcript_state, to->states));
}

static inline void transcript_feed(struct transcript *to, struct dpe_recognizer *recognizer,
	const struct dpe_spec *spec, const char *format, const char *log, struct dpe_diags *diags)
{
	struct dpe_log_reader *reader = transcript_log(to, format, log, diags);
	struct dpe_message *message;
	int got;

	while ((got = dpe_log_read(reader, &message)) > 0) {
		dpe_recognizer_feed(recognizer, message, diags);
		transcript_states(to, recognizer, spec);
		if (!to->at_every_message)
			continue;
		dpe_recognizer_summary(recognizer, &to->summary);
		dpe_text_printf(&to->text, "kept %llu, slices %llu\n", (unsigned long long)to->summary.kept,
			(unsigned long long)to->summary.slices);
	}
	assert_int_equal(got, 0);
	dpe_log_close(reader);
}

/* Runs the specification on the log; the text is the transcript's. */
static inline const char *transcript_run(
	struct transcript *to, const char *spec_text, const char *format, const char *log)
{
	const struct dpe_compile_options compile = {0};
	const struct dpe_recognizer_sink sink = {
		.context = to,
		.verdict = transcript_verdict,
		.print = transcript_print,
		.error = transcript_error,
		.deadlock = transcript_deadlock,
		.stop = transcript_stop,
		.held = transcript_held,
		.lost = transcript_lost,
		.trace = to->traced ? transcript_trace : NULL,
	};
	struct dpe_recognizer_options options = {
		.max_instances = to->max_instances,
		.forget_from = to->forget_from,
		.automaton_bytes = to->automaton_bytes,
		.engine = to->engine,
		.search_work = to->search_work,
		.ordered = to->ordered || dpe_log_format_named(format) == DPE_LOG_STD,
	};
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_recognizer *recognizer = NULL;
	struct dpe_spec *spec;

	to->names = dpe_names_new();
	spec = dpe_spec_compile_text(
		"test.dpe", spec_text, strlen(spec_text), to->names, &compile, diags);
	if (spec)
		recognizer = dpe_recognizer_new(spec, &options, &sink, diags);
	if (!recognizer)
		dpe_diags_print(diags, stderr);
	assert_non_null(recognizer);
	transcript_feed(to, recognizer, spec, format, log, diags);
	dpe_recognizer_summary(recognizer, &to->summary);
	dpe_recognizer_finish(recognizer);
	dpe_recognizer_summary(recognizer, &to->ended);
	dpe_diags_print(diags, stderr);
	dpe_recognizer_free(recognizer);
	dpe_spec_free(spec);
	dpe_names_free(to->names);
	dpe_diags_free(diags);
	if (!to->text.at)
		dpe_text_puts(&to->text, "");
	return to->text.at;
}

/* Asserts that the transcript of this specification on this log is `expected`. */
static inline void assert_transcript(
	const char *spec, const char *format, const char *log, const char *expected)
{
	struct transcript to = {0};

	assert_string_equal(transcript_run(&to, spec, format, log), expected);
	dpe_text_free(&to.text);
}

static inline bool transcript_begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

/* The lines of the transcript of a log in JSON Lines that begin with one of these words. */
static inline void transcript_assert(const char *rules, const char *log, const char *one,
	const char *other, const char *expected)
{
	struct transcript to = {0};
	struct dpe_text found = {0};
	const char *at = transcript_run(&to, rules, "jsonl", log);

	dpe_text_puts(&found, "");
	for (unsigned len; *at; at += len) {
		len = strcspn(at, "\n") + 1;
		if (transcript_begins(at, one) || transcript_begins(at, other))
			dpe_text_add(&found, at, len);
	}
	assert_string_equal(found.at, expected);
	dpe_text_free(&found);
	dpe_text_free(&to.text);
}

#endif
