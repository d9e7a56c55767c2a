/* stream EVENTS OBJECTS LOCKS: work on objects as JSON lines, without an end in sight. Each object
 * is worked at by eight threads drawn at random, in the order a, b and c in either order, d, and
 * again.
 *
 * OBJECTS: so many in all, drawn at random; 0: they come and go, a thousand being there at a time.
 * LOCKS: none; one, under which all is done; own, one for each object. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8
#define WINDOW 1000 /* objects that come and go */
#define EACH 8      /* events on each of them, more or less */

enum locks { NO_LOCKS, ONE_LOCK, OWN_LOCKS };

struct stream {
	uint64_t seed, told, seq[THREADS];
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

static void tell(struct stream *stream, const char *event, unsigned thread, uint64_t object)
{
	printf("{\"event\":\"%s\",\"thread\":%u,\"seq\":%" PRIu64 ",\"time\":%" PRIu64
	       ",\"args\":[%" PRIu64 "]}\n",
		event, thread, stream->seq[thread]++, 10 * stream->told, object);
	stream->told++;
}

/* What is done next with an object. */
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
	uint64_t first = stream->told / EACH;

	if (stream->objects)
		return *place = draw(stream, stream->objects);
	first += draw(stream, WINDOW);
	*place = first % (2 * WINDOW);
	return first;
}

static void work(struct stream *stream)
{
	unsigned thread = draw(stream, THREADS);
	uint64_t place, object = draw_object(stream, &place);
	uint64_t lock = stream->locks == OWN_LOCKS ? object : 0;
	const char *event = next_step(stream, &stream->steps[place]);

	if (stream->locks != NO_LOCKS)
		tell(stream, "acq", thread, lock);
	tell(stream, event, thread, object);
	if (stream->locks != NO_LOCKS)
		tell(stream, "rel", thread, lock);
}

int main(int argc, char **argv)
{
	struct stream stream = {.seed = UINT64_C(0x9e3779b97f4a7c15)};
	uint64_t events;

	if (argc != 4) {
		fputs("stream EVENTS OBJECTS none|one|own\n", stderr);
		return 2;
	}
	events = strtoull(argv[1], NULL, 10);
	stream.objects = strtoull(argv[2], NULL, 10);
	stream.locks = !strcmp(argv[3], "own")   ? OWN_LOCKS
		       : !strcmp(argv[3], "one") ? ONE_LOCK
						 : NO_LOCKS;
	stream.steps = calloc(stream.objects ? stream.objects : 2 * WINDOW, 1);
	if (!stream.steps)
		return 2;
	puts("{\"dpe_log\":1,\"ordered\":true}");
	while (stream.told < events)
		work(&stream);
	free(stream.steps);
	return fflush(stdout) ? 2 : 0;
}
