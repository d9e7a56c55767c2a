/* Short records of .dpel logs: the numbers of a source and a shape, and the fields in which
 * messages of these differ. Rare members need a long record. Sources and shapes belong to a
 * block, which bounds both the damage of a lost block and the writer's memory. */
#include "event/logs/dpel_write.h"

#define MAX_FRAMES UINT8_MAX

/* ---- tables ------------------------------------------------------------------------------ */

void dpe_dpel_tables_clear(struct dpel_tables *tables)
{
	tables->sources.len = tables->shapes.len = 0;
	if (tables->nsources)
		memset(tables->source_slots, 0, sizeof(tables->source_slots));
	if (tables->nshapes)
		memset(tables->shape_slots, 0, sizeof(tables->shape_slots));
	tables->nsources = tables->nshapes = 0;
}

void dpe_dpel_tables_free(struct dpel_tables *tables)
{
	dpe_text_free(&tables->sources);
	dpe_text_free(&tables->shapes);
}

static uint32_t mix(uint64_t hash, uint32_t slots)
{
	hash *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(hash >> 40) & (slots - 1);
}

static bool same_source(const struct dpel_source *a, const struct dpel_source *b)
{
	return !memcmp(a, b, offsetof(struct dpel_source, seq));
}

/* The number of a source; 0 if there are too many. */
static uint32_t number_source(struct dpel_tables *tables, const struct dpel_source *source)
{
	const uint32_t slots = 2 * DPEL_MAX_SOURCES;
	uint32_t at = mix(source->thread ^ source->process << 20 ^ source->comm, slots);
	const struct dpel_source *known = (const struct dpel_source *)tables->sources.at;

	for (; tables->source_slots[at]; at = (at + 1) & (slots - 1)) {
		if (same_source(&known[tables->source_slots[at] - 1], source))
			return tables->source_slots[at];
	}
	if (tables->nsources >= DPEL_MAX_SOURCES)
		return 0;
	dpe_text_add(&tables->sources, (const char *)source, sizeof(*source));
	tables->source_slots[at] = (uint16_t)++tables->nsources;
	tables->next[tables->nsources] = le64toh(source->seq);
	return tables->nsources;
}

/* The number of a shape; 0 if there are too many. */
static uint32_t number_shape(struct dpel_tables *tables, const struct dpel_shape *shape)
{
	const uint32_t slots = 2 * DPEL_MAX_SHAPES;
	const struct dpel_shape *known = (const struct dpel_shape *)tables->shapes.at;
	uint64_t words[3];
	uint32_t at;

	memcpy(words, shape, sizeof(words));
	at = mix(words[0] ^ words[1] << 7 ^ words[2] << 13, slots);
	for (; tables->shape_slots[at]; at = (at + 1) & (slots - 1)) {
		if (!memcmp(&known[tables->shape_slots[at] - 1], shape, sizeof(*shape)))
			return tables->shape_slots[at];
	}
	if (tables->nshapes >= DPEL_MAX_SHAPES)
		return 0;
	dpe_text_add(&tables->shapes, (const char *)shape, sizeof(*shape));
	tables->shape_slots[at] = (uint16_t)++tables->nshapes;
	return tables->nshapes;
}

/* ---- sources ----------------------------------------------------------------------------- */

static bool set_id(
	struct dpe_dpel_writer *dpel, struct dpe_value value, uint8_t *kind, uint64_t *word)
{
	*kind = dpe_dpel_kind_of(dpel, value);
	switch (*kind) {
	case DPEL_NONE:
		return true;
	case DPEL_INT:
	case DPEL_UINT:
	case DPEL_POINTER:
		*word = htole64((uint64_t)value.num);
		return true;
	case DPEL_STRING:
		*word = htole64(dpe_dpel_string_number(dpel, value.text, value.len));
		return true;
	default:
		return false;
	}
}

