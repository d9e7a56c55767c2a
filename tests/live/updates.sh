# Updates of variables: several names of one address, threads that write at the same moment,
# compare-exchange.
. tests/tap.sh
need_live 'updates of variables' '[first]'
compile_target updates
compile_target contention

count_seen() {
	grep -c "$1" err
}

cat >names.dpe <<'END'
detect whole: [both.whole']
detect first: [both.bytes[0]']
detect plain: [plain']
detect other: [other']
END
run "$DPE" run --all --stack=0 -s names.dpe -- ./updates
check 'each name of an address has its own events' \
	"$(count_seen 'whole: match') $(count_seen 'first: match') $(count_seen 'plain: match') $(count_seen 'other: match')" = '2 1 2 2'
cat >values.dpe <<'END'
detect one: [contended'] [contended = 1]
detect two: [contended'] [contended = 2]
END
run "$DPE" run --all --stack=0 -s values.dpe -- ./updates 300
check 'each write has the value that it wrote' "$(count_seen 'one: match') $(count_seen 'two: match')" = '300 300'

printf "detect swapped: [swapped']\ndetect touched: [plain]\n" >swapped.dpe
run "$DPE" run --all --stack=0 -s swapped.dpe -- ./updates
check 'a failed compare-exchange is no update' "$(count_seen 'swapped: match') $(cat out)" = '2 3'

echo 'detect refilled: [refilled = 1]' >refilled.dpe
run "$DPE" run --stack=0 -s refilled.dpe -- ./updates
says 'a verdict on values that are contradicted later is retracted' 3 "which values 'refilled' has is not certain" \
	'reported too early as a match' ' events, 0 lost;' 'the values of 1 watched variable are not certain'
run "$DPE" run --stack=0 --format=json --report=report -s refilled.dpe -- ./updates
check 'JSON of a retracted verdict has a doubt and no lost event' "$(grep -c '"lost":0,.*"doubts":1' report)" -eq 1
run "$DPE" run --stack=0 --format=sarif --report=report -s refilled.dpe -- ./updates
check 'SARIF of a retracted verdict notes uncertain values and no lost event' "$(grep -c 'events were lost' report)" -eq 0 -a "$(grep -c 'the values of 1 watched variable are not certain' report)" -ge 1

# contend KIND RULE: the verdict on 4 threads; `truth` is how often the variable became 1, `last` its last value
contend() {
	echo "detect one: $2" >one.dpe
	run "$DPE" run --stack=0 -s one.dpe -- ./contention $1 4 200
	read truth last <out
	verdict=$(sed -n 's/^dpe: 800 events, \([0-9]*\) lost; 1 rule: \(.*\)/\1 \2/p' err)
}

for kind in exchange compare; do
	contend $kind '[x = 1]'
	check "values that the instructions of '$kind' give are certain" "$verdict" = "0 $truth matches"
done
contend count '[x = 799]'
check 'atomic additions give each value once' "$verdict $status" = '0 1 match 1'
contend move "[x'] [x = 1]"
check 'updates by plain moves are certain' "$verdict" = '0 200 matches'
contend move '[x = 1]'
if grep -q 'x.* is not certain: threads update it at the same moment' err; then
	check 'values of plain moves at the same moment are inconclusive' $status -eq 3
else
	check 'values of plain moves in turn are certain' "${verdict%% *}" = 0
fi
run "$DPE" record -o race.jsonl -e "detect race: [x'] & [x]" -- ./contention lose 1 50
check 'without a rule about values, instructions distinguish reads and updates' \
	"$(grep -c "\[x'\]" race.jsonl) $(grep -c '\[x\]' race.jsonl) $(grep -c "\"x'\":" race.jsonl)" = '50 51 50'
check 'the log has the values that the instructions give' "$(sed -n 's/.*"x":\([0-9]*\).*/\1/p' race.jsonl | tail -2 | tr '\n' ' ')" = '50 50 '
run "$DPE" race --no-predict x -- ./contention lose 4 200
check 'a race is certain whatever the values' $status -eq 1
run "$DPE" race x -- ./contention move 2 600
says 'a race with many accesses suggests -fsanitize=thread' 1 "'x' was accessed 1000 times in" 'compiled with -fsanitize=thread'
contend lose '[x = 1000]'
if grep -q 'x.* is not certain: threads update it at the same moment' err; then
	check 'additions that may be lost are inconclusive' $status -eq 3
else
	check 'additions of which none was lost have certain values' "$verdict $last" = '0 nothing found 800'
fi
finish
