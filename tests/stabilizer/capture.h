/* What the stabilizer's tests share: a sink that keeps everything, and messages made by hand. */
#ifndef DPE_TESTS_STABILIZER_CAPTURE_H
#define DPE_TESTS_STABILIZER_CAPTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stabilizer/stabilizer.h"

#include <stdlib.h>
#include <string.h>

struct got {
	struct dpe_message *message;
	struct dpe_stamp stamp;
	struct dpe_message **added;
	unsigned nadded;
	bool doubtful;
};

struct capture {
	struct dpe_names *names;
	struct dpe_diags *diags;
	struct dpe_stabilizer *stabilizer;
	struct got *got;
	unsigned ngot, capgot;
	struct dpe_text story; /* all that happened: "a b+x held(c: …) lost(d: 2) " */
	struct dpe_text edges; /* that were reported, for tests that ask for them */
	uint64_t place;
	bool quiet;       /* events are not recorded */
	unsigned cycles; /* given up */
};

static inline void capture_event(void *context, const struct dpe_event *event)
{
	struct capture *capture = context;
	struct got *got;

	assert_int_equal(event->number, capture->ngot);
	got = DPE_GROW(capture->got, capture->ngot, capture->capgot);
	*got = (struct got){.message = dpe_message_ref(event->message), .stamp = event->stamp};
	dpe_stamp_ref(&got->stamp);
	got->doubtful = event->doubtful;
	got->nadded = event->nadded;
	got->added = dpe_xcalloc(event->nadded + 1, sizeof(*got->added));
	for (unsigned i = 0; i < event->nadded; i++)
		got->added[i] = dpe_message_ref((struct dpe_message *)event->added[i]);
	if (capture->quiet)
		return;
	dpe_text_puts(&capture->story, dpe_name_text(capture->names, event->message->name));
	for (unsigned i = 0; i < event->nadded; i++)
		dpe_text_printf(&capture->story, "+%s",
			dpe_name_text(capture->names, event->added[i]->name));
	dpe_text_puts(&capture->story, event->doubtful ? "? " : " ");
}

static inline void capture_held(
	void *context, const struct dpe_message *message, const char *missing)
{
	struct capture *capture = context;

	capture->cycles += strstr(missing, "in turn") != NULL;
	if (!capture->quiet)
		dpe_text_printf(&capture->story, "held(%s: %s) ",
			dpe_name_text(capture->names, message->name), missing);
}

static inline void capture_lost(void *context, const struct dpe_gap *gap)
{
	struct capture *capture = context;

	if (!capture->quiet)
		dpe_text_printf(&capture->story, "lost(%s: %llu) ",
			dpe_name_text(capture->names, gap->after->name), (unsigned long long)gap->count);
}

static inline void capture_unsure(
	void *context, const struct dpe_message *message, uint64_t since)
{
	struct capture *capture = context;

	(void)since;
	if (!capture->quiet)
		dpe_text_printf(&capture->story, "unsure(%s) ",
			dpe_name_text(capture->names, message->name));
}

/* `ends`: the name of each thread's last event, or NULL. A thread that was already running begins with "found". */
static inline void capture_open_with(
	struct capture *capture, struct dpe_stabilizer_options options, const char *ends)
{
	struct dpe_stabilizer_sink sink = {
		.context = capture,
		.event = capture_event,
		.held = capture_held,
		.lost = capture_lost,
		.unsure = capture_unsure,
	};

	*capture = (struct capture){.names = dpe_names_new(), .diags = dpe_diags_new()};
	options.finds_thread = dpe_intern_string(capture->names, "found");
	if (ends)
		options.ends_thread = dpe_intern_string(capture->names, ends);
	capture->stabilizer = dpe_stabilizer_new(capture->names, &options, &sink);
	dpe_text_puts(&capture->story, "");
}

static inline void capture_open(
	struct capture *capture, const enum dpe_sync_pairing *pairings, unsigned n, bool ordered)
{
	capture_open_with(capture, (struct dpe_stabilizer_options){
		.pairings = pairings, .npairings = n, .ordered = ordered}, NULL);
}

static inline void capture_close(struct capture *capture)
{
	dpe_stabilizer_free(capture->stabilizer);
	for (unsigned i = 0; i < capture->ngot; i++) {
		dpe_message_unref(capture->got[i].message);
		dpe_stamp_unref(&capture->got[i].stamp);
		for (unsigned j = 0; j < capture->got[i].nadded; j++)
			dpe_message_unref(capture->got[i].added[j]);
		free(capture->got[i].added);
	}
	free(capture->got);
	dpe_text_free(&capture->story);
	dpe_text_free(&capture->edges);
	dpe_diags_free(capture->diags);
	dpe_names_free(capture->names);
}

/* What happened since the last call. */
static inline void assert_story(struct capture *capture, const char *expected)
{
	assert_string_equal(capture->story.at, expected);
	capture->story.len = 0;
	capture->story.at[0] = '\0';
}

#define ROLE(kind, sends, key, of_round)                                                           \
	(struct dpe_role)                                                                          \
	{                                                                                          \
		.rule = kind, .send = sends, .nkeys = 1, .round = of_round,                        \
		.keys = (struct dpe_value[])                                                       \
		{                                                                                  \
			dpe_value_int(key)                                                         \
		}                                                                                  \
	}
#define SEND(rule, key) ROLE(rule, true, key, 0)
#define RECEIVE(rule, key) ROLE(rule, false, key, 0)

/* Pushes a copy of the draft. */
static inline bool push_draft(struct capture *capture, const struct dpe_message *draft,
	const struct dpe_role *roles, unsigned nroles)
{
	struct dpe_message copy = *draft;

	copy.place = ++capture->place;
	return dpe_stabilizer_push(
		capture->stabilizer, dpe_message_new(&copy), roles, nroles, capture->diags);
}

/* "id pred pred …", ids being names as well; with an id "-" the name is the pred. */
static inline bool push_text(struct capture *capture, const char *text, struct dpe_message draft,
	const struct dpe_role *role)
{
	struct dpe_value preds[8];
	char *copy = dpe_xstrdup(text), *rest = NULL;
	bool taken;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (word == copy) {
			draft.id = dpe_value_string(word);
			dpe_event_parse(
				capture->names, word, strlen(word), &draft.name, &draft.phase);
		} else {
			preds[draft.npreds++] = dpe_value_string(word);
		}
	}
	draft.preds = preds;
	taken = push_draft(capture, &draft, role, role ? 1 : 0);
	free(copy);
	return taken;
}

#define PUSH(capture, text, ...) push_text(capture, text, (struct dpe_message){__VA_ARGS__}, NULL)
#define PUSH_AS(capture, text, role, ...)                                                          \
	push_text(capture, text, (struct dpe_message){__VA_ARGS__}, &(role))

#define THREAD(n) .thread = dpe_value_int(n)
#define SEQ(n, s) .thread = dpe_value_int(n), .has_seq = true, .seq = (s)
#define TIME(t) .has_time = true, .time = (t)
#define HOST(n) .host = dpe_value_int(n)

#endif
