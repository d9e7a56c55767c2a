# dpe deadlock on programs that hang, and on some that only seem to.
. tests/tap.sh
need_live 'the deadlock watch'
compile_target deadlocks

# often STATUS FINDINGS COMMAND...: runs it $often times, four at a time; leaves the last $status, out and
# err; $times counts the runs with this status and this number of findings
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

# More runs where the result could depend on scheduling than for the rest.
often=8 rest=4
test -n "${DPE_TEST_LONG:-}" && often=20 rest=8

# hangs WAY COMMAND...: each run is reported as a deadlock, and killed by --on-deadlock=kill
hangs() {
	way=$1
	shift
	often 1 1 "$DPE" deadlock --on-deadlock=kill -- "$@"
	check "$way: a deadlock is reported $often times of $often" $times -eq $often
	grep -q 'signal 9' err || not_ok "$way: --on-deadlock=kill kills the program"
}

# ends WAY COMMAND...: no run is reported
ends() {
	way=$1
	shift
	often 0 0 "$DPE" deadlock --on-deadlock=kill -- "$@"
	check "$way: no false alarm in $often runs" $times -eq $often
}

hangs 'two mutexes in two orders' ./deadlocks cycle
says 'a deadlock of two mutexes is reported with both threads and their stacks' 1 'deadlock of 2 threads' 'by a_then_b+' 'by b_then_a+' deadlocks.c:
ends 'a recursive mutex' ./deadlocks recursive
ends 'a robust mutex whose holder has ended' ./deadlocks robust
often=$rest
hangs 'dining philosophers' "$BUILD/examples/dining-philosophers"
says 'a deadlock of dining philosophers is reported with all five threads and their forks' 1 'deadlock of 5 threads' '(forks[0])' '(forks[4])'
ends 'dining philosophers with an order' "$BUILD/examples/dining-philosophers-ordered"
hangs 'a mutex locked twice' ./deadlocks self
says 'a mutex locked twice is a deadlock of one thread' 1 'deadlock of 1 thread '
hangs 'a mutex whose holder has ended' ./deadlocks kept
says 'a mutex whose holder has ended is reported with its name and its last holder' 1 'deadlock of 1 thread ' '(a), which thread' 'held when it ended' 'by keep+'
run timeout -s KILL 120 "$DPE" deadlock --preload --on-deadlock=kill -- ./deadlocks spin
says 'spin locks in two orders are a deadlock, with --preload' 1 'deadlock of 2 threads' '(spin)' '(other_spin)' 'by spin_for_other+'
run timeout -s KILL 120 "$DPE" deadlock --preload -- ./deadlocks spin-try
says 'a spin lock that is only tried closes no cycle' 0 'nothing found'
run timeout -s KILL 120 "$DPE" deadlock -- ./deadlocks spin-try
check 'without --preload, a warning says that spin locks are not observed, where they are not' \
	"$(grep -c 'pthread_spin_lock.*--preload' err)" -ge "$(spin_is_unobserved)"
hangs 'threads that join each other' ./deadlocks join
hangs 'a reader and a writer of a read-write lock' ./deadlocks write
ends 'two readers of a read-write lock' ./deadlocks read
ends 'a lock inversion in threads that run one after another' ./deadlocks one-after-another

ends 'a lock inversion that a semaphore makes impossible' ./deadlocks posted
run "$DPE" deadlock -- ./deadlocks open
says 'a lock inversion whose semaphore needs no post is a potential deadlock' 1 'potential deadlock of 2 threads'

# An atomic variable orders threads where its events are observed and a rule says so.
cat >atomics.dpe <<'END'
expect atomics(T): (atomic::store by T { sends(T, .args[0]); } + atomic::load by T { receives(T, .args[0]); })*
	observing thread::exit by T ends
END
${CC:-cc} -D_GNU_SOURCE -g -O1 -fsanitize=thread -c "$TOP/tests/live/targets/deadlocks.c" -o stored.o &&
	${CC:-cc} stored.o -L"$BUILD" -ldpe-mem -Wl,-rpath,"$BUILD" -pthread -o stored || not_ok 'compiling a program with memory events'
run "$DPE" deadlock -s atomics.dpe -- ./stored stored
says 'a lock inversion that an atomic variable makes impossible is not reported' 0 'nothing found'
run "$DPE" deadlock -- ./stored stored
says 'without a rule about the atomic variable, that lock inversion is a potential deadlock' 1 'potential deadlock of 2 threads'

