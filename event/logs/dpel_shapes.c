/* The sources and shapes of a block of a .dpel log. Each is checked once and turned into
 * offsets, so that reading a record needs no further check of its layout. */
#include "event/logs/dpel_read.h"

/* The kinds of values in short records. */
static bool find_kind(struct dpe_dpel *dpel, struct dpe_value *like, unsigned kind)
{
	static const enum dpe_value_kind kinds[] = {
		[DPEL_NONE] = DPE_NONE,
		[DPEL_INT] = DPE_INT,
		[DPEL_UINT] = DPE_UINT,
		[DPEL_POINTER] = DPE_POINTER,
		[DPEL_STRING] = DPE_STRING,
		[DPEL_RAW] = DPE_RAW,
	};

	if (kind >= DPE_COUNT(kinds))
		return dpel_fail(dpel, "has a value of an unknown kind");
	*like = (struct dpe_value){.kind = kinds[kind]};
	return true;
}

/* ---- sources ----------------------------------------------------------------------------- */

static bool set_id(
	struct dpe_log_reader *reader, struct dpe_value *to, unsigned kind, uint64_t word)
{
	if (!find_kind(reader->dpel, to, kind))
		return false;
	if (to->kind == DPE_RAW)
		return dpel_fail(reader->dpel, "has an id that is neither a text nor a number");
	if (to->kind == DPE_STRING)
		return dpe_dpel_find_value(reader, to, DPE_STRING, word);
	if (to->kind != DPE_NONE)
		to->num = (int64_t)word;
	return true;
}

static bool set_origin(
	struct dpe_log_reader *reader, struct dpel_origin *origin, const struct dpel_source *source)
{
	const struct dpel_string *comm = NULL;

	if (source->reserved)
		return dpel_fail(reader->dpel, "has an unknown source");
	if (!set_id(reader, &origin->thread, source->thread_kind, le64toh(source->thread)) ||
		!set_id(reader, &origin->process, source->process_kind, le64toh(source->process)) ||
		!set_id(reader, &origin->host, source->host_kind, le64toh(source->host)))
		return false;
	if (source->comm) {
		comm = dpe_dpel_find_string(reader->dpel, le32toh(source->comm));
		if (!comm)
			return false;
		origin->comm = comm->text;
	}
	origin->seq = le64toh(source->seq);
	origin->plain = origin->process.kind == DPE_NONE && origin->host.kind == DPE_NONE &&
			!comm && !dpe_value_has_own_text(origin->thread);
	return true;
}

bool dpe_dpel_take_sources(struct dpe_log_reader *reader, uint32_t count)
{
	struct dpe_dpel *dpel = reader->dpel;
	struct dpel_source source;

	dpel->norigins = 0;
	*DPE_GROW(dpel->origins, dpel->norigins, dpel->caporigins) =
		(struct dpel_origin){.plain = true};
	if (count > UINT16_MAX)
		return dpel_fail(dpel, "has more sources than a record can number");
	for (; count; count--, dpel->at += sizeof(source)) {
		struct dpel_origin origin = {0};

		if ((size_t)(dpel->end - dpel->at) < sizeof(source))
			return dpel_fail(dpel, "has fewer sources than it says");
		memcpy(&source, dpel->at, sizeof(source));
		if (!set_origin(reader, &origin, &source))
			return false;
		*DPE_GROW(dpel->origins, dpel->norigins, dpel->caporigins) = origin;
	}
	return true;
}

/* ---- shapes ------------------------------------------------------------------------------ */

/* The offset of the next field. */
static uint16_t place(struct dpel_layout *layout, unsigned size)
{
	uint16_t at = layout->size;

	layout->size = (uint16_t)(at + size);
	return at;
}

static bool is_small(unsigned kind)
{
	return kind & DPEL_NARROW || kind == DPEL_STRING || kind == DPEL_RAW;
}

/* Assigns an offset if the value has that size, eight bytes or four. */
static bool place_field(struct dpe_dpel *dpel, struct dpel_layout *layout, struct dpel_field *field,
	unsigned kind, bool small)
{
	uint16_t at;

	if (is_small(kind) != small || !kind)
		return true;
	if (!find_kind(dpel, &field->like, kind & ~DPEL_NARROW))
		return false;
	if (kind & DPEL_NARROW && (!(kind & ~DPEL_NARROW) || (kind & ~DPEL_NARROW) > DPEL_POINTER))
		return dpel_fail(dpel, "has a value of an unknown kind");
	at = place(layout, small ? 4 : 8);
	field->half_at = at;
	field->at = at & (uint16_t)~7u;
	field->right = small ? 32 : 0;
	field->left = small && !(at & 4) ? 32 : 0;
	return true;
}

