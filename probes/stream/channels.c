/* channels: from which send a receive got its bytes. Channels are first in, first out, so a send and a receive are
 * ranges of the channel's bytes, and a receive follows each send whose range it overlaps. (Message queues count
 * messages.) If sends or receives overlap in time, their ranges are unknown: such a receive has number 0, which no
 * send has, and counts as a loss. */
#include "probes/stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A send. Of sends that overlap in time (a batch), only the range of all together is known. */
struct chunk {
	uint64_t number, batch;
	uint64_t start, end; /* end: UINT64_MAX while the batch is not over */
	uint64_t priority;
	uint32_t reader; /* the thread that received a part of it first; 0: none */
	bool shared;     /* its batch has other sends */
};

struct channel {
	struct {
		uint64_t id;
		uint64_t kind;
	} key;
	uint64_t check;
	uint64_t sends, batches;
	uint64_t sent, received; /* units */
	struct chunk *chunks;    /* not yet received as a whole */
	unsigned head, nchunks, capchunks;
	unsigned sending, receiving; /* calls that have not returned */
	bool crowded; /* there have been several receivers at once since there was none */
	bool foreign; /* some bytes came from an unobserved sender */
	bool unclear; /* what was received is unknown until everything was */
	bool unread;  /* the receiver is not observed: sends are no longer messages */
	UT_hash_handle hh;
};

struct dpe_channels {
	struct channel *all;
	dpe_name send, receive;
	struct dpe_lost lost;
};

void dpe_channels_open(struct dpe_probes *probes)
{
	probes->channels = dpe_xcalloc(1, sizeof(*probes->channels));
	probes->channels->send = dpe_intern_string(probes->names, DPE_IPC_SEND);
	probes->channels->receive = dpe_intern_string(probes->names, DPE_IPC_RECEIVE);
}

void dpe_channels_free(struct dpe_channels *channels)
{
	struct channel *channel, *next;

	if (!channels)
		return;
	HASH_ITER (hh, channels->all, channel, next) {
		HASH_DEL(channels->all, channel);
		free(channel->chunks);
		free(channel);
	}
	free(channels);
}

struct dpe_lost dpe_channels_lost(const struct dpe_probes *probes)
{
	return probes->channels ? probes->channels->lost : (struct dpe_lost){0};
}

static void count_lost(struct dpe_channels *channels, uint64_t time)
{
	if (!channels->lost.count++)
		channels->lost.first = time;
	channels->lost.last = time;
}

/* ---- who and where ----------------------------------------------------------------------- */

/* A socket's address may be reused by another socket, which has another inode. */
static struct channel *channel_of(struct dpe_channels *channels, const struct dpe_record *record)
{
	struct channel *channel, wanted = {0};
	uint64_t check = record->words[2];

	wanted.key.kind = record->words[0];
	wanted.key.id = record->words[1];
	HASH_FIND(hh, channels->all, &wanted.key, sizeof(wanted.key), channel);
	if (channel && check && channel->check && channel->check != check) {
		HASH_DEL(channels->all, channel);
		free(channel->chunks);
		free(channel);
		channel = NULL;
	}
	if (!channel) {
		channel = dpe_xcalloc(1, sizeof(*channel));
		channel->key = wanted.key;
		HASH_ADD(hh, channels->all, key, sizeof(channel->key), channel);
	}
	if (check)
		channel->check = check;
	return channel;
}

/* ---- sends ------------------------------------------------------------------------------- */

static uint64_t begin_send(struct channel *channel, const struct dpe_record *record)
{
	struct chunk *chunk, *before;

	if (channel->head && channel->nchunks == channel->capchunks) {
		channel->nchunks -= channel->head;
		memmove(channel->chunks, channel->chunks + channel->head,
			channel->nchunks * sizeof(*channel->chunks));
		channel->head = 0;
	}
	if (!channel->sending++)
		channel->batches++;
	chunk = DPE_GROW(channel->chunks, channel->nchunks, channel->capchunks);
	*chunk = (struct chunk){
		.number = ++channel->sends,
		.batch = channel->batches,
		.start = channel->sent,
		.end = UINT64_MAX,
		.priority = record->words[3],
	};
	for (before = chunk; before > channel->chunks + channel->head; before--) {
		if (before[-1].batch != chunk->batch)
			break;
		chunk->start = before[-1].start;
		chunk->shared = before[-1].shared = true;
	}
	return chunk->number;
}

