# Lines of the source as events.
. tests/tap.sh
need_live 'lines of the source'
compile_target lines

count_seen() {
	grep -c "$1" err
}

cat >lines.dpe <<'DPE'
detect add: "lines.c:8"
detect seldom: "targets/lines.c:24" [sum = 12] by T { print(sum, T); }
detect order: twice.exit [.ret = 4] ; "lines.c:26"
detect entry: "lines.c:12"
detect entered: twice.enter
DPE
for depth in 0 8; do
	run "$DPE" run --all --stack=$depth -s lines.dpe -- ./lines
	check 'a line of an inlined function is observed in each copy' "$(count_seen 'add: match')" -eq 10
	check 'a line with a condition is observed when the condition is true' "$(count_seen '^seldom: 12 [0-9]*$')" -eq 1
	check 'a line after the return of a function matches' "$(count_seen 'order: match')" -eq 1
	check "the first line of a function is observed" "$(count_seen 'entry: match')" -eq 5
	check 'the entry of a function is observed beside its first line' "$(count_seen 'entered: match')" -eq 5
done
check 'the report has the place of a line' "$(count_seen 'at loop+0x[0-9a-f]* (.*lines.c:24)')" -eq 1
summary=$(grep '^dpe: .*rules' err)
run "$DPE" record -o lines.jsonl -s lines.dpe -- ./lines
run "$DPE" replay --all -s lines.dpe lines.jsonl
check 'a replay of recorded lines has the same summary' "$(grep '^dpe: .*rules' err)" = "$summary"

# refused NAME SPEC TEXT: the rule is refused with this text before the target starts
refused() {
	echo "$2" >refused.dpe
	run "$DPE" run -s refused.dpe -- ./lines
	says "$1" 2 "$3"
	check "$1: before the target starts" ! -s out
}
refused 'a line without code is refused, with the nearest line' 'detect r: "lines.c:5"' 'line 5 has no code; the nearest line that has some is 6'
refused 'a line without code between two with code is refused, with both' 'detect r: "lines.c:25"' 'the nearest lines that have some are 24 and 26'
refused 'a line of an unknown file is refused' 'detect r: "line.c:5"' "no file 'line.c' in lines or its libraries"
refused 'the exit of a line is refused' 'detect r: "lines.c:8".exit' 'a line is neither entered nor left'
refused 'arguments of a line are refused' 'detect r: "lines.c:8"(x)' 'a line has no arguments'
cp lines stripped
strip -g stripped
echo 'detect r: "lines.c:8"' >refused.dpe
run "$DPE" run -s refused.dpe -- ./stripped
says 'a line of a program without debug information is refused' 2 'stripped has no debug information'
run "$DPE" list ./lines 'lines.c:2*'
check 'dpe list shows the lines that match a pattern' "$(grep -c '^"lines.c:2[0-9]" in lines::loop$' out)" -ge 3
finish
