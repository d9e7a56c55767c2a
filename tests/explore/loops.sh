# A thread that polls in a loop counts as waiting: every behaviour ends, also one with a wait that nothing ends.
. tests/tap.sh

${CC:-cc} -g -O1 -fsanitize=thread -c "$TOP/tests/explore/targets/loops.c" -o loops.o &&
	${CC:-cc} loops.o -o loops -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling loops.c"
${CC:-cc} -g -O0 "$TOP/tests/explore/targets/loops.c" -o calls -pthread || not_ok "compiling loops.c by itself"

# alike HOW END...: all runs end, and reach exactly these ends, with reduction and without
alike() {
	how=$1
	shift
	for strategy in ${strategies:-dfs dfs-full}; do
		run "$DPE" explore --strategy=$strategy --runs=20000 --keep-going --fails=0-255 -- ./${program:-loops} "$how"
		sed -n 's/^explore: run .*: \(exit status [0-9]*\|deadlock\|hang\).*/\1/p' err | sort -u >ends
		says "$how: $strategy explores everything" 1 "explore: all"
		check "$how: $strategy reaches all expected ends and no others" "$(cat ends)" = "$(printf '%s\n' "$@" | sort -u)"
	done
}

alike spin "exit status 0"
alike "spin for two" "exit status 0"
alike yield "exit status 0"
alike compare "exit status 2"
alike count "exit status 0" "exit status 1" "exit status 2" "exit status 3"
alike "give up" "exit status 0" "exit status 1"
strategies=dfs
alike exchange "exit status 2"
alike try "exit status 2"
alike "with locks" "exit status 0"
alike reversed deadlock "exit status 0"
program=calls
alike try "exit status 2"

run "$DPE" explore --runs=20 -- ./loops never
says "a wait that nothing ends is a hang" 1 "hang (2 threads)" "thread 2 loops without end at atomic_load of 'flag'" \
	"thread 1 waits in pthread_join of thread 2"
run "$DPE" explore --replay=found.schedule -- ./loops never
says "the replay of a hang reports the hang" 1 "replay of found.schedule: hang (2 threads)"
run "$DPE" explore --runs=20 -- ./loops 'never, yielding'
says "endless loops of all threads that yield are a hang" 1 "hang (2 threads)" "thread 1 loops without end at read of 'plain'" \
	"thread 2 loops without end at read of 'plain'"
run "$DPE" explore --runs=2 --max-steps=20000 -- ./calls 'never, yielding'
says "endless loops without reported accesses: -fsanitize=thread is recommended" 3 "2 runs had too many operations" \
	"2 runs of these ended with all threads in sched_yield" "compile with -fsanitize=thread"
run "$DPE" explore --runs=2 --max-steps=20000 -- ./loops ask
says "an endless loop that asks the kernel is no hang" 3 "too many operations and ended early" "nothing found"

# a wait that times out again and again does not keep another thread from waking up
for strategy in random pct:3 pos surw places rounds portfolio; do
	run "$DPE" explore --strategy=$strategy --runs=100 --max-steps=20000 -- ./calls timed
	says "$strategy: a sleeping thread wakes up although a wait times out again and again" 0 "nothing found"
done

# A thread that works in a loop lets another one have its lock.
for program in loops calls; do
	run "$DPE" explore --runs=20 --max-steps=200000 -- ./$program work
	says "$program: a thread gets a lock that another thread takes in a loop" 0 "nothing found"
done

# Runs can always be longer: the schedules within a strategy's bounds are not all schedules.
run "$DPE" explore --strategy=delay --runs=300 -- ./loops late
says "delay says that its bounds leave schedules out" 3 "nothing found" \
	"not all schedules were explored: there are too many, or too long ones"
run "$DPE" explore --runs=400 -- ./calls late
says "the portfolio continues with its other strategies" 0 "400 runs, portfolio, seed 1: nothing found"
check "the portfolio does not say that all schedules were explored" -z "$(grep 'all .* explored' err)"

# programs with more behaviours than the requested runs
run "$DPE" explore --strategy=dfs --runs=3 -- ./loops compare
says "dfs says that --runs ended it before all behaviours were explored" 0 "not all behaviours were explored: --runs=3 ended it"

# A thread that yields until another one has proceeded, in a program that does not report what it looks at.
cat >ticket.c <<'END'
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned next, now;
static int rounds;
static void *use(void *x)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&m);
		unsigned mine = next++;
		pthread_mutex_unlock(&m);
		while (now != mine) sched_yield();
		now++;
	}
	return x;
}
int main(int argc, char **argv)
{
	pthread_t threads[8];
	int count = argc > 2 ? atoi(argv[1]) : 0;
	rounds = argc > 2 ? atoi(argv[2]) : 0;
	for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, use, NULL);
	for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}
END
${CC:-cc} -g -O1 -pthread ticket.c -o ticket || not_ok "compiling ticket.c"
run "$DPE" explore --runs=300 -- ./ticket 3 2
says "threads that yield until others have proceeded are no endless run" 0 "nothing found"
run "$DPE" explore --strategy=dfs --runs=10000 -- ./ticket 2 1
check "dfs ends, and does not claim all behaviours" "$status $(grep -c 'left with threads that only yield' err) $(grep -c 'behaviours explored' err)" = "3 1 0"
finish
