/* Messages of text, by a regular expression with named groups. Private to event/logs. */
#ifndef DPE_EVENT_LOGS_TEXT_PATTERN_H
#define DPE_EVENT_LOGS_TEXT_PATTERN_H

#include "event/logs/log.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* A part of the matched text. */
struct dpe_matched_text {
	const char *at;
	size_t len;
};

struct dpe_named_group {
	const char *name;
	unsigned number;
};

struct dpe_text_pattern {
	struct dpe_log_reader *reader;
	pcre2_code *code;
	pcre2_match_data *match; /* the last one */
	struct dpe_named_group *groups;
	unsigned ngroups;
	bool threadless; /* all events of a host are of one thread: the group is `(?<thread>)` */
	uint64_t lines, matched, untimed;
	uint64_t unit;          /* of times that are whole numbers, in ns; 0: that of each number */
	uint64_t latest, turns; /* of times without a year or a date: the latest one; how often they began again */
};

/* NULL after a diagnostic. */
struct dpe_text_pattern *dpe_pattern_compile(struct dpe_log_reader *reader, const char *text);
void dpe_pattern_free(struct dpe_text_pattern *pattern); /* accepts NULL */
bool dpe_pattern_has(const struct dpe_text_pattern *pattern, const char *group);
/* The first match in the text as a message whose `vars` and outer object are left open. False if nothing matches,
 * or if the match reports a loss. */
bool dpe_pattern_apply(struct dpe_text_pattern *pattern, const char *text, struct dpe_text *message);
/* Notes a time of the log: the largest whole number decides the unit of all. False if this one is not a whole number. */
bool dpe_pattern_note_time(struct dpe_text_pattern *pattern, struct dpe_matched_text part);
/* Reports how many texts did not match; false after an error, if none did. */
bool dpe_pattern_report(const struct dpe_text_pattern *pattern);

/* Each of these is about the last match in the text. The part that a group matched: */
struct dpe_matched_text dpe_pattern_part(const struct dpe_text_pattern *pattern, const char *text, const char *name);
/* Whether it says how many events were lost, by its group `lost`; adds them. */
bool dpe_pattern_take_loss(struct dpe_text_pattern *pattern, const char *text);
/* Writes the message, whose `vars` and outer object are left open. */
void dpe_pattern_build(struct dpe_text_pattern *pattern, const char *text, struct dpe_text *message);

#endif
