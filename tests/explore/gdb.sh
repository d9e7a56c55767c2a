# gdb on a replayed run: at its switches, at a deadlock, at a crash.
. tests/tap.sh

explored=$BUILD/explored
run "$DPE" explore --gdb -- "$explored/ab-ba"
says "--gdb without --replay is refused" 2 "--gdb needs --replay"
mkdir empty
PATH=$folder/empty run "$DPE" explore --gdb --replay=none -- "$explored/ab-ba"
says "--gdb is refused if gdb is not installed" 2 "is not on \$PATH"

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
says "a replay under gdb reports the deadlock" 1 "replay of deadlock.schedule: deadlock (2 threads)" "which thread 3 has"
check "dpe-switch stops at the switch of the schedule, in its thread" \
	"$(grep -c 'dpe: thread 2 is here, and thread 3 continues' out) $(grep -c '^(gdb) [$]1 = 2$' out)" = "1 1"
check "gdb stops at the deadlock" "$(grep -c 'dpe: deadlock: the run ends here' out)" -eq 1
check "gdb shows both waiting threads at the deadlock" "$(grep -c 'first (.*ab-ba.c:7' out) $(grep -c 'second (.*ab-ba.c:16' out)" = "1 1"
check "gdb shows the main thread at the deadlock" -n "$(grep 'main () at .*ab-ba.c' out)"
check "dpe-switch runs to the end if no switch is left" "$(grep -c 'exited normally' out) $(grep -c '= 42$' out)" = "1 1"

run "$DPE" explore -o crash.schedule -- "$explored/lost-update"
printf 'set pagination off\nbreak work\ncontinue\nnext\nfinish\ndelete\ncontinue\nbacktrace\n' >commands
under_gdb crash "$explored/lost-update"
says "a crash is reported although gdb stopped threads before it" 1 "death by signal 6"
check "gdb stops at the crash" \
	"$(grep -c 'received signal SIGABRT' out) $(grep -c ' in main () at .*lost-update.c' out)" = "1 1"

# leaving gdb continues the run
echo quit >commands
under_gdb crash "$explored/lost-update"
says "quitting gdb continues the replay to its crash" 1 "death by signal 6"

# a thread that blocks while gdb does not stop it does not block the others
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/outside.c" -o outside || not_ok "compiling outside.c"
printf 'dpe schedule 1\ntime 1000000000000000000\n' >none.schedule
printf 'break send_byte\ncontinue\nnext\nnext\ndelete\ncontinue\n' >commands
under_gdb none ./outside
says "a replay under gdb continues although a thread blocks in read" 0 "replay of none.schedule: nothing found" "blocked in read"

# macrosteps
${CC:-cc} -g -O1 -fsanitize=thread -c "$TOP/tests/explore/targets/counted.c" -o counted.o &&
	${CC:-cc} counted.o -o counted -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling counted.c"
printf 'dpe-step 2\ndpe-step\ndpe-step 2\nthread 1\ndpe-step 2\ndpe-step 1\ndpe-step 9\ndpe-step 3\ndpe-step 3\ncontinue\n' >commands
cp none.schedule steps.schedule
run "$DPE" explore --replay=steps.schedule --gdb -- ./counted ab-ba <commands
says "dpe-step leads to the deadlock, and refuses threads that cannot proceed" 1 "replay of steps.schedule: deadlock (2 threads)" \
	"the run is at no choice" "dpe-step takes the number of a thread that can proceed: 2, 3"
check "dpe-step lists the threads that can proceed, with their places" \
	"$(grep -c '^> thread 2 at lock_both (.*counted.c:19)' out) $(grep -c '^  thread 2 at lock_both (.*counted.c:19)' out)" = "2 1"
check "dpe-step stops at the deadlock" "$(grep -c 'dpe: deadlock: the run ends here' out)" -eq 1

# back to earlier nodes, by running again
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
says "dpe-back and dpe-goto lead from a deadlock to a run without one" 0 "replay of none.schedule: nothing found" \
	"dpe-back takes a number up to" "dpe-goto takes what was saved" "the run has ended"
check "dpe-tree shows the deadlock at the end of a path" "$(grep -c '^ *#[0-9].*: deadlock$' out)" -eq 2
check "dpe-tree shows the name given with dpe-save" "$(grep -c '^ *#3 after thread 2 at its start \[middle\]$' out)" -eq 2
check "dpe-tree shows the second path" -n "$(grep '^  #[0-9]* after thread 2 at its start$' out)"
run timeout 100 "$DPE" explore -e 'detect x: lock_both()' --replay=none.schedule --gdb -- ./counted ab-ba <commands
says "dpe-back is refused where rules follow the run" "$status" "rules follow this run, which cannot be made again"

# from a terminal
${CC:-cc} -g -O1 "$TOP/tests/explore/targets/spins.c" -o spins || not_ok "compiling spins.c"
run timeout 60 python3 "$TOP/tests/explore/gdb_interrupt.py" "$DPE" none.schedule ./spins
gives "Ctrl-C interrupts the program, not dpe or gdb" 0
check "a run interrupted by Ctrl-C continues to its end" -n "$(grep '^none.schedule: nothing found' out)"

# gdb's output ends when gdb does; it could read further commands.
mkfifo typed shown
(timeout 60 cat shown >out; echo $? >ended) &
exec 3<>typed
"$DPE" explore --replay=deadlock.schedule --gdb -- "$explored/ab-ba" <typed >shown 2>&1 3>&- &
echo 'shell echo >begun' >&3
until test -e begun || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
kill -KILL $!
wait
exec 3>&-
check "gdb ends when dpe is killed" -e begun -a "$(cat ended)" -eq 0
finish
