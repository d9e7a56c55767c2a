/* Variables of all kinds, to be found by name and by address. */
#include <pthread.h>

int counter = 1;
unsigned char flags = 2;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, mutexes[3];
struct {
	pthread_mutex_t lock;
	long balance;
} accounts[2];
struct {
	long first;
	struct {
		char flag;
		short value;
	} inner;
	unsigned bits : 3;
	long last;
} table[3];
int *pointer = &counter;
struct link {
	struct link *next;
	short value;
} * list;
const char *name = "a name";
char tag[8];
void *bytes;
__int128 wide;

int main(void)
{
	return 0;
}
