# Variables of real programs in conditions of control events and in actions.
. tests/tap.sh
need_live 'variables at events' '[first]'
compile_target values

count_seen() {
	grep -c "$1" err
}

cat >values.dpe <<'DPE'
detect raised(x): enqueue(x) [flag = 1] { printf("%d, %d", x, flag); }
detect full(x): enqueue(x).exit [queue.count > 8 && .ret > 9] { print(queue.count, queue.slots[1]); }
detect chain: toggle [head->next->weight = -9 && (*head).next->kind == 200]
detect none: toggle [nobody->weight = 0 || nobody->weight != 0]
detect far: toggle { print(untouched[50000]); }
detect data: [flag'] { print(queue.count); }
detect end: toggle.exit [!(head != 0)]
detect static: toggle.exit [toggle::toggled = 3]
detect static_data: [toggle::toggled']
detect huge: toggle [huge = 1 && huge != 1.5] { print(huge); }
DPE
run "$DPE" run --all -s values.dpe -- ./values
check 'a condition over a variable holds' "$(count_seen '^raised: [2367], 1$')" -eq 4
check 'variables have their values before the call on entry' "$(count_seen 'raised: match')" -eq 4
check 'a condition over a variable and a result holds at a return' "$(count_seen '^full: 10 9$')" -eq 1
check 'a condition through pointers holds' "$(count_seen 'chain: match')" -eq 5
check 'a variable that cannot be read has no value' "$(count_seen 'none: match')" -eq 0
check 'memory that is not paged in yet can be read' "$(count_seen '^far: 0$')" -eq 6
check 'variables are read at data events' "$(count_seen '^data: 10$')" -eq 2
check 'the report shows the values of variables' "$(count_seen 'enqueue(7)  flag = 1, queue.count = 7')" -eq 1
check 'a static variable of a function is read and watched' "$(count_seen 'static: match') $(count_seen 'static_data: match')" = '1 6'
check 'a variable of 128 bits is read' "$(count_seen '^huge: 1$')" -eq 6
check 'a null pointer is compared' "$(count_seen 'end: match')" -eq 1
summary=$(grep '^dpe: .*rules' err)

run "$DPE" run --all --stack=0 -s values.dpe -- ./values
check '--stack=0 has the same verdicts' "$(grep '^dpe: .*rules' err)" = "$summary"
run "$DPE" record -o values.jsonl -s values.dpe -- ./values
run "$DPE" replay --all -s values.dpe values.jsonl
check 'a replay of a .jsonl log has the same verdicts' "$(grep '^dpe: .*rules' err)" = "$summary"
run "$DPE" convert values.jsonl values.dpel
run "$DPE" replay --all -s values.dpe values.dpel
check 'a replay of a .dpel log has the same verdicts' "$(grep '^dpe: .*rules' err)" = "$summary"

attaches './values stands-by' --all -s values.dpe
check 'attach has the same verdicts' "$(grep '^dpe: .*rules' err)" = "$summary"
check 'attach: the program prints its usual result' "$(cat answer)" = '10 0'

# An event that no rule can use costs no message.
# sent NUMBER SPEC
sent() {
	printf '%s\n' "$2" >sent.dpe
	run "$DPE" run --all --stack=0 -s sent.dpe -- ./values
	check "$1 events of: $2" "$(sed -n 's/^dpe: \([0-9]*\) events, 0 lost.*/\1/p' err)" = "$1"
}
sent 7 'detect r: enqueue [queue.count = 3] ; enqueue [4 <= queue.count && queue.count < 5]'
sent 5 'detect r(x): enqueue(x).exit [x > 3 && queue.count >= 6]'
sent 5 'detect r: toggle [head->next->weight < -8]'
sent 6 'detect r: toggle [second.kind > 199]'
sent 0 'detect r: toggle [nobody->weight = 0]'
sent 10 'detect r: enqueue [queue.count = 3] & enqueue'
sent 10 'detect r: enqueue [queue.count = 3 || flag = 1]'
sent 13 'detect r: enqueue [queue.count > 6] ; enqueue.exit { print(flag); }'
finish
