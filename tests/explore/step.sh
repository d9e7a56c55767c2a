# dpe explore --step: from one macrostep to the next.
. tests/tap.sh

targets=$TOP/tests/explore/targets
explored=$BUILD/explored
for target in forgetful outside; do
	${CC:-cc} -g -O1 -pthread "$targets/$target.c" -o $target || not_ok "compiling $target.c"
done

${CC:-cc} -g -O1 -fsanitize=thread -c "$targets/counted.c" -o counted.o &&
	${CC:-cc} counted.o -o counted -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling counted.c"

# steps ARGUMENT...: reads the commands of the file `commands`
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
says "--step with --gdb is refused" 2 "--step cannot be combined with --gdb"
run "$DPE" explore --step --format=json -- ./counted
says "--step with --format=json is refused" 2 "--step cannot be combined"
run "$DPE" explore --step -e 'detect x: a' -- ./counted
says "--step with rules is refused" 2 "--step does not check rules"
: >commands
steps -- ./counted one-lock
shows "--step without commands shows the first node and ends" 0 "#1"

# ---- the whole tree by choices and goto, against an enumeration without a thread ----
for program in one-lock semaphore detached ab-ba; do
	counted=$(python3 "$TOP/tests/explore/counts.py" $program operations)
	check "$program: a walk through the whole tree has $counted ends" \
		"$(python3 "$TOP/tests/explore/traverse.py" "$DPE" ./counted $program | cut -d' ' -f1)" = "$counted"
done
check "ab-ba: a walk through the whole tree comes to deadlocks" \
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
shows "save, write and dot report names and sizes" 1 "#4 is 'one lock'" "deadlock.schedule: the schedule up to here, with 1 switch" \
	"tree.dot: the tree, with $(grep -c '^	n[0-9]* \[' tree.dot) nodes"
shows "choices of threads lead to a deadlock" 1 "#6 after thread 3: pthread_mutex_lock of 'b'" "the run has ended: deadlock (2 threads)" \
	"thread 1 cannot proceed" "the run has ended: 'back', 'goto' or 'quit'" \
	"#4 [one lock] after thread 2: pthread_mutex_lock of 'a' at lock_both+"
sed -n '/^#8 after/,/^#1 /p' out >after
check "a collective breakpoint shows which thread waits and for which one" \
	"$(grep -c "^  thread 1  sleeping  pthread_join of thread 2 at run_two+" after)" -eq 1
check "a choice that was made before shows its known result" "$(grep -c '(#6: deadlock (2 threads))$' out)" -eq 1
check "tree shows both paths, indented where they part" "$(grep -c '^  #[0-9]* thread' out)" -eq 4
check "tree marks the current node" "$(grep -c '<- here$' out)" -eq 1
check "tree counts the choices that were not visited" -n "$(grep '(1 of 2 not visited)' out)"
check "goto leads to a node where the run has ended" "$(grep -c 'the run has ended: deadlock (2 threads)' out)" -eq 2
check "dot writes as many nodes as tree shows" \
	"$(grep -c '^	n[0-9]* \[' tree.dot)" -eq "$(grep -c '^ *#[0-9]* \(thread\|the first\)' out)"
check "dot writes an edge to each node but the first" \
	"$(grep -c '^	n[0-9]* -> n' tree.dot)" -eq "$(($(grep -c '^	n[0-9]* \[' tree.dot) - 1))"
check "dot draws the deadlock in red" "$(grep -c 'deadlock (2 threads).*color=red' tree.dot)" -eq 1
run "$DPE" explore --replay=deadlock.schedule -- ./counted ab-ba
says "the schedule of the write command leads to the deadlock" 1 "replay of deadlock.schedule: deadlock (2 threads)"
check "the replay of the written schedule does not differ from it" -z "$(grep differs err)"

printf '1\n1\n2\n2\n4\n4\n4\n' >commands
steps -- "$explored/three-way-cycle"
shows "a thread that waits for another thread's lock cannot proceed" 0 "thread 4 cannot proceed"
check "the waiting thread is shown with the thread that has the lock" "$(tail -6 out | grep -c "^  thread 4  sleeping  pthread_mutex_lock of 'locks\[0\]' at .*, which thread 2 has$")" -eq 1

# ---- along a schedule ----
run "$DPE" explore -o found.schedule -- "$explored/lost-update"
cat >commands <<'END'
continue
where
continue
END
steps --replay=found.schedule -- "$explored/lost-update"
shows "continue follows the schedule of --replay" 1 "death by signal 6"
switch=$(grep '^[0-9]' found.schedule | head -1)
check "continue stops at the switch of the schedule" -n "$(grep "^> thread $(echo "$switch" | cut -d' ' -f3)  active" out)"
printf 'next 10000\nback 3\nnext 2\nnext\nback 1000\n' >commands
steps -- "$explored/lost-update"
shows "back refuses more macrosteps than were made" 0 "there are fewer macrosteps before this one"
check "next comes to the same end before and after back" "$(grep -c 'the run has ended: exit status 0' out)" -eq 2

# ---- errors ----
printf '1000\n-1\nnext -1\nnext 4294967297\n4294967297\nwalk\nsave\nsave #3\ngoto nowhere\nback x\nwrite /nonexistent/x\ndot /nonexistent/x\nquit\n' >commands
steps -- ./counted one-lock
shows "wrong commands of --step are reported" 0 "there is no thread 1000 here" "'-1' is not a command" \
	"'-1' is not a number" "'4294967297' is not a number" "'4294967297' is not a command" "'walk' is not a command" "'save' takes NAME" "begins with no '#'" \
	"there is no 'nowhere'" "'x' is not a number" "/nonexistent/x: No such file"
printf 'next 5\nback\nquit\n' >commands
steps -- ./forgetful
shows "back reports a program that behaves differently when run again" 0 "the run ended before it came to #5: the program depends on something other"
printf 'next 100\n' >commands
steps -- ./outside
shows "a thread that blocks in read is reported as not controlled" 0 "not controlled: a thread blocked in read" "the run has ended: exit status 0"
finish
