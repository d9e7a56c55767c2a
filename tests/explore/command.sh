# Options, schedules as files, exit statuses.
. tests/tap.sh

targets=$TOP/tests/explore/targets
explored=$BUILD/explored
${CC:-cc} -g -O1 -pthread "$targets/statuses.c" -o statuses || not_ok "compiling statuses.c"
${CC:-cc} -g -O1 -pthread -static "$targets/statuses.c" -o static || not_ok "compiling statuses.c statically"

# ---- usage ----
run "$DPE" explore
says "dpe explore without a program is refused" 2 "no program"
run "$DPE" explore ./statuses
says "a program without -- before it is refused" 2 "put it after '--': dpe explore -- ./statuses"
run "$DPE" explore -- ./absent
says "an absent program is refused" 2 "./absent"
DPE_SCHED=1,2 run "$DPE" explore --runs=2 -- ./statuses
says "variables of the environment that the library reads are replaced" 0 "explore: "
run "$DPE" explore -- ./static
says "a statically linked program is refused" 2 "linked statically"
echo 'void *needed(void); void *needed(void) { return 0; }' | ${CC:-cc} -shared -fPIC -xc - -o libmissing.so || not_ok "compiling a library"
${CC:-cc} -g -O1 -pthread "$targets/statuses.c" -Wl,--no-as-needed -L. -lmissing -o incomplete || not_ok "compiling incomplete"
rm libmissing.so
run "$DPE" explore -- ./incomplete
says "if a program cannot be loaded, the error contains the loader's reason" 2 "its last output: " "libmissing.so: cannot open shared object file"
${CC:-cc} -fsanitize=thread "$targets/statuses.c" -o sanitized || not_ok "compiling statuses.c with ThreadSanitizer"
run "$DPE" explore -- ./sanitized
says "a program linked with ThreadSanitizer is refused, and -ldpe-mem suggested" 2 "link without it, but with -ldpe-mem"
run "$DPE" explore -o /nonexistent/x -- "$explored/ab-ba"
says "a schedule that cannot be written is an error" 2 "/nonexistent/x: error: No such file"
check "… before the first run" "$(wc -l <err)" -eq 1
run "$DPE" explore --strategy=pct:65 -- ./statuses
says "--strategy=pct:65 is refused" 2 "--strategy takes" "pct:65"
run "$DPE" explore --strategy=dfs:-1 -- ./statuses
says "--strategy=dfs:-1 is refused" 2 "dfs:B" "dfs:-1"
run "$DPE" explore --fails='!' -- ./statuses
says "--fails='!' is refused" 2 "--fails takes" "not '!'"
run "$DPE" explore --fails=1,,2 -- ./statuses
says "--fails=1,,2 is refused" 2 "--fails takes" "1,,2"
run "$DPE" explore --setup=false -- ./statuses
says "a --setup command that fails is reported" 2 "--setup: 'false' failed"

# ---- findings ----
for strategy in portfolio random pct:2 pos surw places rounds delay dfs dfs-full dfs:2 dfs-full:2; do
	run "$DPE" explore --strategy=$strategy -- "$explored/ab-ba"
	says "ab-ba: $strategy finds the deadlock" 1 "deadlock (2 threads)" "thread 2 waits in pthread_mutex_lock of 'n'" \
		"thread 3 waits in pthread_mutex_lock of 'm'" "ab-ba.c:" ", which thread 3 has"
done
cp found.schedule first.schedule
check "ab-ba: the schedule of dfs-full:2 has a single choice" "$(grep -c '^[1-9]' found.schedule)" -eq 1
run "$DPE" explore --strategy=delay -- "$explored/ab-ba"
check "ab-ba: delay and dfs-full:2 find the same schedule" -z "$(grep -v '^time' first.schedule | diff - found.schedule | grep -v '^[0-9]\|time')"
for seed in 1 2 3; do
	"$DPE" explore --strategy=delay --seed=$seed -o seed.schedule -- "$explored/aba-stack" 2>&1 | sed -n 's/^explore: run \([0-9]*\) .*/\1/p'
done >first_runs
check "aba-stack: three seeds do not all find the bug in the same run" "$(sort -u first_runs | wc -l)" -gt 1
${CC:-cc} -g -O1 -pthread "$targets/jobs.c" -o jobs || not_ok "compiling jobs.c"
run "$DPE" explore --strategy=dfs:1 --keep-going -o jobs.schedule -- ./jobs
says "jobs: a deadlock of the same places is one, whichever thread is where" 1 "dfs:1, seed 1: 1 finding"
${CC:-cc} -g -O1 -fsanitize=thread -c "$targets/echo.c" -o echo.o &&
	${CC:-cc} echo.o -o echo -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling echo.c"
