/* A trace in Chrome's JSON format: events and calls are slices of their threads, locks held are asynchronous slices,
 * edges between threads are flows, the events of findings are instants. */
#include "view/collection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ns that an event is drawn to take, so that flows begin and end within its slice. */
enum { WIDTH = 2 };

struct chrome {
	struct dpe_view *view;
	FILE *to;
	const char *comma;
	int64_t *times;  /* ns, of each event: after its predecessors, and after the one before in its thread */
	uint32_t *exits; /* of each call: its return, or DPE_VIEW_NONE; of a return: itself where its call is known */
	uint64_t flows, moved; /* moved: events whose time was changed */
};

static void put_string(struct chrome *chrome, const char *text)
{
	struct dpe_text quoted = {0};

	dpe_json_string(&quoted, text, strlen(text));
	fputs(quoted.at, chrome->to);
	dpe_text_free(&quoted);
}

static const char *key(const struct chrome *chrome, dpe_name number)
{
	return dpe_name_text(chrome->view->keys, number);
}

/* Times of the format are in µs; threads and processes are numbers. `name` NULL: the end of a slice, which needs none. */
static void begin(struct chrome *chrome, const char *phase, uint32_t lane, int64_t time, const char *name)
{
	fprintf(chrome->to, "%s{\"ph\":\"%s\",\"pid\":1,\"tid\":%u,\"ts\":%" PRId64 ".%03d", chrome->comma, phase, lane + 1,
		time / 1000, (int)(time % 1000));
	if (name)
		fputs(",\"name\":", chrome->to);
	if (name)
		put_string(chrome, name);
	chrome->comma = ",\n";
}

static void put_args(struct chrome *chrome, uint32_t event)
{
	fputs(",\"args\":{\"stack\":", chrome->to);
	put_string(chrome, key(chrome, chrome->view->events[event].stack));
	fputs("}}", chrome->to);
}

/* ---- times and calls ---------------------------------------------------------------------- */

/* A cause is never drawn after its effect, and two events of a thread not at once. Times before 0 are those of another host's
 * clock. */
static void find_times(struct chrome *chrome)
{
	const struct dpe_view *view = chrome->view;
	int64_t *last = dpe_xcalloc(view->nlanes + 1, sizeof(*last)), latest = 0;

	for (uint32_t i = 0, edge = 0; i < view->nrows; i++) {
		const struct dpe_view_row *row = &view->events[i];
		int64_t wanted = row->has_time && row->time > 0 ? row->time : row->has_time ? 0 : latest + WIDTH, time = wanted;

		if (time < last[row->lane])
			time = last[row->lane];
		for (; edge < row->edges; edge++) {
			if (time < chrome->times[view->edges[edge]] + WIDTH)
				time = chrome->times[view->edges[edge]] + WIDTH;
		}
		chrome->moved += row->has_time && time != row->time;
		chrome->times[i] = time;
		last[row->lane] = time + 2 * WIDTH;
		latest = time > latest ? time : latest;
	}
	free(last);
}

/* A stack of calls for each thread: a return ends the innermost call of its name, and those within it have no return. */
static void find_calls(struct chrome *chrome)
{
	const struct dpe_view *view = chrome->view;
	uint32_t *open = dpe_xcalloc(view->nrows + 1, sizeof(*open)); /* of each call: the enclosing call */
	uint32_t *top = dpe_xcalloc(view->nlanes + 1, sizeof(*top));

	memset(top, 0xff, (view->nlanes + 1) * sizeof(*top));
	for (uint32_t i = 0; i < view->nrows; i++) {
		const struct dpe_view_row *row = &view->events[i];
		uint32_t call = top[row->lane];

		chrome->exits[i] = DPE_VIEW_NONE;
		if (row->phase == DPE_ENTER) {
			open[i] = call;
			top[row->lane] = i;
		}
		if (row->phase != DPE_EXIT)
			continue;
		while (call != DPE_VIEW_NONE && view->events[call].name != row->name)
			call = open[call];
		if (call == DPE_VIEW_NONE)
			continue;
		chrome->exits[call] = chrome->exits[i] = i;
		top[row->lane] = open[call];
	}
	free(open);
	free(top);
}

/* ---- events -------------------------------------------------------------------------------- */

static void put_slice(struct chrome *chrome, uint32_t event)
{
	const struct dpe_view_row *row = &chrome->view->events[event];
	bool call = chrome->exits[event] != DPE_VIEW_NONE && chrome->exits[event] != event;

	if (chrome->exits[event] == event) { /* the return of a call: within its slice */
		begin(chrome, "E", row->lane, chrome->times[event] + WIDTH, NULL);
		put_args(chrome, event);
		return;
	}
	begin(chrome, "B", row->lane, chrome->times[event], key(chrome, row->label));
	fputs(",\"cat\":\"event\"", chrome->to);
	put_args(chrome, event);
	if (call)
		return;
	begin(chrome, "E", row->lane, chrome->times[event] + WIDTH, NULL);
	fputs("}", chrome->to);
}

