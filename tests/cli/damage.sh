# Damage of any kind to a log makes verdicts inconclusive, and no
# conversion makes a log look complete.
. tests/tap.sh

cat >rules.dpe <<'X'
expect done(x): begin(x) ; end(x)
X
cat >whole.jsonl <<'X'
{"event":"begin","thread":1,"seq":0,"args":[1]}
{"event":"end","thread":1,"seq":1,"args":[1]}
{"event":"begin","thread":2,"seq":0,"args":[2]}
{"event":"end","thread":2,"seq":1,"args":[2]}
X

# damaged NAME: the log NAME.jsonl is incomplete: replays of it and of its conversions say so
damaged() {
	run "$DPE" replay -s rules.dpe --format=json "$1.jsonl"
	check "replay of a damaged log ($1) is inconclusive" "$(grep -c '"verdict":"inconclusive"' out)" -gt 0
	for format in jsonl dpel msg std; do
		rm -f "copy.$format"
		run "$DPE" convert "$1.jsonl" "copy.$format"
		test -e "copy.$format" || {
			check "a damaged log ($1) that cannot be converted to $format is refused" "$status" -eq 2
			continue
		}
		run "$DPE" replay -s rules.dpe --format=json "copy.$format"
		check "a damaged log ($1) converted to $format can be read" "$status" -ne 2
		check "replay of a damaged log ($1) converted to $format is inconclusive" "$(grep -c '"verdict":"inconclusive"' out)" -gt 0
	done
}

run "$DPE" replay -s rules.dpe whole.jsonl
gives 'replay of the undamaged log finds nothing' 0
for format in jsonl dpel; do
	run "$DPE" convert whole.jsonl "copy.$format"
	gives "dpe convert writes the undamaged log as $format" 0
	run "$DPE" replay -s rules.dpe "copy.$format"
	gives 'replay of the converted log finds nothing' 0
done
for format in msg; do
	run "$DPE" convert whole.jsonl "copy.$format"
	says "dpe convert refuses messages that $format cannot hold" 2 'begin@1:0 cannot be written in this format' '(4 messages)'
	check 'the refused conversion leaves no log' ! -e "copy.$format"
done

{ cat whole.jsonl; echo '{"dpe_lost":1,"thread":1}'; } >reported.jsonl
damaged reported
sed '3s/"seq":0/"seq":1/; 4s/"seq":1/"seq":2/' whole.jsonl >gap.jsonl
damaged gap
sed '2s/.*/{"event":/' whole.jsonl >unreadable.jsonl
damaged unreadable
head -c 170 whole.jsonl >truncated.jsonl
damaged truncated
sed 's/"thread":.,"seq":./"id":1/; 2,4s/"id":1/"id":2/' whole.jsonl >duplicate.jsonl
run "$DPE" replay -s rules.dpe --format=json duplicate.jsonl
check 'replay of a log with duplicate ids is inconclusive' "$(grep -c '"verdict":"inconclusive"' out)" -gt 0

run python3 "$TOP/tests/conformance/conversions.py" --dpe "$DPE" --count 60
check "conversions of random damaged logs keep their verdicts: $(tail -1 out)" $status -eq 0
finish
