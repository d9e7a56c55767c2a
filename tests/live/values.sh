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
check 'a condition over a variable' "$(count_seen '^raised: [2367], 1$')" -eq 4
check 'on entry the function has done nothing' "$(count_seen 'raised: match')" -eq 4
check 'with other conditions, at a return' "$(count_seen '^full: 10 9$')" -eq 1
check 'through pointers' "$(count_seen 'chain: match')" -eq 5
check 'what cannot be read has no value' "$(count_seen 'none: match')" -eq 0
check 'memory that is not paged in yet can be read' "$(count_seen '^far: 0$')" -eq 6
check 'at data events, too' "$(count_seen '^data: 10$')" -eq 2
check 'the report shows the values' "$(count_seen 'enqueue(7)  flag = 1, queue.count = 7')" -eq 1
check 'a static variable of a function' "$(count_seen 'static: match') $(count_seen 'static_data: match')" = '1 6'
check '128 bits' "$(count_seen '^huge: 1$')" -eq 6
check 'the end of a list' "$(count_seen 'end: match')" -eq 1
summary=$(grep '^dpe: .*rules' err)

run "$DPE" run --all --stack=0 -s values.dpe -- ./values
check 'without stacks' "$(grep '^dpe: .*rules' err)" = "$summary"
run "$DPE" record -o values.jsonl -s values.dpe -- ./values
run "$DPE" replay --all -s values.dpe values.jsonl
check 'a replay says the same' "$(grep '^dpe: .*rules' err)" = "$summary"
run "$DPE" convert values.jsonl values.dpel
run "$DPE" replay --all -s values.dpe values.dpel
check 'in either format' "$(grep '^dpe: .*rules' err)" = "$summary"

attaches './values stands-by' --all -s values.dpe
check 'a process that runs already' "$(grep '^dpe: .*rules' err)" = "$summary"
check 'went on' "$(cat answer)" = '10 0'

# What no rule can use costs no message.
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
