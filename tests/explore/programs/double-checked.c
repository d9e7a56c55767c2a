/* double-checked locking: the object is seen before its members */
#include "common.h"

struct object {
	int value;
};

static struct object *_Atomic instance;

static struct object *get(void)
{
	if (!instance) {
		lock(&m);
		if (!instance) {
			struct object *made = calloc(1, sizeof(*made));

			WRONG(instance = made;)
			made->value = 7;
			RIGHT(instance = made;)
		}
		unlock(&m);
	}
	return instance;
}

static void *use(void *x)
{
	assert(get()->value == 7);
	return x;
}

int main(void)
{
	TOGETHER(use, use);
}
