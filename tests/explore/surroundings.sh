# What else programs do does not break them, and what is not controlled is reported.
. tests/tap.sh

targets=$TOP/tests/explore/targets
for target in ends outside executes signalled long_runs loads timers processors handlers; do
	${CC:-cc} -g -O1 -pthread "$targets/$target.c" -o $target || not_ok "compiling $target.c"
done
${CXX:-c++} -g -O1 -pthread "$targets/cplusplus.cc" -o cplusplus || not_ok "compiling cplusplus.cc"

run "$DPE" explore --runs=100 -- ./cplusplus
says "C++: exceptions, thread_local, futures" 0 "nothing found"
check "all of it is controlled" -z "$(grep 'not controlled' err)"
${CXX:-c++} -g -O2 -pthread "$targets/locks.cc" -o locks || not_ok "compiling locks.cc"
run "$DPE" explore -- ./locks
says "places are in the program's source" 1 "pthread_mutex_lock of 'b' at first()+" "locks.cc:10)" "locks.cc:16)"
check "not in the library's that is compiled into it" -z "$(grep 'std::\|/usr/include' err found.schedule)"
run "$DPE" explore -- true
says 'a program with one thread: nothing was explored' 3 'never had a second thread, so there was nothing to schedule'
run "$DPE" explore --allow-unobserved -- true
says 'one that is meant to be so' 0 'never had a second thread' 'all 1 schedules explored'
run "$DPE" explore --runs=100 -- ./ends
says "destructors of keys, pthread_exit, cancellation" 0 "nothing found"
${CC:-cc} -g -O1 -shared -fPIC "$targets/plugin.c" -o plugin.so -pthread || not_ok "compiling plugin.c"
run "$DPE" explore -- ./loads ./plugin.so
says "threads of a library that dlopen loads, also while it does" 1 "exit status 2, and 3 in the first run"
check "all of it is controlled" -z "$(grep 'not controlled' err)"
run "$DPE" explore --replay=found.schedule -- ./loads ./plugin.so
says "its schedule" 1 "replay of found.schedule: exit status 2, and 3 in the first run"
run "$DPE" explore --runs=10 -- ./outside
says "a thread that blocks outside, one that spins, and a fork" 0 "nothing found" "blocked in read" \
	"computed for long" "created processes"
check "each is reported once" "$(grep -c 'blocked in read' err)" -eq 1
run "$DPE" explore --runs=5 -- ./outside waits
says "a thread that the kernel lets wait for its child" 0 "nothing found"
check "is not outside" -z "$(grep 'not controlled\|blocked' err)"
run "$DPE" explore --runs=20 -- ./executes
says "exec with threads, without the library" 3 "nothing found" "runs began another program (exec)"
check "which is no complete exploration" -z "$(grep 'schedules explored' err)"
run "$DPE" explore --runs=100 -- ./signalled
says "a handler that posts a semaphore" 0 "nothing found"
run "$DPE" explore --runs=10 -- ./signalled never
says "a signal might come" 3 "signal handler might wake them"
check "then there may be more schedules" -z "$(grep 'schedules explored' err)"

run "$DPE" explore --runs=10 -- ./timers
says "the C library's threads for timers let others go on" 0 "nothing found" "10 runs had threads that dpe did not see created"
check "so not all schedules were explored" -z "$(grep 'schedules explored' err)"
run ./processors
run "$DPE" explore --allow-unobserved --runs=1 --fails="!$status" -- ./processors
says "the program sees the processors of the machine" 0 "nothing found"
run "$DPE" explore --allow-unobserved --runs=1 --fails='!1' -- ./processors one
says "until it chooses some" 0 "nothing found"

run "$DPE" explore --strategy=delay --runs=100000 -- ./handlers 2
says "handlers within handlers" 0 "schedules explored"
run "$DPE" explore --runs=20 -- ./handlers 6
says "more of them than are controlled" 0 "had more than 4 signal handlers within each other" "nothing found"

# ---- the time of a run ----
# loads COUNT: so many busy processes on each processor, whose ids are in `loads`
loads() {
	loads=
	for processor in $(seq $(($1 * $(nproc)))); do
		while :; do :; done &
		loads="$loads $!"
	done
}
loads 3
run "$DPE" explore --allow-unobserved --runs=1 --run-seconds=1 -- ./long_runs computes 7
kill $loads
says "a run on a busy machine: waiting for a processor does not count" 0 "nothing found"
check "it ended by itself" -z "$(grep 'run-seconds' err)"
run "$DPE" explore --runs=1 --run-seconds=1 -- ./long_runs computes 1000
says "a run that computes for too long" 3 "1 run did not end in time (--run-seconds)"
run "$DPE" explore --runs=1 --run-seconds=1 -- ./long_runs waits
says "a run that waits for too long" 3 "1 run did not end in time (--run-seconds)"

# A thread that has its turn, but is woken late, is not blocked outside: each call of futex begins 30 ms late.
run strace -f -qq -o strace.out -e trace=futex -e inject=futex:delay_enter=30000 \
	"$DPE" explore --runs=2 -- "$BUILD/explored/reader-upgrades-fixed"
says "threads that are woken late" 0 "nothing found"
check "some were" -n "$(grep 'DELAYED' strace.out)"
check "which the run controls" -z "$(grep 'not controlled' err)"
finish
