/* Active and compact slices. An event activates its slice; the least recently activated ones are
 * encoded again, so that few are active. An `expect` slice whose events form one chain is just its last
 * event, see DPE_CELL_SINGLE. */
#include "recognizer/slices/cells.h"

#include <stdlib.h>
#include <string.h>

/* ---- at work ----------------------------------------------------------------------------- */

static void enqueue(struct dpe_slices *slices, struct dpe_slice *slice)
{
	slice->before = slices->last;
	slice->next = NULL;
	if (slices->last)
		slices->last->next = slice;
	else
		slices->first = slice;
	slices->last = slice;
	slices->nactive++;
}

static void dequeue(struct dpe_slices *slices, struct dpe_slice *slice)
{
	if (slice->before)
		slice->before->next = slice->next;
	else
		slices->first = slice->next;
	if (slice->next)
		slice->next->before = slice->before;
	else
		slices->last = slice->before;
	slices->nactive--;
}

static struct dpe_slice *new_slice(struct dpe_slices *slices, struct dpe_cell *cell)
{
	struct dpe_slice *slice = slices->spare;

	if (slice)
		slices->spare = slice->next;
	else
		slice = dpe_xcalloc(1, sizeof(*slice));
	slice->cell = cell;
	slice->params = cell->params;
	slice->number = cell->number;
	slice->extended = cell->extended;
	slice->mask = cell->mask;
	slice->done = cell->done;
	slice->renewed = cell->renewed;
	slice->overflown = cell->overflown;
	slice->searched = cell->searched;
	return slice;
}

static struct dpe_slice *make_active(
	struct dpe_slices *slices, struct dpe_cell *cell, struct dpe_slice *slice)
{
	cell->form = DPE_CELL_ACTIVE;
	dpe_cell_content_of(slices, cell)->slice = slice;
	enqueue(slices, slice);
	slices->nactivated++;
	return slice;
}

struct dpe_slice *dpe_slice_activate_new(struct dpe_run *run, struct dpe_cell *cell)
{
	return make_active(run->slices, cell, new_slice(run->slices, cell));
}

/* One configuration with one register, which is also the only event of the order. */
static void decode_single(struct dpe_run *run, const struct dpe_cell *cell, struct dpe_slice *slice)
{
	const struct dpe_single_event *one = &dpe_cell_content_of(run->slices, cell)->one;
	struct dpe_words_read words = {.at = one->words};
	struct dpe_pool *pool = run->recognizer->pool;
	struct dpe_occurrence *event = dpe_pool_take(pool, sizeof(*event));
	struct dpe_branch *branch =
		DPE_GROW(slice->branches, slice->nbranches, slice->capbranches);

	event->refs = 2;
	event->pool = pool;
	event->stamp = (struct dpe_stamp){
		.chain = one->chain, .index = one->index, .exported = one->exported, .past = one->past};
	event->number = one->number;
	event->message = dpe_message_unpack(pool, &words);
	dpe_order_restore(&slice->order, event);
	slice->order.top = event;
	*branch = (struct dpe_branch){.config.state = cell->state};
	branch->config.registers = dpe_registers_new(pool, 1);
	branch->config.registers[0] = event;
}

/* Larger blocks come from the heap: while the slices of a rule grow they pass through all sizes,
 * and a pool never gives blocks of one size to another. */
static unsigned char *new_block(struct dpe_run *run, size_t size)
{
	return size > DPE_POOLED_BYTES ? dpe_xmalloc(size)
				     : dpe_pool_take(run->recognizer->pool, size);
}

static void free_block(struct dpe_run *run, unsigned char *block, size_t size)
{
	if (size > DPE_POOLED_BYTES)
		free(block);
	else
		dpe_pool_give(run->recognizer->pool, block, size);
}

struct dpe_slice *dpe_slice_activate(struct dpe_run *run, struct dpe_cell *cell)
{
	struct dpe_slices *slices = run->slices;
	union dpe_cell_content *content = dpe_cell_content_of(slices, cell);
	struct dpe_slice *slice;

