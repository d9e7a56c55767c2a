/* Compact encoding of a slice: each event once, then the order, configurations and partial matches,
 * which refer to events by number. */
#include "recognizer/slices/cells.h"

#include <string.h>

#define EVENT_SIZE (DPE_PACKED_SIZE + 32)

struct slice_packer {
	const struct dpe_run *run;
	struct dpe_words words;
	const unsigned char *end;
	bool full; /* it does not fit */
	struct dpe_occurrence *events[DPE_SLICE_EVENTS];
	bool whole[DPE_SLICE_EVENTS]; /* the encoding refers to the message */
	unsigned nevents;
	const struct dpe_trail *taken[DPE_SLICE_TAKEN]; /* each after its predecessor */
	unsigned ntaken;
	struct dpe_partial *const *partials;
	unsigned nplaces, npartials; /* nplaces: with gaps */
};

/* ---- what there is ----------------------------------------------------------------------- */

static unsigned find_event(const struct slice_packer *packer, const struct dpe_occurrence *occurrence)
{
	unsigned at = 0;

	while (at < packer->nevents && packer->events[at] != occurrence)
		at++;
	return at;
}

static void add_event(struct slice_packer *packer, struct dpe_occurrence *occurrence)
{
	if (!occurrence || find_event(packer, occurrence) < packer->nevents)
		return;
	packer->full |= packer->nevents == DPE_SLICE_EVENTS;
	if (!packer->full)
		packer->events[packer->nevents++] = occurrence;
}

static void add_events(
	struct slice_packer *packer, struct dpe_occurrence *const *events, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		add_event(packer, events[i]);
}

static unsigned find_taken(const struct slice_packer *packer, const struct dpe_trail *taken)
{
	unsigned at = 0;

	while (at < packer->ntaken && packer->taken[at] != taken)
		at++;
	return at;
}

static void add_taken(struct slice_packer *packer, const struct dpe_trail *taken)
{
	const struct dpe_trail *path[DPE_SLICE_TAKEN];
	unsigned count = 0;

	for (; taken && find_taken(packer, taken) == packer->ntaken; taken = taken->before) {
		packer->full |= count + packer->ntaken == DPE_SLICE_TAKEN;
		if (packer->full)
			return;
		path[count++] = taken;
	}
	while (count--) {
		packer->taken[packer->ntaken++] = path[count];
		add_event(packer, path[count]->occurrence);
	}
}

static unsigned count_registers(const struct slice_packer *packer, const struct dpe_config *config)
{
	return dpe_automaton_registers(packer->run->automaton, config->state);
}

static void add_config(struct slice_packer *packer, const struct dpe_config *config)
{
	add_events(packer, config->registers, count_registers(packer, config));
}

static void gather(struct slice_packer *packer, const struct dpe_slice *slice)
{
	for (unsigned i = 0; i < slice->order.nchains && !packer->full; i++) {
		const struct dpe_chain *chain = &slice->order.chains[i];

		add_events(packer, chain->earlier, chain->nearlier);
		add_event(packer, chain->last);
	}
	for (unsigned i = 0; i < slice->nbranches; i++) {
		add_config(packer, &slice->branches[i].config);
		if (slice->branches[i].positions)
			add_events(packer, slice->branches[i].positions,
				packer->run->rule->npositions);
	}
	for (unsigned i = 0; i < packer->nplaces && !packer->full; i++) {
		const struct dpe_partial *partial = packer->partials[i];

		if (!partial)
			continue;
		packer->npartials++;
		add_config(packer, &partial->config);
		add_events(packer, partial->first->at, partial->first->count);
		add_taken(packer, partial->trail);
	}
}

/* ---- writing ----------------------------------------------------------------------------- */

static void put(struct slice_packer *packer, uint64_t word)
{
	packer->full |= packer->end - packer->words.at < DPE_VARINT_SIZE;
	if (!packer->full)
		dpe_words_put_varint(&packer->words, word);
}

/* its number from 1; 0: none */
static void put_event(struct slice_packer *packer, const struct dpe_occurrence *occurrence)
{
	put(packer, occurrence ? find_event(packer, occurrence) + 1 : 0);
}

static void put_events(
	struct slice_packer *packer, struct dpe_occurrence *const *events, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put_event(packer, events[i]);
}

