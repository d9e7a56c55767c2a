/* Messages: reference-counted, one block each. */
#include "event/event.h"

#include <stdlib.h>
#include <string.h>

/* Lays the parts of a message out: first without a block, to compute its size, then into it. */
struct packer {
	char *at; /* NULL while the size is computed */
	size_t used;
};

static void *take(struct packer *packer, const void *from, size_t size, size_t align)
{
	void *to = NULL;

	packer->used += -packer->used & (align - 1);
	if (packer->at) {
		to = packer->at + packer->used;
		if (size)
			memcpy(to, from, size);
	}
	packer->used += size;
	return to;
}

static const char *take_text(struct packer *packer, const char *text, size_t len)
{
	char *to = take(packer, text, len, 1);

	take(packer, "", 1, 1);
	return to;
}

static void take_value(struct packer *packer, struct dpe_value *value)
{
	if (dpe_value_has_own_text(*value)) {
		const char *text = take_text(packer, value->text, value->len);

		if (packer->at)
			value->text = text;
	}
}

static const struct dpe_value *take_values(
	struct packer *packer, const struct dpe_value *values, unsigned count)
{
	struct dpe_value *to;

	if (!count)
		return NULL;
	to = take(packer, values, count * sizeof(*values), _Alignof(struct dpe_value));
	for (unsigned i = 0; i < count; i++) {
		struct dpe_value value = values[i];

		take_value(packer, to ? &to[i] : &value);
	}
	return to;
}

static const struct dpe_var *take_vars(
	struct packer *packer, const struct dpe_var *vars, unsigned count)
{
	struct dpe_var *to;

	if (!count)
		return NULL;
	to = take(packer, vars, count * sizeof(*vars), _Alignof(struct dpe_var));
	for (unsigned i = 0; i < count; i++) {
		struct dpe_value value = vars[i].value;

		take_value(packer, to ? &to[i].value : &value);
	}
	return to;
}

static const char *const *take_stack(
	struct packer *packer, const char *const *stack, unsigned count)
{
	const char **to;

	if (!count)
		return NULL;
	to = take(packer, stack, count * sizeof(*stack), _Alignof(char *));
	for (unsigned i = 0; i < count; i++) {
		const char *text = take_text(packer, stack[i], strlen(stack[i]));

		if (to)
			to[i] = text;
	}
	return to;
}

static void pack(struct packer *packer, const struct dpe_message *draft, struct dpe_message *to)
{
	take(packer, draft, sizeof(*draft), _Alignof(struct dpe_message));
	to->args = take_values(packer, draft->args, draft->nargs);
	to->preds = take_values(packer, draft->preds, draft->npreds);
	to->vars = take_vars(packer, draft->vars, draft->nvars);
	to->stack = take_stack(packer, draft->stack, draft->nstack);
	to->pcs = draft->npcs ? take(packer, draft->pcs, draft->npcs * sizeof(*draft->pcs),
					_Alignof(uint64_t))
			      : NULL;
	to->extra_shared = false;
	to->extra = draft->extra ? take_text(packer, draft->extra, strlen(draft->extra)) : NULL;
	to->comm = draft->comm ? take_text(packer, draft->comm, strlen(draft->comm)) : NULL;
	take_value(packer, &to->id);
	take_value(packer, &to->thread);
	take_value(packer, &to->process);
	take_value(packer, &to->host);
	take_value(packer, &to->ret);
}

/* Most messages: the arguments, the return addresses and then the text of values follow the message. */
static bool is_simple(const struct dpe_message *draft)
{
	return !draft->npreds && !draft->nvars && !draft->nstack;
}

/* Copies the value's own text, if it has one, to `at`; returns the end of the copy. */
static char *copy_value_text(struct dpe_value *value, char *at)
{
	if (!dpe_value_has_own_text(*value))
		return at;
	value->text = memcpy(at, value->text, value->len);
	at[value->len] = '\0';
	return at + value->len + 1;
}

static size_t text_size(struct dpe_value value)
{
	return dpe_value_has_own_text(value) ? value.len + (size_t)1 : 0;
}

/* One reference, the caller's; the message itself is not initialised. */
static struct dpe_message *new_block(struct dpe_pool *pool, size_t size, bool plain)
{
	struct dpe_message_block *block = pool ? dpe_pool_take(pool, size) : dpe_xmalloc(size);

