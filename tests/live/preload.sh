# --preload: the program reports its pthread calls itself; all is as with probes, but faster.
. tests/tap.sh
need_live 'the preloaded library'
compile_target preload
compile_target sync
compile_target deadlocks
target=./preload

# ---- the same verdicts -----------------------------------------------------------------------
rule=$TOP/examples/producer-consumer/race.dpe
i=1
while test $i -le 3; do
	run "$DPE" run --preload -s "$rule" -- "$BUILD/examples/producer-consumer-broken"
	says "the race of the broken program is found, run $i" 1 'race: match of enqueue()&dequeue()' '$1 enqueue(' 'by producer+' ' 0 lost'
	run "$DPE" run --preload -s "$rule" -- "$BUILD/examples/producer-consumer"
	says "the correct program has no finding, run $i" 0 'nothing found' ' 0 lost'
	i=$((i + 1))
done
run "$DPE" record --preload -o live.jsonl -s "$rule" -- "$BUILD/examples/producer-consumer"
run "$DPE" replay -s "$rule" live.jsonl
says 'a replay of the log has no finding' 0 'nothing found' ' 0 lost'
check 'sequence numbers of each thread in the log have no gaps' "$(python3 -c '
import json
seen = {}
for o in map(json.loads, open("live.jsonl")):
	if "event" in o:
		seen.setdefault(o["thread"], []).append(o["seq"])
print(len(seen), all(n == list(range(len(n))) for n in seen.values()))')" = '3 True'

cat >sync.dpe <<'X'
include "pthread.dpe"
detect ordered: before() ; after()
detect racing: before() & after()
detect independent: left() & right()
detect related: left() ; right() + right() ; left()
X
for way in mutex timedlock semaphore cond cond_timedwait broadcast rwlock_write \
	rwlock_read barrier once create join thrd_join c11; do
	run "$DPE" run --preload --stack=0 -s sync.dpe -- ./sync $way
	check "$way orders, and nothing more" "$(sed -n 's/^#. \([a-z]*\): match.*/\1/p' err | sort -u | tr '\n' ' ')" = \
		'independent ordered '
done

for way in cycle self write join; do
	run timeout -s KILL 200 "$DPE" deadlock --preload --on-deadlock=kill -- ./deadlocks $way
	check "deadlock: $way is reported" "$status $(grep -c 'deadlock of' err)" = '1 1'
done
run timeout -s KILL 200 "$DPE" deadlock --preload --on-deadlock=kill -- ./deadlocks cycle
says 'deadlock: cycle is reported with both threads and their places' 1 'deadlock of 2 threads' 'by a_then_b+' 'by b_then_a+' deadlocks.c:
for way in recursive read robust one-after-another; do
	run timeout -s KILL 200 "$DPE" deadlock --preload --on-deadlock=kill -- ./deadlocks $way
	gives "deadlock: $way has none" 0
done

# ---- exact counts ----------------------------------------------------------------------------
printf 'detect R: pthread_mutex_lock(m).exit [.tid == 0] ; pthread_mutex_unlock(m).enter [.tid == 0]\n' >locks.dpe

# counts NAME EVENTS: seen and lost events of the last run add up to EVENTS
counts() {
	check "$1" "$(sed -n 's/^dpe: \([0-9]*\) events\{0,1\}, \([0-9]*\) lost.*/\1 \2/p' err | awk '{ print $1 + $2 }')" = "$2"
}

for threads in 2 8 64; do
	calls=$((100000 / threads))
	run "$DPE" run --preload --stack=0 -s locks.dpe -- $target count $calls $threads
	counts "$threads threads at full rate: seen and lost events add up to all calls" $((2 * calls * threads + 2))
	run "$DPE" run --preload --ring=65536 -s locks.dpe -- $target count $calls $threads
	counts "$threads threads, small rings, stacks: seen and lost events add up to all calls" $((2 * calls * threads + 2))
done
check '64 threads, small rings: threads wait for dpe, and no event is lost' "$(grep -c ' 0 lost' err)" -eq 1
for try in 1 2 3 4 5; do # where dpe has no processor at that moment, they do not come again
	run "$DPE" run --preload --stack=0 -s locks.dpe -- $target many 3 2500
	counts '2500 threads, more than rings: seen and lost events add up to all calls' 15002
	test "$(sed -n 's/^dpe: \([0-9]*\) events.*/\1/p' err)" -le 9000 || break
