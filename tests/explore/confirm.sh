# Predictions that a run confirms, and others that none does.
. tests/tap.sh
need_live 'following rules in explored runs'

explored=$BUILD/explored
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/predicted.c" -o predicted || not_ok "compiling predicted.c"
printf 'include "pthread.dpe"\npredict race: put() & get()\n' >race.dpe

run "$DPE" explore --confirm -- ./predicted race
says "nothing to be predicted" 2 "--confirm needs rules that predict"
run "$DPE" explore --confirm -e 'detect r: put() & get()' -- ./predicted race
says "a rule that predicts nothing" 2 "--confirm needs rules that predict: \`predict\` instead of \`detect\`"
check "and no run" -z "$(grep 'predictions confirmed' err)"
run "$DPE" explore --confirm --replay=x -s race.dpe -- ./predicted race
says "not with a replay" 2 "--confirm is without --replay"

# confirmed NAME PREDICTED FINDING SPEC PROGRAM...: by the first run that is driven there, and its schedule does it again
confirmed() {
	name=$1 predicted=$2 finding=$3 spec=$4
	shift 4
	run "$DPE" explore --confirm --runs=10 -s "$spec" -- "$@"
	says "$name" 1 "explore: confirmed: $predicted" "run 1 of 10: $finding" "1 of 1 predictions confirmed"
	run "$DPE" explore --replay=found.schedule -s "$spec" -- "$@"
	says "$name: its schedule" 1 "replay of found.schedule: $finding"
}

confirmed "a race behind lock sections" "race: predicted match of get at race_second (" "race: match" race.dpe ./predicted race
confirmed "in one of many sections" "race: predicted match of get at pairs_second (" "race: match" race.dpe ./predicted pairs
printf 'include "pthread.dpe"\npredict early: get() ; put()\n' >early.dpe
confirmed "an order violation, with the sections swapped" "early: predicted match of get at swapped_second (" "early: match" early.dpe \
	./predicted swapped
confirmed "a cycle of two locks" "mutexes: potential deadlock of 2 threads" "deadlock (2 threads)" deadlock.dpe "$explored/ab-ba"
check "its waits have no address of the kernel's" "$(grep -c ' waits in pthread_mutex_lock of .*, which thread' err) $(grep -c ' waits in .* at 0x' err)" = '2 0'

run "$DPE" explore --confirm --runs=7 -s race.dpe -- ./predicted guarded
says "what data forbids is not reached" 3 "race: predicted match of get at guarded_second (" ": not reached in 7 runs" "nothing found"
run "$DPE" explore --confirm --runs=7 -s deadlock.dpe -- ./predicted gated
says "a cycle that never closes" 3 "mutexes: potential deadlock of 2 threads: not reached in 7 runs"
run "$DPE" explore --confirm --runs=7 -s deadlock.dpe -- ./predicted mixed
says "a cycle is not taken for another one" 1 "mutexes: potential deadlock of 2 threads: not reached in 7 runs" \
	"deadlock (2 threads)" "1 of 2 predictions confirmed"
run "$DPE" explore --confirm --runs=7 -s race.dpe --fails=0 -- ./predicted race
says "a finding before any prediction" 1 "exit status 0" "an observed run had a finding: predictions were not tried"

# ---- predictions of another run ----
# deep: its first thread has long ended when the second one takes both locks
"$DPE" run --format=json -s race.dpe -- ./predicted race >race.json 2>err
timeout 100 "$DPE" run --format=json -s deadlock.dpe -- ./predicted deep >deadlock.json 2>err
run "$DPE" explore --confirm=race.json --runs=7 -s race.dpe -- ./predicted race
says "of a run without the scheduler" 1 "confirmed: race: predicted match of " "run 1 of 7: race: match" \
	"1 of 1 predictions confirmed"