# A static program has only those functions of the rules that it uses.
${CC:-cc} -D_GNU_SOURCE -g -O1 -static -pthread "$TOP/tests/live/targets/deadlocks.c" -o static || not_ok 'compiling a static program'
run timeout -s KILL 120 "$DPE" deadlock --on-deadlock=kill -- ./static cycle
says 'a deadlock in a static program is reported' 1 'deadlock of 2 threads' 'by a_then_b+'

run timeout -s KILL 120 "$DPE" deadlock --format=json --on-deadlock=kill -- ./deadlocks cycle
check 'a deadlock in JSON has its kind, threads and objects' "$(python3 -c '
import json, sys
found = [json.loads(line) for line in sys.stdin if line.startswith("{")]
[f] = [f for f in found if f["type"] == "finding"]
print(f["kind"], len(f["threads"]), len(f["objects"]))' <out)" = 'deadlock 2 2'

# The table of waits on request; and an end that leaves the program as it is.
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
	'waits for mutex a, which thread' 'waits for mutex b, which thread' '1 deadlock, no thread can proceed'
check 'at its end, dpe prints again that no thread can proceed' "$(grep -c 'no thread can proceed' err)" -eq 2
kill -0 $process && ok 'SIGTERM ends dpe deadlock and not the program' || not_ok 'SIGTERM ends dpe deadlock and not the program'
kill -KILL $process

# Ctrl-C ends the program before dpe can look at it. That nothing had happened for a second is known after some seconds.
cat >raw.c <<'X'
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
int word;
static void *wait_for_word(void *unused)
{
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0);
	return unused;
}
int main(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, wait_for_word, 0);
	pthread_join(thread, 0);
}
X
gcc -g raw.c -o raw || not_ok 'compiling raw.c'
for seconds in 2 4 8 16 32; do
	run timeout -s INT $seconds "$DPE" deadlock -- ./raw
	! grep -q 'can never proceed' err || break
done
says 'after Ctrl-C, what threads waited for is printed where no rule knows it' 124 'waits in futex word' 'no thread can proceed' \
	'was killed by signal 2' 'nothing found by rules, but threads that can never proceed'

# target: the process of a thread in the last report; state: the state of a process
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

# Left as it hangs, stopped, or in a debugger; as a job of a shell with job control, since the kernel ends stopped
# processes of an orphaned process group.
for how in report stop gdb; do
	test $how != gdb || command -v gdb >/dev/null || continue
	rm -f err pid
	test $how != report || (await grep -q '^#1' err && kill -TERM "$(cat pid)") &
	run timeout -s KILL 120 setsid bash -c 'set -m; "$@" </dev/null & echo $! >pid; wait $!' - \
		"$DPE" deadlock --on-deadlock=$how -- ./deadlocks cycle
	pid=$(target)
	case $how in
	report) says '--on-deadlock=report: SIGTERM leaves the program running' 1 'runs on, no longer observed' && wanted=S ;;
	stop) says '--on-deadlock=stop leaves the program stopped' 1 'the program is stopped, and no longer observed' && wanted=T ;;
	gdb) says '--on-deadlock=gdb hands the program to gdb' 1 'the program is under gdb' && wanted=S ;;
	esac
	await is_in_state "$pid" $wanted
	check "--on-deadlock=$how: the program exists, in state $wanted" "$(state $pid)" = $wanted
	test -z "$pid" || kill -KILL $pid
done

# ---- misuse of mutexes ------------------------------------------------------------------------
for form in '' --preload; do
	run timeout -s KILL 120 "$DPE" deadlock $form -- ./deadlocks uses
	says "mutexes that are used well are no misuse $form" 0 '0 lost; 8 rules: nothing found'
	for misuse in unlocks-twice:unlock_of_unlocked unlocks-twice-c11:unlock_of_unlocked locks-destroyed:lock_of_destroyed \
		destroys-locked:destroy_of_locked; do
		run timeout -s KILL 120 "$DPE" deadlock $form -- ./deadlocks "${misuse%:*}"
		says "misuse of a mutex is one finding: ${misuse%:*} $form" 1 "#1 ${misuse#*:}: match of" 'by misuse+' '0 lost; 8 rules: 1 match'
	done
done

# A process that hangs already: the deadlock is found before anything is observed, and the process is left as it was.
./deadlocks self >hanging.out &
hanging=$!
hangs_already() {
	run timeout -s KILL 120 "$DPE" deadlock --duration=1 -p $hanging
	test "$status" -eq 1
}
await hangs_already
says 'dpe deadlock -p reports a deadlock of a process that hangs already' 1 'deadlock of 1 thread' 'no thread can proceed' 'by a_twice+'
kill -0 $hanging && ok 'a process that hangs already is still there after dpe deadlock -p' || not_ok 'a process that hangs already is still there after dpe deadlock -p'
kill -9 $hanging
finish
