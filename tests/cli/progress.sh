# --progress and --stats: lines on the progress and the cost of a replay.
. tests/tap.sh

printf 'detect R: a ; b\n' >r.dpe
# messages COUNT
messages() {
	yes '{"event":"c"}' | head -"$1"
}
messages 4000 >log.jsonl
# until_reported: longer and longer runs until err has a line of progress, two minutes at most
until_reported() {
	for time in $(seq $((${DPE_AWAIT:-120} * 5))); do
		messages 2000
		grep -q "$line" err && return
		sleep 0.2
	done
}
line='^dpe: [0-9]* s: [0-9]* events ([0-9]*/s), 1 slice, 0 findings, 0 lost, [0-9]* MiB$'

: >err
mkfifo to_unasked to_often
"$DPE" replay -s r.dpe - <to_unasked 2>unasked &
"$DPE" replay --progress=1 -s r.dpe - <to_often 2>often &
until_reported | tee to_unasked to_often | run "$DPE" replay --progress -s r.dpe -
check '--progress prints lines of progress' "$(grep -c "$line" err)" -ge 1
wait
check '--progress=1 prints more lines than --progress' "$(grep -c "$line" often)" -gt "$(grep -c "$line" err)"
check 'without --progress, standard error that is no terminal gets no progress' "$(grep -c '^dpe: [0-9]* s:' unasked) $(lines unasked)" = '0 2'
run "$DPE" replay --progress -s r.dpe log.jsonl
check '--progress prints nothing for a short replay' "$status $(lines err)" = '0 2'
run "$DPE" replay --progress=0 -s r.dpe log.jsonl
gives '--progress=0 is accepted' 0
run "$DPE" replay --progress=0 --stats -s r.dpe log.jsonl
check '--stats prints events, time, memory and stages at the end' "$status $(grep -c '^dpe: 4000 events in [0-9.]* s, [0-9]* a second; 1 slices keep [0-9]* events; [0-9]* MiB at most$' err) $(
	grep -cE '^dpe: processor time [0-9.]* s: input [0-9]+ %, order [0-9]+ %, match [0-9]+ %, report [0-9]+ %$' err)" = '0 1 1'
messages 64000 >long.jsonl
run "$DPE" replay --format=json --stats -s r.dpe long.jsonl
check '--stats in JSON: the stages take no longer than the whole replay' "$(python3 -c '
import json
stats = json.loads(open("out").read().splitlines()[-1])
used = sum(stats[s + "_ns"] for s in ("input", "order", "match", "report"))
print(stats["type"], stats["events"] == 64000, 0 < used <= stats["wall_ns"] * 1.1, stats["memory"] > 1000000)')" = 'stats True True True'
run "$DPE" replay --progress=often -s r.dpe log.jsonl
says '--progress refuses a word' 2 "--progress takes a number from 0 to 1000000, not 'often'"
finish
