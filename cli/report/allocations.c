/* allocations: which object on the heap an access belongs to, and where it was allocated. The latest object at an address
 * replaces the earlier ones; beyond CLI_ALLOCATIONS the oldest is forgotten. */
#include "cli/report/allocations.h"
#include "cli/report/creations.h"
#include "cli/report/report_state.h"
#include "cli/report/text.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct object {
	uint64_t begin, end;
	struct dpe_message *message; /* the mem::alloc(a, n) */
	struct object *prev, *next;
};

struct cli_allocations {
	void *by_address; /* tsearch's */
	struct object *oldest;
	unsigned count;
};

/* Objects that overlap count as equal, so that one of a byte finds the object that the byte is in. */
static int compare(const void *left, const void *right)
{
	const struct object *a = left, *b = right;

	return a->end <= b->begin ? -1 : a->begin >= b->end;
}

static struct object *object_at(const struct cli_allocations *allocations, uint64_t begin, uint64_t end)
{
	const struct object key = {.begin = begin, .end = end};
	struct object **found = tfind(&key, &allocations->by_address, compare);

	return found ? *found : NULL;
}

static void forget(struct cli_allocations *allocations, struct object *object)
{
	tdelete(object, &allocations->by_address, compare);
	DL_DELETE(allocations->oldest, object);
	allocations->count--;
	dpe_message_unref(object->message);
	free(object);
}

static bool is_allocation(const struct dpe_message *message)
{
	return message->nargs == 2 && message->args[0].kind == DPE_POINTER && message->args[1].kind == DPE_INT && message->args[1].num > 0;
}

/* A new object in place of all that overlap it, which were freed. */
static void add(struct cli_allocations *allocations, uint64_t begin, uint64_t end, struct dpe_message *message)
{
	struct object *object = dpe_xcalloc(1, sizeof(*object)), *old;

	*object = (struct object){.begin = begin, .end = end, .message = message};
	while ((old = object_at(allocations, begin, end)))
		forget(allocations, old);
	DL_APPEND(allocations->oldest, object);
	allocations->count++;
	if (allocations->count > CLI_ALLOCATIONS)
		forget(allocations, allocations->oldest);
	if (!tsearch(object, &allocations->by_address, compare)) /* no memory for it: it stays unknown */
		forget(allocations, object);
}

void cli_allocations_add(struct cli_report *report, const struct dpe_message *message)
{
	struct dpe_message *kept = (struct dpe_message *)message; /* reference counts are not visible to others */
	uint64_t begin, end;
	struct object *same;

	if (!is_allocation(message))
		return;
	if (!report->allocations)
		report->allocations = dpe_xcalloc(1, sizeof(*report->allocations));
	begin = (uint64_t)message->args[0].num;
	if (__builtin_add_overflow(begin, (uint64_t)message->args[1].num, &end))
		end = UINT64_MAX;
	same = object_at(report->allocations, begin, end);
	if (!same || same->begin != begin || same->end != end) {
		add(report->allocations, begin, end, dpe_message_ref(kept));
		return;
	}
	/* Most often malloc hands out what was freed just now: only the message is another one. */
	dpe_message_unref(same->message);
	same->message = dpe_message_ref(kept);
	DL_DELETE(report->allocations->oldest, same);
	DL_APPEND(report->allocations->oldest, same);
}

void cli_allocations_free(struct cli_allocations *allocations)
{
	while (allocations && allocations->oldest)
		forget(allocations, allocations->oldest);
	free(allocations);
}

static bool is_of_memory(const struct cli_report *report, const struct dpe_message *event)
{
	const char *name = dpe_name_text(report->cli->names, event->name);

	return event->nargs && event->args[0].kind == DPE_POINTER && (!strncmp(name, "mem::", 5) || !strncmp(name, "atomic::", 8));
}

const struct dpe_message *cli_allocation_of(const struct cli_report *report, const struct dpe_message *event)
{
	const struct object *object;
	uint64_t address;

	if (!report->allocations || !is_of_memory(report, event))
		return NULL;
	address = (uint64_t)event->args[0].num;
	object = object_at(report->allocations, address, address + 1);
	/* The memory may have been allocated again since the event. */
	if (!object || event->time < object->message->time || !dpe_value_equal(event->process, object->message->process) ||
		!dpe_value_equal(event->host, object->message->host))
		return NULL;
	return object->message;
}

bool cli_is_first_of_object(const struct cli_report *report, const struct dpe_message *const *events, unsigned number)
{
	const struct dpe_message *object = cli_allocation_of(report, events[number]);

	for (unsigned i = 0; i < number; i++) {
		if (cli_allocation_of(report, events[i]) == object)
			return false;
	}
	return object;
}

/* ---- text --------------------------------------------------------------------------------- */

static void add_object(struct dpe_text *to, struct cli_report *report, const struct dpe_message *event)
{
	struct dpe_message *resolved = cli_resolved(report, cli_allocation_of(report, event));
	uint64_t into = (uint64_t)event->args[0].num - (uint64_t)resolved->args[0].num;
	int64_t size = resolved->args[1].num;

	dpe_text_puts(to, "  ");
	cli_text_value(to, event->args[0]);
	dpe_text_printf(to, " is %" PRIu64 " byte%s into %" PRId64 " byte%s allocated by %sthread ", into, into == 1 ? "" : "s", size,
		size == 1 ? "" : "s", cli_is_main(resolved) ? "main " : "");
	cli_text_value(to, resolved->thread);
	cli_text_time(to, report, resolved);
	dpe_text_puts(to, "\n");
	cli_text_stack(to, report->cli, resolved->stack, resolved->nstack);
	dpe_message_unref(resolved);
}

void cli_text_objects(struct dpe_text *to, struct cli_report *report, const struct dpe_message *const *events, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (cli_is_first_of_object(report, events, i))
			add_object(to, report, events[i]);
	}
}