	block->refs = 1;
	block->size = (uint32_t)size;
	block->pool = pool;
	block->plain = plain;
	return &block->message;
}

/* The same for a string that is no value; NULL stays NULL. */
static char *copy_text(const char **text, char *at)
{
	size_t size;

	if (!*text)
		return at;
	size = strlen(*text) + 1;
	*text = memcpy(at, *text, size);
	return at + size;
}

static size_t simple_size(const struct dpe_message *draft)
{
	size_t size = dpe_message_size(draft->nargs) + draft->npcs * sizeof(*draft->pcs);

	for (unsigned i = 0; i < draft->nargs; i++)
		size += text_size(draft->args[i]);
	size += draft->extra ? strlen(draft->extra) + 1 : 0;
	size += draft->comm ? strlen(draft->comm) + 1 : 0;
	return size + text_size(draft->id) + text_size(draft->thread) +
	       text_size(draft->process) + text_size(draft->host) + text_size(draft->ret);
}

static struct dpe_message *copy_simple(struct dpe_pool *pool, const struct dpe_message *draft)
{
	struct dpe_message *message = new_block(pool, simple_size(draft), false);
	struct dpe_value *args = dpe_message_args(message);
	uint64_t *pcs = (uint64_t *)(args + draft->nargs);
	char *text = (char *)(pcs + draft->npcs);

	*message = *draft;
	if (draft->npcs)
		memcpy(pcs, draft->pcs, draft->npcs * sizeof(*pcs));
	for (unsigned i = 0; i < draft->nargs; i++) {
		args[i] = draft->args[i];
		text = copy_value_text(&args[i], text);
	}
	text = copy_value_text(&message->id, text);
	text = copy_value_text(&message->thread, text);
	text = copy_value_text(&message->process, text);
	text = copy_value_text(&message->host, text);
	text = copy_value_text(&message->ret, text);
	text = copy_text(&message->extra, text);
	copy_text(&message->comm, text);
	message->extra_shared = false;
	message->args = draft->nargs ? args : NULL;
	message->preds = NULL;
	message->vars = NULL;
	message->stack = NULL;
	message->pcs = draft->npcs ? pcs : NULL;
	return message;
}

struct dpe_message *dpe_message_new_in(struct dpe_pool *pool, const struct dpe_message *draft)
{
	struct dpe_message sized, *message;
	struct packer packer = {.used = offsetof(struct dpe_message_block, message)};

	if (is_simple(draft))
		return copy_simple(pool, draft);
	sized = *draft;
	pack(&packer, draft, &sized);
	message = new_block(pool, packer.used, false);
	packer = (struct packer){.at = (char *)dpe_message_block(message),
		.used = offsetof(struct dpe_message_block, message)};
	pack(&packer, draft, message);
	return message;
}

struct dpe_message *dpe_message_new(const struct dpe_message *draft)
{
	return dpe_message_new_in(NULL, draft);
}

struct dpe_message *dpe_message_begin(
	struct dpe_pool *pool, unsigned nargs, struct dpe_value **args)
{
	struct dpe_message *message = new_block(pool, dpe_message_size(nargs), true);

	memset(message, 0, sizeof(*message));
	message->args = *args = dpe_message_args(message);
	message->nargs = (uint16_t)nargs;
	return message;
}

struct dpe_message *dpe_message_reserve(struct dpe_pool *pool, unsigned nargs, unsigned npcs,
	size_t text, struct dpe_message_space *space)
{
	size_t size = dpe_message_size(nargs) + npcs * sizeof(*space->pcs) + text;
	struct dpe_message *message = new_block(pool, size, false);

	memset(message, 0, sizeof(*message));
	space->args = dpe_message_args(message);
	space->pcs = (uint64_t *)(space->args + nargs);
	space->text = (char *)(space->pcs + npcs);
	return message;
}

struct dpe_message *dpe_message_replace(struct dpe_message *message)
{
	struct dpe_value *args;
	struct dpe_message *copy = dpe_message_begin(dpe_message_block(message)->pool, message->nargs, &args);

