# Nothing is lost unseen: the events that were seen and the ones that were counted as lost are the calls
# that were made, at any rate, with any number of threads; and a log has the same verdicts in other orders.
. tests/tap.sh
need_live 'exact counts'
compile_target rates
printf 'detect R: hit(_) [.tid == 0]\n' >hit.dpe

# counts NAME CALLS: seen and lost events of the last run add up to CALLS
counts() {
	check "$1" "$(sed -n 's/^dpe: \([0-9]*\) events\{0,1\}, \([0-9]*\) lost.*/\1 \2/p' err | awk '{ print $1 + $2 }')" = "$2"
}

for threads in 2 8 64; do
	calls=$((400000 / threads))
	run "$DPE" run --stack=0 -s hit.dpe -- ./rates $threads $calls
	counts "$threads threads at full rate: seen and lost events add up to all calls" $((threads * calls))
	run "$DPE" run --stack=0 --ring=65536 -s hit.dpe -- ./rates $threads $calls
	counts "$threads threads, a ring of 64 KiB: seen and lost events add up to all calls" $((threads * calls))
done
run "$DPE" run --stack=0 --ring=4096 -s hit.dpe -- ./rates 64 6250
counts '64 threads, the smallest ring: seen and lost events add up to all calls' 400000
check '64 threads, the smallest ring: events are lost' "$(grep -c ' 0 lost' err)" -eq 0
check '64 threads, the smallest ring: a verdict is inconclusive' "$(grep -c '^#.*inconclusive' err)" -ge 1

# For some seconds, as many calls a second as dpe can follow on this machine, which may be a slow one.
seconds=3
test -n "${DPE_TEST_LONG:-}" && seconds=10
for rate in 300000 100000 30000; do
	run "$DPE" run --stack=0 -s hit.dpe -- ./rates 1 $((seconds * rate)) $((1000000000 / rate))
	counts "1 thread, $rate calls a second: seen and lost events add up to all calls" $((seconds * rate))
	! grep -q " 0 lost" err || break
done
check "nothing is lost of $rate calls a second for $seconds s" "$(grep -c "^dpe: $((seconds * rate)) events, 0 lost" err)" -eq 1

printf 'include "pthread.dpe"\ndetect race: enqueue() & dequeue()\n' >race.dpe
for program in producer-consumer producer-consumer-broken; do
	run "$DPE" record -o $program.jsonl -s race.dpe -- "$BUILD/examples/$program"
	python3 "$TOP/tests/conformance/permuted.py" --dpe "$DPE" --spec race.dpe $program.jsonl || failures=1
done
finish
