# Rings of several processors become one stream: steps of threads in turn on changing
# processors are in that order, and each thread's sequence numbers have no gaps.
. tests/tap.sh
need_live 'one ring for each processor'
compile_target wander
printf 'detect R: step(_) [.tid == 0]\n' >step.dpe

# Checks the order of the steps in the log, and the sequence numbers of each thread.
steps() {
	python3 -c '
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
events = [event for event in events if event.get("event") == "step.enter"]
order = [event["args"][0] for event in events]
numbers = {}
for event in events:
    expected = numbers.setdefault(event["thread"], event["seq"])
    if event["seq"] != expected:
        print("thread", event["thread"], "has", event["seq"], "instead of", expected)
    numbers[event["thread"]] = expected + 1
print(len(order), "steps,", "in order" if order == sorted(order) else "not in order")
' "$1"
}

# kept_up: nothing was lost, or the steps are not in order: another try is of no use
kept_up() {
	grep -q ' 0 lost' err || ! grep -q ', in order$' order
}

for rings in '' --rings=1 --rings=2 --ring=4096; do
	for try in 1 2 3 4 5; do
		run "$DPE" record $rings --stack=0 -o log.jsonl -s step.dpe -- ./wander 2000
		steps log.jsonl >order
		kept_up && break
		test "$rings" = --ring=4096 && rings=--ring=65536 # room for all, however long nobody reads
	done
	if test "$(cat order)" = '2000 steps, in order' && grep -q '^dpe: 2000 events .* 0 lost' err; then
		ok "steps on changing processors are logged in their order $rings"
	else
		not_ok "steps on changing processors are logged in their order $rings"
		explain "$(cat order)"
		explain_run
	fi
done

# The ring wraps around several times, also if half of the events are lost; a record across its end is in one piece.
run "$DPE" record --ring=131072 --rings=1 --stack=0 -o log.jsonl -s step.dpe -- ./wander 8000
steps log.jsonl | tail -n 1 >order
check 'records that cross the end of a large ring are in one piece' "$(sed -n 's/ steps, in order$//p' order)" -gt 4000

run "$DPE" run --debug=probes -s step.dpe -- ./wander 2
check 'there is a ring for each processor' "$(grep -c "$(getconf _NPROCESSORS_ONLN) rings\{0,1\} of" err)" -eq 1
run "$DPE" run --debug=probes --rings=1 --ring=65536 -s step.dpe -- ./wander 2
check '--rings=1 makes one ring for all processors' "$(grep -c '1 ring of 65536 bytes' err)" -eq 1
run "$DPE" run --debug=probes --rings=8192 --ring=65536 -s step.dpe -- ./wander 2
check '--rings makes at most a ring for each processor' "$(grep -c "$(getconf _NPROCESSORS_ONLN) rings\{0,1\} of 65536" err)" -eq 1
# Where the library reports the events, few are left for the rings.
printf 'include "pthread.dpe"\nexpect L(m): (pthread_mutex_lock(m).exit ; pthread_mutex_unlock(m).enter)*\n' >locks.dpe
run "$DPE" run --preload --rings=1 --debug=probes -s locks.dpe -- ./wander 2
check 'with a preloaded library the rings are small' "$(grep -c 'of 1048576 bytes' err)" -eq 1
run "$DPE" run --preload --rings=1 --debug=probes -s locks.dpe -s step.dpe -- ./wander 2
check 'with a preloaded library and probes of other functions the rings are large' "$(grep -c 'of 8388608 bytes' err)" -eq 1
run "$DPE" run --rings=0 -s step.dpe -- ./wander 2
says '--rings=0 is refused' 2 '--rings takes a number from 1 to 8192'
finish
