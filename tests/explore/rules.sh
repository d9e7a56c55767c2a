# Rules that are followed in each run.
. tests/tap.sh
need_live 'following rules in explored runs'

${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/ordered.c" -o ordered || not_ok "compiling ordered.c"
printf 'include "pthread.dpe"\ndetect early: use() ; configure()\n' >early.dpe

run "$DPE" explore -s early.dpe -- ./ordered
says "a rule finds an order that the first run does not have" 1 "early: match" "of them matter" "at use+0x0" "at configure+0x0"
check "the rule has no match in the first run" -z "$(grep 'run 1 of' err)"
check "no value of a barrier is reported as unreadable" -z "$(grep 'cannot be read' err)"
run "$DPE" explore --format=json -s early.dpe -- ./ordered
gives "a match of a rule gives exit status 1 with --format=json" 1
check "JSON of a match has the kind rule, the text and the events" "$(python3 -c 'import json; f = json.loads(open("out").readline()); print(f["kind"], f["text"], "at use+0x0" in " ".join(f["details"]))')" = "rule early: match True"
for i in 1 2 3; do
	run "$DPE" explore --replay=found.schedule -s early.dpe -- ./ordered
	says "replay $i has the match of the rule" 1 "replay of found.schedule: early: match" "at use+0x0"
done
run "$DPE" explore --replay=found.schedule -- ./ordered
says "a replay without rules has no finding" 0 "nothing found"
run "$DPE" explore --replay=found.schedule --html=run.html -- ./ordered
says "--html of a replay without rules has no finding" 0 "nothing found"
check "the page of --html shows thread_create and thread::start" "$(grep -o -m 1 'thread::start' run.html | head -1) $(grep -o 'thread_create' run.html | head -1)" = 'thread::start thread_create'
run "$DPE" explore --replay=found.schedule --html=rule.html -s early.dpe -- ./ordered
says "--html of a replay with a rule reports the match" 1 "early: match"
check "the page of --html has the match of the rule" "$(grep -c '"early"' rule.html)" -ge 1
run "$DPE" explore --replay=found.schedule --log=rule.jsonl -s early.dpe -- ./ordered
says "--log of a replay with a rule reports the match" 1 "early: match"
run "$DPE" replay -s early.dpe rule.jsonl
says "the log of a replay has the match of the rule" 1 "early: match" "at use+0x0" "at configure+0x0"
run "$DPE" explore --replay=found.schedule --log=order.dpel -- ./ordered
says "--log of a replay without rules has no finding" 0 "nothing found"
run "$DPE" convert order.dpel order.jsonl
check "the log of a replay without rules has what orders threads" "$(grep -c 'thread::create' order.jsonl)" -ge 2
run "$DPE" replay -e 'detect late: use ; configure' found.schedule
says "a schedule is refused as a log, with the command that writes one" 2 "found.schedule: error: a schedule is not a log: 'dpe explore --replay"
run "$DPE" explore --replay=found.schedule --log=none/rule.jsonl -s early.dpe -- ./ordered
says "--log of a replay that cannot be written is an error" 2 "none/rule.jsonl"
run "$DPE" explore --log=rule.jsonl -- ./ordered
says "--log without --replay is refused" 2 "--log needs --replay=SCHEDULE"
run "$DPE" explore --html=run.html -- ./ordered
says "--html without --replay is refused" 2 "--html needs --replay=SCHEDULE"
run "$DPE" explore --strategy=delay --runs=30 -s early.dpe -- ./ordered round
says "a rule has no match where a barrier forbids the order" 0 "nothing found"
run "$DPE" explore --runs=2 -e 'detect unordered: use() & configure()' -s pthread.dpe -- ./ordered round
says "calls ordered by a barrier are not causally independent" 0 "nothing found"
sed 's/^detect/predict/' early.dpe >predicted.dpe
run "$DPE" explore -s predicted.dpe -- ./ordered
says "a predict rule is reported in a run where its match occurs" 1 "early: match of use();configure()" "of them matter"
check "a predict rule is not reported in a run that only predicts its match" -z "$(grep 'run 1 of\|predicted match' err)"
run "$DPE" explore --runs=3 -e 'expect joins: pthread_join.enter ; pthread_join.enter' -- ./ordered
says "each call of pthread_join is one event" 0 "nothing found"
run "$DPE" explore --runs=3 -e 'expect joins: pthread_join.enter' -- ./ordered
says "the violation of an expect rule is found" 1 "run 1 of" "joins: violated"
run "$DPE" explore --runs=3 -e 'detect met(b): pthread_barrier_wait(b).enter' -- ./ordered round
says "a rule about functions of libraries alone reports callers and variables of the program" 1 "by first+0x" "(barrier of process"
check "stacks of explored runs name no source of dpe" "$(grep -c 'at pthread_barrier_wait+0x0 (libdpe-sched.so)' err) $(grep -c explore/sched err)" = "2 0"
${CC:-cc} -shared -fPIC "$TOP/tests/explore/targets/late_observer.c" -o liblate.so &&
	${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/ordered.c" -o late -Wl,--no-as-needed ./liblate.so || not_ok "compiling late"
run "$DPE" explore --runs=3 -s early.dpe -- ./late round
says "runs for which dpe is late are observed" 0 "nothing found"
check "a run sleeps until it is observed" "$(sort waits | uniq -c | tr -s ' ')" = " 3 sleeps"
run "$DPE" explore -e 'detect x: absent()' -- ./ordered
says "a rule about an unknown function is an error" 2 "'absent' was in none of the programs"
printf 'static int total;\nstatic inline __attribute__((always_inline)) void add(int n) { total += n; }\nint main(void) { add(1); return 0; }\n' >inlined.c
"${CC:-cc}" -g -O2 inlined.c -o inlined || not_ok "compiling inlined.c"
run "$DPE" explore -e 'detect x: add()' -- ./inlined
says "a rule about a function that was inlined says so" 2 "'add' was in none of the programs" "the compiler inlined it everywhere in inlined"
run "$DPE" explore -e 'detect x: first ; first' -- "$BUILD/explored/ab-ba"
says "a deadlock is found although a rule is followed" 1 "deadlock (2 threads)"
run "$DPE" explore --runs=2 -e 'detect x: never()' -- ./ordered
says "a rule without events makes the result inconclusive" 3 "no event of any rule occurred"
run "$DPE" explore --runs=2 -e 'detect x: never()' -e 'detect y: second() ; first()' -- ./ordered
says "a rule without events is named although another rule has events" 3 "no event of rule 'x' occurred"
run "$DPE" explore --runs=2 --allow-unobserved -e 'detect x: never()' -- ./ordered
says "--allow-unobserved accepts a rule without events" 0 "nothing found"
run "$DPE" explore -s race.dpe -- ./ordered
says "rules about accesses to any memory are refused" 2 "rules about accesses to any memory are not followed"
run "$DPE" explore -s absent.dpe -- ./ordered
says "an absent specification is an error" 2 "absent.dpe"

# ---- events as choices: there is no call of the C library between seeing that there is enough and taking it ----
${CC:-cc} -g -O0 -pthread "$TOP/tests/explore/targets/overdrawn.c" -o overdrawn || not_ok "compiling overdrawn.c"
printf 'detect overdrawn: debit() ; record(left) [left < 0]\n' >overdrawn.dpe
for strategy in portfolio delay random surw dfs:1; do
	run "$DPE" explore --strategy=$strategy --runs=100 -s overdrawn.dpe -- ./overdrawn
	says "$strategy finds a match that needs a switch at an event" 1 "overdrawn: match" "where left = -10"
done
check "the schedule has the switch at debit" "$(grep -c '^[0-9].* event - debit+' found.schedule)" -eq 1
for i in 1 2 3; do
	run "$DPE" explore --replay=found.schedule -s overdrawn.dpe -- ./overdrawn
	says "replay $i has the match that needs a switch at an event" 1 "replay of found.schedule: overdrawn: match"
done
run "$DPE" explore --runs=50 -s overdrawn.dpe -- ./overdrawn locked
says "a lock forbids the match, and the program keeps its own signal handler" 0 "nothing found"
run "$DPE" explore --runs=10 --fails='!0' -s overdrawn.dpe -- ./overdrawn blocking
says "a thread that blocks the signal of dpe does not find it pending" 0 "nothing found"
printf 'detect overdrawn: look().exit ; record(left) [left < 0]\n' >returned.dpe
run "$DPE" explore --runs=100 -s returned.dpe -- ./overdrawn return
says "a match that needs a switch at the return of a function is found" 1 "overdrawn: match" "where left = -10"
check "the schedule has the switch in the caller of the returned function" "$(grep -c '^[0-9].* event - look_and_withdraw+' found.schedule)" -ge 1
for i in 1 2 3; do
	run "$DPE" explore --replay=found.schedule -s returned.dpe -- ./overdrawn return
	says "replay $i has the match that needs a switch at a return" 1 "replay of found.schedule: overdrawn: match"
done
run "$DPE" explore --runs=1000 -- ./overdrawn
says "without rules, events are no choices, and all schedules are explored" 0 "schedules explored"
run "$DPE" explore --runs=30 -e 'detect x: record(left) [left < 0]' -- ./overdrawn executes
says "a program begun by exec is not controlled, and the result is inconclusive" 3 "exec"
finish
