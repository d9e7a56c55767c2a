/* Reads traces in the Common Trace Format, of LTTng and others, by libbabeltrace2: a graph of its components whose sink
 * makes messages of events.
 *
 * Sources: babeltrace2's C API, "Graph API" and "Trace IR"; lttng-ust(3), the events of liblttng-ust-pthread-wrapper. */
#include "event/logs/ctf_locks.h"
#include "event/logs/import.h"

#include <babeltrace2/babeltrace.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct ctf {
	bt_graph *graph;
	const bt_component_filter *muxer;
	uint64_t inputs; /* connected to the muxer */
	struct dpe_ctf_event *events;
	unsigned count, cap;
	uint64_t lost, nested, threadless;
};

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_a(const bt_field *field, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_get_class_type(field), type);
}

static void add_unsigned(struct dpe_text *to, const bt_field *field)
{
	uint64_t value = bt_field_integer_unsigned_get_value(field);
	bool pointer = bt_field_class_integer_get_preferred_display_base(bt_field_borrow_class_const(field)) ==
		       BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;

	dpe_text_printf(to, pointer ? "\"0x%" PRIx64 "\"" : "%" PRIu64, value);
}

static void add_real(struct dpe_text *to, const bt_field *field)
{
	double value = is_a(field, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
			       ? (double)bt_field_real_single_precision_get_value(field)
			       : bt_field_real_double_precision_get_value(field);

	if (value - value == 0)
		dpe_text_printf(to, "%.17g", value);
	else
		dpe_text_puts(to, "null");
}

/* A message cannot hold structures and arrays. */
static void add_value(struct ctf *ctf, struct dpe_text *to, const bt_field *field)
{
	if (is_a(field, BT_FIELD_CLASS_TYPE_VARIANT))
		field = bt_field_variant_borrow_selected_option_field_const(field);
	if (is_a(field, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		add_unsigned(to, field);
	} else if (is_a(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		dpe_text_printf(to, "%" PRId64, bt_field_integer_signed_get_value(field));
	} else if (is_a(field, BT_FIELD_CLASS_TYPE_STRING)) {
		dpe_json_string(to, bt_field_string_get_value(field), bt_field_string_get_length(field));
	} else if (is_a(field, BT_FIELD_CLASS_TYPE_REAL)) {
		add_real(to, field);
	} else if (is_a(field, BT_FIELD_CLASS_TYPE_BOOL)) {
		dpe_text_puts(to, bt_field_bool_get_value(field) ? "true" : "false");
	} else {
		dpe_text_puts(to, "null");
		ctf->nested++;
	}
}

static const bt_field *member(const bt_field *structure, const char *name)
{
	return structure ? bt_field_structure_borrow_member_field_by_name_const(structure, name) : NULL;
}

static uint64_t count_members(const bt_field *structure)
{
	return structure ? bt_field_class_structure_get_member_count(bt_field_borrow_class_const(structure)) : 0;
}

static const char *member_name(const bt_field *structure, uint64_t index)
{
	return bt_field_class_structure_member_get_name(
		bt_field_class_structure_borrow_member_by_index_const(bt_field_borrow_class_const(structure), index));
}

/* ---- who it was ------------------------------------------------------------------------------ */

/* The context fields of LTTng (for programs and for the kernel) and of perf. */
static const char *const threads[] = {"vtid", "tid", "perf_tid"}, *const processes[] = {"vpid", "pid", "perf_pid"},
		  *const comms[] = {"procname", "comm", "perf_comm"};

static const bt_field *find_context(const bt_event *event, const char *const *names)
{
	const bt_field *structures[] = {
		bt_event_borrow_common_context_field_const(event), bt_event_borrow_specific_context_field_const(event)};

	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < DPE_COUNT(structures); j++) {
			const bt_field *found = member(structures[j], names[i]);

			if (found)
				return found;
		}
	return NULL;
}

static bool is_identity(const char *name)
{
	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(name, threads[i]) || !strcmp(name, processes[i]) || !strcmp(name, comms[i]))
			return true;
	return false;
}

static uint64_t integer_of(const bt_field *field)
{
	if (!field || !is_a(field, BT_FIELD_CLASS_TYPE_INTEGER))
		return 0;
	return is_a(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) ? (uint64_t)bt_field_integer_signed_get_value(field)
								: bt_field_integer_unsigned_get_value(field);
}

static void add_member(struct ctf *ctf, struct dpe_text *to, const char *name, const bt_field *field)
{
	if (!field)
		return;
	dpe_text_printf(to, ",\"%s\":", name);
	add_value(ctf, to, field);
}

static void add_host(struct dpe_text *to, const bt_event *event)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
	const bt_value *host = bt_trace_borrow_environment_entry_value_by_name_const(trace, "hostname");

	if (!host || !bt_value_is_string(host))
		return;
	dpe_text_puts(to, ",\"host\":");
	dpe_json_string(to, bt_value_string_get(host), strlen(bt_value_string_get(host)));
}

