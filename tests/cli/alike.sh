# Operands of & that differ only in carets are interchangeable: of equivalent readings of an event, one is followed.
. tests/tap.sh

carets() { python3 -c 'import sys; print("^" * int(sys.argv[1]), end="")' "$1"; }
# operands TEXT N SEPARATOR: the text N times, with ever more carets in place of %
operands() { for i in $(seq 0 $(($2 - 1))); do printf '%s' "$1" | sed "s/%/$(carets "$i")/g"; [ "$i" -eq $(($2 - 1)) ] || printf '%s' "$3"; done; }

python3 -c '
import json
event = lambda name, id, *preds: print(json.dumps({"event": name, "id": id, "pred": preds}))
for turn in range(4):
    for i in range(12):
        event("arrive", f"a{turn}.{i}", *([f"r{turn - 1}"] if turn else []))
    event("release", f"r{turn}", *(f"a{turn}.{i}" for i in range(12)))' >barrier.jsonl
printf 'expect barrier: %s\n' "$(operands '(arrive%;release)*' 12 ' & ')" >barrier.dpe
run "$DPE" replay --trace=trace -s barrier.dpe barrier.jsonl
check 'a log of a barrier of twelve threads satisfies its rule' "$status" -eq 0
check 'each event of the barrier has one reading' "$(grep -c 'took.*: 1 reading$' trace)" -eq 52
head -n 51 barrier.jsonl >short.jsonl
printf '{"event":"release","id":"early","pred":["a3.0","a3.1"]}\n' >>short.jsonl
run "$DPE" replay -s barrier.dpe short.jsonl
says 'a barrier that opens early violates its rule' 1 'barrier: violation of' 'id "early"' 'expected release after arrive and arrive^ and'

# The cells are emptied in the order in which they were filled, then in the other one.
python3 -c '
import json
events, last = {}, {}
def event(name, *preds):
    id = f"e{len(events)}"
    events[id] = name
    print(json.dumps({"event": name, "id": id, "pred": [last[p] for p in preds if p in last]}))
    return id
for turn in range(6):
    for cell in range(10):
        last["producer"] = event("produce", "producer")
        last["producer"] = last[cell] = event("put", "producer", cell)
    for cell in range(10) if turn % 2 else reversed(range(10)):
        last["consumer"] = last[cell] = event("get", "consumer", cell)
        last["consumer"] = event("consume", "consumer")' >buffer.jsonl
printf 'expect buffer: %s & ((%s);consume)* & (produce;(%s))*\n' "$(operands '(put%;get%)*' 10 ' & ')" \
	"$(operands 'get%' 10 ' + ')" "$(operands 'put%' 10 ' + ')" >buffer.dpe
run "$DPE" replay --trace=trace -s buffer.dpe buffer.jsonl
check 'a log of a buffer of ten cells satisfies its rule' "$status" -eq 0
check 'each event of the buffer is taken' "$(grep -c 'took.*: [1-9]* readings*$' trace)" -eq 240
# The eleventh item finds no empty cell.
head -n 20 buffer.jsonl >full.jsonl
printf '{"event":"produce","id":"p","pred":["e19"]}\n{"event":"put","id":"eleventh","pred":["p"]}\n' >>full.jsonl
run "$DPE" replay -s buffer.dpe full.jsonl
says 'an eleventh item put into a buffer of ten violates its rule' 1 'buffer: violation of' 'id "eleventh"' 'get after put'

# Twelve operands without common events, concurrent in each round.
python3 -c '
import json
event = lambda name, id, *preds: print(json.dumps({"event": name, "id": id, "pred": preds}))
last = []
for turn in range(3):
    for i in range(12):
        event("a", f"a{turn}.{i}", *last)
    for i in reversed(range(12)):
        event("b", f"b{turn}.{i}", f"a{turn}.{i}")
    event("end", f"end{turn}", *(f"b{turn}.{i}" for i in range(12)))
    last = [f"end{turn}"]' >rounds.jsonl
printf 'expect rounds: ((%s);end)*\n' "$(operands '(a%;b%)' 12 ' & ')" >rounds.dpe
run "$DPE" replay --trace=trace -s rounds.dpe rounds.jsonl
check 'rounds of twelve operands without common events satisfy their rule' "$status" -eq 0
check 'each event of these operands has one reading' "$(grep -c 'took.*: 1 reading$' trace)" -eq 75
grep -v '"b2.5"' rounds.jsonl >short.jsonl
run "$DPE" replay -s rounds.dpe short.jsonl
says 'an operand that does not reach its end makes the match incomplete' 1 'rounds: incomplete match of' 'expected b^^^^^ after a^^^^^'

# An action that names positions needs every reading.
printf 'expect R: (a;b) & (a^;b^) { print($1, $2, $3, $4); }\n' >named.dpe
printf '%s\n' '{"event":"a","id":"a1"}' '{"event":"a","id":"a2"}' '{"event":"b","id":"b2","pred":["a2"]}' \
	'{"event":"b","id":"b1","pred":["a1"]}' >named.jsonl
run "$DPE" replay --trace=trace -s named.dpe named.jsonl
says 'a rule whose action prints its positions is satisfied' 0 'a1'
check 'both readings of an event are followed where an action names positions' "$(grep -c 'took a.*: 2 readings$' trace)" -eq 2
finish
