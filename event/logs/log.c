/* Opens and closes logs of all formats. */
#include "event/logs/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *name;
	enum dpe_log_format format;
} formats[] = {
	{"jsonl", DPE_LOG_JSONL},
	{"msg", DPE_LOG_MSG},
	{"dpel", DPE_LOG_DPEL},
	{"std", DPE_LOG_STD},
	{"otlp", DPE_LOG_OTLP},
	{"shiviz", DPE_LOG_SHIVIZ},
	{"journal", DPE_LOG_JOURNAL},
	{"ctf", DPE_LOG_CTF},
};

enum dpe_log_format dpe_log_format_named(const char *name)
{
	for (unsigned i = 0; i < DPE_COUNT(formats); i++) {
		if (!strcmp(formats[i].name, name))
			return formats[i].format;
	}
	return DPE_LOG_UNKNOWN;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

enum dpe_log_format dpe_log_format_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (!strcmp(path, "-"))
		return DPE_LOG_JSONL;
	if (is_folder(path))
		return DPE_LOG_CTF;
	return dot ? dpe_log_format_named(dot + 1) : DPE_LOG_UNKNOWN;
}

static const char READABLE[] = ".jsonl, .msg, .dpel, .std, .otlp, .shiviz or .journal; or use --from or --pattern";
static const char WRITABLE[] = ".jsonl, .msg, .dpel or .std; or use --to with 'dpe convert'";

static bool is_schedule(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && !strcmp(dot, ".schedule");
}

/* False, with a diagnostic that has the known endings, if the format is unknown. */
static bool find_format(const char *path, enum dpe_log_format *format, const char *known, struct dpe_diags *diags)
{
	if (*format == DPE_LOG_UNKNOWN)
		*format = dpe_log_format_of(path);
	if (*format != DPE_LOG_UNKNOWN)
		return true;
	if (is_schedule(path))
		dpe_diag_at(diags, DPE_ERROR, path, "a schedule is not a log: 'dpe explore --replay=SCHEDULE --log=LOG -- PROGRAM' writes the log of its run");
	else
		dpe_diag_at(diags, DPE_ERROR, path, "the name does not say which format this log has: it should end in %s", known);
	return false;
}

/* ---- reading ----------------------------------------------------------------------------- */

static void cannot_open(const char *path, struct dpe_diags *diags)
{
	dpe_diag_at(diags, DPE_ERROR, path, "cannot open this log: %s", strerror(errno));
}

static FILE *open_file(const char *path, struct dpe_diags *diags)
{
	struct stat st;
	FILE *from;

	if (!strcmp(path, "-"))
		return stdin;
	from = fopen(path, "re");
	if (from && !fstat(fileno(from), &st) && S_ISDIR(st.st_mode)) {
		fclose(from);
		from = NULL;
		errno = EISDIR;
	}
	if (!from)
		cannot_open(path, diags);
	return from;
}

static bool begin_import(struct dpe_log_reader *reader, struct dpe_import *import)
{
	reader->read = dpe_import_read;
	reader->import = import;
	if (reader->import_lost)
		dpe_log_add_loss(reader, (struct dpe_value){.kind = DPE_NONE}, reader->import_lost);
	return import;
}

static bool begin(struct dpe_log_reader *reader, const char *expression)
{
	switch (reader->format) {
	case DPE_LOG_OTLP:
		return begin_import(reader, dpe_otlp_new(reader));
	case DPE_LOG_SHIVIZ:
		return begin_import(reader, dpe_pattern_new(reader, NULL));
	case DPE_LOG_JOURNAL:
		return begin_import(reader, dpe_journal_new(reader));
	case DPE_LOG_CTF:
		return begin_import(reader, dpe_ctf_new(reader));
	case DPE_LOG_TEXT:
		return begin_import(reader, dpe_pattern_new(reader, expression));
	case DPE_LOG_MSG:
		reader->read = dpe_msg_read;
		reader->msg = dpe_msg_new(reader);
		return reader->msg;
	case DPE_LOG_STD:
		reader->read = dpe_std_read;
		reader->std = dpe_std_new(reader->names, reader->from);
		reader->header.ordered = reader->unreferenced = true;
		return true;
	case DPE_LOG_DPEL:
		reader->read = dpe_dpel_read;
		reader->dpel = dpe_dpel_new();
		return dpe_dpel_begin(reader);
	default:
		reader->read = dpe_jsonl_read;
		reader->jsonl = dpe_jsonl_new();
		return dpe_jsonl_begin(reader);
	}
}