/* More is pending than the kernel can hold: an unobserved process receives, such as the reader of the program's
 * output. */
static bool is_unread(const struct channel *channel)
{
	return channel->sent > channel->received &&
	       channel->sent - channel->received > DPE_CHANNEL_PENDING;
}

static void give_up(struct channel *channel)
{
	free(channel->chunks);
	channel->chunks = NULL;
	channel->head = channel->nchunks = channel->capchunks = 0;
	channel->unread = true;
}

static void end_send(struct channel *channel, uint64_t amount)
{
	if (!channel->sending)
		return;
	channel->sent += amount;
	if (--channel->sending)
		return;
	if (is_unread(channel)) {
		give_up(channel);
		return;
	}
	for (unsigned i = channel->nchunks; i-- > channel->head;) {
		if (channel->chunks[i].batch != channel->batches)
			break;
		channel->chunks[i].end = channel->sent;
	}
}

/* ---- receives ---------------------------------------------------------------------------- */

static bool is_message(const struct channel *channel)
{
	return channel->key.kind > DPE_CHANNEL_SOCKET;
}

static unsigned pending(const struct channel *channel)
{
	return channel->nchunks - channel->head;
}

/* Queues deliver the message of highest priority, or one of the requested type. */
static bool is_out_of_order(const struct channel *channel, const struct dpe_record *record)
{
	if (channel->key.kind == DPE_CHANNEL_SYSV)
		return record->words[3];
	for (unsigned i = channel->head + 1; is_message(channel) && i < channel->nchunks; i++)
		if (channel->chunks[i].priority != channel->chunks[channel->head].priority)
			return true;
	return false;
}

/* Whether what is received now is known, because the pending data is. */
static bool is_clear(struct channel *channel, const struct dpe_record *record)
{
	if (channel->unclear)
		return false;
	if (pending(channel) <= 1)
		return true;
	channel->unclear = is_out_of_order(channel, record);
	return !channel->unclear && !channel->crowded;
}

static void drop_received(struct channel *channel)
{
	while (channel->head < channel->nchunks &&
		channel->chunks[channel->head].end <= channel->received)
		channel->head++;
	if (channel->head < channel->nchunks)
		return;
	channel->head = channel->nchunks = 0;
	channel->unclear = false;
}

static void end_receive(struct channel *channel)
{
	if (channel->receiving && !--channel->receiving)
		channel->crowded = false;
}

/* ---- messages ---------------------------------------------------------------------------- */

struct emission {
	struct dpe_probes *probes;
	const struct dpe_record *record;
	const struct dpe_probes_sink *sink;
	uint64_t *extra; /* of the thread: see extra_messages.c */
	const struct channel *channel;
	unsigned count; /* messages of this record so far */
};

static char *name_of(const struct channel *channel)
{
	static const char *const kinds[] = {"pipe", "socket", "socket", "mqueue", "queue"};
	uint64_t id = channel->check ? channel->check : channel->key.id;

	if ((channel->key.kind == DPE_CHANNEL_SOCKET ||
		    channel->key.kind == DPE_CHANNEL_DATAGRAMS) &&
		!channel->check)
		return dpe_xstrdup("socket"); /* of a process that is not observed */
	return dpe_xasprintf("%s:%llu", kinds[channel->key.kind], (unsigned long long)id);
}

static void emit(struct emission *emission, dpe_name name, uint64_t number)
{
	const struct dpe_record *record = emission->record;
	struct dpe_message draft = {.has_seq = true, .has_time = true};
	struct dpe_thread_id_text thread;
	char *channel = name_of(emission->channel);
	struct dpe_value args[2] = {
		dpe_value_string(channel), dpe_value_int((int64_t)number)};

	if (emission->count++)
		++*emission->extra;
	draft.name = name;
	draft.thread = dpe_thread_id_value(emission->probes, record->tid, &thread);
	draft.process = dpe_value_int(record->tgid);
	draft.seq = dpe_thread_id_seq(emission->probes, record->tid, record->seq);
	draft.time = record->time;
	draft.comm = dpe_thread_names_find(emission->probes, record->tid);
	draft.args = args;
	draft.nargs = 2;
	emission->sink->message(emission->sink->context, dpe_message_new(&draft));
	free(channel);
}

