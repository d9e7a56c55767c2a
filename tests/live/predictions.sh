# `predict` on running programs: a race that the order of a lock hid in every run that was observed.
. tests/tap.sh
need_live 'predictions'
compile_target accidents

sed -n '/^sync exclusive mutex/,/^	)$/p; /^sync once thread_create/p; /^sync last thread_join/,/^	)$/p' \
	"$TOP/dpe-lang/std/pthread.dpe" >some_locks.dpe
cat >race.dpe <<'X'
include "some_locks.dpe"
detect happened: put() & get()
predict possible: put() & get()
X
cat >all.dpe <<'X'
include "pthread.dpe"
predict possible: put() & get()
X

found=0
for run in 1 2 3 4 5; do
	run "$DPE" run -s race.dpe -- ./accidents
	grep -q 'possible: predicted match of put()&get()' err && ! grep -q 'happened: match' err && found=$((found + 1))
done
check 'a race hidden by a lock is predicted, and does not happen' $found = 5
check 'the prediction shows another order of the events, in lanes' "$(grep -c '^ *[*|][ *|]*  \(put\|get\) at \(put\|get\) (accidents.c:' err)" = 2
check 'the prediction names the lock section that is left out, and the reason' "$(grep -c 'left out: thread .* (mutex) to$' err) $(
	grep -c 'took that lock after it, and nothing else orders the events' err)" = '1 1'
run "$DPE" run -s race.dpe -- ./accidents guarded
says 'no race is predicted of calls under the lock' 0 'nothing found'
run "$DPE" run -s all.dpe -- ./accidents
says 'no race is predicted if the semaphore is observed' 0 'nothing found'

# ---- forty small programs, some with a race that never happens ----------------------------------
compile_target schedules
cat >schedules.dpe <<'X'
include "pthread.dpe"
detect happened(n): put(n) & get(n) { print(n, "happened"); }
predict foreseen(n): put(n) & get(n) { print(n, "predicted"); }
X
./schedules list >list
check 'schedules: at least 20 programs have a race to be predicted' "$(grep -c ' predicted ' list)" -ge 20
check 'schedules: at least 20 programs have no race to be predicted' "$(grep -c ' \(ordered\|happened\) ' list)" -ge 20

# all_are_right OPTION: each program has the verdict of the list
all_are_right() {
	run "$DPE" run $1 --stack=0 -s schedules.dpe -- ./schedules
	sed -n 's/^[a-z]*: \([0-9]*\) \([a-z]*\)$/\1 \2/p' err | sort -u >got
	sed -n 's/^\([0-9]*\) \(predicted\|happened\) .*/\1 \2/p' list | sort -u | diff - got >difference
}
wrong=0
runs=3
test -z "$DPE_TEST_LONG" || runs=20
for run in $(seq $runs); do
	all_are_right || wrong=$((wrong + 1))
done
check 'schedules: each program has the expected verdict in each run' $wrong = 0 || explain "$(cat difference)"
all_are_right --preload
check 'schedules: each program has the expected verdict with --preload' ! -s difference

