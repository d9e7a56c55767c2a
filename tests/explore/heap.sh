# Uses of freed memory are found in every order that leads to them; correct programs have no finding.
. tests/tap.sh

${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/heap.c" -o heap || not_ok "compiling heap.c"
run "$DPE" explore --runs=5 --fails=1-255 -- ./heap
says "a correct program that allocates and frees has no finding" 0 "nothing found"

cat >deleted.cc <<'END'
#include <thread>
struct session { int users = 0; };
static session *shared = new session;
int main()
{
	std::thread other([] { delete shared; });
	shared->users++;
	other.join();
}
END
${CXX:-c++} -g -O1 -fsanitize=thread -c deleted.cc -o deleted.o &&
	${CXX:-c++} deleted.o -o deleted -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling deleted.cc"

# Every strategy that can explore all schedules tries both orders.
for strategy in dfs dfs-full delay portfolio; do
	run "$DPE" explore --strategy=$strategy --runs=1000 -- ./deleted
	says "$strategy finds the use of a deleted object" 1 ": use of freed memory " " at main+" "deleted.cc:7)" "thread 2 freed it at " "deleted.cc:6)"
	run "$DPE" explore --strategy=$strategy --runs=1000 -- "$BUILD/explored/use-after-teardown"
	says "$strategy finds the use of freed memory in use-after-teardown" 1 ": use of freed memory " "freed it at tear_down"
	run "$DPE" explore --strategy=$strategy --runs=1000 -- "$BUILD/explored/freed-twice"
	says "$strategy finds memory freed twice" 1 ": memory freed twice " "free of " " at leave" "freed it at leave"
	run "$DPE" explore --strategy=$strategy --runs=1000 -- "$BUILD/explored/freed-lock"
	says "$strategy finds the use of a freed lock" 1 ": use of freed memory " "by use+" "freed it at end"
done
for program in use-after-teardown freed-twice freed-lock; do
	run "$DPE" explore --strategy=dfs -- "$BUILD/explored/$program-fixed"
	says "$program-fixed: all behaviours are explored without finding" 0 "behaviours explored"
done


# Not compiled to report its accesses: a write to freed memory is found by what it changed, a read by what it reads.
cat >unseen.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct session { struct session *next; int users[6]; };
static struct session *shared;
static void *volatile block;
static void *blocks[100];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, *mutex;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static void meet(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
static struct session *borrow(void)
{
	pthread_mutex_lock(&m);
	struct session *mine = shared;
	pthread_mutex_unlock(&m);
	return mine;
}
static struct session *take(void)
{
	pthread_mutex_lock(&m);
	struct session *mine = shared;
	shared = NULL;
	pthread_mutex_unlock(&m);
	return mine;
}
static void *drop(void *x) { free(take()); meet(); return x; }
static void *drop_many(void *x)
{
	free(take());
	for (int i = 0; i < 100; i++)
		free(blocks[i]);
	meet();
	return x;
}
static void *drop_mutex(void *x)
{
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	free(mutex);
	return x;
}
static void *writes(void *x)
{
	struct session *mine = borrow();
	if (mine) mine->users[2] = 1;
	meet();
	return x;
}
static void *reads(void *x)
{
	struct session *mine = borrow();
	if (mine && mine->next) mine->next->users[0] = 1;
	return x;
}
static void *waits(void *x)
{
	pthread_mutex_lock(mutex);
	while (!ready) pthread_cond_wait(&c, mutex);
	pthread_mutex_unlock(mutex);
	return x;
}
static void *writes_far(void *x)
{
	char *mine = (char *)borrow();
	if (mine) mine[900000] = 1;
	meet();
	return x;
}
static void together(void *a(void *), void *b(void *))
{
	pthread_t threads[2];
	pthread_create(&threads[0], NULL, a, NULL);
	pthread_create(&threads[1], NULL, b, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}
int main(int argc, char **argv)
{
	(void)argc;
	shared = calloc(1, sizeof *shared);
	for (int i = 0; i < 100; i++)
		blocks[i] = malloc(100);
	if (!strcmp(argv[1], "write")) together(writes, drop);
	if (!strcmp(argv[1], "read")) together(reads, drop);
	if (!strcmp(argv[1], "late")) together(writes, drop_many);
	if (!strcmp(argv[1], "large")) {
		block = malloc(1000000);
		free(block); /* from here on malloc maps no block of this size */
		shared = malloc(1000000);
		together(writes_far, drop);
	}
	if (!strcmp(argv[1], "wait")) {
		mutex = calloc(1, sizeof *mutex);
		together(waits, drop_mutex);
	}
	return 0;
}
END
${CC:-cc} -g -O1 -pthread unseen.c -o unseen || not_ok "compiling unseen.c"
run "$DPE" explore --fails=1-255 -- ./unseen write
says "a write to freed memory is found" 1 ": write to freed memory " "wrote there before its pthread_mutex_lock of 'm' at meet" "thread 3 freed it at drop+"
check "its thread is known" -z "$(grep 'or another' err)"
check "it is found in each replay" 5 = "$(for i in 1 2 3 4 5; do "$DPE" explore --replay=found.schedule -- ./unseen write 2>&1; done | grep -c "found.schedule: write to freed memory")"
run "$DPE" explore --fails=1-255 -- ./unseen read
says "a pointer that is read from freed memory leads nowhere" 1 ": death by signal 11 "
run "$DPE" explore --fails=1-255 -- ./unseen late
says "a write is found at the end at the latest" 1 ": write to freed memory " "or another wrote there before its" "freed it at drop_many+"
run "$DPE" explore --fails=1-255 -- ./unseen large
says "a write to a large block that malloc did not map is found" 1 ": write to freed memory " "freed it at drop+"
run "$DPE" explore --fails=1-255 -- ./unseen wait
says "a wait for a condition that ends with a freed mutex is found" 1 ": use of freed memory " "freed it at drop_mutex+"

run "$DPE" explore --format=json -- "$BUILD/explored/use-after-teardown"
cat >free.py <<'X'
import json, sys
for line in sys.stdin:
	for place in json.loads(line).get("places", []):
		if place["operation"] == "free" and "tear_down" in place["place"]:
			print(place["place"])
X
check "the JSON report has the place of the free" -n "$(python3 free.py <out)"
finish
