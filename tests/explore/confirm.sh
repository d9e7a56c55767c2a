# Predictions that a run confirms, and predictions that no run confirms.
. tests/tap.sh
need_live 'following rules in explored runs'

explored=$BUILD/explored
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/predicted.c" -o predicted || not_ok "compiling predicted.c"
printf 'include "pthread.dpe"\npredict race: put() & get()\n' >race.dpe

run "$DPE" explore --confirm -- ./predicted race
says "--confirm without rules is refused" 2 "--confirm needs rules that predict"
run "$DPE" explore --confirm -e 'detect r: put() & get()' -- ./predicted race
says "--confirm with only a detect rule is refused, and predict is suggested" 2 "--confirm needs rules that predict: \`predict\` instead of \`detect\`"
check "--confirm with only a detect rule makes no run" -z "$(grep 'predictions confirmed' err)"
run "$DPE" explore --confirm --replay=x -s race.dpe -- ./predicted race
says "--confirm with --replay is refused" 2 "--confirm cannot be combined with --replay"

# confirmed NAME PREDICTED FINDING SPEC PROGRAM...: the first steered run confirms it, and the replay has the finding too
confirmed() {
	name=$1 predicted=$2 finding=$3 spec=$4
	shift 4
	run "$DPE" explore --confirm --runs=10 -s "$spec" -- "$@"
	says "$name is confirmed by the first steered run" 1 "explore: confirmed: $predicted" "run 1 of 10: $finding" "1 of 1 predictions confirmed"
	run "$DPE" explore --replay=found.schedule -s "$spec" -- "$@"
	says "$name: the replay has the same finding" 1 "replay of found.schedule: $finding"
}

confirmed "a race behind lock sections" "race: predicted match of get at race_second (" "race: match" race.dpe ./predicted race
confirmed "a race in one of many lock sections" "race: predicted match of get at pairs_second (" "race: match" race.dpe ./predicted pairs
printf 'include "pthread.dpe"\npredict early: get() ; put()\n' >early.dpe
confirmed "an order violation with lock sections swapped" "early: predicted match of get at swapped_second (" "early: match" early.dpe \
	./predicted swapped
confirmed "a deadlock of two locks" "mutexes: potential deadlock of 2 threads" "deadlock (2 threads)" deadlock.dpe "$explored/ab-ba"
check "a deadlock of two locks: each wait names its function, not an address" "$(grep -c ' waits in pthread_mutex_lock of .*, which thread' err) $(grep -c ' waits in .* at 0x' err)" = '2 0'

run "$DPE" explore --confirm --runs=7 -s race.dpe -- ./predicted guarded
says "a predicted race that the program's data forbids is not reached" 3 "race: predicted match of get at guarded_second (" ": not reached in 7 runs" "nothing found"
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/taken_before.c" -o taken_before || not_ok "compiling taken_before.c"
run "$DPE" explore --confirm --runs=60 -s deadlock.dpe -- ./taken_before
says "a deadlock whose second thread first takes the lock that the first one holds is confirmed" 1 "run 2 of 60" "1 of 1 predictions confirmed"
run "$DPE" explore --confirm --runs=7 -s deadlock.dpe -- ./predicted gated
says "a predicted deadlock that never occurs is not reached" 3 "mutexes: potential deadlock of 2 threads: not reached in 7 runs"
run "$DPE" explore --confirm --runs=7 -s deadlock.dpe -- ./predicted mixed
says "a deadlock confirms only the prediction of its own locks" 1 "mutexes: potential deadlock of 2 threads: not reached in 7 runs" \
	"deadlock (2 threads)" "1 of 2 predictions confirmed"
run "$DPE" explore --confirm --runs=7 -s race.dpe --fails=0 -- ./predicted race
says "a finding in an observed run ends --confirm before predictions are tried" 1 "exit status 0" "an observed run had a finding: predictions were not tried"

# ---- predictions of another run ----
# In order: otherwise what is predicted may happen, if the second thread is faster.
"$DPE" run --format=json -s race.dpe -- ./predicted race ordered >race.json 2>err
"$DPE" run --format=json -s deadlock.dpe -- ./predicted deep ordered >deadlock.json 2>err
run "$DPE" explore --confirm=race.json --runs=7 -s race.dpe -- ./predicted race
says "--confirm=FILE confirms a race predicted without the scheduler" 1 "confirmed: race: predicted match of " "run 1 of 7: race: match" \
	"1 of 1 predictions confirmed"
