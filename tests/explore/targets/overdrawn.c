/* Two threads see that there is enough, and take it: no call of the C library is near. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int balance = 10;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int locks;
static volatile int handled;

__attribute__((noinline)) void record(int left)
{
	__asm__ volatile("" : : "r"(left));
}

__attribute__((noinline)) void debit(int amount)
{
	balance -= amount;
	record(balance);
}

__attribute__((noinline)) int look(void)
{
	return balance;
}

static void *look_and_withdraw(void *with)
{
	if (look() >= 10) {
		balance -= 10;
		record(balance);
	}
	return with;
}

static void *withdraw(void *with)
{
	if (locks)
		pthread_mutex_lock(&lock);
	if (balance >= 10)
		debit(10);
	if (locks)
		pthread_mutex_unlock(&lock);
	return with;
}

static void count(int number)
{
	(void)number;
	handled++;
}

/* Who blocks the signal finds none that it did not send. */
static void *withdraw_blocking(void *with)
{
	sigset_t urgent, pending;

	sigemptyset(&urgent);
	sigaddset(&urgent, SIGURG);
	pthread_sigmask(SIG_BLOCK, &urgent, NULL);
	withdraw(NULL);
	sigpending(&pending);
	return sigismember(&pending, SIGURG) ? with : NULL;
}

static int run_blocking(void)
{
	pthread_t threads[2];
	void *found, *any = NULL;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, withdraw_blocking, &balance);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], &found);
		any = found ? found : any;
	}
	return any ? 4 : 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc > 1 && argv[1][0] == 'b')
		return run_blocking();
	if (argc > 1 && argv[1][0] == 'e') {
		withdraw(NULL);
		return execl("/proc/self/exe", "overdrawn", "locked", NULL);
	}
	locks = argc > 1;
	signal(SIGURG, count);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, locks && argv[1][0] == 'r' ? look_and_withdraw : withdraw, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (handled)
		return 2;
	kill(getpid(), SIGURG);
	return handled == 1 ? 0 : 3;
}
