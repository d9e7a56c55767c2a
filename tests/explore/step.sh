# From one macrostep to the next.
. tests/tap.sh

targets=$TOP/tests/explore/targets
explored=$BUILD/explored
for target in forgetful outside; do
	${CC:-cc} -g -O1 -pthread "$targets/$target.c" -o $target || not_ok "compiling $target.c"
done

${CC:-cc} -g -O1 -fsanitize=thread -c "$targets/counted.c" -o counted.o &&
	${CC:-cc} counted.o -o counted -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling counted.c"

# steps ARGUMENT...: with the commands that the file has
steps() {
	run "$DPE" explore --step "$@" <commands
}

# shows NAME STATUS TEXT...: standard output contains every TEXT
shows() {
	cp out err
	says "$@"
}

# ---- usage ----
run "$DPE" explore --step --gdb --replay=x -- ./counted
says "not in gdb" 2 "--step is without --gdb"
run "$DPE" explore --step --format=json -- ./counted
says "nor as JSON" 2 "--step is without"
run "$DPE" explore --step -e 'detect x: a' -- ./counted
says "nor with rules" 2 "--step follows no rules"
: >commands
steps -- ./counted one-lock
shows "no command" 0 "#1"

# ---- the whole tree by choices and goto, against an enumeration without a thread ----
for program in one-lock semaphore detached ab-ba; do
	counted=$(python3 "$TOP/tests/explore/counts.py" $program operations)
	check "$program: as many ends as counted: $counted" \
		"$(python3 "$TOP/tests/explore/traverse.py" "$DPE" ./counted $program | cut -d' ' -f1)" = "$counted"
done
check "some of ab-ba are deadlocks" \
	"$(python3 "$TOP/tests/explore/traverse.py" "$DPE" ./counted ab-ba | cut -d' ' -f2)" -gt 0

# ---- to a deadlock and back ----
cat >commands <<'END'
1
2
2
save one lock
1
3
3
write deadlock.schedule
2
back
goto one lock
2
3
tree
dot tree.dot
goto #6
quit
END
steps -- ./counted ab-ba
shows "what was saved and written is reported" 1 "#4 is 'one lock'" "deadlock.schedule: the schedule up to here, with 1 switch" \
	"tree.dot: the tree, with $(grep -c '^	n[0-9]* \[' tree.dot) nodes"
shows "a deadlock, by choices" 1 "#6 after thread 3: pthread_mutex_lock of 'b'" "the run has ended: deadlock (2 threads)" \
	"thread 1 cannot go on" "the run has ended: 'back', 'goto' or 'quit'" \
	"#4 [one lock] after thread 2: pthread_mutex_lock of 'a' at lock_both+"
sed -n '/^#8 after/,/^#1 /p' out >after
check "who waits at a collective breakpoint, and for whom" \
	"$(grep -c "^  thread 1  sleeping  pthread_join of thread 2 at run_two+" after)" -eq 1
check "the way back: the same place, with what is known of it" "$(grep -c '(#6: deadlock (2 threads))$' out)" -eq 1
check "the tree has both ways, indented where they part" "$(grep -c '^  #[0-9]* thread' out)" -eq 4
check "and where we are" "$(grep -c '<- here$' out)" -eq 1
check "what was not visited" -n "$(grep '(1 of 2 not visited)' out)"
check "an end can be gone to" "$(grep -c 'the run has ended: deadlock (2 threads)' out)" -eq 2
check "as many nodes for Graphviz as the tree has" \
	"$(grep -c '^	n[0-9]* \[' tree.dot)" -eq "$(grep -c '^ *#[0-9]* \(thread\|the first\)' out)"
check "and an edge to each but the first" \
	"$(grep -c '^	n[0-9]* -> n' tree.dot)" -eq "$(($(grep -c '^	n[0-9]* \[' tree.dot) - 1))"
check "the deadlock is red" "$(grep -c 'deadlock (2 threads).*color=red' tree.dot)" -eq 1
run "$DPE" explore --replay=deadlock.schedule -- ./counted ab-ba
says "its schedule leads there" 1 "replay of deadlock.schedule: deadlock (2 threads)"
check "without a difference" -z "$(grep differs err)"

printf '1\n1\n2\n2\n4\n4\n4\n' >commands
steps -- "$explored/three-way-cycle"
shows "a lock that another one has" 0 "thread 4 cannot go on"
check "and who has it" "$(tail -6 out | grep -c "^  thread 4  sleeping  pthread_mutex_lock of 'locks\[0\]' at .*, which thread 2 has$")" -eq 1

# ---- along a schedule ----
run "$DPE" explore -o found.schedule -- "$explored/lost-update"
cat >commands <<'END'
continue
where
continue
END
steps --replay=found.schedule -- "$explored/lost-update"
shows "a schedule is followed where nothing is chosen" 1 "death by signal 6"
switch=$(grep '^[0-9]' found.schedule | head -1)
check "up to its switch" -n "$(grep "^> thread $(echo "$switch" | cut -d' ' -f3)  active" out)"
printf 'next 10000\nback 3\nnext 2\nnext\nback 1000\n' >commands
steps -- "$explored/lost-update"
shows "without one, as the first run" 0 "there are not so many macrosteps before"
check "to the same end, twice" "$(grep -c 'the run has ended: exit status 0' out)" -eq 2

# ---- what is wrong ----
printf '1000\nwalk\nsave\nsave #3\ngoto nowhere\nback x\nwrite /nonexistent/x\ndot /nonexistent/x\nquit\n' >commands
steps -- ./counted one-lock
shows "errors" 0 "there is no thread 1000 here" "'walk' is not a command" "'save' takes NAME" "begins with no '#'" \
	"there is no 'nowhere'" "'x' is not a number" "/nonexistent/x: No such file"
printf 'next 5\nback\nquit\n' >commands
steps -- ./forgetful
shows "a program that does something else" 0 "the run ended before it came to #5: the program depends on something other"
printf 'next 100\n' >commands
steps -- ./outside
shows "a thread that blocks outside" 0 "not controlled: a thread blocked in read" "the run has ended: exit status 0"
finish
