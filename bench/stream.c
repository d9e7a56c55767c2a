/* stream EVENTS OBJECTS LOCKS: endless work on objects, as JSON Lines. Eight threads, drawn at random, work on
 * each object, in the order a, b and c in either order, d, and again.
 *
 * OBJECTS: their number, from which they are drawn; 0: they come and go, a thousand at a time, and an event
 * gone(OBJECT) ends each. LOCKS: none; one, for everything; some, a hundred; own, one for each object. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8
#define WINDOW 1000 /* objects that come and go */
#define EACH 16     /* roughly how many operations each of them sees */
#define SOME 100    /* locks */

enum locks { NO_LOCKS, ONE_LOCK, SOME_LOCKS, OWN_LOCKS, NLOCKS };

struct stream {
	uint64_t seed, written, seq[THREADS];
	uint64_t done, gone; /* work, and objects */
	uint64_t objects;
	enum locks locks;
	unsigned char *steps; /* of each object: a bit for each of a, b, c, d */
};

static uint32_t draw(struct stream *stream, uint64_t below)
{
	stream->seed ^= stream->seed << 13;
	stream->seed ^= stream->seed >> 7;
	stream->seed ^= stream->seed << 17;
	return (uint32_t)((stream->seed >> 32) * below >> 32);
}

static void write_event(struct stream *stream, const char *event, unsigned thread, uint64_t object)
{
	printf("{\"event\":\"%s\",\"thread\":%u,\"seq\":%" PRIu64 ",\"time\":%" PRIu64
	       ",\"args\":[%" PRIu64 "]}\n",
		event, thread, stream->seq[thread]++, 10 * stream->written, object);
	stream->written++;
}

/* The next operation on an object. */
static const char *next_step(struct stream *stream, unsigned char *steps)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	unsigned step;

	if (!*steps)
		step = 0;
	else if (*steps == 1)
		step = 1 + draw(stream, 2);
	else if (*steps != 7)
		step = *steps == 3 ? 2 : 1;
	else
		step = 3;
	*steps = step == 3 ? 0 : (unsigned char)(*steps | 1u << step);
	return names[step];
}

static uint64_t draw_object(struct stream *stream, uint64_t *place)
{
	uint64_t object;

	if (stream->objects)
		return *place = draw(stream, stream->objects);
	object = stream->gone + draw(stream, WINDOW);
	*place = object % WINDOW;
	return object;
}

/* The oldest object makes room for another. */
static void end_object(struct stream *stream)
{
	stream->steps[stream->gone % WINDOW] = 0;
	write_event(stream, "gone", draw(stream, THREADS), stream->gone);
	stream->gone++;
}

static uint64_t lock_of(const struct stream *stream, uint64_t object)
{
	switch (stream->locks) {
	case OWN_LOCKS:
		return object;
	case SOME_LOCKS:
		return object % SOME;
	default:
		return 0;
	}
}

static void work(struct stream *stream)
{
	unsigned thread = draw(stream, THREADS);
	uint64_t place, object = draw_object(stream, &place);
	uint64_t lock = lock_of(stream, object);
	const char *event = next_step(stream, &stream->steps[place]);

	if (stream->locks != NO_LOCKS)
		write_event(stream, "acq", thread, lock);
	write_event(stream, event, thread, object);
	if (stream->locks != NO_LOCKS)
		write_event(stream, "rel", thread, lock);
	if (!stream->objects && !(++stream->done % EACH))
		end_object(stream);
}

static bool find_locks(struct stream *stream, const char *name)
{
	static const char *const names[] = {"none", "one", "some", "own"};

	while (stream->locks < NLOCKS && strcmp(names[stream->locks], name) != 0)
		stream->locks++;
	return stream->locks < NLOCKS;
}

int main(int argc, char **argv)
{
	struct stream stream = {.seed = UINT64_C(0x9e3779b97f4a7c15)};
	uint64_t events;

	if (argc != 4 || !find_locks(&stream, argv[3])) {
		fputs("stream EVENTS OBJECTS none|one|some|own\n", stderr);
		return 2;
	}
	events = strtoull(argv[1], NULL, 10);
	stream.objects = strtoull(argv[2], NULL, 10);
	stream.steps = calloc(stream.objects ? stream.objects : WINDOW, 1);
	if (!stream.steps)
		return 2;
	puts("{\"dpe_log\":1,\"ordered\":true}");
	while (stream.written < events)
		work(&stream);
	free(stream.steps);
	return fflush(stdout) ? 2 : 0;
}
