/* use after free: a node is popped from a lock-free stack while another thread reads it */
#include "common.h"

struct node {
	struct node *next;
};

static struct node *_Atomic top;

static void push(void)
{
	struct node *made = malloc(sizeof(*made)), *old = top;

	do
		made->next = old;
	while (!atomic_compare_exchange_strong(&top, &old, made));
}

static void pop(void)
{
	RIGHT(lock(&m);)
	struct node *old = top;

	while (old && !atomic_compare_exchange_strong(&top, &old, old->next))
		continue;
	free(old);
	RIGHT(unlock(&m);)
}

static void *work(void *x)
{
	push();
	pop();
	return x;
}

int main(void)
{
	TOGETHER(work, work);
}
