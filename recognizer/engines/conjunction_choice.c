/* Chooses a partial match of each operand, all of them independent of each other. In general that
 * is as hard as satisfying formulas (Mittal and Garg, Distributed Computing 2005); so the latest
 * are tried first, then candidates without a partner are removed (arc consistency), and a search
 * with forward checking decides. */
#include "recognizer/engines/conjunction.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct choosing {
	const struct dpe_conjunction *conjunction;
	const struct dpe_slice *slice;
	struct dpe_partial **match;
	struct dpe_domain *domains;
	unsigned count; /* operands */
	uint64_t *work;
};

bool dpe_partial_precedes(const struct dpe_partial *a, const struct dpe_partial *b)
{
	for (unsigned i = 0; b->last && i < b->last->count; i++) {
		if (dpe_set_touches(a->first, b->last->at[i]))
			return true;
	}
	return false;
}

bool dpe_partials_independent(const struct dpe_partial *a, const struct dpe_partial *b)
{
	return !dpe_partial_precedes(a, b) && !dpe_partial_precedes(b, a);
}

static bool independent(
	const struct choosing *c, const struct dpe_partial *a, const struct dpe_partial *b)
{
	if (*c->work)
		--*c->work;
	return dpe_partials_independent(a, b);
}

static bool is_optional(const struct choosing *c, unsigned operand)
{
	return c->conjunction->operands[operand].optional;
}

static bool binds_all(const struct choosing *c)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < c->count; i++)
		mask |= c->match[i] ? c->match[i]->mask : 0;
	return mask == c->slice->mask;
}

/* ---- the latest of each -------------------------------------------------------------------- */

/* The latest of the operand that is independent of all that is chosen, or NULL. */
static struct dpe_partial *latest(const struct choosing *c, unsigned operand)
{
	const struct dpe_domain *domain = &c->domains[operand];

	for (unsigned i = domain->count; i-- > 0 && *c->work;) {
		unsigned j = 0;

		if (!domain->at[i])
			continue;
		while (j < c->count && (!c->match[j] || independent(c, domain->at[i], c->match[j])))
			j++;
		if (j == c->count)
			return domain->at[i];
	}
	return NULL;
}

static bool choose_latest(const struct choosing *c)
{
	for (unsigned i = 0; i < c->count; i++) {
		if (c->domains[i].assigned)
			continue;
		c->match[i] = latest(c, i);
		if (!c->match[i] && !is_optional(c, i))
			return false;
	}
	return binds_all(c);
}

/* ---- searching ----------------------------------------------------------------------------- */

static void remove_candidate(struct dpe_domain *domain, unsigned at, unsigned depth)
{
	domain->removed[at] = depth;
	domain->left--;
}

static bool has_partner(
	const struct choosing *c, const struct dpe_partial *partial, unsigned operand)
{
	const struct dpe_domain *domain = &c->domains[operand];

	for (unsigned i = domain->count; i-- > 0;) {
		if (!domain->removed[i] && independent(c, partial, domain->at[i]))
			return true;
	}
	return is_optional(c, operand);
}

/* True if a candidate without a partner in the other domain was removed. */
static bool revise(const struct choosing *c, unsigned operand, unsigned other)
{
	struct dpe_domain *domain = &c->domains[operand];
	unsigned before = domain->left;

	for (unsigned i = 0; i < domain->count; i++) {
		if (!domain->removed[i] && !has_partner(c, domain->at[i], other))
			remove_candidate(domain, i, 1);
	}
	return domain->left < before;
}

/* Where the events of each operand are of one thread, the latest that remain go together: of two
 * that do not, one is too early for the other and for all that come after it. False if an
 * operand has none left. */
static bool make_consistent(const struct choosing *c)
{
	for (bool changed = true; changed && *c->work;) {
		changed = false;
		for (unsigned i = 0; i < c->count; i++) {
			for (unsigned j = 0; j < c->count && !c->domains[i].assigned; j++) {
				if (i != j && !c->domains[j].assigned)
					changed |= revise(c, i, j);
			}
			if (!c->domains[i].assigned && !c->domains[i].left && !is_optional(c, i))
				return false;
		}
	}
	return true;
}

/* Removes candidates that are not independent of it; false if an operand has none left. */
static bool check_forward(
	const struct choosing *c, const struct dpe_partial *partial, unsigned depth)
{
	for (unsigned i = 0; i < c->count; i++) {
		struct dpe_domain *domain = &c->domains[i];

		for (unsigned j = 0; !domain->assigned && j < domain->count; j++) {
			if (!domain->removed[j] && !independent(c, partial, domain->at[j]))
				remove_candidate(domain, j, depth);
		}
		if (!domain->assigned && !domain->left && !is_optional(c, i))
			return false;
	}
	return true;
}

