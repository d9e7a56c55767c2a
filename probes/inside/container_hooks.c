/* container_hooks: what functions of libstdc++ do to the nodes of std::list, std::map and std::set, which its headers leave to
 * the library. What a rebalanced tree changes further up is not reported. Source: libstdc++, list.cc and tree.cc. */
#include "probes/inside/string_hooks.h"

#include <stddef.h>

struct list_node {
	struct list_node *next, *previous;
};

/* The header of a tree has the root as its parent, and the first and last node as its children. */
struct tree_node {
	uint32_t colour; /* 0: red */
	struct tree_node *parent, *left, *right;
};

#define READ(field) READS(&(field), sizeof(field))
#define WRITE(field) WRITES(&(field), sizeof(field))
/* Read where it leads to the node that is changed: otherwise a prediction would not know that this depends on it. */
#define CHANGE(field)                                                                              \
	do {                                                                                       \
		READ(field);                                                                       \
		WRITE(field);                                                                      \
	} while (0)

/* Their names in C. */
#define LIST_HOOK _ZNSt8__detail15_List_node_base7_M_hookEPS0_
#define LIST_UNHOOK _ZNSt8__detail15_List_node_base9_M_unhookEv
#define LIST_TRANSFER _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_
#define TREE_INSERT _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_
#define TREE_ERASE _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_
#define TREE_NEXT _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base
#define TREE_NEXT_CONST _ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base
#define TREE_PREVIOUS _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base
#define TREE_PREVIOUS_CONST _ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base
#define FIND(name) REAL(name)

void LIST_HOOK(struct list_node *node, struct list_node *position);
void LIST_UNHOOK(struct list_node *node);
void LIST_TRANSFER(struct list_node *position, struct list_node *first, struct list_node *last);
void TREE_INSERT(bool left, struct tree_node *node, struct tree_node *parent, struct tree_node *header);
struct tree_node *TREE_ERASE(struct tree_node *node, struct tree_node *header);
struct tree_node *TREE_NEXT(struct tree_node *node);
struct tree_node *TREE_NEXT_CONST(struct tree_node *node);
struct tree_node *TREE_PREVIOUS(struct tree_node *node);
struct tree_node *TREE_PREVIOUS_CONST(struct tree_node *node);

/* ---- lists ------------------------------------------------------------------------------- */

HOOK void LIST_HOOK(struct list_node *node, struct list_node *position)
{
	WRITE(*node);
	CHANGE(position->previous);
	WRITE(position->previous->next);
	FIND(LIST_HOOK)(node, position);
}

HOOK void LIST_UNHOOK(struct list_node *node)
{
	READ(*node);
	WRITE(node->next->previous);
	WRITE(node->previous->next);
	FIND(LIST_UNHOOK)(node);
}

HOOK void LIST_TRANSFER(struct list_node *position, struct list_node *first, struct list_node *last)
{
	if (position != last) {
		CHANGE(position->previous);
		CHANGE(last->previous);
		CHANGE(first->previous);
		WRITE(last->previous->next);
		WRITE(first->previous->next);
		WRITE(position->previous->next);
	}
	FIND(LIST_TRANSFER)(position, first, last);
}

/* ---- trees ------------------------------------------------------------------------------- */

HOOK void TREE_INSERT(bool left, struct tree_node *node, struct tree_node *parent, struct tree_node *header)
{
	WRITE(*node);
	if (left)
		WRITE(parent->left);
	else
		WRITE(parent->right);
	if (parent == header)
		WRITE(header->parent);
	if (parent == header || (!left && parent == header->right))
		CHANGE(header->right);
	else if (left && parent == header->left)
		CHANGE(header->left);
	FIND(TREE_INSERT)(left, node, parent, header);
}

HOOK struct tree_node *TREE_ERASE(struct tree_node *node, struct tree_node *header)
{
	READ(*node);
	if (header->parent == node)
		CHANGE(header->parent);
	else if (node->parent->left == node)
		WRITE(node->parent->left);
	else
		WRITE(node->parent->right);
	if (header->left == node)
		CHANGE(header->left);
	if (header->right == node)
		CHANGE(header->right);
	return FIND(TREE_ERASE)(node, header);
}

#define CHILD(of, offset) (*(struct tree_node *const *)((const char *)(of) + (offset)))
#define READ_CHILD(of, offset)                                                                     \
	dpe_memory_access(DPE_PRELOAD_READ, (uint64_t)(of) + (offset), sizeof(struct tree_node *), place)

/* The path down, or else up, to the neighbour. Back from the end it is one step. */
static void read_path(const struct tree_node *node, size_t towards, size_t back, struct dpe_memory_place place)
{
	const struct tree_node *at = node, *next;

	if (!node->colour && node->parent && node->parent->parent == node) {
		READ_CHILD(node, offsetof(struct tree_node, right));
		return;
	}
	READ_CHILD(at, towards);
	if (CHILD(at, towards)) {
		for (at = CHILD(at, towards); at; at = CHILD(at, back))
			READ_CHILD(at, back);
		return;
	}
	for (;;) {
		next = at->parent;
		READ_CHILD(at, offsetof(struct tree_node, parent));
		READ_CHILD(next, towards);
		if (CHILD(next, towards) != at)
			return;
		at = next;
	}
}

#define NEIGHBOUR(name, towards, back)                                                             \
	HOOK struct tree_node *name(struct tree_node *node)                                        \
	{                                                                                          \
		if (dpe_memory_is_wanted(DPE_PRELOAD_READ))                                        \
			read_path(node, offsetof(struct tree_node, towards),                        \
				offsetof(struct tree_node, back), DPE_MEMORY_HERE);                \
		return FIND(name)(node);                                                           \
	}
NEIGHBOUR(TREE_NEXT, right, left)
NEIGHBOUR(TREE_NEXT_CONST, right, left)
NEIGHBOUR(TREE_PREVIOUS, left, right)
NEIGHBOUR(TREE_PREVIOUS_CONST, left, right)