done
check '2500 threads: rings of ended threads are used again' "$(sed -n 's/^dpe: \([0-9]*\) events.*/\1/p' err)" -gt 9000
run "$DPE" run --preload -s locks.dpe -- $target killed 1000
check "a killed program's last events are read" \
	"$(grep -c '^dpe: 2003 events, 0 lost' err) $(grep -c 'signal 9' err)" = '1 1'
run "$DPE" run --preload -s locks.dpe -- $target fork 100
check "events of a forked child are not read" "$(grep -c '^dpe: 402 events, 0 lost' err) $(grep -c 'status 3' err)" = '1 1'
run "$DPE" run --preload -s locks.dpe -- $target exec 100
check 'events after an exec are read' "$(grep -c '^dpe: 204 events, 0 lost' err)" -eq 1
run "$DPE" run --preload -s locks.dpe -- $target exec-bare 100
says 'an exec that leaves the library out is a loss' 3 '2 events, 1 lost'

printf 'detect R: sem_post(s) [.tid == 0] ; sem_wait(s).exit [.tid == 0]\n' >posts.dpe
run "$DPE" run --preload --stack=0 -s posts.dpe -- $target handlers 200000
counts 'signal handlers within calls: seen and lost events add up to all calls' "$(cat out)"
run "$DPE" run --preload --stack=0 --ring=65536 -s posts.dpe -- $target jumps 200000
lost=$(sed -n 's/^dpe: [0-9]* events, \([0-9]*\) lost.*/\1/p' err)
check 'a handler that leaves by longjmp loses the events that it interrupted' "${lost:-999999}" -le $(($(cat out) * 2))
run "$DPE" run --preload -s "$rule" -s locks.dpe -- $target tell
printf 'detect R: pthread_spin_lock(s).exit [.ret = 0] ; pthread_spin_trylock(s).exit [.ret = 16]\n' >spin.dpe
run "$DPE" run --preload -s spin.dpe -- $target tell
says 'errno is unchanged, and results of spin locks are seen' 1 'R: match' 'exited with status 0'
printf 'include "pthread.dpe"\ndetect R: pthread_cond_wait(c, m).enter [.tid == 0]\n' >cancel.dpe
run "$DPE" run --preload -s cancel.dpe -- $target cancel
says 'a wait can be cancelled' 0 'exited with status 0' ' 0 lost'

# ---- its files are its own -------------------------------------------------------------------
files() {
	"$@" sh -c 'ls /proc/$$/fd' 2>/dev/null | tr '\n' ' '
}
printf 'detect never: malloc(123456789)\n' >never.dpe
own=$(files env)
check 'the program has no file descriptor of dpe' "$(files "$DPE" run -s never.dpe --)" = "$own"
check 'the program has no file descriptor of dpe with --preload' "$(files "$DPE" run --preload -s never.dpe --)" = "$own"
if command -v setcap >/dev/null && command -v setpriv >/dev/null; then
	chmod 755 . preload && cp "$DPE" capable && cp "$BUILD/libdpe-pthread.so" . && chmod 755 capable && chmod 644 *.so *.dpe
	setcap cap_bpf,cap_perfmon+ep capable 2>/dev/null
	nobody='setpriv --reuid=65534 --regid=65534 --clear-groups ./capable run'
	run $nobody -s locks.dpe -- $target count 100
	if test "$status" -eq 0; then # else these capabilities are not enough here
		run $nobody --preload -s locks.dpe -- $target count 100
		check '--preload by a dpe with capabilities observes a program without them' "$(grep -c '^dpe: 202 events, 0 lost' err)" -eq 1
	fi
fi

# ---- what cannot be --------------------------------------------------------------------------
${CC:-cc} -static -g -O1 -pthread "$TOP/tests/live/targets/preload.c" -o static 2>/dev/null
run "$DPE" run --preload -s locks.dpe -- ./static count 1 1
says '--preload with a static program is refused' 2 'statically linked' 'leave --preload out'
check 'the refusal of a static program is one line' "$(lines err)" -eq 1
cp preload setuid && chown 65534 setuid && chmod u+s setuid
run "$DPE" run --preload -s locks.dpe -- ./setuid count 1 1
says '--preload with a setuid program is refused' 2 'other rights'
run "$DPE" deadlock --preload -p $$
says '--preload with -p is refused' 2 '--preload needs a program that dpe starts'
finish
