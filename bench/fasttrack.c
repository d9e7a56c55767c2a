/* A happens-before race detector as one would write it by hand, after Flanagan and Freund's
 * FastTrack (PLDI 2009), with which rapid.dpe is compared: it reads the same records, and supports nothing
 * but the events of a trace.
 *
 *	fasttrack [-r] LOG	-r only reads
 *
 * Prints how many variables have a race. */
#include "event/event.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64 };

struct clock {
	uint32_t at[MOST_THREADS];
};

struct variable {
	struct dpe_value name;
	uint32_t writer, written; /* thread and time of the last write; 0: none */
	uint32_t reader, read;    /* of the last read, where one follows all others … */
	struct clock *reads;      /* … else of each thread */
	bool racy;
};

struct lock {
	struct dpe_value name;
	struct clock clock;
};

enum { MOST_NUMBERS = 65536 };

/* Open addressing, by name; or by the number that the reader gave the name, so that its text is not read. */
struct table {
	void **slots;
	size_t size, count, element;
	void *by_number[MOST_NUMBERS];
};

struct detector {
	struct table variables, locks;
	struct dpe_value threads[MOST_THREADS];
	struct clock clocks[MOST_THREADS];
	unsigned nthreads;
	uint8_t by_number[MOST_NUMBERS]; /* as in tables: the thread, and one more */
};

static void grow(struct table *table)
{
	struct table old = *table;

	table->size = old.size ? old.size * 2 : 256;
	table->slots = dpe_xcalloc(table->size, sizeof(*table->slots));
	for (size_t i = 0; i < old.size; i++) {
		size_t at;

		if (!old.slots[i])
			continue;
		at = dpe_value_hash(*(struct dpe_value *)old.slots[i]) & (table->size - 1);
		while (table->slots[at])
			at = (at + 1) & (table->size - 1);
		table->slots[at] = old.slots[i];
	}
	free(old.slots);
}

static void *look_up(struct table *table, struct dpe_value name)
{
	size_t at;

	if (table->count * 2 >= table->size)
		grow(table);
	for (at = dpe_value_hash(name) & (table->size - 1); table->slots[at];
		at = (at + 1) & (table->size - 1)) {
		if (dpe_value_equal(*(struct dpe_value *)table->slots[at], name))
			return table->slots[at];
	}
	table->count++;
	table->slots[at] = dpe_xcalloc(1, table->element);
	*(struct dpe_value *)table->slots[at] = name;
	return table->slots[at];
}

static inline void *find(struct table *table, struct dpe_value name)
{
	void **known = name.number < MOST_NUMBERS ? &table->by_number[name.number] : NULL;

	if (!name.number || !known)
		return look_up(table, name);
	if (!*known)
		*known = look_up(table, name);
	return *known;
}

static unsigned look_up_thread(struct detector *detector, struct dpe_value name)
{
	unsigned i;

	for (i = 0; i < detector->nthreads; i++) {
		if (dpe_value_equal(detector->threads[i], name))
			return i;
	}
	if (i == MOST_THREADS) {
		fprintf(stderr, "fasttrack: more than %d threads\n", MOST_THREADS);
		exit(2);
	}
	detector->threads[detector->nthreads++] = name;
	detector->clocks[i].at[i] = 1;
	return i;
}

static inline unsigned thread_of(struct detector *detector, struct dpe_value name)
{
	uint8_t *known = &detector->by_number[name.number % MOST_NUMBERS];

	if (!name.number || name.number >= MOST_NUMBERS)
		return look_up_thread(detector, name);
	if (!*known)
		*known = (uint8_t)(look_up_thread(detector, name) + 1);
	return *known - 1u;
}

static void join(struct clock *to, const struct clock *from, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		to->at[i] = to->at[i] > from->at[i] ? to->at[i] : from->at[i];
}