run "$DPE" explore --strategy=rounds -- ./echo
says "echo: rounds finds a bug that needs threads to take turns forty times" 1 "death by signal 6"
for seed in 1 2 3 4; do
	run "$DPE" explore --runs=100 --seed=$seed -- "$explored/hyman"
	says "hyman: the portfolio finds the failure within 100 runs with seed $seed" 1 "death by signal 6"
done
# The finding needs two choices at the end of a thread: whether it ends now, and which thread runs next.
run "$DPE" explore --seed=18 -- "$explored/stale-value"
says "stale-value: a finding that needs choices at the end of a thread" 1 "of them matter"
check "stale-value: the schedule leads to the finding again" -z "$(grep 'lead to it again' err)"
run "$DPE" explore -- ./statuses
says "an exit status other than the first run's is a finding" 1 "exit status 4, and 3 in the first run"
run "$DPE" explore --replay=found.schedule -- ./statuses
says "a replay has the same exit status as the finding" 1 "exit status 4, and 3 in the first run"
run "$DPE" explore --runs=100 --fails=5-7,9 -- ./statuses
says "no status is one of --fails, and unreported accesses are noted" 0 "nothing found" \
	"does not report its accesses to memory, so threads were switched only at calls"
run "$DPE" explore --runs=1 -- "$explored/ab-ba-fixed"
check "ab-ba-fixed, which reports its accesses, gets no note about them" -z "$(grep 'does not report' err)"
run "$DPE" explore --fails='!3,5' -- ./statuses
says "--fails='!3,5' reports exit status 4" 1 "exit status 4"
run "$DPE" explore --fails='!3-4' -- ./statuses
says "--fails='!3-4' reports neither exit status 3 nor 4" 0 "nothing found"
run "$DPE" explore --fails=3 -- ./statuses
says "--fails=3 reports the first run's status, which needs no switch" 1 "run 1 of" "exit status 3" "it happens without a switch"
check "a report to a file has no colours" "$(grep -c "$(printf '\033')" err)" -eq 0
run "$DPE" explore --color=always --fails=3 -- ./statuses
says "--color=always prints a finding in red" 1 ": $(printf '\033')[1;31mexit status 3"
run "$DPE" explore -- "$explored/lost-update"
says "lost-update: the report has the last lines that the program printed" 1 "Assertion" "death by signal 6"
run "$DPE" explore -- "$explored/double-unlock"
says "double-unlock: the unlock of an unlocked mutex is found" 1 "unlock of an object that is not locked" "double-unlock.c"
run "$DPE" explore -- "$explored/destroyed-in-use"
says "destroyed-in-use: the destruction of an object in use is found" 1 "destruction of an object in use"
run "$DPE" explore -- "$explored/used-after-destroy"
says "used-after-destroy: the use of a destroyed object is found" 1 "use of a destroyed object"
run "$DPE" explore --error-exitcode=9 -- "$explored/ab-ba"
gives "--error-exitcode=9: exit status 9 with a finding" 9

# ---- the library ----
cp "$DPE" lonely
run ./lonely explore -- ./statuses
if test -e /usr/local/lib/dpe/libdpe-sched.so; then
	echo "ok - a missing libdpe-sched.so is reported # skip one is installed"
else
	says "a missing libdpe-sched.so is reported with the places searched" 2 "libdpe-sched.so is neither beside $PWD/dpe nor in /usr/local/lib/dpe" "run 'make'"
fi

# ---- limits ----
run "$DPE" explore --max-steps=5 --runs=10 -- ./statuses
says "--max-steps=5: runs with too many operations make the result inconclusive" 3 "10 runs had too many operations" "nothing found"

# ---- schedules ----
run "$DPE" explore --replay=first.schedule -- ./statuses
says "the replay of another program's schedule tells the first choice that differs" 0 "another build" "differs from the schedule at choice 1" "expected operation"
run "$DPE" explore -o second.schedule -- ./statuses
run "$DPE" explore --replay=second.schedule -- ./statuses new
check "a replay with another argument of the program differs from the schedule" -n "$(grep 'differs from the schedule' err)"
run "$DPE" explore --replay=absent -- ./statuses
says "--replay with an absent file is refused" 2 "absent"
cp second.schedule twice.schedule
grep '^finding' second.schedule >>twice.schedule
run "$DPE" explore --replay=twice.schedule -- ./statuses
says "--replay refuses a schedule with a second finding" 2 "is not a line of a schedule: 'finding "
echo "1 2 3 walk" >>second.schedule
run "$DPE" explore --replay=second.schedule -- ./statuses
says "--replay refuses a schedule with an invalid line" 2 "not a line of a schedule: '1 2 3 walk'"
echo hello >third.schedule
run "$DPE" explore --replay=third.schedule -- ./statuses
says "--replay refuses a file that is not a schedule" 2 "line 1 is not a line of a schedule"
finish