/* ---- an event -------------------------------------------------------------------------------- */

/* What liblttng-ust-pthread-wrapper traces, by the names that pthread.dpe has. */
static const struct {
	const char *traced, *event;
	int what;
} renamed[] = {
	{"lttng_ust_pthread:pthread_mutex_lock_req", "pthread_mutex_lock.enter", CTF_REQUESTS},
	{"lttng_ust_pthread:pthread_mutex_lock_acq", "pthread_mutex_lock.exit", CTF_ACQUIRES},
	{"lttng_ust_pthread:pthread_mutex_trylock", "pthread_mutex_trylock.exit", CTF_ACQUIRES},
	{"lttng_ust_pthread:pthread_mutex_unlock", "pthread_mutex_unlock.enter", CTF_RELEASES},
};

/* LTTng separates a provider from its event by one colon, dpe by two. */
static int add_name(struct dpe_text *to, const char *name)
{
	struct dpe_text text = {0};

	dpe_text_puts(to, "{\"event\":\"");
	for (unsigned i = 0; i < DPE_COUNT(renamed); i++) {
		if (strcmp(name, renamed[i].traced))
			continue;
		dpe_text_printf(to, "%s\"", renamed[i].event);
		return renamed[i].what;
	}
	for (; *name; name++) {
		dpe_text_add(&text, name, 1);
		if (*name == ':')
			dpe_text_puts(&text, ":");
	}
	dpe_import_name(to, text.at, text.len);
	dpe_text_puts(to, "\"");
	dpe_text_free(&text);
	return CTF_OTHER;
}

/* The event's fields become arguments, and variables by their names; the fields of its context become variables
 * only. */
static void add_fields(struct ctf *ctf, struct dpe_text *to, const bt_event *event, const char *name)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *context[] = {payload, bt_event_borrow_common_context_field_const(event),
		bt_event_borrow_specific_context_field_const(event)};

	dpe_text_puts(to, ",\"args\":[");
	for (uint64_t i = 0; i < count_members(payload); i++) {
		dpe_text_puts(to, i ? "," : "");
		add_value(ctf, to, bt_field_structure_borrow_member_field_by_index_const(payload, i));
	}
	dpe_text_puts(to, "],\"vars\":{\"name\":");
	dpe_json_string(to, name, strlen(name));
	for (unsigned i = 0; i < DPE_COUNT(context); i++)
		for (uint64_t j = 0; j < count_members(context[i]); j++) {
			const char *field = member_name(context[i], j);

			if (is_identity(field) || !strcmp(field, "name"))
				continue;
			dpe_text_puts(to, ",\"");
			dpe_import_name(to, field, strlen(field));
			dpe_text_puts(to, "\":");
			add_value(ctf, to, bt_field_structure_borrow_member_field_by_index_const(context[i], j));
		}
	dpe_text_puts(to, "}");
}

