/* Three threads transfer money: two of them from account 0, the third between accounts that nobody
 * else uses. A transfer has two steps, and both accounts have to be locked around both; the one of
 * the lower number first, lest two transfers wait for each other. bank-transfer-broken.c locks the
 * second step only. */

/* To run it:
 *
 *	dpe run -s accounts.dpe -- ./bank-transfer           nothing found, exit status 0
 *	dpe run -s accounts.dpe -- ./bank-transfer-broken    race: match where a = 0, exit status 1 */

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define ACCOUNTS 5
#define THREADS 3
#define ROUNDS 3
#define AT_FIRST 100

static struct {
	pthread_mutex_t mutex;
	int balance;
} accounts[ACCOUNTS];

static struct way {
	int from, to;
} transfers[THREADS] = {{0, 1}, {0, 2}, {3, 4}};

static void rest(void)
{
	struct timespec while_others_run = {.tv_nsec = 1000000};

	nanosleep(&while_others_run, NULL);
}

static void lock(int account)
{
	pthread_mutex_lock(&accounts[account].mutex);
}

static void unlock(int account)
{
	pthread_mutex_unlock(&accounts[account].mutex);
}

__attribute__((noinline)) void withdraw(int account, int money)
{
	int balance = accounts[account].balance;

	rest(); /* long enough to forget what others withdraw */
	accounts[account].balance = balance - money;
}

__attribute__((noinline)) void deposit(int account, int money)
{
	accounts[account].balance += money;
}

#ifdef BROKEN
static void transfer(int from, int to, int money)
{
	withdraw(from, money);
	lock(to);
	deposit(to, money);
	unlock(to);
}
#else
static void transfer(int from, int to, int money)
{
	int first = from < to ? from : to, second = from + to - first;

	lock(first);
	lock(second);
	withdraw(from, money);
	deposit(to, money);
	unlock(second);
	unlock(first);
}
#endif

static void *work(void *argument)
{
	struct way *way = argument;

	for (int round = 0; round < ROUNDS; round++)
		transfer(way->from, way->to, 10);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int sum = 0;

	for (int i = 0; i < ACCOUNTS; i++) {
		pthread_mutex_init(&accounts[i].mutex, NULL);
		accounts[i].balance = AT_FIRST;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &transfers[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < ACCOUNTS; i++)
		sum += accounts[i].balance;
	printf("%d of %d are left\n", sum, ACCOUNTS * AT_FIRST);
	return 0;
}