# pthread_create takes a lock of the dynamic linker, which explored runs do not observe.
python3 -c 'import json, sys
witness = json.loads(sys.stdin.readline())
main = witness["messages"][0]["process"]
witness["schedule"][:0] = [[main, "%d:4" % main], [main, "%d:7" % main]]
witness["schedule_events"][:0] = ["pthread_mutex_unlock.enter", "pthread_mutex_lock.exit"]
print(json.dumps(witness))' <race.json >linker.json
run "$DPE" explore --confirm=linker.json --runs=7 -s race.dpe -- ./predicted race
says "--confirm=FILE leaves out locks of the dynamic linker" 1 "run 1 of 7: race: match" "1 of 1 predictions confirmed"
# wrap_ids FIRST <REPORT: the report with threads numbered from FIRST, by a kernel whose ids wrap around after 32767
wrap_ids() {
	python3 -c 'import re, sys
text = sys.stdin.read()
main = int(re.search(r"\"process\":(\d+)", text)[1])
ids = sorted(set(map(int, re.findall(r"\"(\d+):\d+\"", text))), key=lambda thread: (thread < main, thread))
new = {str(old): str(new if new < 32768 else new - 32468) for new, old in enumerate(ids, int(sys.argv[1]))}
print(re.sub(r"\b\d+\b", lambda number: new.get(number[0], number[0]), text), end="")' "$1"
}

for first in 32767 32766; do
	wrap_ids $first <race.json >wrapped.json
	run "$DPE" explore --confirm=wrapped.json --runs=7 -s race.dpe -- ./predicted race
	says "--confirm=FILE handles thread ids that wrap around, numbered from $first" 1 "1 of 1 predictions confirmed"
done
run "$DPE" explore --confirm=deadlock.json --runs=7 -s deadlock.dpe -- ./predicted deep
says "--confirm=FILE confirms a potential deadlock predicted without the scheduler" 1 "confirmed: mutexes: potential deadlock of 2 threads, line " "run 1 of 7: deadlock (2 threads)"
run "$DPE" explore --confirm=race.json --runs=12 -s race.dpe --allow-unobserved -- ./predicted none
says "--confirm=FILE does not try predictions whose events the program does not have" 3 "not tried, as no observed run has its events" "0 of 1 predictions confirmed"
run "$DPE" explore --confirm=race.json -e 'predict other: put() & get()' -- ./predicted race
says "--confirm=FILE with a prediction of an absent rule is refused" 2 "race.json: error: line 1: there is no rule 'race'"
tail -1 race.json >none.json
run "$DPE" explore --confirm=none.json -s race.dpe -- ./predicted race
says "--confirm=FILE without predictions is refused" 2 "has no match or deadlock of these rules, predicted or not"
echo '{' >bad.json
run "$DPE" explore --confirm=bad.json -s race.dpe -- ./predicted race
says "--confirm=FILE that is not JSON is refused" 2 "line 1 is not JSON"
sed 's/"schedule_events":/"x":/' race.json >old.json
run "$DPE" explore --confirm=old.json -s race.dpe -- ./predicted race
says "--confirm=FILE without schedule_events is refused" 2 "line 1 is not a prediction of a program that ran"
run "$DPE" explore --confirm=absent.json -s race.dpe -- ./predicted race
says "--confirm with an absent file is refused" 2 "absent.json: error: No such file"

