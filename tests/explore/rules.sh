# Rules that are followed in each run.
. tests/tap.sh
need_live 'following rules in explored runs'

${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/ordered.c" -o ordered || not_ok "compiling ordered.c"
printf 'include "pthread.dpe"\ndetect early: use() ; configure()\n' >early.dpe

run "$DPE" explore -s early.dpe -- ./ordered
says "an order that the first run does not have" 1 "early: match" "of them matter" "at use+0x0" "at configure+0x0"
check "not in the first run" -z "$(grep 'run 1 of' err)"
check "every member of a barrier can be read" -z "$(grep 'cannot be read' err)"
run "$DPE" explore --format=json -s early.dpe -- ./ordered
gives "the same as JSON" 1
check "with the events" "$(python3 -c 'import json; f = json.loads(open("out").readline()); print(f["kind"], f["text"], "at use+0x0" in " ".join(f["details"]))')" = "rule early: match True"
for i in 1 2 3; do
	run "$DPE" explore --replay=found.schedule -s early.dpe -- ./ordered
	says "its replay" 1 "replay of found.schedule: early: match" "at use+0x0"
done
run "$DPE" explore --replay=found.schedule -- ./ordered
says "its replay without rules" 0 "nothing found"
run "$DPE" explore --replay=found.schedule --html=run.html -- ./ordered
says "drawn as a page" 0 "nothing found"
check "with the threads and their order" "$(grep -o -m 1 'thread::start' run.html | head -1) $(grep -o 'thread_create' run.html | head -1)" = 'thread::start thread_create'
run "$DPE" explore --replay=found.schedule --html=rule.html -s early.dpe -- ./ordered
says "and with the finding of a rule" 1 "early: match"
check "which is on the page" "$(grep -c '"early"' rule.html)" -ge 1
run "$DPE" explore --html=run.html -- ./ordered
says "of one run only" 2 "--html needs --replay=SCHEDULE"
run "$DPE" explore --strategy=delay --runs=30 -s early.dpe -- ./ordered round
says "a barrier orders it" 0 "nothing found"
run "$DPE" explore --runs=2 -e 'detect unordered: use() & configure()' -s pthread.dpe -- ./ordered round
says "and is seen to" 0 "nothing found"
sed 's/^detect/predict/' early.dpe >predicted.dpe
run "$DPE" explore -s predicted.dpe -- ./ordered
says "a prediction is confirmed where it occurs" 1 "early: match of use();configure()" "of them matter"
check "and not in a run that only predicts it" -z "$(grep 'run 1 of\|predicted match' err)"
run "$DPE" explore --runs=3 -e 'expect joins: pthread_join.enter ; pthread_join.enter' -- ./ordered
says "a call of a thread function is one event" 0 "nothing found"
run "$DPE" explore --runs=3 -e 'expect joins: pthread_join.enter' -- ./ordered
says "a violation" 1 "run 1 of" "joins: violated"
run "$DPE" explore -e 'detect x: absent()' -- ./ordered
says "an unknown function" 2 "'absent' was in none of the programs"
run "$DPE" explore -e 'detect x: first ; first' -- "$BUILD/explored/ab-ba"
says "what needs no rule is found all the same" 1 "deadlock (2 threads)"
run "$DPE" explore --runs=2 -e 'detect x: never()' -- ./ordered
says "a rule of which nothing occurs" 3 "no event of any rule occurred"
run "$DPE" explore --runs=2 -e 'detect x: never()' -e 'detect y: second() ; first()' -- ./ordered
says "beside one that is observed" 3 "no event of rule 'x' occurred"
run "$DPE" explore --runs=2 --allow-unobserved -e 'detect x: never()' -- ./ordered
says "where that is expected" 0 "nothing found"
run "$DPE" explore -s race.dpe -- ./ordered
says "accesses to any memory" 2 "rules about accesses to any memory are not followed"
run "$DPE" explore -s absent.dpe -- ./ordered
says "no such specification" 2 "absent.dpe"

# ---- events as choices: there is no call of the C library between seeing that there is enough and taking it ----
${CC:-cc} -g -O0 -pthread "$TOP/tests/explore/targets/overdrawn.c" -o overdrawn || not_ok "compiling overdrawn.c"
printf 'detect overdrawn: debit() ; record(left) [left < 0]\n' >overdrawn.dpe
for strategy in portfolio delay random surw dfs:1; do
	run "$DPE" explore --strategy=$strategy --runs=100 -s overdrawn.dpe -- ./overdrawn
	says "a switch at an event, by $strategy" 1 "overdrawn: match" "where left = -10"
done
check "is in the schedule" "$(grep -c '^[0-9].* event - debit+' found.schedule)" -eq 1
for i in 1 2 3; do
	run "$DPE" explore --replay=found.schedule -s overdrawn.dpe -- ./overdrawn
	says "its replay" 1 "replay of found.schedule: overdrawn: match"
done
run "$DPE" explore --runs=50 -s overdrawn.dpe -- ./overdrawn locked
says "a lock forbids it, and the program keeps its own handler of the signal" 0 "nothing found"
run "$DPE" explore --runs=10 --fails='!0' -s overdrawn.dpe -- ./overdrawn blocking
says "nor does a thread that blocks the signal find it pending" 0 "nothing found"
printf 'detect overdrawn: look().exit ; record(left) [left < 0]\n' >returned.dpe
run "$DPE" explore --runs=100 -s returned.dpe -- ./overdrawn return
says "a switch where a function has returned" 1 "overdrawn: match" "where left = -10"
check "is in the schedule" "$(grep -c '^[0-9].* event - look_and_withdraw+' found.schedule)" -ge 1
for i in 1 2 3; do
	run "$DPE" explore --replay=found.schedule -s returned.dpe -- ./overdrawn return
	says "its replay" 1 "replay of found.schedule: overdrawn: match"
done
run "$DPE" explore --runs=1000 -- ./overdrawn
says "without rules there is no such choice" 0 "schedules explored"
run "$DPE" explore --runs=30 -e 'detect x: record(left) [left < 0]' -- ./overdrawn executes
says "a program that takes its place is left alone" 3 "exec"
finish