static void undo(const struct choosing *c, unsigned depth)
{
	for (unsigned i = 0; i < c->count; i++) {
		struct dpe_domain *domain = &c->domains[i];

		for (unsigned j = 0; !domain->assigned && j < domain->count; j++) {
			if (domain->removed[j] != depth)
				continue;
			domain->removed[j] = 0;
			domain->left++;
		}
	}
}

/* The operand with the fewest candidates left; their number where all are assigned. */
static unsigned find_smallest(const struct choosing *c)
{
	unsigned best = c->count, fewest = UINT_MAX;

	for (unsigned i = 0; i < c->count; i++) {
		unsigned left = c->domains[i].left + is_optional(c, i);

		if (c->domains[i].assigned || left >= fewest)
			continue;
		best = i;
		fewest = left;
	}
	return best;
}

/* As deep as there are operands. */
static bool assign(const struct choosing *c, unsigned depth)
{
	unsigned operand = find_smallest(c);
	struct dpe_domain *domain = &c->domains[operand];
	bool found = false;

	if (operand == c->count)
		return binds_all(c);
	domain->assigned = true;
	for (unsigned i = domain->count; i-- > 0 && !found && *c->work;) {
		if (domain->removed[i])
			continue;
		c->match[operand] = domain->at[i];
		found = check_forward(c, domain->at[i], depth) && assign(c, depth + 1);
		if (!found)
			undo(c, depth);
	}
	if (!found && *c->work && is_optional(c, operand)) {
		c->match[operand] = NULL;
		found = assign(c, depth + 1);
	}
	domain->assigned = found;
	return found;
}

static void begin_search(const struct choosing *c)
{
	for (unsigned i = 0; i < c->count; i++) {
		const struct dpe_domain *domain = &c->domains[i];

		for (unsigned j = 0; j < domain->count; j++)
			domain->removed[j] = domain->at[j] ? 0 : DPE_NO_CANDIDATE;
	}
}

static bool search_all(const struct choosing *c, const struct dpe_partial *partial)
{
	begin_search(c);
	return check_forward(c, partial, 1) && make_consistent(c) && assign(c, 2);
}

/* ---- matches ------------------------------------------------------------------------------- */

/* False if an operand has no candidate. */
static bool begin_domains(struct dpe_conjunction *conjunction, const struct dpe_matching *matching,
	const struct dpe_partial *partial)
{
	unsigned total = 0;

	for (unsigned i = 0; i < conjunction->noperands; i++) {
		const struct dpe_partial_list *ended = &matching->lists[i].ended;

		if (ended->count == ended->gaps && i != partial->operand && !conjunction->operands[i].optional)
			return false;
		total += ended->count;
	}
	if (total > conjunction->capremoved) {
		free(conjunction->removed);
		conjunction->capremoved = 2 * total;
		conjunction->removed =
			dpe_xmalloc(conjunction->capremoved * sizeof(*conjunction->removed));
	}
	total = 0;
	for (unsigned i = 0; i < conjunction->noperands; i++) {
		const struct dpe_partial_list *ended = &matching->lists[i].ended;

		conjunction->domains[i] = (struct dpe_domain){
			.at = ended->at,
			.removed = ended->count ? conjunction->removed + total : NULL,
			.count = ended->count,
			.left = ended->count - ended->gaps,
			.assigned = i == partial->operand,
		};
		total += ended->count;
	}
	return true;
}

bool dpe_choose_match(struct dpe_run *run, const struct dpe_slice *slice,
	struct dpe_partial *partial, uint64_t *work)
{
	struct dpe_conjunction *conjunction = run->conjunction;
	size_t size = conjunction->noperands * sizeof(struct dpe_partial *);
	const struct choosing c = {
		.conjunction = conjunction,
		.slice = slice,
		.match = conjunction->match,
		.domains = conjunction->domains,
		.count = conjunction->noperands,
		.work = work,
	};

	if (!begin_domains(conjunction, slice->matching, partial))
		return false;
	memset(c.match, 0, size);
	c.match[partial->operand] = partial;
	if (choose_latest(&c))
		return true;
	memset(c.match, 0, size);
	c.match[partial->operand] = partial;
	return search_all(&c, partial);
}