static void put_contents(struct slice_packer *packer)
{
	put(packer, packer->nevents);
	for (unsigned i = 0; i < packer->nevents; i++) {
		const struct dpe_occurrence *event = packer->events[i];

		packer->full |= packer->end - packer->words.at < EVENT_SIZE;
		if (packer->full)
			return;
		dpe_words_put_pointer(&packer->words, event->stamp.past);
		dpe_words_put_half(&packer->words, event->stamp.chain);
		dpe_words_put_half(&packer->words, event->stamp.index);
		dpe_words_put_half(&packer->words, event->stamp.exported);
		dpe_words_put(&packer->words, event->number);
		packer->whole[i] = dpe_message_pack(event->message, &packer->words);
	}
}

static void put_order(struct slice_packer *packer, const struct dpe_order *order)
{
	put(packer, order->nchains);
	for (unsigned i = 0; i < order->nchains; i++) {
		const struct dpe_chain *chain = &order->chains[i];

		put(packer, chain->nearlier + UINT64_C(1));
		put_events(packer, chain->earlier, chain->nearlier);
		put_event(packer, chain->last);
	}
	put_event(packer, order->top);
}

static void put_config(struct slice_packer *packer, const struct dpe_config *config)
{
	unsigned count = count_registers(packer, config);

	put(packer, config->state);
	put(packer, count);
	put_events(packer, config->registers, count);
}

static void put_readings(struct slice_packer *packer, const struct dpe_slice *slice)
{
	put(packer, slice->nbranches);
	for (unsigned i = 0; i < slice->nbranches; i++) {
		const struct dpe_branch *branch = &slice->branches[i];

		put_config(packer, &branch->config);
		if (branch->positions)
			put_events(packer, branch->positions, packer->run->rule->npositions);
	}
}

static void put_partials(struct slice_packer *packer)
{
	put(packer, packer->ntaken);
	for (unsigned i = 0; i < packer->ntaken; i++) {
		const struct dpe_trail *taken = packer->taken[i];

		put(packer, (uintptr_t)taken->positions);
		put(packer, taken->npositions);
		put_event(packer, taken->occurrence);
		put(packer, taken->before ? find_taken(packer, taken->before) + 1 : 0);
	}
	put(packer, packer->npartials);
	for (unsigned i = 0; i < packer->nplaces && !packer->full; i++) {
		const struct dpe_partial *partial = packer->partials[i];

		if (!partial)
			continue;
		put_config(packer, &partial->config);
		put(packer, partial->first->count);
		put_events(packer, partial->first->at, partial->first->count);
		put(packer, find_taken(packer, partial->trail) + 1);
		put(packer, partial->mask);
	}
}

size_t dpe_slice_pack(
	const struct dpe_run *run, const struct dpe_slice *slice, unsigned char *to)
{
	struct slice_packer packer;

	packer.run = run;
	packer.words = (struct dpe_words){.at = to};
	packer.end = to + DPE_SLICE_BYTES;
	packer.full = false;
	packer.nevents = packer.ntaken = packer.npartials = 0;
	packer.partials = dpe_detect_partials(slice, &packer.nplaces);
	gather(&packer, slice);
	if (packer.full)
		return 0;
	put_contents(&packer);
	put_order(&packer, &slice->order);
	if (run->rule->mode == DPE_EXPECT)
		put_readings(&packer, slice);
	else
		put_partials(&packer);
	if (packer.full)
		return 0;
	for (unsigned i = 0; i < packer.nevents; i++) {
		dpe_stamp_ref(&packer.events[i]->stamp);
		if (packer.whole[i])
			dpe_message_ref(packer.events[i]->message);
	}
	return (size_t)(packer.words.at - to);
}

/* ---- branch ----------------------------------------------------------------------------- */

struct slice_unpacker {
	struct dpe_run *run;
	struct dpe_pool *pool;
	struct dpe_words_read words;
	struct dpe_occurrence *events[DPE_SLICE_EVENTS];
	struct dpe_trail *taken[DPE_SLICE_TAKEN];
};

static uint32_t get(struct slice_unpacker *unpacker)
{
	return (uint32_t)dpe_words_get_varint(&unpacker->words);
}

/* Counts a reference. */
static struct dpe_occurrence *get_event(struct slice_unpacker *unpacker)
{
	uint32_t number = get(unpacker);

	return number ? dpe_occurrence_ref(unpacker->events[number - 1]) : NULL;
}

/* Partial matches of the slice may have shared events, which are compared by address. */
static struct dpe_occurrence *find_shared(struct slice_unpacker *unpacker, struct dpe_occurrence *event)
{
	struct dpe_slice *shared = unpacker->run->shared;
	struct dpe_occurrence *same = shared ? dpe_order_find(&shared->order, &event->stamp) : NULL;

	if (!same)
		return event;
	event->refs = 1;
	dpe_occurrence_unref(event);
	return same;
}