/* Finds or adds the message's source. */
static bool find_source(
	struct dpe_dpel_writer *dpel, const struct dpe_message *message, uint32_t *number)
{
	struct dpel_source source = {.seq = htole64(message->seq)};

	if (!set_id(dpel, message->thread, &source.thread_kind, &source.thread) ||
		!set_id(dpel, message->process, &source.process_kind, &source.process) ||
		!set_id(dpel, message->host, &source.host_kind, &source.host))
		return false;
	if (message->comm)
		source.comm = htole32(dpe_dpel_string_number(dpel, message->comm, strlen(message->comm)));
	*number = number_source(&dpel->tables, &source);
	return *number;
}

/* ---- records ----------------------------------------------------------------------------- */

/* A record under construction: its words, then the halves of words that follow them. */
struct draft {
	struct dpel_shape shape;
	uint64_t words[4 + DPEL_SHORT_ARGS + MAX_FRAMES];
	uint32_t halves[2 + DPEL_SHORT_ARGS + MAX_FRAMES];
	unsigned nwords, nhalves;
};

static void put_word(struct draft *draft, uint64_t word)
{
	draft->words[draft->nwords++] = htole64(word);
}

static void put_half(struct draft *draft, uint32_t half)
{
	draft->halves[draft->nhalves++] = htole32(half);
}

static bool fits_half(int64_t num)
{
	return num == (int32_t)num;
}

/* Returns the value's kind, or a kind that short records do not have. */
static uint8_t put_value(struct dpe_dpel_writer *dpel, struct draft *draft, struct dpe_value value)
{
	uint8_t kind = dpe_dpel_kind_of(dpel, value);

	if (kind == DPEL_STRING || kind == DPEL_RAW) {
		put_half(draft, dpe_dpel_string_number(dpel, value.text, value.len));
		return kind;
	}
	if (kind < DPEL_INT || kind > DPEL_POINTER)
		return kind;
	if (fits_half(value.num)) {
		put_half(draft, (uint32_t)value.num);
		return kind | DPEL_NARROW;
	}
	put_word(draft, (uint64_t)value.num);
	return kind;
}

static bool put_values(
	struct dpe_dpel_writer *dpel, struct draft *draft, const struct dpe_message *message)
{
	draft->shape.nargs = (uint8_t)message->nargs;
	for (unsigned i = 0; i < message->nargs; i++) {
		draft->shape.args[i] = put_value(dpel, draft, message->args[i]);
		if (draft->shape.args[i] == DPEL_NO_KIND)
			return false;
	}
	draft->shape.ret = put_value(dpel, draft, message->ret);
	return draft->shape.ret != DPEL_NO_KIND;
}

/* False if the text is not to be looked up in the string table. */
static bool put_members(struct dpe_dpel_writer *dpel, struct draft *draft, const char *members)
{
	size_t len = members ? strlen(members) : 0;
	uint32_t number;

	if (!len)
		return true;
	if (len > DPEL_MAX_MEMBERS)
		return false;
	number = dpel->nstrings < DPEL_MAX_MEMBER_TEXTS ? dpe_dpel_string_number(dpel, members, len)
					       : dpe_names_find(dpel->strings, members, len);
	draft->shape.extra = 1;
	put_half(draft, number);
	return number;
}

static void put_stack(
	struct dpe_dpel_writer *dpel, struct draft *draft, const struct dpe_message *message)
{
	draft->shape.nstack = (uint8_t)message->nstack;
	for (unsigned i = 0; i < message->nstack; i++)
		put_half(draft, dpe_dpel_string_number(dpel, message->stack[i], strlen(message->stack[i])));
	if (message->nstack)
		return;
	draft->shape.npcs = (uint8_t)message->npcs;
	for (unsigned i = 0; i < message->npcs; i++)
		put_word(draft, message->pcs[i]);
}

/* The time since the message before; false if it does not fit. */
static bool find_later(
	const struct dpe_dpel_writer *dpel, const struct dpe_message *message, int32_t *later)
{
	int64_t difference = (int64_t)(message->time - dpel->time);

	*later = (int32_t)difference;
	return fits_half(difference);
}

