#!/bin/sh
# rapid.dpe finds exactly the races of STD traces; errors in a trace are reported.
dpe=${DPE:-./dpe}
rules=dpe-lang/std/rapid.dpe
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
status=0

# say CONDITION-STATUS TEXT
say() {
	if test "$1" -eq 0; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		status=1
	fi
}

traces=300
test -n "${DPE_TEST_LONG:-}" && traces=3000
python3 tests/conformance/races.py --dpe "$dpe" --rules "$rules" --count $traces || status=1

printf 'T0|w(x)|1\nT1|w(x)|2\n' >"$folder/race.std"
"$dpe" replay "$folder/race.std" -s "$rules" 2>"$folder/said"
test $? -eq 1 && grep -q 'write_write: match' "$folder/said"
say $? "rapid.dpe finds a race in an STD trace"

printf 'T0|acq(l)|1\nT0|w(x)|2\nT0|rel(l)|3\nT1|acq(l)|4\nT1|r(x)|5\nT1|rel(l)|6\n' >"$folder/none.std"
"$dpe" replay "$folder/none.std" -s "$rules" 2>"$folder/said"
say $? "rapid.dpe finds no race between accesses under one lock"

printf 'T0|w(x)|1\nT0|lock(x)|2\n\nT0|w(x\nT0|r(x)|4\n' >"$folder/wrong.std"
"$dpe" replay "$folder/wrong.std" -s "$rules" 2>"$folder/said"
test $? -eq 2 && grep -q 'wrong.std:2: error: "lock" is not an operation' "$folder/said" &&
	grep -q 'wrong.std:4: error: an event is THREAD|OPERATION(OBJECT)|LOCATION' "$folder/said"
say $? "lines of an STD trace that are no events are errors with their numbers"

for to in jsonl dpel; do
	"$dpe" convert "$folder/none.std" "$folder/none.$to" &&
		"$dpe" convert "$folder/none.$to" "$folder/again.std" &&
		cmp -s "$folder/none.std" "$folder/again.std"
	say $? "an STD trace converted to .$to and back is unchanged"
done

echo '{"event":"f","id":"e7","thread":1}' | "$dpe" convert - "$folder/not.std" 2>"$folder/said"
test $? -eq 2 && grep -q 'error: e7 cannot be written in this format' "$folder/said"
say $? "dpe convert refuses a message that STD cannot hold"
exit $status