static void put_flow(struct chrome *chrome, uint32_t from, uint32_t to)
{
	const struct dpe_view_row *rows = chrome->view->events;

	if (rows[from].lane == rows[to].lane)
		return;
	chrome->flows++;
	begin(chrome, "s", rows[from].lane, chrome->times[from] + 1, "precedes");
	fprintf(chrome->to, ",\"cat\":\"order\",\"id\":%" PRIu64 "}", chrome->flows);
	begin(chrome, "f", rows[to].lane, chrome->times[to] + 1, "precedes");
	fprintf(chrome->to, ",\"cat\":\"order\",\"id\":%" PRIu64 ",\"bp\":\"e\"}", chrome->flows);
}

static void put_events(struct chrome *chrome)
{
	const struct dpe_view *view = chrome->view;

	for (uint32_t i = 0, edge = 0; i < view->nrows; i++) {
		put_slice(chrome, i);
		for (; edge < view->events[i].edges; edge++)
			put_flow(chrome, view->edges[edge], i);
	}
}

static void put_marks(struct chrome *chrome)
{
	const struct dpe_view *view = chrome->view;

	for (unsigned i = 0; i < view->nmarks; i++) {
		uint32_t event = view->marks[i].event;

		begin(chrome, "i", view->events[event].lane, chrome->times[event] + 1, key(chrome, view->marks[i].title));
		fputs(",\"cat\":\"finding\",\"s\":\"t\"}", chrome->to);
	}
}

/* ---- locks ---------------------------------------------------------------------------------- */

struct held {
	uint32_t lane, depth;
	dpe_name object;
	uint64_t id;
};

static struct held *find_held(struct held *held, unsigned count, uint32_t lane, dpe_name object)
{
	for (unsigned i = 0; i < count; i++) {
		if (held[i].lane == lane && held[i].object == object)
			return &held[i];
	}
	return NULL;
}

static void put_lock(struct chrome *chrome, const char *phase, const struct held *held, int64_t time)
{
	struct dpe_text name = {0};

	dpe_text_printf(&name, "holds %s", dpe_name_text(chrome->view->texts, held->object));
	begin(chrome, phase, held->lane, time, name.at);
	fprintf(chrome->to, ",\"cat\":\"lock\",\"id\":%" PRIu64 "}", held->id);
	dpe_text_free(&name);
}

/* An unlock may count for readers and for writers, and a lock may be taken by two rules: once for each event. */
static bool is_repeated(const struct dpe_view *view, unsigned number)
{
	for (unsigned i = number; i-- && view->locks[i].event == view->locks[number].event;) {
		if (view->locks[i].object == view->locks[number].object)
			return true;
	}
	return false;
}

static void put_locks(struct chrome *chrome)
{
	const struct dpe_view *view = chrome->view;
	struct held *held = NULL, *found;
	unsigned count = 0, cap = 0;
	uint64_t ids = 0;
	int64_t end = 0;

	for (unsigned i = 0; i < view->nlocks; i++) {
		const struct dpe_view_lock *lock = &view->locks[i];
		uint32_t lane = view->events[lock->event].lane;

		found = find_held(held, count, lane, lock->object);
		if (is_repeated(view, i) || (!lock->taken && !found))
			continue;
		if (!found) {
			found = DPE_GROW(held, count, cap);
			*found = (struct held){lane, 1, lock->object, ++ids};
			put_lock(chrome, "b", found, chrome->times[lock->event]);
		} else if (lock->taken) {
			found->depth++;
		} else if (!--found->depth) {
			put_lock(chrome, "e", found, chrome->times[lock->event]);
			*found = held[--count];
		}
	}
	for (uint32_t i = 0; i < view->nrows; i++)
		end = chrome->times[i] > end ? chrome->times[i] : end;
	for (unsigned i = 0; i < count; i++)
		put_lock(chrome, "e", &held[i], end + 2 * WIDTH);
	free(held);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void put_names(struct chrome *chrome)
{
	for (uint32_t lane = 0; lane < chrome->view->nlanes; lane++) {
		struct dpe_text name = {0};

		begin(chrome, "M", lane, 0, "thread_name");
		dpe_view_print_lane(&name, chrome->view, lane);
		fputs(",\"args\":{\"name\":", chrome->to);
		put_string(chrome, name.at);
		fputs("}}", chrome->to);
		dpe_text_free(&name);
	}
	begin(chrome, "M", 0, 0, "process_name");
	fputs(",\"args\":{\"name\":", chrome->to);
	put_string(chrome, chrome->view->title);
	fputs("}}", chrome->to);
}

char *dpe_view_write_chrome(struct dpe_view *view, FILE *to)
{
	struct chrome chrome = {.view = view, .to = to, .comma = ""};

	chrome.times = dpe_xcalloc(view->nrows + 1, sizeof(*chrome.times));
	chrome.exits = dpe_xcalloc(view->nrows + 1, sizeof(*chrome.exits));
	find_times(&chrome);
	find_calls(&chrome);
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", to);
	put_names(&chrome);
	put_events(&chrome);
	put_locks(&chrome);
	put_marks(&chrome);
	fprintf(to, "\n],\n\"otherData\":{\"moved\":%" PRIu64 ",\"notes\":[", chrome.moved);
	fwrite(view->notes.len ? view->notes.at : "", 1, view->notes.len, to);
	fputs("]}}\n", to);
	free(chrome.times);
	free(chrome.exits);
	return chrome.moved ? dpe_xasprintf("the times of %" PRIu64 " events as they are: these were moved behind what precedes them",
				      chrome.moved)
			    : NULL;
}