/* Its references are counted where the rest of the encoding names it. */
static struct dpe_occurrence *get_content(struct slice_unpacker *unpacker)
{
	struct dpe_occurrence *event = dpe_pool_take(unpacker->pool, sizeof(*event));

	event->refs = 0;
	event->pool = unpacker->pool;
	event->stamp.past = dpe_words_get_pointer(&unpacker->words);
	event->stamp.chain = dpe_words_get_half(&unpacker->words);
	event->stamp.index = dpe_words_get_half(&unpacker->words);
	event->stamp.exported = dpe_words_get_half(&unpacker->words);
	event->number = dpe_words_get(&unpacker->words);
	event->message = dpe_message_unpack(unpacker->pool, &unpacker->words);
	return find_shared(unpacker, event);
}

static void get_order(struct slice_unpacker *unpacker, struct dpe_order *order)
{
	uint32_t nchains = get(unpacker);

	for (uint32_t i = 0; i < nchains; i++) {
		uint32_t count = get(unpacker);

		for (uint32_t j = 0; j < count; j++)
			dpe_order_restore(order, get_event(unpacker));
	}
	order->top = get_event(unpacker);
	if (order->top) /* counted in its chain only */
		order->top->refs--;
}

static struct dpe_config get_config(struct slice_unpacker *unpacker)
{
	struct dpe_config config = {.state = get(unpacker)};
	uint32_t count = get(unpacker);

	if (count)
		config.registers = dpe_registers_new(unpacker->pool, count);
	for (uint32_t i = 0; i < count; i++)
		config.registers[i] = get_event(unpacker);
	return config;
}

static void get_readings(struct slice_unpacker *unpacker, struct dpe_slice *slice)
{
	uint32_t count = get(unpacker);
	unsigned npositions = unpacker->run->rule->npositions;

	for (uint32_t i = 0; i < count; i++) {
		struct dpe_branch *branch =
			DPE_GROW(slice->branches, slice->nbranches, slice->capbranches);

		*branch = (struct dpe_branch){.config = get_config(unpacker)};
		if (!unpacker->run->wants_positions)
			continue;
		branch->positions = dpe_xcalloc(npositions + 1, sizeof(*branch->positions));
		for (unsigned p = 0; p < npositions; p++)
			branch->positions[p] = get_event(unpacker);
	}
}

static struct dpe_trail *get_earlier(struct slice_unpacker *unpacker)
{
	uint32_t number = get(unpacker);

	if (!number)
		return NULL;
	unpacker->taken[number - 1]->refs++;
	return unpacker->taken[number - 1];
}

static struct dpe_trail *get_taken(struct slice_unpacker *unpacker)
{
	struct dpe_trail *taken = dpe_pool_take(unpacker->pool, sizeof(*taken));

	*taken = (struct dpe_trail){0};
	taken->positions = (const uint16_t *)(uintptr_t)dpe_words_get_varint(&unpacker->words);
	taken->npositions = (uint16_t)get(unpacker);
	taken->occurrence = get_event(unpacker);
	taken->before = get_earlier(unpacker);
	return taken;
}

static void get_partial(struct slice_unpacker *unpacker, struct dpe_slice *slice)
{
	struct dpe_config config = get_config(unpacker);
	struct dpe_set *first = dpe_set_new(unpacker->pool, get(unpacker));
	struct dpe_trail *trail;

	for (unsigned i = 0; i < first->count; i++)
		first->at[i] = get_event(unpacker);
	trail = get_earlier(unpacker);
	dpe_detect_restore(unpacker->run, slice, config, first, trail,
		dpe_words_get_varint(&unpacker->words));
}

static void get_partials(struct slice_unpacker *unpacker, struct dpe_slice *slice)
{
	uint32_t count = get(unpacker);

	for (uint32_t i = 0; i < count; i++)
		unpacker->taken[i] = get_taken(unpacker);
	count = get(unpacker);
	for (uint32_t i = 0; i < count; i++)
		get_partial(unpacker, slice);
}

void dpe_slice_unpack(struct dpe_run *run, struct dpe_slice *slice, const unsigned char *from)
{
	struct slice_unpacker unpacker;
	uint32_t nevents;

	unpacker.run = run;
	unpacker.pool = run->recognizer->pool;
	unpacker.words = (struct dpe_words_read){.at = from};
	nevents = get(&unpacker);
	for (uint32_t i = 0; i < nevents; i++)
		unpacker.events[i] = get_content(&unpacker);
	get_order(&unpacker, &slice->order);
	if (run->rule->mode == DPE_EXPECT)
		get_readings(&unpacker, slice);
	else
		get_partials(&unpacker, slice);
}