static struct dpe_log_reader *open_log(struct dpe_names *names, const char *path,
	enum dpe_log_format format, const char *expression, uint32_t index, struct dpe_diags *diags)
{
	struct dpe_log_reader *reader;
	FILE *from = NULL;

	if (strcmp(path, "-") != 0 && access(path, F_OK)) {
		cannot_open(path, diags);
		return NULL;
	}
	if (!find_format(path, &format, READABLE, diags))
		return NULL;
	if (format != DPE_LOG_CTF && !(from = open_file(path, diags)))
		return NULL;
	reader = dpe_xcalloc(1, sizeof(*reader));
	reader->names = names;
	reader->diags = diags;
	reader->name = dpe_xstrdup(from == stdin ? "standard input" : path);
	reader->from = from;
	reader->format = format;
	reader->index = index;
	reader->pool = dpe_pool_new();
	if (begin(reader, expression))
		return reader;
	dpe_log_close(reader);
	return NULL;
}

struct opening {
	struct dpe_names *names;
	const char *path;
	enum dpe_log_format format;
	const char *expression;
	uint32_t index;
	struct dpe_diags *diags;
	struct dpe_log_reader *reader;
};

static void open_protected(void *with)
{
	struct opening *log = with;

	log->reader = open_log(log->names, log->path, log->format, log->expression, log->index, log->diags);
}

static struct dpe_log_reader *open_safely(struct opening *log)
{
	if (dpe_is_protected())
		open_protected(log);
	else if (!dpe_protect(open_protected, log))
		dpe_diags_out_of_memory(log->diags);
	return log->reader;
}

struct dpe_log_reader *dpe_log_open(struct dpe_names *names, const char *path,
	enum dpe_log_format format, uint32_t index, struct dpe_diags *diags)
{
	return open_safely(&(struct opening){names, path, format, NULL, index, diags, NULL});
}

struct dpe_log_reader *dpe_log_open_text(struct dpe_names *names, const char *path,
	const char *expression, uint32_t index, struct dpe_diags *diags)
{
	return open_safely(&(struct opening){names, path, DPE_LOG_TEXT, expression, index, diags, NULL});
}

struct log_reading {
	struct dpe_log_reader *reader;
	struct dpe_message **messages;
	unsigned max;
	int got;
};

static void read_protected(void *with)
{
	struct log_reading *reading = with;

	reading->got = reading->reader->read(reading->reader, reading->messages, reading->max);
}

/* Memory ran out: the log ends here and is incomplete. */
static int read_nothing(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max)
{
	(void)reader;
	(void)messages;
	(void)max;
	return 0;
}

int dpe_log_read_some(struct dpe_log_reader *reader, struct dpe_message **messages, unsigned max)
{
	struct log_reading reading = {reader, messages, max, 0};

	if (dpe_is_protected())
		return reader->read(reader, messages, max);
	if (!dpe_protect(read_protected, &reading)) {
		reader->truncated = true;
		reader->read = read_nothing;
		dpe_diags_out_of_memory(reader->diags);
	}
	return reading.got;
}

int dpe_log_read(struct dpe_log_reader *reader, struct dpe_message **message)
{
	return dpe_log_read_some(reader, message, 1);
}

bool dpe_log_truncated(const struct dpe_log_reader *reader)
{
	return reader->truncated;
}

