# The main task: the race is found in each run of the broken program, nothing in the correct one,
# and a replay of a recording has the same findings.
. tests/tap.sh
need_live 'the race of the producer-consumer program'
runs=5 recordings=2
test -n "${DPE_TEST_LONG:-}" && runs=20 recordings=5

rule=$TOP/examples/producer-consumer/race.dpe
broken=$BUILD/examples/producer-consumer-broken
correct=$BUILD/examples/producer-consumer
printf '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n' >numbers

# verdicts REPORT: its verdicts, sorted; a live run and its replay must agree on them.
verdicts() {
	python3 -c '
import json, sys
found = [json.loads(line) for line in open(sys.argv[1])]
for verdict in sorted([o["rule"], o["verdict"], sorted(o["events"])] for o in found if o["type"] == "verdict"):
	print(verdict)' "$1"
}

# complete REPORT: its matches have two events of two threads, with times, stacks and arguments.
complete() {
	python3 -c '
import json, sys
for o in map(json.loads, open(sys.argv[1])):
	if o["type"] != "verdict":
		continue
	names = sorted(m["event"] for m in o["messages"])
	if names != ["dequeue.enter", "enqueue.enter"]:
		sys.exit(f"events {names}")
	threads = {m["thread"] for m in o["messages"]}
	if len(threads) != 2:
		sys.exit(f"threads {threads}")
	for m in o["messages"]:
		function = m["event"].split(".")[0]
		if not m["time"] or not m["stack"][0].startswith(function + "+0x"):
			sys.exit(f"{m}")
		if function == "enqueue" and (len(m["args"]) != 1 or not 1 <= m["args"][0] <= 10):
			sys.exit(f"{m}")' "$1"
}

# follow PROGRAM STATUS TEXT...: $runs runs, each of which reports this and does not change the program's output
follow() {
	program=$1
	eval "path=\$$program"
	shift
	mkdir "$program" && cd "$program" || exit 1
	i=1
	while test $i -le $runs; do
		run "$DPE" run -s "$rule" -- "$path"
		says "$program, run $i: the expected report" "$@" 'exited with status 0' ' 0 lost'
		same "$program, run $i: the program's output is unchanged" out <../numbers
		i=$((i + 1))
	done
}

# again PROGRAM: $recordings times, replays of its log, of a recording and of the shuffled recording agree with the live run
again() {
	program=$1
	eval "path=\$$program"
	mkdir "again-$program" && cd "again-$program" || exit 1
	i=1
	while test $i -le $recordings; do
		run "$DPE" run --format=json --report=live.json -o run.jsonl -s "$rule" -- "$path"
		lived=$status
		verdicts live.json >live.verdicts
		run complete live.json
		gives "$program, run $i: matches have times, stacks and arguments of both events" 0
		run "$DPE" replay --format=json --on-break=continue -s "$rule" run.jsonl
		verdicts out >replayed.verdicts
		check "$program, run $i: a replay of the run's log has the same exit status" "$status" -eq $lived
		same "$program, run $i: a replay of the run's log has the same verdicts" replayed.verdicts <live.verdicts

		run "$DPE" record -s "$rule" -o record.jsonl -- "$path"
		gives "$program, run $i: dpe record succeeds" 0
		run "$DPE" replay --on-break=continue -s "$rule" record.jsonl
		check "$program, run $i: a replay of a recording has the same exit status" "$status" -eq $lived
		grep -v dpe_log record.jsonl | sort -R >shuffled.jsonl
		run "$DPE" replay --on-break=continue -s "$rule" shuffled.jsonl
		check "$program, run $i: a replay of a shuffled recording has the same exit status" "$status" -eq $lived
		i=$((i + 1))
	done
}

# Side by side, as each waits most of the time.
follow broken 1 'race: match of enqueue()&dequeue()' '$1 enqueue(' '$2 dequeue(' \
	'break: the program was stopped here, and continued' >1.tap &
follow correct 0 'nothing found' >2.tap &
wait
again broken >3.tap &
again correct >4.tap &
wait
for said in ./*.tap; do
	cat "$said"
	test -s "$said" || not_ok "$said says nothing"
	failures=$((failures + $(grep -c '^not ok' "$said")))
done
finish
