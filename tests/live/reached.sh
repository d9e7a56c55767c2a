# Values behind arguments: p->f in conditions and actions of events.
. tests/tap.sh
need_live 'values behind arguments'
compile_target reached

count_seen() {
	grep -c "$1" err
}

cat >reached.dpe <<'DPE'
detect added(l, i): enqueue(l, i).exit [l->len > 0] { print(l->len, i->price, i->kind, i->weights[1]); }
detect second(l): enqueue(l) [l->head->kind == 200 && l->extra.large = 70000]
detect nothing(l): enqueue(l) [l->head->kind >= 0]
detect dear(i): weigh(_, i) [(*i).price > 2 && i->weights[1] < -2]
detect stack(l): seventh(_, _, _, _, _, _, l) { print("seventh", l->len, l->head->price); }
detect twice(l): enqueue(l) [l->len = 1] ; enqueue(l) [l->len = 2]
detect given: first.exit [.ret->kind > 201 && .ret[0].weights[1] = -3] { print(.ret->next->kind, (*.ret).price); }
detect none(l): first(l).exit [.ret->kind >= 0 || .ret = 0]
DPE
run "$DPE" run --all -s reached.dpe -- ./reached
check 'members behind the arguments of a call are read at its return' \
	"$(grep -E '^added: (1 0.5 200 0|1 1.5 201 -1|2 2.5 202 -2|2 3.5 203 -3|3 0.0 0 0)$' err | wc -l)" -eq 5
check 'members behind two pointers are read' "$(count_seen 'second: match')" -eq 1
check 'a member behind a null pointer has no value' "$(count_seen 'nothing: match')" -eq 3
check 'members behind an argument of another function are read' "$(count_seen 'dear: match')" -eq 2
check 'members behind an argument on the stack are read' "$(count_seen '^stack: seventh 2 2.5$')" -eq 1
check 'members behind a result are read' "$(count_seen '^given: 201 3.5$') $(count_seen 'none: match')" = '1 4'
check 'each event of an expression has its own value' "$(count_seen 'twice: match')" -eq 1
check 'no event is lost' "$(count_seen ' 0 lost')" -eq 1
check 'the report shows the values behind arguments' "$(count_seen 'l->len = 2')" -ge 1
summary=$(grep '^dpe: .*rules' err)
run "$DPE" record -o reached.jsonl -s reached.dpe -- ./reached
run "$DPE" replay --all -s reached.dpe reached.jsonl
check 'a replay of a .jsonl log has the same verdicts' "$(grep '^dpe: .*rules' err)" = "$summary"
run "$DPE" record -o reached.dpel -s reached.dpe -- ./reached
run "$DPE" replay --all -s reached.dpe reached.dpel
check 'a replay of a .dpel log has the same verdicts' "$(grep '^dpe: .*rules' err)" = "$summary"
run "$DPE" run --all --stack=0 -s reached.dpe -- ./reached
check '--stack=0 has the same verdicts' "$(grep '^dpe: .*rules' err)" = "$summary"

# An event that cannot match costs no message.
echo 'detect r(l): enqueue(l) [l->len = 1]' >sent.dpe
run "$DPE" run --stack=0 -s sent.dpe -- ./reached
check 'an event that no rule can use is not sent' "$(count_seen '^dpe: 2 events, 0 lost')" -eq 1

# refused NAME SPEC TEXT
refused() {
	echo "$2" >refused.dpe
	run "$DPE" run -s refused.dpe -- ./${4:-reached}
	says "$1" 2 "$3"
	check 'the refusal of a member comes before the target starts' ! -s out
}
refused 'an absent member is refused' 'detect r(l): enqueue(l) [l->length = 1]' "it has no member 'length'"
refused 'a member of an argument that is no pointer is refused' 'detect r(n): plain(n) [n->len = 1]' 'it is not a pointer'
refused 'a whole structure behind an argument is refused' 'detect r(i): weigh(_, i) [*i = 1]' 'a value has 1, 2, 4 or 8 bytes, or is an integer of 16, not 32'
refused 'a member behind an argument of another event is refused' 'detect r(l): enqueue(l) ; plain [l->len = 1]' \
	"'l' is a variable of the rule, and no argument of this event"
refused 'a member of a result that is no pointer is refused' 'detect r: weigh.exit [.ret->len = 1]' "'.ret->len' cannot be read: it is not a pointer"
cp reached stripped
strip -g stripped
refused 'a member in a program without debug information is refused' 'detect r(l): enqueue(l) [l->len = 1]' \
	"stripped has no debug information that describes the arguments of 'enqueue'" stripped
finish