unsigned dpe_log_losses(const struct dpe_log_reader *reader, const struct dpe_log_loss **losses)
{
	*losses = reader->losses;
	return reader->nlosses;
}

struct dpe_log_header dpe_log_header(const struct dpe_log_reader *reader)
{
	return reader->header;
}

bool dpe_log_unreferenced(const struct dpe_log_reader *reader)
{
	return reader->unreferenced;
}

bool dpe_log_has_clocks(const struct dpe_log_reader *reader)
{
	return reader->has_clocks;
}

void dpe_log_close(struct dpe_log_reader *reader)
{
	if (!reader)
		return;
	if (reader->from && reader->from != stdin)
		fclose(reader->from);
	if (reader->read == read_nothing)
		return; /* memory ran out in the middle of a change */
	dpe_jsonl_free(reader->jsonl);
	dpe_msg_free(reader->msg, reader->diags);
	dpe_std_free(reader->std);
	dpe_dpel_free(reader->dpel);
	dpe_import_free(reader->import);
	dpe_pool_free(reader->pool);
	for (unsigned i = 0; i < reader->nlosses; i++) {
		if (dpe_value_has_own_text(reader->losses[i].thread))
			free((char *)reader->losses[i].thread.text);
	}
	free(reader->losses);
	free(reader->block.at);
	free(reader->name);
	free(reader);
}

/* ---- writing ----------------------------------------------------------------------------- */

static void flush_text(struct dpe_log_writer *writer)
{
	if (!writer->error && writer->text.len &&
		fwrite(writer->text.at, 1, writer->text.len, writer->to) != writer->text.len)
		writer->error = errno ? errno : EIO;
	writer->text.len = 0;
}

static void begin_writing(struct dpe_log_writer *writer)
{
	if (writer->format == DPE_LOG_DPEL)
		writer->dpel = dpe_dpel_writer_new(writer);
	else if (writer->format == DPE_LOG_JSONL)
		dpe_jsonl_header(&writer->text, writer->header);
	flush_text(writer);
}

void dpe_log_omit_ids(struct dpe_log_writer *writer)
{
	writer->unreferenced = true;
}

void dpe_log_announce_preds(struct dpe_log_writer *writer)
{
	writer->announces = true;
}

struct dpe_log_writer *dpe_log_create(const struct dpe_names *names, const char *path,
	enum dpe_log_format format, struct dpe_log_header header, struct dpe_diags *diags)
{
	struct dpe_log_writer *writer;
	FILE *to;

	if (is_folder(path)) {
		dpe_diag_at(diags, DPE_ERROR, path, "cannot create this log: %s", strerror(EISDIR));
		return NULL;
	}
	if (!find_format(path, &format, WRITABLE, diags))
		return NULL;
	if (format >= DPE_LOG_OTLP) {
		dpe_diag_at(diags, DPE_ERROR, path, "this format is only read: write .jsonl, .msg, .dpel or .std");
		return NULL;
	}
	to = strcmp(path, "-") ? fopen(path, "we") : stdout;
	if (!to) {
		dpe_diag_at(diags, DPE_ERROR, path, "cannot create this log: %s", strerror(errno));
		return NULL;
	}
	writer = dpe_xcalloc(1, sizeof(*writer));
	writer->names = names;
	writer->name = dpe_xstrdup(to == stdout ? "standard output" : path);
	writer->to = to;
	writer->format = format;
	writer->header = header;
	begin_writing(writer);
	return writer;
}

static bool holds_losses(const struct dpe_log_writer *writer)
{
	return writer->format == DPE_LOG_JSONL || writer->format == DPE_LOG_DPEL;
}

/* True if the message has no id and needs one: its place is another one in this log, or it is of a running program. */
static bool needs_id(const struct dpe_log_writer *writer, const struct dpe_message *message)
{
	if (message->id.kind != DPE_NONE || writer->unreferenced)
		return false;
	if (writer->announces && !writer->nwritten)
		return true;
	if (!message->place)
		return writer->header.ordered && message->has_seq;
	return message->place != writer->nwritten + 1;
}