# ---- dpe race ------------------------------------------------------------------------------------
run "$DPE" race put,get -- ./accidents hidden
says 'dpe race predicts a hidden race' 1 'predicted_race_put_get: predicted match of put&get' 'not in this order in this run' '1 match'
run "$DPE" race put,get --no-predict -- ./accidents hidden
says 'dpe race --no-predict predicts nothing' 0 'nothing found'
run "$DPE" race put,get -- ./accidents guarded
says 'dpe race predicts nothing of calls under the lock' 0 'nothing found'
run "$DPE" race getgid,getuid -- ./accidents guarded
says 'dpe race of functions that are never called is inconclusive' 3 'getgid was never observed' 'nothing was observed for a rule'
run "$DPE" race put,get getgid,getuid -- ./accidents guarded
says 'dpe race of a called and an uncalled pair is inconclusive' 3 'race_getgid_getuid: getgid was never observed' 'nothing was observed for a rule'
run "$DPE" race --allow-unobserved getgid,getuid -- ./accidents guarded
says 'dpe race --allow-unobserved accepts functions that are never called' 0 'nothing found'
# In the first round a lock orders the calls by accident, in the second nothing does.
cat >rounds.c <<'X'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int total, parts, second;
__attribute__((noipa)) void put(int n) { total += n; }
__attribute__((noipa)) void get(int n) { total -= n; }
static void *work(void *unused)
{
	for (int i = 0; i < 2; i++) {
		while (i && !second)
			;
		put(10);
		pthread_mutex_lock(&lock);
		parts++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}
int main(void)
{
	pthread_t thread;
	int seen;
	pthread_create(&thread, NULL, work, NULL);
	do {
		pthread_mutex_lock(&lock);
		seen = parts;
		pthread_mutex_unlock(&lock);
	} while (!seen);
	get(1);
	second = 1;
	return pthread_join(thread, NULL);
}
X
gcc -g -O1 -pthread rounds.c -o rounds || not_ok 'compiling rounds.c'
run "$DPE" race put,get -- ./rounds
says 'a race that was predicted before it happened is one finding, printed again' 1 '#1 predicted_race_put_get: predicted match' \
	'#1 race_put_get: match' 'it was predicted above, and happened in this run' '#1 was seen 1 time, and 1 more predicted at the same places'
check 'a race that was predicted before it happened has no second number' "$(grep -c '^#2' err)" = 0
for word in 'put(,get' 'put),get' 'put[1],(,get' '"put,get'; do
	run "$DPE" race "$word" -- ./accidents guarded
	says "a word with an unmatched bracket or quote is refused, and shown: $word" 2 "$word"
	check "an unmatched bracket or quote is reported once: $word" "$(grep -c 'error:' err)" = 1
done
run "$DPE" deadlock -e 'expect never: (getgid ; getuid)*' -- ./accidents guarded
says 'an expect rule that is satisfied without an event is inconclusive' 3 'never: getgid was never observed' 'nothing was observed for a rule'

# ---- all memory, of a program that was compiled to report it -----------------------------------
gcc -g -O1 -fsanitize=thread -c "$TOP/tests/live/targets/hidden.c" -o hidden.o &&
	gcc hidden.o -o hidden -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building hidden'
# in_most WAY STATUS TEXT: all runs but one have the status and TEXT
many=4
test -z "$DPE_TEST_LONG" || many=10
in_most() {
	count=0
	for i in $(seq $many); do
		run "$DPE" race -- ./hidden $1
		test "$status" = $2 && grep -q "$3" err && count=$((count + 1))
	done
	check "memory, $1: $count of $many runs have the expected verdict" $count -ge $((many - 1))
}
in_most hidden 1 'predicted data race on shared: write of 4 bytes.*predicted_race4,'
says 'memory, hidden: the prediction has the variable and both places' 1 'mem::write(shared, 4)' 'at put+' 'by first+' 'by second+' 'not in this order in this run'
in_most both 1 '#1 was seen 1 time, and 1 more predicted at the same places'
check 'memory, both: what was predicted at the places of a race is no finding of its own' "$(grep -c '^#' err)" = 2
in_most freed 1 'predicted use after free on 0x[0-9a-f]*: free by thread [0-9]*, not ordered with write of 4 bytes by thread.*predicted_race8,'
says 'memory, freed: the prediction has mem::free and mem::write' 1 'predicted use after free on 0x' 'mem::free(' 'mem::write('
in_most guarded 0 'nothing found'
in_most data 0 'nothing found'
in_most swapped 1 'predicted use after free on 0x[0-9a-f]*: free by thread [0-9]*, not ordered with write of 4 bytes by thread.*predicted_race8,'
says 'memory, swapped: the prediction tells that locks are taken in another order' 1 'in that run, locks are taken in another order' '(mutex) by thread'
# --heap
for way in freed twice; do
	test $way = freed && what='use after free' || what='double free'
	run "$DPE" race --heap -- ./hidden $way
	says "--heap predicts a $what" 1 "predicted $what on 0x" 'free by thread' 'predicted_heap' 'certain in another run with the same input' \
		'nothing else orders the events' ' match'
	run "$DPE" race --heap --no-predict -- ./hidden $way
	says "--heap --no-predict: no $what happened" 0 'nothing found'
done
for way in hidden guards-free; do
	run "$DPE" race --heap -- ./hidden $way
	says "--heap predicts nothing for $way" 0 'nothing found'
done
# Cycles in the order of locks, where all data is observed.
run "$DPE" race -s deadlock.dpe -- ./hidden inverted
says 'a lock cycle, all data observed, is certain in another run' 1 '#1 potential deadlock of 2 threads' 'certain in another run with the same input' '1 potential deadlock'
run "$DPE" race -s deadlock.dpe -- ./hidden raced
says 'a lock cycle beside a data race is only possible in another run' 1 'data race on shared' \
	'possible in another run, unless unobserved data prevents it' '1 potential deadlock'
run "$DPE" race -s deadlock.dpe -- ./hidden published
says 'a lock cycle that an atomic variable forbids is not reported' 0 'nothing found'
run "$DPE" race --heap put,get -- ./hidden hidden
says '--heap with a variable or function is refused' 2 'takes no variable or function'
run "$DPE" race --no-predict -- ./hidden hidden
says 'dpe race --no-predict finds no race' 0 'nothing found'
finish