static bool place_fields(struct dpe_dpel *dpel, struct dpel_layout *layout,
	const struct dpel_shape *shape, bool small)
{
	for (unsigned i = 0; i < shape->nargs; i++) {
		if (!place_field(dpel, layout, &layout->args[i], shape->args[i], small))
			return false;
	}
	return place_field(dpel, layout, &layout->ret, shape->ret, small);
}

static bool is_plain(const struct dpel_layout *layout)
{
	for (unsigned i = 0; i < layout->nargs; i++) {
		if (layout->args[i].like.kind == DPE_NONE || layout->args[i].like.kind == DPE_RAW)
			return false;
	}
	return layout->ret.like.kind == DPE_NONE && !layout->has_id && !layout->nstack &&
	       !layout->npcs;
}

/* Fields of eight bytes, then those of four, in the order of docs/dpel.md. */
static bool place_all(
	struct dpe_dpel *dpel, struct dpel_layout *layout, const struct dpel_shape *shape)
{
	place(layout, sizeof(uint64_t));
	if (shape->seq == DPEL_PART_WHOLE)
		layout->seq_at = place(layout, sizeof(uint64_t));
	if (shape->time == DPEL_PART_WHOLE)
		layout->time_at = place(layout, sizeof(uint64_t));
	if (!place_fields(dpel, layout, shape, false))
		return false;
	layout->pcs_at = place(layout, shape->npcs * (unsigned)sizeof(uint64_t));
	if (!place_fields(dpel, layout, shape, true))
		return false;
	if (shape->extra && !place_field(dpel, layout, &layout->members, DPEL_STRING, true))
		return false;
	layout->stack_at = place(layout, shape->nstack * (unsigned)sizeof(uint32_t));
	place(layout, -layout->size & 7u);
	return true;
}

static bool is_known(const struct dpel_shape *shape)
{
	if (shape->phase > DPE_EXIT || shape->seq > DPEL_PART_WHOLE ||
		shape->time > DPEL_PART_WHOLE || shape->id > DPEL_PART_NEXT || shape->extra > 1 ||
		shape->nargs > DPEL_SHORT_ARGS || (shape->nstack && shape->npcs))
		return false;
	for (unsigned i = shape->nargs; i < DPEL_SHORT_ARGS; i++) {
		if (shape->args[i])
			return false;
	}
	return true;
}

static bool set_layout(
	struct dpe_log_reader *reader, struct dpel_layout *layout, const struct dpel_shape *shape)
{
	struct dpe_dpel *dpel = reader->dpel;

	if (!is_known(shape))
		return dpel_fail(dpel, "has an unknown shape");
	layout->like = (struct dpe_message){
		.name = dpe_dpel_find_name(reader, le32toh(shape->name)),
		.module = dpe_dpel_find_name(reader, le32toh(shape->module)),
		.phase = shape->phase,
		.log = reader->index,
		.nargs = shape->nargs,
		.unreferenced = reader->unreferenced,
		.has_seq = shape->seq,
		.has_time = shape->time,
		.extra_shared = shape->extra,
	};
	if (dpel->wrong || !*dpe_name_text(reader->names, layout->like.name))
		return dpel_fail(dpel, "has a shape that does not name its event");
	if (shape->id && !shape->seq)
		return dpel_fail(dpel, "has an id made of a missing number");
	layout->seq = shape->seq;
	layout->time = shape->time;
	layout->has_id = shape->id;
	layout->has_members = shape->extra;
	layout->nargs = shape->nargs;
	layout->nstack = shape->nstack;
	layout->npcs = shape->npcs;
	if (!place_all(dpel, layout, shape))
		return false;
	layout->plain_size = is_plain(layout) ? layout->size : UINT32_MAX;
	return true;
}

void dpe_dpel_forget_shapes(struct dpe_dpel *dpel)
{
	while (dpel->nlayouts)
		dpe_recycler_end(&dpel->layouts[--dpel->nlayouts].recycler);
}

bool dpe_dpel_take_shapes(struct dpe_log_reader *reader, uint32_t count)
{
	struct dpe_dpel *dpel = reader->dpel;
	struct dpel_shape shape;

	dpe_dpel_forget_shapes(dpel);
	*DPE_GROW(dpel->layouts, dpel->nlayouts, dpel->caplayouts) = (struct dpel_layout){.plain_size = UINT32_MAX};
	if (count > UINT16_MAX)
		return dpel_fail(dpel, "has more shapes than a record can number");
	for (; count; count--, dpel->at += sizeof(shape)) {
		struct dpel_layout layout = {0};

		if ((size_t)(dpel->end - dpel->at) < sizeof(shape))
			return dpel_fail(dpel, "has fewer shapes than it says");
		memcpy(&shape, dpel->at, sizeof(shape));
		if (!set_layout(reader, &layout, &shape))
			return false;
		*DPE_GROW(dpel->layouts, dpel->nlayouts, dpel->caplayouts) = layout;
	}
	return true;
}
