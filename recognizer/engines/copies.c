/* Copies as a treap: nodes are ordered by what they wait for and by marking, and heaped by a hash of
 * both, so equal multisets have equal trees. A node that is shared is copied before it changes. */
#include "recognizer/engines/copies.h"
#include "recognizer/engines/marking.h"

struct node_key {
	uint64_t waits_for, serial;
};

static struct node_key key_of(const struct dpe_copies *node)
{
	return (struct node_key){node->waits_for, node->marking->serial};
}

static int compare(struct node_key a, struct node_key b)
{
	if (a.waits_for != b.waits_for)
		return a.waits_for < b.waits_for ? -1 : 1;
	return (a.serial > b.serial) - (a.serial < b.serial);
}

static uint64_t hash_key(struct node_key key)
{
	return dpe_splitmix(key.waits_for * 0x9e3779b97f4a7c15ull + key.serial);
}

static bool is_above(struct node_key a, struct node_key b)
{
	uint64_t x = hash_key(a), y = hash_key(b);

	return x != y ? x > y : compare(a, b) < 0;
}

/* ---- counting ---------------------------------------------------------------------------- */

/* The node for writing; takes over the reference. */
static struct dpe_copies *own(struct dpe_game *game, struct dpe_copies *node)
{
	struct dpe_copies *copy;

	if (node->refs == 1)
		return node;
	copy = dpe_pool_take(game->pool, sizeof(*copy));
	*copy = *node;
	copy->refs = 1;
	dpe_marking_ref(copy->marking);
	dpe_copies_ref(copy->left);
	dpe_copies_ref(copy->right);
	node->refs--;
	return copy;
}

static struct dpe_copies *sum_up(struct dpe_copies *node)
{
	node->ncopies = node->first ? node->count : 0;
	node->hash = hash_key(key_of(node)) * node->count;
	if (node->left) {
		node->ncopies += node->left->ncopies;
		node->hash += node->left->hash;
	}
	if (node->right) {
		node->ncopies += node->right->ncopies;
		node->hash += node->right->hash;
	}
	return node;
}

/* ---- the tree ---------------------------------------------------------------------------- */

/* Takes over the reference. */
static void split(struct dpe_game *game, struct dpe_copies *tree, struct node_key at,
	struct dpe_copies **left, struct dpe_copies **right)
{
	*left = *right = NULL;
	if (!tree)
		return;
	tree = own(game, tree);
	if (compare(key_of(tree), at) < 0) {
		split(game, tree->right, at, &tree->right, right);
		*left = sum_up(tree);
	} else {
		split(game, tree->left, at, left, &tree->left);
		*right = sum_up(tree);
	}
}

/* All of the one before all of the other; takes over the references. */
static struct dpe_copies *join(
	struct dpe_game *game, struct dpe_copies *left, struct dpe_copies *right)
{
	if (!left || !right)
		return left ? left : right;
	if (is_above(key_of(left), key_of(right))) {
		left = own(game, left);
		left->right = join(game, left->right, right);
		return sum_up(left);
	}
	right = own(game, right);
	right->left = join(game, left, right->left);
	return sum_up(right);
}

static struct dpe_copies *insert(struct dpe_game *game, struct dpe_copies *tree,
	struct node_key key, struct dpe_marking *marking, bool first)
{
	struct dpe_copies *new;
	int order = tree ? compare(key, key_of(tree)) : -1;

	if (tree && (!order || is_above(key_of(tree), key))) {
		tree = own(game, tree);
		if (!order)
			tree->count++;
		else if (order < 0)
			tree->left = insert(game, tree->left, key, marking, first);
		else
			tree->right = insert(game, tree->right, key, marking, first);
		return sum_up(tree);
	}
	new = dpe_pool_take(game->pool, sizeof(*new));
	*new = (struct dpe_copies){
		.refs = 1,
		.count = 1,
		.first = first,
		.waits_for = key.waits_for,
		.marking = dpe_marking_ref(marking),
	};
	split(game, tree, key, &new->left, &new->right);
	return sum_up(new);
}

/* The tree has it. */
static struct dpe_copies *erase(struct dpe_game *game, struct dpe_copies *tree, struct node_key key)
{
	int order = compare(key, key_of(tree));
	struct dpe_copies *rest;