	if (cell->form == DPE_CELL_ACTIVE)
		return content->slice;
	slice = new_slice(slices, cell);
	if (cell->form == DPE_CELL_NEW) {
		run->slice_engine->begin(run, slice);
	} else if (cell->form == DPE_CELL_SINGLE) {
		decode_single(run, cell, slice);
	} else if (cell->form == DPE_CELL_ENCODED) {
		dpe_slice_unpack(run, slice, (unsigned char *)content);
	} else if (cell->form == DPE_CELL_ENCODED_APART) {
		dpe_slice_unpack(run, slice, content->block);
		free_block(run, content->block, cell->size);
	}
	return make_active(slices, cell, slice);
}

static void clear_slice(struct dpe_run *run, struct dpe_slice *slice)
{
	run->slice_engine->clear(run, slice);
	dpe_order_clear(&slice->order);
}

/* ---- at rest ----------------------------------------------------------------------------- */

static bool is_new(const struct dpe_run *run, const struct dpe_slice *slice)
{
	const struct dpe_branch *branch = slice->branches;

	if (slice->order.nchains)
		return false;
	if (run->rule->mode == DPE_DETECT)
		return !dpe_matching_size(slice);
	return slice->nbranches == 1 && !branch->positions && !branch->config.registers &&
	       !branch->config.state;
}

/* The event of a slice that fits DPE_CELL_SINGLE, or NULL. */
static const struct dpe_occurrence *find_single(
	const struct dpe_run *run, const struct dpe_slice *slice)
{
	const struct dpe_order *order = &slice->order;
	const struct dpe_config *config;
	const struct dpe_occurrence *last;

	if (!run->slices->fast_path || slice->done || slice->nbranches != 1 || order->nchains != 1 ||
		order->chains[0].nearlier)
		return NULL;
	last = order->chains[0].last;
	config = &slice->branches[0].config;
	return order->top == last &&
			       dpe_automaton_registers(run->automaton, config->state) == 1 &&
			       config->registers[0] == last
		       ? last
		       : NULL;
}

bool dpe_single_write(struct dpe_run *run, struct dpe_cell *cell, struct dpe_message *message,
	uint64_t number, const struct dpe_stamp *stamp)
{
	unsigned char bytes[DPE_PACKED_SIZE];
	struct dpe_words words = {.at = bytes};
	struct dpe_single_event *one = &dpe_cell_content_of(run->slices, cell)->one;
	bool whole;
	size_t size;

	whole = dpe_message_pack(message, &words);
	size = (size_t)(words.at - bytes);
	if (size > dpe_cell_room(run->slices) - offsetof(struct dpe_single_event, words))
		return false;
	dpe_stamp_ref(stamp);
	if (whole)
		dpe_message_ref(message);
	one->past = stamp->past;
	one->chain = stamp->chain;
	one->index = stamp->index;
	one->exported = stamp->exported;
	one->number = number;
	memcpy(one->words, bytes, size);
	return true;
}

struct dpe_message *dpe_single_message(const struct dpe_single_event *one)
{
	struct dpe_words_read words = {.at = one->words};

	return dpe_message_packed_pointer(&words);
}

/* Drops what dpe_single_write wrote. */
static void drop_single(const struct dpe_single_event *one)
{
	const struct dpe_stamp stamp = {.past = one->past};

	dpe_stamp_unref(&stamp);
	dpe_message_unref(dpe_single_message(one));
}

static bool write_encoded(struct dpe_run *run, struct dpe_cell *cell, const struct dpe_slice *slice)
{
	struct dpe_slices *slices = run->slices;
	union dpe_cell_content *content = dpe_cell_content_of(slices, cell);
	size_t size = dpe_slice_pack(run, slice, slices->scratch);
	bool outside = size > dpe_cell_room(slices);

	if (!size)
		return false;
	if (outside)
		content->block = new_block(run, size);
	memcpy(outside ? content->block : (unsigned char *)content, slices->scratch, size);
	cell->form = outside ? DPE_CELL_ENCODED_APART : DPE_CELL_ENCODED;
	cell->size = (uint16_t)size;
	return true;
}

/* False if the slice is too large. */
static bool write_cell(struct dpe_run *run, struct dpe_cell *cell, const struct dpe_slice *slice)
{
	const struct dpe_occurrence *one;

	if (is_new(run, slice)) {
		cell->form = DPE_CELL_NEW;
		return true;
	}
	one = find_single(run, slice);
	if (one && dpe_single_write(run, cell, one->message, one->number, &one->stamp)) {
		cell->form = DPE_CELL_SINGLE;
		cell->state = slice->branches[0].config.state;
		return true;
	}
	return write_encoded(run, cell, slice);
}

