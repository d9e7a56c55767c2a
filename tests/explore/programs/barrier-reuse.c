/* a hand-made barrier without rounds, used twice */
#include "common.h"

static int arrived;
static UNUSED int round_;

static void meet(void)
{
	lock(&m);
	RIGHT(int mine = round_;)
	if (++arrived == 2) {
		arrived = 0;
		RIGHT(round_++;)
		pthread_cond_broadcast(&c);
	} else {
		WRONG(while (arrived))
		RIGHT(while (mine == round_))
			pthread_cond_wait(&c, &m);
	}
	unlock(&m);
}

static void *work(void *x)
{
	meet();
	meet();
	return x;
}

int main(void)
{
	TOGETHER(work, work);
}