static void take_event(struct ctf *ctf, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));
	const bt_field *thread = find_context(event, threads), *process = find_context(event, processes);
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	struct dpe_ctf_event to = {.thread = integer_of(thread), .process = integer_of(process)};
	uint64_t nested = ctf->nested;
	struct dpe_text text = {0};

	to.what = add_name(&text, name ? name : "unnamed");
	if (bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(bt_event_borrow_stream_const(event))))
		bt_clock_snapshot_get_ns_from_origin(bt_message_event_borrow_default_clock_snapshot_const(message), &to.time);
	if (to.what == CTF_OTHER)
		add_fields(ctf, &text, event, name ? name : "unnamed");
	else
		dpe_text_printf(&text, ",\"args\":[\"0x%" PRIx64 "\"]", integer_of(member(payload, "mutex")));
	if (to.what == CTF_ACQUIRES)
		dpe_text_printf(&text, ",\"ret\":%" PRId64, (int64_t)integer_of(member(payload, "status")));
	if (to.what == CTF_ACQUIRES && integer_of(member(payload, "status")))
		to.what = CTF_REQUESTS; /* the lock was not acquired */
	to.lock = to.what == CTF_OTHER ? 0 : integer_of(member(payload, "mutex"));
	ctf->nested = nested + (ctf->nested > nested);
	ctf->threadless += !thread;
	add_member(ctf, &text, "thread", thread);
	add_member(ctf, &text, "process", process);
	add_member(ctf, &text, "comm", find_context(event, comms));
	add_host(&text, event);
	to.text = text.at;
	*DPE_GROW(ctf->events, ctf->count, ctf->cap) = to;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static void take_message(struct ctf *ctf, const bt_message *message)
{
	uint64_t count = 1;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		take_event(ctf, message);
		return;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		bt_message_discarded_events_get_count(message, &count);
		ctf->lost += count;
		return;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS: /* with an unknown number of events */
		bt_message_discarded_packets_get_count(message, &count);
		ctf->lost += count;
		return;
	default:
		return;
	}
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *iterator, void *context)
{
	bt_message_array_const messages;
	uint64_t count = 0;
	bt_message_iterator_next_status status = bt_message_iterator_next(iterator, &messages, &count);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	for (uint64_t i = 0; i < count; i++) {
		take_message(context, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

static const bt_plugin *find_plugin(const char *name)
{
	const bt_plugin *plugin = NULL;

	bt_plugin_find(name, BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin);
	return plugin;
}

/* A trace is a folder with a file `metadata`. */
static bool add_trace(struct ctf *ctf, const bt_plugin *plugin, const char *folder)
{
	const bt_component_class_source *class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create(), *inputs = NULL;
	bool good = class && params &&
		!bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) &&
		!bt_value_array_append_string_element(inputs, folder) &&
		!bt_graph_add_source_component(ctf->graph, class, folder, params, BT_LOGGING_LEVEL_NONE, &source);

	for (uint64_t i = 0; good && i < bt_component_source_get_output_port_count(source); i++)
		good = !bt_graph_connect_ports(ctf->graph, bt_component_source_borrow_output_port_by_index_const(source, i),
			bt_component_filter_borrow_input_port_by_index_const(ctf->muxer, ctf->inputs++), NULL);
	bt_value_put_ref(params);
	return good;
}

static bool add_traces(struct ctf *ctf, const bt_plugin *plugin, const char *const *folders, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!add_trace(ctf, plugin, folders[i]))
			return false;
	return count;
}

static bool run_graph(struct ctf *ctf)
{
	bt_graph_run_status status;

	do {
		status = bt_graph_run(ctf->graph);
	} while (status == BT_GRAPH_RUN_STATUS_AGAIN);
	return status == BT_GRAPH_RUN_STATUS_OK;
}

static bool read_all(struct ctf *ctf, const char *const *folders, unsigned count)
{
	const bt_plugin *files = find_plugin("ctf"), *utils = find_plugin("utils");
	const bt_component_class_filter *muxer =
		utils ? bt_plugin_borrow_filter_component_class_by_name_const(utils, "muxer") : NULL;
	const bt_component_sink *sink = NULL;
	bool good;

	ctf->graph = bt_graph_create(0);
	good = ctf->graph && files && muxer &&
		!bt_graph_add_filter_component(ctf->graph, muxer, "muxer", NULL, BT_LOGGING_LEVEL_NONE, &ctf->muxer) &&
		!bt_graph_add_simple_sink_component(ctf->graph, "events", NULL, consume, NULL, ctf, &sink) &&
		add_traces(ctf, files, folders, count) &&
		!bt_graph_connect_ports(ctf->graph, bt_component_filter_borrow_output_port_by_index_const(ctf->muxer, 0),
			bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL) &&
		run_graph(ctf);
	bt_graph_put_ref(ctf->graph);
	bt_plugin_put_ref(files);
	bt_plugin_put_ref(utils);
	return good;
}

/* ---- folders --------------------------------------------------------------------------------- */

struct folders {
	char **at;
	unsigned count, cap;
};

/* With a file `metadata`, at any depth. */
static void find_folders(struct folders *folders, const char *path)
{
	char *top = dpe_xstrdup(path), *const paths[] = {top, NULL};
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *entry;

	while (walk && (entry = fts_read(walk)))
		if (entry->fts_info == FTS_F && !strcmp(entry->fts_name, "metadata"))
			*DPE_GROW(folders->at, folders->count, folders->cap) =
				dpe_xasprintf("%.*s", entry->fts_pathlen - entry->fts_namelen - 1, entry->fts_path);
	if (walk)
		fts_close(walk);
	free(top);
}

static void free_folders(struct folders *folders)
{
	for (unsigned i = 0; i < folders->count; i++)
		free(folders->at[i]);
	free(folders->at);
}

/* ---- the reading process --------------------------------------------------------------------- */

/* Damaged traces end libbabeltrace2 by abort(). So a child process reads the trace. It writes one line for each message, then its
 * warnings or the error. */

#define TOTALS "# %" PRIu64 " %" PRIu64 " %" PRIu64 "\n"

static void put_error(FILE *to)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *why = "this is not a trace in the Common Trace Format";

	if (error && bt_error_get_cause_count(error))
		why = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
	fprintf(to, "!%.*s\n", (int)strcspn(why, "\n"), why);
}

