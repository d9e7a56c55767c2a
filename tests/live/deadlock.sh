# dpe deadlock on programs that hang, and on some that only look like it.
. tests/tap.sh
need_live 'the deadlock watch'
compile_target deadlocks

# often STATUS FINDINGS COMMAND...: runs it $often times, four at a time; leaves the last $status, out and
# err, and in $times how often both were as wanted
often() {
	wanted=$1 findings=$2
	shift 2
	command_line="$*"
	times=0
	while test $times -lt $often; do
		for i in 1 2 3 4; do
			(timeout -s KILL 120 "$@" >out.$i 2>err.$i; echo $? >status.$i) &
		done
		wait
		for i in 1 2 3 4; do
			status=$(cat status.$i)
			cp out.$i out
			cp err.$i err
			test "$status" -eq "$wanted" && test "$(grep -c 'deadlock of' err)" -eq "$findings" || return
			times=$((times + 1))
		done
	done
}

# Twenty times where scheduling decides what happens, the rest less often.
often=20

# hangs WAY TEXT...: reported each time, and then killed as asked for
hangs() {
	way=$1
	shift
	often 1 1 "$DPE" deadlock --on-deadlock=kill -- "$@"
	check "$way: reported $often times of $often" $times -eq $often
	grep -q 'signal 9' err || not_ok "$way: killed"
}

# ends WAY COMMAND...: nothing reported, ever
ends() {
	way=$1
	shift
	often 0 0 "$DPE" deadlock --on-deadlock=kill -- "$@"
	check "$way: no false alarm in $often" $times -eq $often
}

hangs 'two mutexes' ./deadlocks cycle
says 'both threads, and where they are' 1 'deadlock of 2 threads' 'by a_then_b+' 'by b_then_a+' deadlocks.c:
ends 'a recursive mutex' ./deadlocks recursive
ends 'a robust mutex whose holder has ended' ./deadlocks robust
often=8
hangs 'dining philosophers' "$BUILD/examples/dining-philosophers"
says 'all five, and the forks' 1 'deadlock of 5 threads' '(forks[0])' '(forks[4])'
ends 'dining philosophers with an order' "$BUILD/examples/dining-philosophers-ordered"
hangs 'a mutex locked twice' ./deadlocks self
says 'by itself' 1 'deadlock of 1 thread '
hangs 'a mutex whose holder has ended' ./deadlocks kept
says 'by its name, with who held it' 1 'deadlock of 1 thread ' '(a), which thread' 'held when it ended' 'by keep+'
hangs 'threads that join each other' ./deadlocks join
hangs 'a reader and a writer' ./deadlocks write
ends 'two readers' ./deadlocks read
ends 'an inversion that never meets' ./deadlocks one-after-another

ends 'an inversion that a semaphore keeps open' ./deadlocks posted
run "$DPE" deadlock -- ./deadlocks open
says 'but not one whose wait needs no post' 1 'potential deadlock of 2 threads'

# An atomic variable orders where its events are observed, and a rule says so.
cat >atomics.dpe <<'END'
expect atomics(T): (atomic::store by T { sends(T, .args[0]); } + atomic::load by T { receives(T, .args[0]); })*
	observing thread::exit by T ends
END
${CC:-cc} -D_GNU_SOURCE -g -O1 -fsanitize=thread -c "$TOP/tests/live/targets/deadlocks.c" -o stored.o &&
	${CC:-cc} stored.o -L"$BUILD" -ldpe-mem -Wl,-rpath,"$BUILD" -pthread -o stored || not_ok 'a program with memory events'
run "$DPE" deadlock -s atomics.dpe -- ./stored stored
says 'an inversion that an atomic variable keeps open' 0 'nothing found'
run "$DPE" deadlock -- ./stored stored
says 'and without that rule' 1 'potential deadlock of 2 threads'

# A static program has only those functions of the rules that it uses.
${CC:-cc} -D_GNU_SOURCE -g -O1 -static -pthread "$TOP/tests/live/targets/deadlocks.c" -o static || not_ok 'a static program'
run timeout -s KILL 120 "$DPE" deadlock --on-deadlock=kill -- ./static cycle
says 'in a static program' 1 'deadlock of 2 threads' 'by a_then_b+'

run timeout -s KILL 120 "$DPE" deadlock --format=json --on-deadlock=kill -- ./deadlocks cycle
check 'as JSON' "$(python3 -c '
import json, sys
found = [json.loads(line) for line in sys.stdin if line.startswith("{")]
[f] = [f for f in found if f["type"] == "finding"]
print(f["kind"], len(f["threads"]), len(f["objects"]))' <out)" = 'deadlock 2 2'

# How things stand, when asked; and an end that leaves the program as it is.
: >err
"$DPE" deadlock -- ./deadlocks cycle >out 2>err </dev/null &
dpe=$!
await grep -q '^#1' err
process=$(pgrep -P $dpe -x deadlocks)
kill -USR1 $dpe
await grep -q 'dpe: so far ' err
kill -TERM $dpe
wait $dpe
status=$?
says 'SIGUSR1 prints which thread waits for which' 1 'dpe: so far ' '(a), which thread' '(b), which thread' \
	'waits for mutex a, which thread' 'waits for mutex b, which thread' '1 deadlock, no thread can go on'
check 'and so does the end' "$(grep -c 'no thread can go on' err)" -eq 2
kill -0 $process && ok 'SIGTERM ends dpe, not the program' || not_ok 'SIGTERM ends dpe, not the program'
kill -KILL $process

# target: the process of a thread that the last report is about; and how it is
target() {
	thread=$(sed -n 's/^  thread \([0-9]*\) waits.*/\1/p' err | head -1)
	awk '/^Tgid:/ { print $2 }' /proc/${thread:-none}/status 2>/dev/null
}
state() {
	sed 's/.*) \(.\).*/\1/' /proc/${1:-none}/stat 2>/dev/null
}
is_in_state() {
	test "$(state "$1")" = "$2"
}

# Left as it hangs, stopped, or in a debugger; as a job of a shell with jobs, whose kernel ends what is stopped and
# has nobody left in its session.
for how in report stop gdb; do
	test $how != gdb || command -v gdb >/dev/null || continue
	rm -f err pid
	test $how != report || (await grep -q '^#1' err && kill -TERM "$(cat pid)") &
	run timeout -s KILL 120 setsid bash -c 'set -m; "$@" </dev/null & echo $! >pid; wait $!' - \
		"$DPE" deadlock --on-deadlock=$how -- ./deadlocks cycle
	pid=$(target)
	case $how in
	report) says 'left as it hangs' 1 'runs on, no longer observed' && wanted=S ;;
	stop) says 'left stopped' 1 'the program is stopped, and no longer observed' && wanted=T ;;
	gdb) says 'handed to gdb' 1 'the program is under gdb' && wanted=S ;;
	esac
	await is_in_state "$pid" $wanted
	check "$how: it is there" "$(state $pid)" = $wanted
	test -z "$pid" || kill -KILL $pid
done

# It hangs already: that is found before anything is observed, and it is left as it was.
./deadlocks self >hanging.out &
hanging=$!
hangs_already() {
	run timeout -s KILL 120 "$DPE" deadlock --duration=1 -p $hanging
	test "$status" -eq 1
}
await hangs_already
says 'attached to one that hangs already' 1 'deadlock of 1 thread' 'no thread can go on' 'by a_twice+'
kill -0 $hanging && ok 'which is left alone' || not_ok 'which is left alone'
kill -9 $hanging
finish
