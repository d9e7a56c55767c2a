# As many schedules are explored as counts.py counts.
. tests/tap.sh

# counts PROGRAM STATUS
counts() {
	counted=$(python3 "$TOP/tests/explore/counts.py" "$1" $of)
	run "$DPE" explore --strategy=delay --keep-going -- ./counted "$1"
	says "$1: all $counted schedules are explored" "$2" "all $counted schedules explored"
}

${CC:-cc} -g -O1 -fsanitize=thread -c "$TOP/tests/explore/targets/counted.c" -o counted.o &&
	${CC:-cc} counted.o -o counted -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling counted.c"
of=operations
counts one-lock 0
counts semaphore 0
counts detached 0
counts ab-ba 1
check "ab-ba: its deadlock is reported once" "$(grep -c 'explore: run .*deadlock (2 threads)   found' err)" -eq 1
check "ab-ba: the report says how often the deadlock occurred" -n "$(grep 'times: deadlock' err)"

# bounded PROGRAM BOUND STATUS
bounded() {
	counted=$(python3 "$TOP/tests/explore/counts.py" "$1" $of "$2")
	run "$DPE" explore --strategy=dfs-full:$2 --keep-going -- ./counted "$1"
	says "$1: all $counted schedules with at most $2 preemptions are explored" "$3" "all $counted schedules with at most $2 preemption"
}
for bound in 0 1 2 3; do
	bounded one-lock $bound 0
	bounded semaphore $bound 0
done
bounded ab-ba 0 0
bounded ab-ba 1 1
bounded ab-ba 2 1

# A program that does not report its accesses has more schedules.
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/counted.c" -o counted || not_ok "compiling counted.c by itself"
of=returns
counts semaphore 0
counts detached 0
for bound in 0 1 2; do
	bounded one-lock $bound 0
done
bounded ab-ba 1 1
finish