/* False if the id that the message gets, or has, can be that of another one, too. */
static bool has_own_id(struct dpe_log_writer *writer, const struct dpe_message *message, bool with_id)
{
	int64_t number;

	writer->moved |= with_id && message->place && message->place != writer->nwritten + 1;
	writer->numbered |= dpe_value_as_int(message->id, &number) && number != (int64_t)message->place;
	return !writer->moved || !writer->numbered;
}

static void write_whole(struct dpe_log_writer *writer, const struct dpe_message *message, const struct dpe_message *const *preds,
	unsigned npreds)
{
	bool with_id = needs_id(writer, message);

	if (!has_own_id(writer, message, with_id))
		dpe_log_refuse(writer, message, "messages without an id move, and others have numbers as ids: give every message an id");
	else if (writer->dpel)
		dpe_dpel_write(writer, with_id, message, preds, npreds);
	else
		dpe_jsonl_write(&writer->text, writer->names, with_id, message, preds, npreds);
	writer->nwritten++;
}

void dpe_log_write(struct dpe_log_writer *writer, const struct dpe_message *message,
	const struct dpe_message *const *preds, unsigned npreds)
{
	if (!holds_losses(writer))
		dpe_log_track(writer, message);
	if (writer->format == DPE_LOG_MSG)
		dpe_msg_write(writer, message, preds, npreds);
	else if (writer->format == DPE_LOG_STD)
		dpe_std_write(writer, message, npreds);
	else
		write_whole(writer, message, preds, npreds);
	flush_text(writer);
}

void dpe_log_write_lost(struct dpe_log_writer *writer, struct dpe_value thread, uint64_t count)
{
	if (!holds_losses(writer)) {
		writer->lossy = true;
		return;
	}
	if (writer->dpel) {
		dpe_dpel_add_loss(writer, thread, count);
		return;
	}
	dpe_jsonl_write_lost(&writer->text, thread, count);
	flush_text(writer);
}

/* False if messages are missing: such a log must not look complete. */
static bool is_complete(struct dpe_log_writer *writer, struct dpe_diags *diags)
{
	bool lossy = writer->lossy || dpe_log_has_gaps(writer);

	if (lossy)
		dpe_diag_at(diags, DPE_ERROR, writer->name,
			"messages were lost, which this format cannot record: write .jsonl or .dpel");
	if (writer->refused)
		dpe_diag_at(diags, DPE_ERROR, writer->name, "%s (%llu message%s)", writer->refused,
			(unsigned long long)writer->nrefused, writer->nrefused == 1 ? "" : "s");
	if (writer->nleft)
		dpe_diag_at(diags, DPE_WARNING, writer->name,
			"%llu events have members that STD cannot hold; they were left out",
			(unsigned long long)writer->nleft);
	return !lossy && !writer->refused;
}

int dpe_log_finish(struct dpe_log_writer *writer, struct dpe_diags *diags)
{
	bool complete = is_complete(writer, diags);
	bool removes = !complete && writer->to != stdout && dpe_log_is_regular(writer->to);
	int closed, error;

	if (writer->dpel)
		dpe_dpel_end(writer);
	flush_text(writer);
	if (writer->dpel && writer->to != stdout)
		dpe_dpel_patch_header(writer);
	errno = 0;
	closed = writer->to == stdout ? fflush(writer->to) : fclose(writer->to);
	error = writer->error ? writer->error : closed ? errno : 0;
	if (error)
		dpe_diag_at(diags, DPE_ERROR, writer->name, "this log is incomplete: %s",
			strerror(error));
	if (removes)
		remove(writer->name);
	dpe_log_untrack(writer);
	dpe_dpel_writer_free(writer->dpel);
	dpe_text_free(&writer->text);
	free(writer->refused);
	free(writer->name);
	free(writer);
	return error || !complete ? -1 : 0;
}