# wrap_ids FIRST <REPORT: its threads are numbered from FIRST, as by a kernel that begins anew after 32767
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
	says "its numbers of threads began anew, from $first" 1 "1 of 1 predictions confirmed"
done
run "$DPE" explore --confirm=deadlock.json --runs=7 -s deadlock.dpe -- ./predicted deep
says "its potential deadlock" 1 "confirmed: mutexes: potential deadlock of 2 threads, line " "run 1 of 7: deadlock (2 threads)"
run "$DPE" explore --confirm=race.json --runs=12 -s race.dpe --allow-unobserved -- ./predicted none
says "a program that does something else" 3 "not tried, as no observed run has its events" "0 of 1 predictions confirmed"
run "$DPE" explore --confirm=race.json -e 'predict other: put() & get()' -- ./predicted race
says "a rule that is not there" 2 "race.json: error: line 1: there is no rule 'race'"
tail -1 race.json >none.json
run "$DPE" explore --confirm=none.json -s race.dpe -- ./predicted race
says "nothing predicted in it" 2 "has no predicted match and no potential deadlock"
echo '{' >bad.json
run "$DPE" explore --confirm=bad.json -s race.dpe -- ./predicted race
says "no JSON" 2 "line 1 is not JSON"
sed 's/"schedule_events":/"x":/' race.json >old.json
run "$DPE" explore --confirm=old.json -s race.dpe -- ./predicted race
says "no names of the events" 2 "line 1 is not a prediction of a program that ran"
run "$DPE" explore --confirm=absent.json -s race.dpe -- ./predicted race
says "no file" 2 "absent.json: error: No such file"

# ---- of accesses to memory ----
${CC:-cc} -g -O1 -fsanitize=thread -c "$TOP/tests/explore/targets/raced.c" -o raced.o &&
	${CC:-cc} raced.o -L"$BUILD" -ldpe-mem -Wl,-rpath,"$BUILD" -pthread -o raced || not_ok "compiling raced.c"
for case in before within cell heap freed shared never; do
	"$DPE" race --format=json -- ./raced $case ordered >memory.json 2>err
	run "$DPE" explore --confirm=memory.json --runs=30 -- ./raced $case
	if [ $case = never ]; then
		says "a race that a hidden flag forbids" 3 " at never_second+" ": not reached in 30 runs" "0 of 1 predictions confirmed"
		continue
	fi
	says "a race of accesses, $case" 1 "confirmed: predicted_" "race (2 threads)" " at ${case}_first+" " at ${case}_second+" \
		"1 of 1 predictions confirmed"
	run "$DPE" explore --replay=found.schedule -- ./raced $case
	says "$case: its schedule" 1 "replay of found.schedule: race (2 threads)"
done
run "$DPE" explore --confirm=memory.json -- ./predicted none
says "a program without these accesses" 3 "not tried, as no observed run has its accesses"

run "$DPE" explore --confirm --runs=4 -s race.dpe -- ./predicted places
says "a race at one place does not confirm that at another one" 1 "explore: confirmed: race: predicted match of get at places_second" \
	"1 of 2 predictions confirmed"
check "which is not reached" -n "$(grep '^explore: race: predicted match of get at guarded_second .*: not reached in 4 runs' err)"
run "$DPE" explore --confirm --runs=3 -s deadlock.dpe -- "$explored/ab-ba-fixed"
says "nothing predicted" 0 "0 of 0 predictions confirmed"
run "$DPE" explore --confirm --runs=7 --format=json -s race.dpe -- ./predicted race
gives "as JSON" 1
check "what was predicted" \
	"$(python3 -c 'import json; f, s = map(json.loads, open("out")); print(f["predicted"].split(" (")[0], f["run"], s["strategy"])')" = "race: predicted match of get at race_second 1 steered"
run "$DPE" explore --confirm --runs=7 --format=json -s race.dpe -- ./predicted guarded
check "what was not reached" -n "$(grep '"notes":.*not reached in 7 runs' out)"
finish