static void put_messages(struct ctf *ctf, FILE *to)
{
	dpe_ctf_order_locks(ctf->events, ctf->count);
	for (unsigned i = 0; i < ctf->count; i++)
		fprintf(to, "%s,\"time\":%" PRId64 "}\n", ctf->events[i].text, ctf->events[i].time);
	fprintf(to, TOTALS, ctf->lost, ctf->nested, ctf->threadless);
}

struct apart {
	const struct folders *folders;
	FILE *to;
};

static void read_protected(void *with)
{
	const struct apart *apart = with;
	struct ctf ctf = {0};

	if (read_all(&ctf, (const char *const *)apart->folders->at, apart->folders->count))
		put_messages(&ctf, apart->to);
	else
		put_error(apart->to);
}

static _Noreturn void read_apart(const struct folders *folders, int to)
{
	struct apart apart = {folders, fdopen(to, "w")};

	dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO); /* it prints there why it aborts */
	if (!apart.to)
		_exit(1);
	if (!dpe_protect(read_protected, &apart))
		fputs("!out of memory\n", apart.to);
	_exit(fflush(apart.to) != 0);
}

/* ---- what it writes ---------------------------------------------------------------------------- */

struct ctf_result {
	struct dpe_log_reader *reader;
	struct dpe_import *import;
	bool whole;
};

static void report(const struct ctf_result *result, uint64_t lost, uint64_t nested, uint64_t threadless)
{
	struct dpe_log_reader *reader = result->reader;

	reader->import_lost += lost;
	if (nested)
		dpe_diag_at(reader->diags, DPE_WARNING, reader->name,
			"%" PRIu64 " events have structures or arrays, which messages cannot hold", nested);
	if (threadless)
		dpe_diag_at(reader->diags, DPE_WARNING, reader->name,
			"%" PRIu64 " events do not name their thread, so nothing orders them: lttng add-context -u -t vpid -t vtid",
			threadless);
}

/* False if no more output follows. */
static bool take_line(struct ctf_result *result, const char *line)
{
	uint64_t lost, nested, threadless;
	struct dpe_text text = {0};

	if (*line == '!') {
		dpe_diag_at(result->reader->diags, DPE_ERROR, result->reader->name, "%.*s", (int)strcspn(line + 1, "\n"), line + 1);
		return false;
	}
	if (sscanf(line, "# %" SCNu64 " %" SCNu64 " %" SCNu64, &lost, &nested, &threadless) == 3) {
		report(result, lost, nested, threadless);
		result->whole = true;
		return false;
	}
	dpe_text_add(&text, line, strcspn(line, "\n"));
	dpe_import_add(result->import, 0, result->import->count + 1, &text);
	return true;
}

/* Takes what the child wrote, and reports how it ended if that explains missing output. */
static void take_lines(struct ctf_result *result, FILE *from, pid_t process)
{
	unsigned errors = dpe_diags_errors(result->reader->diags);
	char *line = NULL;
	size_t room = 0;
	int status = 0;

	while (getline(&line, &room, from) > 0 && take_line(result, line))
		;
	free(line);
	fclose(from);
	while (waitpid(process, &status, 0) < 0 && errno == EINTR)
		;
	if (result->whole || dpe_diags_errors(result->reader->diags) > errors)
		return;
	dpe_diag_at(result->reader->diags, DPE_ERROR, result->reader->name, "this trace is damaged: libbabeltrace2 ended with %s",
		WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an error");
}

static bool read_folders(struct ctf_result *result, const struct folders *folders)
{
	int ends[2];
	pid_t process;
	FILE *from;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	fflush(NULL); /* so that the child does not write our buffered output again */
	process = fork();
	if (!process)
		read_apart(folders, ends[1]);
	close(ends[1]);
	from = process > 0 ? fdopen(ends[0], "re") : NULL;
	if (!from) {
		close(ends[0]);
		return false;
	}
	take_lines(result, from, process);
	return true;
}

struct dpe_import *dpe_ctf_new(struct dpe_log_reader *reader)
{
	struct ctf_result result = {.reader = reader};
	struct folders folders = {0};

	find_folders(&folders, reader->name);
	result.import = dpe_xcalloc(1, sizeof(*result.import));
	if (!folders.count)
		dpe_diag_at(reader->diags, DPE_ERROR, reader->name, "there is no trace in this folder: nothing in it has a file 'metadata'");
	else if (!read_folders(&result, &folders))
		dpe_diag_at(reader->diags, DPE_ERROR, reader->name, "cannot read this log: %s", strerror(errno));
	free_folders(&folders);
	if (result.whole)
		return result.import;
	dpe_import_free(result.import);
	return NULL;
}