	tree = own(game, tree);
	if (!order && tree->count == 1) {
		rest = join(game, tree->left, tree->right);
		tree->left = tree->right = NULL;
		dpe_copies_unref(game, tree);
		return rest;
	}
	if (!order)
		tree->count--;
	else if (order < 0)
		tree->left = erase(game, tree->left, key);
	else
		tree->right = erase(game, tree->right, key);
	return sum_up(tree);
}

/* ---- what a copy waits for ------------------------------------------------------------------- */

struct waits {
	uint64_t for_[DPE_COPY_WAITS];
	unsigned count; /* DPE_COPY_WAITS + 1: more */
};

static void add_wait(struct waits *waits, uint64_t what)
{
	for (unsigned i = 0; i < waits->count && i < DPE_COPY_WAITS; i++) {
		if (waits->for_[i] == what)
			return;
	}
	if (waits->count < DPE_COPY_WAITS)
		waits->for_[waits->count] = what;
	if (waits->count <= DPE_COPY_WAITS)
		waits->count++;
}

static void add_token(struct waits *waits, const struct dpe_game_token *token)
{
	for (unsigned i = 0; token && i < token->nevents && waits->count <= DPE_COPY_WAITS; i++) {
		const struct dpe_occurrence *event = token->events[i].occurrence;

		add_wait(waits, event ? event->number + DPE_COPY_EVENT : DPE_COPY_MANY);
	}
	if (token && !token->nevents)
		add_wait(waits, DPE_COPY_NOTHING);
}

static void add_marking(struct waits *waits, const struct dpe_marking *marking);

static void add_copies(struct waits *waits, const struct dpe_copies *copies)
{
	if (!copies || waits->count > DPE_COPY_WAITS)
		return;
	add_marking(waits, copies->marking);
	add_copies(waits, copies->left);
	add_copies(waits, copies->right);
}

/* The events of all tokens: an event can follow some of them only. */
static void add_marking(struct waits *waits, const struct dpe_marking *marking)
{
	add_token(waits, marking->key.token);
	if (marking->key.ended && marking->key.ended->nevents)
		add_token(waits, marking->key.ended);
	for (uint64_t i = 0; i < marking->key.nchildren; i++)
		add_marking(waits, marking->key.children[i]);
	add_copies(waits, marking->copies);
}

static struct waits waits_of(const struct dpe_marking *marking)
{
	struct waits waits = {0};

	if (marking->key.place == AFTER)
		return (struct waits){{DPE_COPY_ENDED}, 1};
	add_marking(&waits, marking);
	return waits.count <= DPE_COPY_WAITS ? waits : (struct waits){{DPE_COPY_MANY}, 1};
}

/* ---- what others see --------------------------------------------------------------------- */

struct dpe_copies *dpe_copies_add(
	struct dpe_game *game, struct dpe_copies *copies, struct dpe_marking *marking)
{
	struct waits waits = waits_of(marking);

	for (unsigned i = 0; i < waits.count; i++)
		copies = insert(game, copies,
			(struct node_key){waits.for_[i], marking->serial}, marking, !i);
	return copies;
}

struct dpe_copies *dpe_copies_remove(
	struct dpe_game *game, struct dpe_copies *copies, struct dpe_marking *marking)
{
	struct waits waits = waits_of(marking);

	for (unsigned i = 0; i < waits.count; i++)
		copies = erase(
			game, copies, (struct node_key){waits.for_[i], marking->serial});
	return copies;
}

/* Equal multisets have equal trees, and share most of them. */
bool dpe_copies_same(const struct dpe_copies *a, const struct dpe_copies *b)
{
	if (a == b || !a || !b)
		return a == b;
	return a->hash == b->hash && a->count == b->count && !compare(key_of(a), key_of(b)) &&
	       dpe_copies_same(a->left, b->left) && dpe_copies_same(a->right, b->right);
}

void dpe_copies_list(const struct dpe_copies *copies, struct dpe_copy_list *to)
{
	if (!copies)
		return;
	dpe_copies_list(copies->left, to);
	if (copies->first)
		*DPE_GROW(to->at, to->count, to->cap) = copies;
	dpe_copies_list(copies->right, to);
}

void dpe_copies_find(
	const struct dpe_copies *copies, uint64_t waits_for, struct dpe_copy_list *to)
{
	if (!copies)
		return;
	if (waits_for <= copies->waits_for)
		dpe_copies_find(copies->left, waits_for, to);
	if (waits_for == copies->waits_for)
		*DPE_GROW(to->at, to->count, to->cap) = copies;
	if (waits_for >= copies->waits_for)
		dpe_copies_find(copies->right, waits_for, to);
}
