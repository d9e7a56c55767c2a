/* Fischer's lock without its delay */
#include "common.h"

static atomic_int owner, inside;

static bool try(int me)
{
	int nobody = 0;

	while (owner)
		continue;
	WRONG(owner = me; (void)nobody; return owner == me;)
	RIGHT(return atomic_compare_exchange_strong(&owner, &nobody, me);)
}

static void *work(void *number)
{
	while (!try((int)(long)number + 1))
		continue;
	assert(++inside == 1);
	inside--;
	owner = 0;
	return NULL;
}

int main(void)
{
	TOGETHER(work, work);
}
