# Attaching to threads that run: in the middle of critical sections, twice at once, and away again.
. tests/tap.sh
need_live 'attaching'
compile_target sections

rounds=1
test -n "${DPE_TEST_LONG:-}" && rounds=5

# begin WAY: a target of that way, as $target, whose threads are there
begin() {
	./sections 1000000 "$1" >/dev/null &
	target=$!
	await has_threads
}
has_threads() {
	test "$(ls /proc/$target/task | wc -l)" -eq 3
}
# sees REPORT: the dpe that writes it, and writes its progress there, has seen events
sees() {
	grep -q '^dpe: [0-9]* s: [1-9][0-9]* events' "$1"
}

# twenty WAY COMMAND...: attached 20 times (4 where it must not take long), four at a time, for a second
# each; in $alarms how often that was not a clean end without findings, of which the reports are in the
# file "alarms"
twenty() {
	way=$1
	shift
	alarms=0
	: >alarms
	for round in $(seq $rounds); do
		for i in 1 2 3 4; do
			(
				begin "$way"
				sleep 0.0$round$i
				timeout -s KILL 120 "$@" -d 1 -p $target $what 2>report.$i
				echo $? >status.$i
				kill -KILL $target
			) 2>/dev/null &
		done
		wait
		for i in 1 2 3 4; do
			test "$(cat status.$i)" -eq 0 && continue
			alarms=$((alarms + 1))
			cat report.$i >>alarms
		done
	done
}

# quiet NAME WAY COMMAND...
quiet() {
	name=$1
	shift
	twenty "$@"
	test $alarms -eq 0 && ok "$name: no false alarm" && return
	not_ok "$name: $alarms false alarms in $((4 * rounds))"
	explain "$(head -c 3000 alarms)"
}
what=
quiet 'two orders under a gate' gated "$DPE" deadlock
if test $rounds -gt 1; then
	quiet 'a recursive lock' recursive "$DPE" deadlock
	quiet 'read-write locks, conditions, semaphores' readers "$DPE" deadlock
fi
need_watchpoints 'data events of programs that ran already'
what=count
quiet 'a number under a lock that is waited for' counter "$DPE" race
what=hand
quiet 'a number that is handed on' handed "$DPE" race
what=

# The race is found nevertheless, once both threads have run.
race() {
	begin racy
	"$DPE" race -p $target count 2>report.$1 &
	observer=$!
	await grep -q '^#1 ' report.$1
	kill -TERM $observer
	wait $observer
	echo $? >status.$1
	kill -KILL $target
}
for round in $(seq $rounds); do
	for i in 1 2 3 4; do
		race $i 2>/dev/null &
	done
	wait
	check "a race is found each time, round $round" "$(cat status.? | tr '\n' ' ')" = '1 1 1 1 '
done
begin deadlock
begin_observing deadlock --debug=probes:1 --on-deadlock=kill -p $target
: >enough
wait $observer
status=$?
says 'a deadlock that closes later' 1 'deadlock of 2 threads' '(a)' '(b)'
wait $target 2>/dev/null

# A replay of the recording gives the same result: the recording includes the threads that were already running.
begin counter
cat >count.dpe <<'DPE'
include "pthread.dpe"
detect race: [count'] & [count]
DPE
# One may keep the lock for long.
echo 'detect both: thread::found(_, _, _) ; thread::found(_, _, _)' >both.dpe
"$DPE" attach -s both.dpe -s count.dpe -o watch.jsonl -p $target >out 2>err &
observer=$!
await grep -q '^#1 both: match' err
kill -TERM $observer
wait $observer
check 'both threads were found' "$(grep -c '"thread::found"' watch.jsonl)" -ge 2
run "$DPE" replay -s count.dpe watch.jsonl
gives 'a replay says the same' 0

# Two at once, and one of a target of its own; no trace is left of any.
shared=$target
begin counter
other=$target
"$DPE" deadlock --progress=1 -p $shared 2>first &
first=$!
"$DPE" attach --progress=1 -s count.dpe -p $shared 2>second &
second=$!
await sees first
await sees second
run "$DPE" deadlock -d 1 -p $other
says 'one of another target' 0 ' 0 lost' 'nothing found'
kill -TERM $second
wait $second
check 'one of two of the same target' $? -eq 0
kill -TERM $first
wait $first
check 'the other one' $? -eq 0
check 'both saw it' "$(cat first second | grep -c '^dpe: [1-9][0-9]* events, 0 lost')" -eq 2
check 'no thread is stopped' "$(grep -c 'State:.*stopped' /proc/$shared/task/*/status | grep -vc ':0$')" -eq 0
check 'nothing of dpe is in the target' "$(grep -c uprobes /proc/$other/maps)" -le 1
kill -KILL $shared $other
finish
