# Attaching to threads that run: in the middle of critical sections, twice at once, and away again.
. tests/tap.sh
need_live 'attaching'
compile_target sections

rounds=1
test -n "${DPE_TEST_LONG:-}" && rounds=5

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
				./sections 1000000 "$way" >/dev/null &
				target=$!
				sleep 0.0$round$i
				timeout -s KILL 30 "$@" -d 1 -p $target $what 2>report.$i
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
what=count
quiet 'a number under a lock that is waited for' counter "$DPE" race
what=hand
quiet 'a number that is handed on' handed "$DPE" race
what=

# What is there is found all the same.
twenty racy "$DPE" race count 2>/dev/null
check 'a race is found each time' $alarms -eq $((4 * rounds))
./sections 150 deadlock >/dev/null &
target=$!
run timeout -s KILL 30 "$DPE" deadlock --on-deadlock=kill -p $target
says 'a deadlock that closes later' 1 'deadlock of 2 threads' '(a)' '(b)'
wait $target 2>/dev/null

# The record of such a watch says the same: what was found running is in it.
./sections 1000000 counter >/dev/null &
target=$!
cat >count.dpe <<'DPE'
include "pthread.dpe"
detect race: [count'] & [count]
DPE
run timeout -s KILL 30 "$DPE" attach -d 1 -s count.dpe -o watch.jsonl -p $target
check 'both threads were found' "$(grep -c '"thread::found"' watch.jsonl)" -ge 2
run "$DPE" replay -s count.dpe watch.jsonl
gives 'a replay says the same' 0

# Two at once, and one of a target of its own; no trace is left of any.
./sections 1000000 counter >/dev/null &
other=$!
"$DPE" deadlock -d 2 -p $target 2>first &
first=$!
"$DPE" attach -d 1 -s count.dpe -p $target 2>second &
second=$!
run "$DPE" deadlock -d 1 -p $other
says 'one of another target' 0 ' 0 lost' 'nothing found'
wait $second
check 'one of two of the same target' $? -eq 0
wait $first
check 'the other one' $? -eq 0
check 'both saw it' "$(cat first second | grep -c '^dpe: [1-9][0-9]* events, 0 lost')" -eq 2
check 'no thread stands still' "$(grep -c 'State:.*stopped' /proc/$target/task/*/status | grep -vc ':0$')" -eq 0
check 'nothing of dpe is in the target' "$(grep -c uprobes /proc/$other/maps)" -le 1
kill -KILL $target $other
finish