static uint64_t put_count(struct dpe_dpel_writer *dpel, struct draft *draft,
	const struct dpe_message *message, uint32_t source)
{
	int32_t later = 0;

	if (message->has_seq && dpel->tables.next[source] == message->seq) {
		draft->shape.seq = DPEL_PART_NEXT;
	} else if (message->has_seq) {
		draft->shape.seq = DPEL_PART_WHOLE;
		put_word(draft, message->seq);
	}
	if (message->has_time && find_later(dpel, message, &later)) {
		draft->shape.time = DPEL_PART_NEXT;
	} else if (message->has_time) {
		draft->shape.time = DPEL_PART_WHOLE;
		put_word(draft, message->time);
		later = 0;
	}
	return (uint64_t)(uint32_t)later << 32;
}

/* True if the message's id is composed of its thread and number. */
static bool has_id_of_thread(struct dpe_dpel_writer *dpel, const struct dpe_message *message)
{
	if (message->id.kind != DPE_STRING || !message->has_seq || message->thread.kind == DPE_NONE)
		return false;
	dpel->id.len = 0;
	dpe_value_print(&dpel->id, message->thread);
	dpe_text_printf(&dpel->id, ":%llu", (unsigned long long)message->seq);
	return message->id.len == dpel->id.len &&
	       !memcmp(message->id.text, dpel->id.at, dpel->id.len);
}

/* True if the id, should it need one, can be composed of thread and number. */
static bool set_message_id(struct dpe_dpel_writer *dpel, struct draft *draft, const struct dpe_message *message,
	bool with_id)
{
	if (message->id.kind == DPE_NONE && !with_id)
		return true;
	draft->shape.id = DPEL_PART_NEXT;
	if (message->id.kind == DPE_NONE)
		return !message->place && message->has_seq && message->thread.kind != DPE_NONE;
	return has_id_of_thread(dpel, message);
}

static void add_record(struct dpe_dpel_writer *dpel, struct draft *draft)
{
	if (draft->nhalves % 2)
		put_half(draft, 0);
	dpe_text_add(&dpel->records, (const char *)draft->words, draft->nwords * sizeof(uint64_t));
	dpe_text_add(
		&dpel->records, (const char *)draft->halves, draft->nhalves * sizeof(uint32_t));
}

static bool may_be_short(const struct dpe_message *message)
{
	return !message->npreds && !message->nvars && message->nargs <= DPEL_SHORT_ARGS &&
	       message->nstack <= MAX_FRAMES && message->npcs <= MAX_FRAMES;
}

bool dpe_dpel_write_short(struct dpe_log_writer *writer, const struct dpe_message *message, bool with_id)
{
	struct dpe_dpel_writer *dpel = writer->dpel;
	struct draft draft; /* only the first nwords and nhalves are initialised */
	uint32_t source, shape;
	uint64_t later;

	if (!may_be_short(message) || !find_source(dpel, message, &source))
		return false;
	draft.nwords = 1;
	draft.nhalves = 0;
	draft.shape = (struct dpel_shape){
		.name = htole32(dpe_dpel_name_number(writer, message->name)),
		.module = htole32(dpe_dpel_name_number(writer, message->module)),
		.phase = (uint8_t)message->phase,
	};
	later = put_count(dpel, &draft, message, source);
	if (!set_message_id(dpel, &draft, message, with_id) || !put_values(dpel, &draft, message) ||
		!put_members(dpel, &draft, message->extra))
		return false;
	put_stack(dpel, &draft, message);
	shape = number_shape(&dpel->tables, &draft.shape);
	if (!shape)
		return false;
	draft.words[0] = htole64(later | source << 16 | shape);
	add_record(dpel, &draft);
	if (message->has_seq)
		dpel->tables.next[source] = message->seq + 1;
	if (message->has_time)
		dpel->time = message->time;
	return true;
}
