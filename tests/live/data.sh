# Data events: hardware watchpoints on variables of real programs.
. tests/tap.sh
need_live 'data events' '[first]'
compile_target data

# count_seen TEXT: how many lines of the report contain it
count_seen() {
	grep -c "$1" err
}

cat >count.dpe <<'END'
detect up: [counter = counter' + 1]
detect other: [counter != counter' + 1]
END
rounds=8
test -n "${DPE_TEST_LONG:-}" && rounds=20
for threads in 1 2 4; do
	times=0
	while test $times -lt $rounds; do
		run "$DPE" run --stack=0 -s count.dpe -- ./data $threads 200
		grep -q "^dpe: $((threads * 200)) events, 0 lost; 2 rules: $((threads * 200)) match" err || break
		test "$(cat out)" = "$((threads * 200)) 1.5" || break
		times=$((times + 1))
	done
	check "each update by $threads threads is seen once, with the value before" $times -eq $rounds
done

cat >kinds.dpe <<'END'
detect raised: [flag = 1]
detect set: [flag']
detect part: [box.part[1]'] { printf("part %d, was %d", box.part[1], box.part[1]'); }
detect touched: [total]
END
run "$DPE" run --all -s kinds.dpe -- ./data
check 'a condition is an event when it becomes true' "$(count_seen 'raised: match')" -eq 2
check 'an update is an event, whatever the value' "$(count_seen 'set: match')" -eq 4
check 'an element of an array in a structure is watched, with its sign' "$(count_seen '^part: part -7, was 0')" -eq 1
check 'a variable without a condition matches reads and writes' "$(count_seen 'touched: match')" -ge 2
check 'the report names the function that wrote the variable' "$(count_seen 'at set_flag+0x[0-9a-f]* (.*data.c:')" -ge 4
check 'the report has the values before and after a write' "$(count_seen 'flag = 1 (was 0)')" -ge 1

# A target that ends before its stacks are read must do no harm.
times=0
while test $times -lt $rounds; do
	run "$DPE" record -o kinds.jsonl -s kinds.dpe -- ./data
	grep -q 'events recorded in kinds.jsonl, 0 lost' err && test $status -eq 0 || break
	times=$((times + 1))
done
check "data events are recorded without loss, $rounds times of $rounds" $times -eq $rounds
run "$DPE" replay --all -s kinds.dpe kinds.jsonl
check 'a replay of recorded data events has the same matches' "$(count_seen 'raised: match') $(count_seen 'set: match')" = '2 4'

attaches './data 2 500 stands-by' --stack=0 -s count.dpe
check 'dpe attach sees each update of a variable in a running process' "$(count_seen '^dpe: 1000 events, 0 lost; 2 rules: 1000 match')" -eq 1
check 'a process whose variable was watched by dpe attach computes its results' "$(cat answer)" = '1000 1.5'

echo "detect five: [a'] + [b'] + [c'] + [d'] + [e']" >five.dpe
run "$DPE" run -s five.dpe -- ./data
says 'more variables than watchpoints are refused' 2 'the rules watch 5 variables (a, b, c, d, e), the processor has watchpoints for 4'
check 'too many variables are reported before the target starts' ! -s out
echo "detect four: [a'] + [b'] + [c'] + [d']" >four.dpe
run "$DPE" run -s four.dpe -- ./data
says 'four variables are watched at a time' 1 '4 events, 0 lost'
echo "detect none: [nowhere']" >none.dpe
run "$DPE" run -s none.dpe -- ./data
says 'an unknown variable is reported' 2 "data has no variable 'nowhere'; arguments are named in the event"
echo "detect wide: [box']" >wide.dpe
run "$DPE" run -s wide.dpe -- ./data
says 'a variable of 12 bytes is refused' 2 'on 1, 2, 4 or 8 aligned bytes, not on 12; watch a part, such as box[0] of an array, or box.member'
echo "detect member: [box.gone']" >member.dpe
run "$DPE" run -s member.dpe -- ./data
says 'an unknown member of a structure is reported' 2 "it has no member 'gone'"
echo "detect beyond: [box.part[3]']" >beyond.dpe
run "$DPE" run -s beyond.dpe -- ./data
says 'an index beyond the end of an array is reported' 2 'its last element is [2]'
echo "detect through: [p->first']" >through.dpe
run "$DPE" run -s through.dpe -- ./data
says 'a variable behind a pointer is refused' 2 'the target of a pointer can change its address'
printf "detect updated: [total']\ndetect accessed: [total]\n" >both.dpe
run "$DPE" run --all -s both.dpe -- ./data
check 'two rules watch the updates of a variable and all its accesses at once' \
	"$(count_seen 'updated: match')" -eq 1 -a "$(count_seen 'accessed: match')" -ge 2

# dpe is killed while the target waits for its watchpoints, or later: the target runs to its end, or
# has not begun; it never stays stopped. Every second time dpe is killed after the target has begun.
data=data$$ # a name that no other program has
mv data $data
was_there() {
	test -s answer || pgrep -x $data >/dev/null
}
gone() {
	! pgrep -x $data >/dev/null
}
times=0
finished=0
while test $times -lt 20; do
	rm -f answer
	"$DPE" run --stack=0 -s count.dpe -- ./$data 2 300 >answer 2>/dev/null &
	dpe=$!
	test $((times % 2)) -eq 0 || await was_there
	sleep 0.$((times % 2 ? 0 : 1))$((times % 10))
	kill -9 $dpe 2>/dev/null
	wait $dpe 2>/dev/null
	await gone || break
	case $(cat answer) in
	'600 1.5') finished=$((finished + 1)) ;;
	'') ;;
	*) break ;;
	esac
	times=$((times + 1))
done
explain "of 20 runs, $finished had begun"
check 'a target runs to its end or has not begun when dpe is killed, 20 times of 20' $times -eq 20
finish