/* Its sender is unknown: counts as a lost event of the thread before this one, so verdicts that depend on it
 * are inconclusive. */
static void lose_order(struct emission *emission)
{
	count_lost(emission->probes->channels, emission->record->time);
	++*emission->extra;
}

static void emit_lost(struct emission *emission)
{
	lose_order(emission);
	emit(emission, emission->probes->channels->receive, 0);
}

/* If several sends are one batch, only a receive that got all of it is known to follow each of them. */
static bool is_part_of_batch(const struct chunk *chunk, uint64_t from, uint64_t to)
{
	return chunk->shared && (from > chunk->start || to < chunk->end);
}

static void emit_chunk(struct emission *emission, struct chunk *chunk)
{
	struct dpe_channels *channels = emission->probes->channels;

	if (chunk->reader && chunk->reader != emission->record->tid)
		lose_order(emission); /* the edge is that of the first */
	if (!chunk->reader)
		chunk->reader = emission->record->tid;
	emit(emission, channels->receive, chunk->number);
}

static void emit_receive(struct emission *emission, struct channel *channel)
{
	uint64_t from = channel->received, to = from + emission->record->words[4];
	bool lost = false;

	channel->foreign |= to > channel->sent && !channel->sending;
	if (channel->unread) {
		emit_lost(emission);
		return;
	}
	if (!channel->foreign && !is_clear(channel, emission->record)) {
		emit_lost(emission);
		return;
	}
	for (unsigned i = channel->head; !channel->foreign && i < channel->nchunks; i++) {
		struct chunk *chunk = &channel->chunks[i];

		if (chunk->start >= to || chunk->end <= from)
			continue;
		if (is_part_of_batch(chunk, from, to))
			lost = true;
		else
			emit_chunk(emission, chunk);
	}
	if (lost)
		emit_lost(emission);
	else if (!emission->count)
		emit(emission, emission->probes->channels->receive, 0);
}

/* ---- records ----------------------------------------------------------------------------- */

bool dpe_channels_is_theirs(const struct dpe_record *record)
{
	return record->kind == DPE_RECORD_SEND || record->kind == DPE_RECORD_RECEIVE ||
	       record->kind == DPE_RECORD_STEP;
}

static void on_send(struct emission *emission, struct channel *channel)
{
	uint64_t number;

	if (channel->unread) {
		--*emission->extra; /* one message less than records */
		return;
	}
	number = begin_send(channel, emission->record);
	emit(emission, emission->probes->channels->send, number);
}

static void on_receive(struct emission *emission, struct channel *channel)
{
	emit_receive(emission, channel);
	end_receive(channel);
	if (channel->unread || emission->record->words[5]) /* the receive only peeked */
		return;
	channel->received += emission->record->words[4];
	drop_received(channel);
}

static void on_step(struct emission *emission, struct channel *channel)
{
	switch ((enum dpe_step)emission->record->words[5]) {
	case DPE_STEP_SENT:
		end_send(channel, emission->record->words[4]);
		drop_received(channel);
		return;
	case DPE_STEP_RECEIVES:
		channel->crowded |= channel->receiving++ > 0;
		return;
	case DPE_STEP_RECEIVED_NOTHING:
		end_receive(channel);
		return;
	}
}

void dpe_channels_deliver(struct dpe_probes *probes, const struct dpe_record *record, size_t size,
	const struct dpe_probes_sink *sink)
{
	struct emission emission = {.probes = probes, .record = record, .sink = sink};
	struct channel *channel;

	if (!probes->channels || record->words[0] > DPE_CHANNEL_SYSV ||
		size < sizeof(*record) + DPE_WORD_REGISTERS * sizeof(uint64_t))
		return;
	channel = channel_of(probes->channels, record);
	emission.channel = channel;
	emission.extra = dpe_extra_messages_of(probes, record->tid);
	if (record->kind == DPE_RECORD_SEND)
		on_send(&emission, channel);
	else if (record->kind == DPE_RECORD_RECEIVE)
		on_receive(&emission, channel);
	else
		on_step(&emission, channel);
}
