/* Many messages in little memory. What some have in common, such as their thread, their stack and the kinds of their
 * arguments, is their form, and is kept once; each has its numbers and the texts of its arguments as words. */
#include "event/event.h"

#include <stdlib.h>
#include <string.h>

struct dpe_message_form {
	uint64_t hash;
	struct dpe_message *example; /* the first one; owned */
	bool alone;                  /* the example is the only message of the form */
};

#define NO_FORM UINT32_MAX /* of a free slot */

/* ---- forms ------------------------------------------------------------------------------- */

static inline bool same_value(const struct dpe_value *a, const struct dpe_value *b)
{
	if (a->kind != b->kind)
		return false;
	return a->num == b->num || ((a->kind == DPE_STRING || a->kind == DPE_RAW) && a->len == b->len &&
		!memcmp(a->text, b->text, a->len));
}

static bool same_comm(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* What plain messages do not have. */
static bool same_rest(const struct dpe_message *a, const struct dpe_message *b)
{
	return a->npcs == b->npcs && a->ret.kind == b->ret.kind && a->id.kind == b->id.kind &&
	       same_value(&a->process, &b->process) && same_value(&a->host, &b->host) && same_comm(a->comm, b->comm) &&
	       (!a->npcs || !memcmp(a->pcs, b->pcs, a->npcs * sizeof(a->pcs[0])));
}

static inline bool same_form(const struct dpe_message *a, const struct dpe_message *b)
{
	if (a->name != b->name || a->phase != b->phase || a->nargs != b->nargs || a->module != b->module ||
		a->log != b->log || a->unreferenced != b->unreferenced || a->has_seq != b->has_seq ||
		a->has_time != b->has_time || !a->extra != !b->extra || !same_value(&a->thread, &b->thread))
		return false;
	for (unsigned i = 0; i < a->nargs; i++) {
		if (a->args[i].kind != b->args[i].kind)
			return false;
	}
	return (dpe_message_is_plain(a) && dpe_message_is_plain(b)) || same_rest(a, b);
}

static uint64_t hash_form(const struct dpe_message *message)
{
	uint64_t hash = dpe_value_mix((uint64_t)message->name << 2 | message->phase);

	hash ^= dpe_value_has_own_text(message->thread) ? message->thread.len : (uint64_t)message->thread.num;
	for (unsigned i = 0; i < message->npcs; i++)
		hash = dpe_value_mix(hash ^ message->pcs[i]);
	return dpe_value_mix(hash);
}

/* What words cannot hold. */
static bool is_alone(const struct dpe_message *message)
{
	if (message->place > UINT32_MAX)
		return true;
	if (dpe_message_is_plain(message))
		return false;
	if (message->npreds | message->nvars | message->nstack || (message->extra && !message->extra_shared) ||
		dpe_value_has_own_text(message->ret) || dpe_value_has_own_text(message->id))
		return true;
	for (unsigned i = 0; i < message->nargs; i++) {
		if (dpe_value_has_own_text(message->args[i]))
			return true;
	}
	return false;
}

static uint32_t add_form(struct dpe_message_store *store, struct dpe_message *example, uint64_t hash, bool alone)
{
	*DPE_GROW(store->forms, store->nforms, store->capforms) =
		(struct dpe_message_form){hash, dpe_message_ref(example), alone};
	return store->nforms - 1;
}

static inline uint32_t *find_slot(const struct dpe_message_store *store, const struct dpe_message *message, uint64_t hash)
{
	for (uint64_t at = hash;; at++) {
		uint32_t *slot = &store->slots[at & (store->nslots - 1)];

		if (*slot == NO_FORM || (store->forms[*slot].hash == hash &&
						same_form(store->forms[*slot].example, message)))
			return slot;
	}
}

/* At most half of it is used. */
static void grow_slots(struct dpe_message_store *store)
{
	store->nslots = store->nslots ? 2 * store->nslots : 64;
	store->slots = dpe_xrealloc(store->slots, store->nslots * sizeof(*store->slots));
	memset(store->slots, 0xff, store->nslots * sizeof(*store->slots));
	for (uint32_t i = 0; i < store->nforms; i++) {
		const struct dpe_message_form *form = &store->forms[i];

		if (!form->alone)
			*find_slot(store, form->example, form->hash) = i;
	}
}

static uint32_t form_of(struct dpe_message_store *store, struct dpe_message *message)
{
	uint64_t hash = hash_form(message);
	uint32_t *slot;

	if (2 * store->nforms >= store->nslots)
		grow_slots(store);
	slot = find_slot(store, message, hash);
	if (*slot == NO_FORM)
		*slot = add_form(store, message, hash, false);
	return *slot;
}

/* ---- words ------------------------------------------------------------------------------- */

static inline uint64_t *put_value(uint64_t *to, const struct dpe_value *value)
{
	*to = (uint64_t)value->num;
	return value->kind == DPE_NONE ? to : to + 1;
}

/* Room for all words of a message, and for the first word of all, which none has. */
static inline uint64_t *room_for(struct dpe_message_store *store, const struct dpe_message *message)
{
	enum { WORDS = 8 }; /* beside the arguments: 0, form, number, time, extra, result, id, one to spare */

	while (store->capwords - store->nwords < (unsigned)WORDS + message->nargs)
		store->words = dpe_grow(store->words, &store->capwords, sizeof(*store->words));
	if (!store->nwords)
		store->words[store->nwords++] = 0;
	return &store->words[store->nwords];
}

static inline uint64_t *put_parts(uint64_t *to, const struct dpe_message *message)
{
	if (message->has_seq)
		*to++ = message->seq;
	if (message->has_time)
		*to++ = message->time;
	if (message->extra)
		*to++ = (uintptr_t)message->extra;
	if (!dpe_message_is_plain(message)) {
		to = put_value(to, &message->ret);
		to = put_value(to, &message->id);
	}
	for (unsigned i = 0; i < message->nargs; i++)
		to = put_value(to, &message->args[i]);
	return to;
}

uint32_t dpe_message_store_add(struct dpe_message_store *store, struct dpe_message *message)
{
	bool alone = is_alone(message);
	uint32_t form = alone ? add_form(store, message, 0, true) : form_of(store, message);
	uint64_t *to = room_for(store, message);
	uint32_t at = store->nwords;

	*to++ = message->place << 32 | form;
	if (!alone)
		to = put_parts(to, message);
	store->nwords = (unsigned)(to - store->words);
	return at;
}

static struct dpe_value get_value(const struct dpe_value *like, const uint64_t **words)
{
	struct dpe_value value = {.kind = like->kind};

	if (value.kind == DPE_NONE)
		return value;
	value.num = (int64_t)*(*words)++;
	if (value.kind == DPE_STRING || value.kind == DPE_RAW) {
		value.shared = true;
		value.len = (uint32_t)strlen(value.text);
	}
	return value;
}

struct dpe_message *dpe_message_store_get(const struct dpe_message_store *store, uint32_t at)
{
	const uint64_t *words = &store->words[at];
	const struct dpe_message_form *form = &store->forms[(uint32_t)*words];
	struct dpe_message draft = *form->example, *message;
	struct dpe_value *args;

	if (form->alone)
		return dpe_message_ref(form->example);
	draft.place = *words++ >> 32;
	if (draft.has_seq)
		draft.seq = *words++;
	if (draft.has_time)
		draft.time = *words++;
	if (draft.extra)
		draft.extra = (const char *)(uintptr_t)*words++;
	draft.ret = get_value(&draft.ret, &words);
	draft.id = get_value(&draft.id, &words);
	args = dpe_xcalloc(draft.nargs + 1, sizeof(*args));
	for (unsigned i = 0; i < draft.nargs; i++)
		args[i] = get_value(&draft.args[i], &words);
	draft.args = args;
	message = dpe_message_new(&draft);
	free(args);
	return message;
}

void dpe_message_store_free(struct dpe_message_store *store)
{
	for (uint32_t i = 0; i < store->nforms; i++)
		dpe_message_unref(store->forms[i].example);
	free(store->forms);
	free(store->slots);
	free(store->words);
	*store = (struct dpe_message_store){0};
}
