/* a descriptor is used after it was closed and became another's */
#include "common.h"

static int owner_of[1]; /* of each descriptor; 0: it is closed */
static int descriptor;

static void *session(void *x)
{
	int mine;

	lock(&m);
	mine = descriptor;
	WRONG(unlock(&m); lock(&m);)
	assert(mine < 0 || owner_of[mine] == 1);
	unlock(&m);
	return x;
}

static void *closer(void *x)
{
	lock(&m);
	owner_of[descriptor] = 0;
	descriptor = -1;
	unlock(&m);
	lock(&m);
	WRONG(owner_of[0] = 2;) /* it is opened for somebody else, for a moment */
	unlock(&m);
	lock(&m);
	owner_of[0] = 1;
	unlock(&m);
	return x;
}

int main(void)
{
	owner_of[0] = 1;
	TOGETHER(session, closer);
}
