# Options, schedules as files, exit statuses.
. tests/tap.sh

targets=$TOP/tests/explore/targets
explored=$BUILD/explored
${CC:-cc} -g -O1 -pthread "$targets/statuses.c" -o statuses || not_ok "compiling statuses.c"
${CC:-cc} -g -O1 -pthread -static "$targets/statuses.c" -o static || not_ok "compiling statuses.c statically"

# ---- usage ----
run "$DPE" explore
says "no program" 2 "no program"
run "$DPE" explore ./statuses
says "a program without --" 2 "put the program after --"
run "$DPE" explore -- ./absent
says "an absent program" 2 "./absent"
run "$DPE" explore -- ./static
says "a static program" 2 "linked statically"
${CC:-cc} -fsanitize=thread "$targets/statuses.c" -o sanitized || not_ok "compiling statuses.c with ThreadSanitizer"
run "$DPE" explore -- ./sanitized
says "a program linked with ThreadSanitizer" 2 "link without it, but with -ldpe-mem"
run "$DPE" explore --strategy=pct:65 -- ./statuses
says "an unknown strategy" 2 "--strategy takes" "pct:65"
run "$DPE" explore --strategy=dfs:-1 -- ./statuses
says "no bound" 2 "dfs:B" "dfs:-1"
run "$DPE" explore --fails='!' -- ./statuses
says "all but no status" 2 "--fails takes" "not '!'"
run "$DPE" explore --fails=1,,2 -- ./statuses
says "no statuses" 2 "--fails takes" "1,,2"
run "$DPE" explore --setup=false -- ./statuses
says "a setup that fails" 2 "--setup: 'false' failed"

# ---- findings ----
for strategy in portfolio random pct:2 pos surw rounds delay dfs dfs-full dfs:2 dfs-full:2; do
	run "$DPE" explore --strategy=$strategy -- "$explored/ab-ba"
	says "a deadlock by $strategy" 1 "deadlock (2 threads)" "thread 2 waits in pthread_mutex_lock of 'n'" \
		"thread 3 waits in pthread_mutex_lock of 'm'" "ab-ba.c:" ", which thread 3 has"
done
cp found.schedule first.schedule
check "a single choice matters" "$(grep -c '^[1-9]' found.schedule)" -eq 1
run "$DPE" explore --strategy=delay -- "$explored/ab-ba"
check "the same seed finds the same" -z "$(grep -v '^time' first.schedule | diff - found.schedule | grep -v '^[0-9]\|time')"
for seed in 1 2 3; do
	"$DPE" explore --strategy=delay --seed=$seed -o seed.schedule -- "$explored/aba-stack" 2>&1 | sed -n 's/^explore: run \([0-9]*\) .*/\1/p'
done >first_runs
check "other seeds take another way" "$(sort -u first_runs | wc -l)" -gt 1
${CC:-cc} -g -O1 -fsanitize=thread -c "$targets/echo.c" -o echo.o &&
	${CC:-cc} echo.o -o echo -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling echo.c"
run "$DPE" explore --strategy=rounds -- ./echo
says "threads that have to take turns forty times" 1 "death by signal 6"
for seed in 1 2 3 4; do
	run "$DPE" explore --runs=100 --seed=$seed -- "$explored/hyman"
	says "of a small program, the portfolio explores the behaviours, with seed $seed, too" 1 "death by signal 6"
done
# here the finding needs two choices at the end of a thread: whether it ends now, and which thread runs next
run "$DPE" explore --seed=18 -- "$explored/stale-value"
says "a choice after the end of a thread" 1 "of them matter"
check "is made again" -z "$(grep 'lead to it again' err)"
run "$DPE" explore -- ./statuses
says "another exit status than the first run's" 1 "exit status 4, and 3 in the first run"
run "$DPE" explore --replay=found.schedule -- ./statuses
says "and its replay" 1 "exit status 4, and 3 in the first run"
run "$DPE" explore --runs=100 --fails=5-7,9 -- ./statuses
says "none of the statuses asked for" 0 "nothing found" \
	"does not report its accesses to memory, so threads were switched only at calls"
run "$DPE" explore --runs=1 -- "$explored/ab-ba-fixed"
check "but another program does" -z "$(grep 'does not report' err)"
run "$DPE" explore --fails='!3,5' -- ./statuses
says "all but some statuses" 1 "exit status 4"
run "$DPE" explore --fails='!3-4' -- ./statuses
says "all but those it has" 0 "nothing found"
run "$DPE" explore --fails=3 -- ./statuses
says "the first run's status asked for" 1 "run 1 of" "exit status 3" "it happens without a switch"
check "without colours" "$(grep -c "$(printf '\033')" err)" -eq 0
run "$DPE" explore --color=always --fails=3 -- ./statuses
says "a finding in red" 1 ": $(printf '\033')[1;31mexit status 3"
run "$DPE" explore -- "$explored/lost-update"
says "what the program said last" 1 "Assertion" "death by signal 6"
run "$DPE" explore -- "$explored/double-unlock"
says "unlocked twice" 1 "unlock of an object that is not locked" "double-unlock.c"
run "$DPE" explore -- "$explored/destroyed-in-use"
says "destroyed in use" 1 "destruction of an object in use"
run "$DPE" explore -- "$explored/used-after-destroy"
says "used after its destruction" 1 "use of a destroyed object"
run "$DPE" explore --error-exitcode=9 -- "$explored/ab-ba"
gives "--error-exitcode" 9

# ---- the library ----
cp "$DPE" lonely
run ./lonely explore -- ./statuses
if test -e /usr/local/lib/dpe/libdpe-sched.so; then
	skip "a library that is nowhere: one is installed"
else
	says "a library that is nowhere" 2 "libdpe-sched.so is neither beside $PWD/dpe nor in /usr/local/lib/dpe" "run 'make'"
fi

# ---- limits ----
run "$DPE" explore --max-steps=5 --runs=10 -- ./statuses
says "too many operations" 3 "10 runs had too many operations" "nothing found"

# ---- schedules ----
run "$DPE" explore --replay=first.schedule -- ./statuses
says "a schedule of another program" 0 "another build" "differs from the schedule at choice 1" "expected operation"
run "$DPE" explore -o second.schedule -- ./statuses
run "$DPE" explore --replay=second.schedule -- ./statuses new
check "a program that does something else diverges" -n "$(grep 'differs from the schedule' err)"
run "$DPE" explore --replay=absent -- ./statuses
says "an absent schedule" 2 "absent"
echo "1 2 3 walk" >>second.schedule
run "$DPE" explore --replay=second.schedule -- ./statuses
says "a line that is none" 2 "not a line of a schedule: '1 2 3 walk'"
echo hello >third.schedule
run "$DPE" explore --replay=third.schedule -- ./statuses
says "no schedule" 2 "line 1 is not a line of a schedule"
finish