	*copy = *message;
	copy->args = args;
	memcpy(args, message->args, message->nargs * sizeof(*args));
	dpe_message_unref(message);
	return copy;
}

struct dpe_message *dpe_message_ref(struct dpe_message *message)
{
	dpe_message_block(message)->refs++;
	return message;
}

/* The slot whose message is replaced: the oldest, or a new slot while that one is referenced. */
static struct dpe_message **recycler_slot(struct dpe_recycler *recycler)
{
	unsigned at = recycler->next;

	if (at >= recycler->count ||
		(dpe_message_block(recycler->last[at])->refs != 1 && recycler->count < DPE_RECYCLED))
		at = recycler->count++;
	recycler->next = at + 1 < recycler->count ? at + 1 : 0;
	return &recycler->last[at];
}

struct dpe_message *dpe_recycler_add(struct dpe_pool *pool, struct dpe_recycler *recycler,
	unsigned nargs, struct dpe_value **args)
{
	struct dpe_message **last = recycler_slot(recycler);

	dpe_message_unref(*last);
	return *last = dpe_message_ref(dpe_message_begin(pool, nargs, args));
}

void dpe_recycler_end(struct dpe_recycler *recycler)
{
	for (unsigned i = 0; i < DPE_RECYCLED; i++)
		dpe_message_unref(recycler->last[i]);
	*recycler = (struct dpe_recycler){0};
}

static __attribute__((noinline)) void destroy(struct dpe_message_block *block)
{
	if (block->pool)
		dpe_pool_give(block->pool, block, block->size);
	else
		free(block);
}

void dpe_message_unref(struct dpe_message *message)
{
	if (message && !--dpe_message_block(message)->refs)
		destroy(dpe_message_block(message));
}

/* ---- names and ids ----------------------------------------------------------------------- */

void dpe_event_parse(struct dpe_names *names, const char *text, size_t len, dpe_name *name,
	enum dpe_phase *phase)
{
	/* "[arg@0->x'] from f.enter" is a data event, which has no phase. */
	bool data = len && *text == '[';

	*phase = DPE_BARE;
	if (!data && len > 6 && !memcmp(text + len - 6, ".enter", 6)) {
		*phase = DPE_ENTER;
		len -= 6;
	} else if (!data && len > 5 && !memcmp(text + len - 5, ".exit", 5)) {
		*phase = DPE_EXIT;
		len -= 5;
	}
	*name = dpe_intern(names, text, len);
}

void dpe_event_print(
	struct dpe_text *to, const struct dpe_names *names, dpe_name name, enum dpe_phase phase)
{
	dpe_text_puts(to, dpe_name_text(names, name));
	if (phase != DPE_BARE)
		dpe_text_puts(to, phase == DPE_ENTER ? ".enter" : ".exit");
}

struct dpe_value dpe_message_id(const struct dpe_message *message)
{
	if (message->id.kind != DPE_NONE)
		return message->id;
	return dpe_value_int((int64_t)message->place);
}

/* A place is unique in its log. THREAD:SEQ need not be: threads of two hosts, or one after another, can have the same id. */
void dpe_message_print_json_id(struct dpe_text *to, const struct dpe_message *message)
{
	bool placed = message->place || !message->has_seq || message->thread.kind == DPE_NONE;
	struct dpe_text name = {0};

	if (placed || message->id.kind != DPE_NONE) {
		dpe_value_print_json(to, dpe_message_id(message));
		return;
	}
	dpe_value_print(&name, message->thread);
	dpe_text_printf(&name, ":%llu", (unsigned long long)message->seq);
	dpe_json_string(to, name.at, name.len);
	dpe_text_free(&name);
}

void dpe_message_print_id(
	struct dpe_text *to, const struct dpe_names *names, const struct dpe_message *message)
{
	if (message->id.kind != DPE_NONE) {
		dpe_value_print(to, message->id);
		return;
	}
	dpe_event_print(to, names, message->name, message->phase);
	dpe_text_puts(to, "@");
	if (message->has_seq && message->thread.kind != DPE_NONE) {
		dpe_value_print(to, message->thread);
		dpe_text_printf(to, ":%llu", (unsigned long long)message->seq);
		return;
	}
	dpe_text_printf(to, "%llu", (unsigned long long)message->place);
}
