/* Suggests the words that a misspelt one may have meant. */
#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned smaller = a < b ? a : b;

	return smaller < c ? smaller : c;
}

/* Optimal string alignment: insert, delete, replace, or swap two neighbours. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned rows[3][DPE_NEAREST_BYTES + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= nb; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *next = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] = min3(
				last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		before = last;
		last = row;
		row = next;
	}
	return last[nb];
}

/* Keeps `best` sorted by distance; equal distances in the order of the candidates. */
static unsigned insert(const char **best, unsigned *scores, unsigned count, unsigned max,
	const char *candidate, unsigned score)
{
	unsigned at = count;

	for (unsigned i = 0; i < count; i++) {
		if (!strcmp(best[i], candidate))
			return count;
	}
	while (at && scores[at - 1] > score)
		at--;
	if (at >= max)
		return count;
	if (count == max)
		count--;
	memmove(best + at + 1, best + at, (count - at) * sizeof(*best));
	memmove(scores + at + 1, scores + at, (count - at) * sizeof(*scores));
	best[at] = candidate;
	scores[at] = score;
	return count + 1;
}

unsigned dpe_nearest(const char *word, const char *const *candidates, unsigned count,
	const char **best, unsigned max)
{
	size_t len = strlen(word), allowed = (len + 2) / 3;
	unsigned found = 0, *scores;

	if (!len || len > DPE_NEAREST_BYTES || !max)
		return 0;
	scores = dpe_xcalloc(max, sizeof(*scores));
	for (unsigned i = 0; i < count; i++) {
		size_t other = strlen(candidates[i]);
		unsigned score;

		if (other > DPE_NEAREST_BYTES || other > len + allowed || len > other + allowed)
			continue;
		score = distance(word, len, candidates[i], other);
		if (score <= allowed && score < len)
			found = insert(best, scores, found, max, candidates[i], score);
	}
	free(scores);
	return found;
}
