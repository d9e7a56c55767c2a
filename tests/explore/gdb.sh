# gdb on a replayed run: at its switches, at a deadlock, at a crash.
. tests/tap.sh

explored=$BUILD/explored
run "$DPE" explore --gdb -- "$explored/ab-ba"
says "a run is needed" 2 "--gdb needs --replay"
mkdir empty
PATH=$folder/empty run "$DPE" explore --gdb --replay=none -- "$explored/ab-ba"
says "no gdb" 2 "is not on \$PATH"

# gdb reads its commands from standard input, which the program does not have
under_gdb() {
	run "$DPE" explore --replay="$1.schedule" --gdb -- "$2" <commands
}

run "$DPE" explore -o deadlock.schedule -- "$explored/ab-ba"
cat >commands <<'END'
set pagination off
dpe-switch
print $_thread
continue
thread apply all -q backtrace
dpe-switch
print 6 * 7
END
under_gdb deadlock "$explored/ab-ba"
says "a deadlock, as without gdb" 1 "replay of deadlock.schedule: deadlock (2 threads)" "which thread 3 has"
check "the switch of the schedule, in the thread that has it" \
	"$(grep -c 'dpe: thread 2 stands here, and thread 3 goes on' out) $(grep -c '^(gdb) [$]1 = 2$' out)" = "1 1"
check "gdb stops at the deadlock" "$(grep -c 'dpe: deadlock: the run ends here' out)" -eq 1
check "both threads are seen to wait" "$(grep -c 'first (.*ab-ba.c:7' out) $(grep -c 'second (.*ab-ba.c:16' out)" = "1 1"
check "and main" -n "$(grep 'main () at .*ab-ba.c' out)"
check "no switch is left: to the end" "$(grep -c 'exited normally' out) $(grep -c '= 42$' out)" = "1 1"

run "$DPE" explore -o crash.schedule -- "$explored/lost-update"
printf 'set pagination off\nbreak work\ncontinue\nnext\nfinish\ndelete\ncontinue\nbacktrace\n' >commands
under_gdb crash "$explored/lost-update"
says "a crash, though gdb stopped threads on the way" 1 "death by signal 6"
check "gdb stops where it happens" \
	"$(grep -c 'received signal SIGABRT' out) $(grep -c ' in main () at .*lost-update.c' out)" = "1 1"

# leaving gdb continues the run
echo quit >commands
under_gdb crash "$explored/lost-update"
says "gdb is left at once" 1 "death by signal 6"

# a thread that blocks while gdb does not stop it does not block the others
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/outside.c" -o outside || not_ok "compiling outside.c"
printf 'dpe schedule 1\ntime 1000000000000000000\n' >none.schedule
printf 'break send_byte\ncontinue\nnext\nnext\ndelete\ncontinue\n' >commands
under_gdb none ./outside
says "threads that block outside" 0 "replay of none.schedule: nothing found" "blocked in read"

# macrosteps
${CC:-cc} -g -O1 -fsanitize=thread -c "$TOP/tests/explore/targets/counted.c" -o counted.o &&
	${CC:-cc} counted.o -o counted -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling counted.c"
printf 'dpe-step 2\ndpe-step\ndpe-step 2\nthread 1\ndpe-step 2\ndpe-step 1\ndpe-step 9\ndpe-step 3\ndpe-step 3\ncontinue\n' >commands
cp none.schedule steps.schedule
run "$DPE" explore --replay=steps.schedule --gdb -- ./counted ab-ba <commands
says "a deadlock by macrosteps" 1 "replay of steps.schedule: deadlock (2 threads)" \
	"the run is at no choice" "dpe-step takes the number of a thread that can go on: 2, 3"
check "who can go on, and where" \
	"$(grep -c '^> thread 2 at lock_both (.*counted.c:19)' out) $(grep -c '^  thread 2 at lock_both (.*counted.c:19)' out)" = "2 1"
check "to the deadlock" "$(grep -c 'dpe: deadlock: the run ends here' out)" -eq 1

# … and back, by running again
cat >commands <<'END'
set pagination off
dpe-step
dpe-step 1
dpe-step 2
dpe-save middle
dpe-step 3
dpe-step 2
dpe-step 3
dpe-tree
dpe-back
print $_thread
dpe-goto #1
dpe-step 2
dpe-goto middle
dpe-tree
dpe-back 99
dpe-goto nowhere
dpe-step 3
dpe-step 2
dpe-step 3
dpe-back 2
continue
dpe-back
END
run timeout 100 "$DPE" explore --replay=none.schedule --gdb -- ./counted ab-ba <commands
says "from a deadlock back to a run without one" 0 "replay of none.schedule: nothing found" \
	"dpe-back takes a number up to" "dpe-goto takes what was saved" "the run has ended"
check "the deadlock ends a path of the tree" "$(grep -c '^ *#[0-9].*: deadlock$' out)" -eq 2
check "the place that was saved" "$(grep -c '^ *#3 after thread 2 at its start \[middle\]$' out)" -eq 2
check "another path" -n "$(grep '^  #[0-9]* after thread 2 at its start$' out)"
run timeout 100 "$DPE" explore -e 'detect x: lock_both()' --replay=none.schedule --gdb -- ./counted ab-ba <commands
says "not where rules follow the run" "$status" "rules follow this run, which cannot be made again"

# from a terminal
${CC:-cc} -g -O1 "$TOP/tests/explore/targets/spins.c" -o spins || not_ok "compiling spins.c"
run timeout 60 python3 "$TOP/tests/explore/interrupt.py" "$DPE" none.schedule ./spins
gives "Ctrl-C interrupts the run, and neither dpe nor gdb" 0
check "the run goes on to its end" -n "$(grep '^none.schedule: nothing found' out)"
finish
