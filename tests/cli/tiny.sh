# Logs with the command of `make TINY=1`: tiny limits of formats and names change no message.
. tests/tap.sh
TINY=${DPE_TINY:-$TOP/build-tiny/dpe}
if test ! -x "$TINY" && test "${DPE_LIVE:-}" != require; then
	echo "ok - tiny limits of logs # skip $TINY was not built: make TINY=1"
	finish
fi
python3 -c '
import json
for i in range(400):
    event = {"event": f"name-of-event-{i % 7}", "thread": 1 + i % 5, "seq": i // 5, "time": 10 * i, "args": [i % 11, f"text {i % 13}", 0.5]}
    if i % 3 == 0:
        event["module"] = f"module-{i % 4}"
    print(json.dumps(event))' >log.jsonl
python3 -c '
for i in range(300):
    print(f"T{i % 5}|acq(lock{i % 5})|{i}\nT{i % 5}|w(object{i % 11})|{i % 17}\nT{i % 5}|rel(lock{i % 5})|{i}")' >log.std
for log in log.jsonl log.std; do
	run "$DPE" convert $log usual.jsonl
	gives "$log: the usual dpe reads the log" 0
	run "$TINY" convert $log tiny.jsonl
	gives "$log: the tiny dpe reads the log" 0
	check "$log: the tiny dpe reads the same messages" "$(cmp usual.jsonl tiny.jsonl && lines tiny.jsonl)" = "$(lines usual.jsonl)"
	run "$TINY" convert $log tiny.dpel
	gives "$log: the tiny dpe writes .dpel" 0
	run "$DPE" convert tiny.dpel back.jsonl
	check "$log: the usual dpe reads the .dpel log of the tiny one" "$(cmp usual.jsonl back.jsonl && echo same)" = same
	run "$TINY" convert tiny.dpel back.jsonl
	check "$log: the tiny dpe reads its own .dpel log" "$(cmp usual.jsonl back.jsonl && echo same)" = same
done
echo '{"event":"a","thread":1,"args":[{"x":[[[[1]]]]}]}' >deep.jsonl
run "$TINY" convert deep.jsonl out.jsonl
says 'a value nested deeper than the limit is an error with the limit' 2 'deep.jsonl:1' '3 deep'
finish