static bool has_earlier(const struct dpe_slice *slice)
{
	for (unsigned i = 0; i < slice->order.nchains; i++) {
		if (slice->order.chains[i].nearlier)
			return true;
	}
	return false;
}

/* The slice is empty. */
static void keep_spare(struct dpe_slices *slices, struct dpe_slice *slice)
{
	dequeue(slices, slice);
	slice->next = slices->spare;
	slices->spare = slice;
}

/* Forgets events before they are encoded: most compact slices then need one event. */
static void forget_before_compacting(struct dpe_run *run, struct dpe_slice *slice)
{
	const struct dpe_horizon *horizon;

	if (dpe_matching_size(slice) <= 1 && !has_earlier(slice))
		return;
	horizon = dpe_recognizer_horizon(run->recognizer, DPE_OLD_HORIZON);
	if (horizon)
		dpe_slice_forget(run, slice, horizon);
}

static bool compact_slice(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_cell *cell = slice->cell;

	forget_before_compacting(run, slice);
	if (!write_cell(run, cell, slice))
		return false;
	cell->done = slice->done;
	cell->renewed = slice->renewed;
	cell->overflown = slice->overflown;
	cell->searched = slice->searched;
	cell->longer = dpe_matching_size(slice) || has_earlier(slice);
	clear_slice(run, slice);
	keep_spare(run->slices, slice);
	return true;
}

/* Slices that are too large stay active and are tried again when their turn comes. */
void dpe_slices_compact(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;

	if (!slices->compacts || !slices->nactivated)
		return;
	for (unsigned left = slices->nactivated + 1; left && slices->nactive > slices->max_active; left--) {
		struct dpe_slice *slice = slices->first;

		if (slice->next) /* the next one to be encoded; its cell is probably not cached */
			__builtin_prefetch(slice->next->cell, 1);
		if (slice != run->shared && compact_slice(run, slice))
			continue;
		dequeue(slices, slice);
		enqueue(slices, slice);
	}
	slices->nactivated = 0;
}

/* ---- cells ------------------------------------------------------------------------------- */

void dpe_cell_clear(struct dpe_run *run, struct dpe_cell *cell)
{
	struct dpe_slice *slice;

	if (cell->form == DPE_CELL_SINGLE) {
		drop_single(&dpe_cell_content_of(run->slices, cell)->one);
	} else if (cell->form != DPE_CELL_NEW) {
		slice = dpe_slice_activate(run, cell);
		clear_slice(run, slice);
		keep_spare(run->slices, slice);
	}
	cell->form = DPE_CELL_NEW;
}

void dpe_cell_moved(struct dpe_slices *slices, struct dpe_cell *cell)
{
	struct dpe_slice *slice;

	if (cell->form != DPE_CELL_ACTIVE)
		return;
	slice = dpe_cell_content_of(slices, cell)->slice;
	slice->cell = cell;
	slice->params = cell->params;
}

void dpe_compact_end(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;

	while (slices->spare) {
		struct dpe_slice *slice = slices->spare;

		slices->spare = slice->next;
		dpe_order_free(&slice->order);
		run->slice_engine->free(run, slice);
		free(slice);
	}
	free(slices->scratch);
}

void dpe_cell_set_extended(struct dpe_slices *slices, struct dpe_cell *cell, bool extended)
{
	cell->extended = extended || (slices->joins_refused && cell->mask != slices->full);
	if (cell->form == DPE_CELL_ACTIVE)
		dpe_cell_content_of(slices, cell)->slice->extended = cell->extended;
}

bool dpe_cell_is_done(const struct dpe_slices *slices, const struct dpe_cell *cell)
{
	return cell->form == DPE_CELL_ACTIVE ? dpe_cell_content_of(slices, cell)->slice->done
					      : cell->done;
}

bool dpe_cell_is_overflown(const struct dpe_slices *slices, const struct dpe_cell *cell)
{
	return cell->form == DPE_CELL_ACTIVE ? dpe_cell_content_of(slices, cell)->slice->overflown
					      : cell->overflown;
}
