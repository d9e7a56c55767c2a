# --engine: the engine that follows a rule.
. tests/tap.sh

printf 'expect R: a;(b & (c;(d)@));e\n' >unsafe.dpe
printf '{"event":"a"}\n' >a.jsonl
run "$DPE" replay --engine=pa -s unsafe.dpe a.jsonl
says '--engine=pa refuses an unsafe rule and names the unsafe operator' 2 "unsafe.dpe:1:24: error: no predecessor automaton for rule 'R': '@' makes it unsafe"
run "$DPE" replay --engine=net -s unsafe.dpe a.jsonl
says '--engine=net follows the unsafe rule' 1 'R: incomplete match of a;(b&(c;d@));e'

printf 'detect R: (a;b) & (b;a)\n' >none.dpe
for engine in auto pa net; do
	run "$DPE" replay --engine=$engine -s none.dpe a.jsonl
	says "--engine=$engine refuses a rule that accepts nothing" 2 "none.dpe:1:8: error: rule 'R' accepts nothing"
done

# Sixteen operands in rounds: each first event follows all last ones of the round before.
printf 'expect R: (%s)*\n' "$(for i in $(seq 16); do printf '(a%s;b%s) & ' $i $i; done | sed 's/ & $//')" >wide.dpe
python3 -c '
import json
last = []
for turn in range(5):
    for i in range(1, 17):
        print(json.dumps({"id": f"a{i}.{turn}", "event": f"a{i}", "thread": i, "pred": last}))
    for i in range(16, 0, -1):
        print(json.dumps({"id": f"b{i}.{turn}", "event": f"b{i}", "thread": i, "pred": [f"a{i}.{turn}"]}))
    last = [f"b{i}.{turn}" for i in range(1, 17)]' >rounds.jsonl
for engine in auto net; do
	run "$DPE" replay --engine=$engine -s wide.dpe rounds.jsonl
	check "--engine=$engine: ordered rounds of 16 operands satisfy their rule" "$status" -eq 0
done
# In the last round b7 is missing.
grep -v '"b7.4"' rounds.jsonl >short.jsonl
printf '{"id":"early","event":"a3","thread":3,"pred":["b3.4"]}\n' >>short.jsonl
for engine in auto net; do
	run "$DPE" replay --engine=$engine -s wide.dpe short.jsonl
	says "--engine=$engine: a round that begins too early violates the rule" 1 'R: violation of' 'id "early"' 'expected b7 after a7'
done

# The token game follows tokens that wait for each other forever; where a rule allows that, the report says so.
printf 'expect R: ((a;s;t)+x) & ((c;t;s)+y)\n' >late.dpe
printf '{"event":"a","thread":1,"seq":0}\n{"event":"c","thread":2,"seq":0}\n' >late.jsonl
run "$DPE" replay --engine=pa -s late.dpe late.jsonl
says '--engine=pa reports a violation at the first event that cannot fit' 1 'R: violation of' 'at a  thread 1'
run "$DPE" replay --engine=net -s late.dpe late.jsonl
says '--engine=net notes that an incomplete match may be a violation seen late' 1 'R: incomplete match of' 'an event may have violated the rule: the token game sees some violations late'
printf 'expect R: (a;b) & c\n' >prompt.dpe
run "$DPE" replay --engine=net -s prompt.dpe late.jsonl
check '--engine=net has no such note for operands without common events' "$(grep -c 'sees some violations late' err)" -eq 0

# More readings of copies of @ than the limit.
printf 'expect R: (a@;b@)@\n' >readings.dpe
for i in $(seq 40); do printf '{"event":"a","thread":%d,"seq":0}\n' $i; done >readings.jsonl
for i in $(seq 40); do printf '{"event":"b","thread":%d,"seq":1}\n' $i; done >>readings.jsonl
run "$DPE" replay -s readings.dpe readings.jsonl
says 'a rule whose events match in too many ways is inconclusive' 3 'R: inconclusive verdict on' 'its events can be matched in too many ways'
finish