# ---- matches and deadlocks that happened ----
cat >happened.c <<'END'
#include <pthread.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static volatile int meet, passed, has_m, has_n;
__attribute__((noinline)) void put(void) { __asm__(""); }
__attribute__((noinline)) void get(void) { __asm__(""); }
static void section(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
/* What makes them meet is not seen. */
static void await(volatile int *flag) { while (meet && !*flag) ; }
static void *puts_first(void *x) { await(&passed); put(); section(); put(); return x; }
static void *gets_last(void *x) { section(); passed = 1; get(); get(); return x; }
static void lock_both(pthread_mutex_t *a, volatile int *mine, pthread_mutex_t *b, volatile int *other)
{
	pthread_mutex_lock(a);
	*mine = 1;
	await(other);
	pthread_mutex_lock(b);
	pthread_mutex_unlock(b);
	pthread_mutex_unlock(a);
}
static void *m_first(void *x) { lock_both(&m, &has_m, &n, &has_n); return x; }
static void *n_first(void *x) { lock_both(&n, &has_n, &m, &has_m); return x; }
int main(int argc, char **argv)
{
	pthread_t threads[2];
	int locks = !strcmp(argv[1], "locks");
	meet = argc > 2;
	pthread_create(&threads[0], NULL, locks ? m_first : puts_first, NULL);
	pthread_create(&threads[1], NULL, locks ? n_first : gets_last, NULL);
	if (meet && locks) /* until the test has seen the deadlock */
		_exit(read(0, argv[1], 1) != 0);
	for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
END
${CC:-cc} -g -O1 -pthread happened.c -o happened || not_ok "compiling happened.c"
printf 'include "pthread.dpe"\ndetect race: put() & get()\ndetect other: put() ; put()\n' >met.dpe
"$DPE" run --format=json -s met.dpe -- ./happened race meet >met.json 2>err
printf 'include "pthread.dpe"\ndetect race: put() & get()\n' >one.dpe
run "$DPE" explore --confirm=met.json --runs=7 -s one.dpe -- ./happened race
says "a match that happened is confirmed" 1 "explore: confirmed: race: match of put.enter, get.enter, line " "run 1 of 7: race: match"
lacks=$(grep -c 'other' err)
check "a match that happened of a rule that is not followed is left out" "$lacks" = 0
run "$DPE" explore --replay=found.schedule -s one.dpe -- ./happened race
says "the schedule of a match that happened leads there" 1 "replay of found.schedule: race: match"
sed -n '/"rule":"race"/p' met.json >race-met.json
cat race-met.json race-met.json >twice.json
run "$DPE" explore --confirm=race-met.json --runs=7 --keep-going -s one.dpe -- ./happened race
once=$(sed -n 's/^explore: .* of \(.*\) predictions confirmed/\1/p' err)
run "$DPE" explore --confirm=twice.json --runs=7 --keep-going -s one.dpe -- ./happened race
check "a match that happened twice is confirmed once" "$once" -gt 0 -a "$once" = "$(sed -n 's/^explore: .* of \(.*\) predictions confirmed/\1/p' err)"
mkfifo seen
"$DPE" deadlock --format=json --report=dead.json -- ./happened locks meet <seen 2>dead.err &
exec 3>seen
until grep -q '"kind":"deadlock"' dead.json 2>/dev/null || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
exec 3>&-
wait $!
run "$DPE" explore --confirm=dead.json --runs=7 -s deadlock.dpe -- ./happened locks
says "a deadlock that happened is confirmed" 1 "explore: confirmed: mutexes: deadlock of 2 threads, line " "run 1 of 7: deadlock (2 threads)"

# ---- predictions of accesses to memory ----
${CC:-cc} -g -O1 -fsanitize=thread -c "$TOP/tests/explore/targets/raced.c" -o raced.o &&
	${CC:-cc} raced.o -L"$BUILD" -ldpe-mem -Wl,-rpath,"$BUILD" -pthread -o raced || not_ok "compiling raced.c"
for case in before within cell heap freed shared never; do
	"$DPE" race --format=json -- ./raced $case ordered >memory.json 2>err
	run "$DPE" explore --confirm=memory.json --runs=30 -- ./raced $case
	if [ $case = never ]; then
		says "a predicted race of accesses that a hidden flag forbids is not reached" 3 " at never_second+" ": not reached in 30 runs" "0 of 1 predictions confirmed"
		continue
	fi
	says "a predicted race of accesses is confirmed: $case" 1 "confirmed: predicted_" "race (2 threads)" " at ${case}_first+" " at ${case}_second+" \
		"1 of 1 predictions confirmed"
	run "$DPE" explore --replay=found.schedule -- ./raced $case
	says "a confirmed race of accesses occurs again in its replay: $case" 1 "replay of found.schedule: race (2 threads)"
done

# … that happened
"$DPE" race --format=json -- "$explored/lost-update" >happened.json 2>err
sed -n '/"rule":"race[0-9]*".*"verdict":"match"/p' happened.json >races.json
cat races.json races.json >happened.json
run "$DPE" explore --confirm=happened.json --runs=30 -- "$explored/lost-update"
says "a race that happened is confirmed" 1 "confirmed: race4: match of mem::" "race (2 threads)" \
	"thread 2 is at the write of 'counter' at work+"
check "each pair of places is confirmed once" "$(grep -c 'explore: confirmed: ' err)" -eq \
	"$(sed -n 's/^explore: \([0-9]*\) of [0-9]* predictions confirmed/\1/p' err)"
check "a race reported twice is confirmed once" "$(grep -c 'explore: confirmed: ' err)" -lt "$(grep -c . happened.json)"
run "$DPE" explore --replay=found.schedule -- "$explored/lost-update"
says "the schedule of a race that happened leads there" 1 "replay of found.schedule: race (2 threads)"
run "$DPE" explore --confirm=memory.json -- ./predicted none
says "predictions of accesses that the program does not have are not tried" 3 "not tried, as no observed run has its accesses"

run "$DPE" explore --confirm --runs=4 -s race.dpe -- ./predicted places
says "a race at one place does not confirm a race predicted at another place" 1 "explore: confirmed: race: predicted match of get at places_second" \
	"1 of 2 predictions confirmed"
check "the race predicted at guarded_second is not reached" -n "$(grep '^explore: race: predicted match of get at guarded_second .*: not reached in 4 runs' err)"
run "$DPE" explore --confirm --runs=3 -s deadlock.dpe -- "$explored/ab-ba-fixed"
says "--confirm of a program without predictions finds nothing" 0 "0 of 0 predictions confirmed"
run "$DPE" explore --confirm --runs=7 --format=json -s race.dpe -- ./predicted race
gives "--confirm --format=json: exit status 1 with a confirmed prediction" 1
check "--confirm --format=json names the prediction, the run and the strategy" \
	"$(python3 -c 'import json; f, s = map(json.loads, open("out")); print(f["predicted"].split(" (")[0], f["run"], s["strategy"])')" = "race: predicted match of get at race_second 1 steered"
run "$DPE" explore --confirm --runs=7 --format=json -s race.dpe -- ./predicted guarded
check "--confirm --format=json notes a prediction that was not reached" -n "$(grep '"notes":.*not reached in 7 runs' out)"
finish