static void read_variable(struct detector *detector, struct variable *variable, unsigned thread)
{
	const struct clock *clock = &detector->clocks[thread];
	uint32_t now = clock->at[thread];

	if (!variable->reads && variable->reader == thread && variable->read == now)
		return;
	if (variable->written > clock->at[variable->writer])
		variable->racy = true;
	if (variable->reads) {
		variable->reads->at[thread] = now;
		return;
	}
	if (variable->read > clock->at[variable->reader]) {
		variable->reads = dpe_xcalloc(1, sizeof(*variable->reads));
		variable->reads->at[variable->reader] = variable->read;
		variable->reads->at[thread] = now;
		return;
	}
	variable->reader = thread;
	variable->read = now;
}

static void write_variable(struct detector *detector, struct variable *variable, unsigned thread)
{
	const struct clock *clock = &detector->clocks[thread];

	if (variable->writer == thread && variable->written == clock->at[thread])
		return;
	if (variable->written > clock->at[variable->writer])
		variable->racy = true;
	if (!variable->reads && variable->read > clock->at[variable->reader])
		variable->racy = true;
	for (unsigned i = 0; variable->reads && i < detector->nthreads; i++) {
		if (variable->reads->at[i] > clock->at[i])
			variable->racy = true;
	}
	free(variable->reads);
	variable->reads = NULL;
	variable->read = 0;
	variable->writer = thread;
	variable->written = clock->at[thread];
}

struct ops {
	dpe_name acq, rel, r, w, fork, join;
};

static void take(struct detector *detector, const struct ops *ops, const struct dpe_message *message)
{
	unsigned thread = thread_of(detector, message->thread), other;
	struct dpe_value object = message->args[0];
	struct lock *lock;

	if (message->name == ops->r) {
		read_variable(detector, find(&detector->variables, object), thread);
	} else if (message->name == ops->w) {
		write_variable(detector, find(&detector->variables, object), thread);
	} else if (message->name == ops->acq) {
		lock = find(&detector->locks, object);
		join(&detector->clocks[thread], &lock->clock, detector->nthreads);
	} else if (message->name == ops->rel) {
		lock = find(&detector->locks, object);
		lock->clock = detector->clocks[thread];
		detector->clocks[thread].at[thread]++;
	} else if (message->name == ops->fork) {
		other = thread_of(detector, object);
		join(&detector->clocks[other], &detector->clocks[thread], detector->nthreads);
		detector->clocks[thread].at[thread]++;
	} else if (message->name == ops->join) {
		other = thread_of(detector, object);
		join(&detector->clocks[thread], &detector->clocks[other], detector->nthreads);
	}
}

static unsigned count_racy(const struct table *variables)
{
	unsigned count = 0;

	for (size_t i = 0; i < variables->size; i++) {
		const struct variable *variable = variables->slots[i];

		count += variable && variable->racy;
	}
	return count;
}

int main(int argc, char **argv)
{
	bool only_read = argc == 3 && !strcmp(argv[1], "-r");
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_log_reader *reader =
		dpe_log_open(names, argv[argc - 1], DPE_LOG_UNKNOWN, 0, diags);
	const struct ops ops = {
		.acq = dpe_intern_string(names, "acq"),
		.rel = dpe_intern_string(names, "rel"),
		.r = dpe_intern_string(names, "r"),
		.w = dpe_intern_string(names, "w"),
		.fork = dpe_intern_string(names, "fork"),
		.join = dpe_intern_string(names, "join"),
	};
	struct detector *detector = dpe_xcalloc(1, sizeof(*detector));
	struct dpe_message *message;

	detector->variables.element = sizeof(struct variable);
	detector->locks.element = sizeof(struct lock);
	while (reader && dpe_log_read(reader, &message) > 0) {
		if (!only_read)
			take(detector, &ops, message);
		dpe_message_unref(message);
	}
	dpe_diags_print(diags, stderr);
	if (!only_read)
		printf("%u\n", count_racy(&detector->variables));
	return reader ? 0 : 2; /* the process frees the rest */
}
