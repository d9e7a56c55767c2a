# Values in conditions and slices: numbers that are no integers of 64 bits, and text.
. tests/tap.sh

cat >numbers.jsonl <<'LOG'
{"event":"f","thread":1,"args":[1.5,1]}
{"event":"f","thread":1,"args":[1.50,2]}
{"event":"f","thread":1,"args":[-2000,3]}
{"event":"f","thread":1,"args":[18446744073709551616,4]}
{"event":"f","thread":1,"args":[18446744073709551617,5]}
{"event":"f","thread":1,"args":[-170141183460469231731687303715884105728,6]}
{"event":"f","thread":1,"args":[9007199254740993.0,7]}
{"event":"f","thread":1,"args":["nan",8]}
LOG
# seen CONDITION NUMBERS: the events that the condition holds for
seen() {
	echo "detect r(i): f(_, i) [$1] { print(i); }" >r.dpe
	run "$DPE" replay -s r.dpe numbers.jsonl
	check "$1" "$(sed -n 's/^r: \([0-9]\)$/\1/p' err | tr -d '\n')" = "$2"
}
seen '.args[0] == 1.5' 12
seen '.args[0] = 1.50e0f' 12
seen '.args[0] < 2' 1236
seen '.args[0] == -2e3' 3
seen '.args[0] == 18446744073709551617' 5
seen '.args[0] > 18446744073709551616 && .args[0] < 18446744073709551618' 5
seen '.args[0] >= 0x10000000000000000' 45
seen '.args[0] < -170141183460469231731687303715884105727' 6
seen '.args[0] > 9007199254740992 && .args[0] < 1e16' 7
seen '.args[0] == 9007199254740993' 7
seen '.args[0] > -1e-3 || .args[0] <= -1e-3' 1234567
for literal in 1.5 -2000.0 18446744073709551617; do
	echo "detect r(i): f($literal, i)" >r.dpe
	run "$DPE" replay -s r.dpe numbers.jsonl
	check "an argument $literal" "$(sed -n 's/.* \([0-9]*\) match.*/\1/p' err)" = \
		"$(test $literal = 1.5 && echo 2 || echo 1)"
done
echo 'detect r(x): f(x, _) ; f^(x, _)' >r.dpe
run "$DPE" replay --all -s r.dpe numbers.jsonl
check 'wide numbers are different slices' "$(grep -c 'r: match' err)" -eq 0

# Text is an argument itself, or what stands for it in the message's variables.
cat >texts.jsonl <<'LOG'
{"event":"open","thread":1,"comm":"main","args":["abc"]}
{"event":"close","thread":1,"comm":"main","args":["abc"]}
{"event":"open.enter","thread":2,"args":["0x10"],"vars":{"text(arg@0)":"abc"}}
{"event":"open.exit","thread":2,"args":["0x10"],"ret":"0x55","vars":{"text(arg@0)":"abc","text(ret@)":"r"}}
{"event":"close.enter","thread":2,"args":["0x20"],"vars":{"text(arg@0)":"abc","text(arg@0->name)":"x","text(name)":"y"}}
{"event":"open.enter","thread":3,"comm":"reader","args":["0x10"],"vars":{"text(arg@0)":null}}
LOG
cat >texts.dpe <<'DPE'
same(s) = open(text(s)) ; close(text(s))
detect same(s): same(s)
detect literal: open("abc")
detect other(s): open(s) [s != "abd"] { print(s, text(s)); }
detect none(s): open(s) [!(s == "abc") && !(s != "abc")] { print(s, text(s)); }
detect result: open.exit [.ret == "r"]
detect members(p): close(p) [p->name == "x" && name = "y"]
detect later(s): open(s) ; close(_) [s < "abd" && "abb" < s]
detect named: open [.comm == "reader"] { print($1.comm); }
DPE
run "$DPE" replay --all -s texts.dpe texts.jsonl
matches() {
	grep -c "$1: match" err
}
check 'text in slices, as arguments' "$(matches same) $(matches literal) $(matches result)" = '2 2 1'
check 'in conditions' "$(sed -n 's/^other: //p' err | tr '\n' '|')" = 'abc abc|0x10 abc|'
check 'what could not be read is not compared' "$(sed -n 's/^none: //p' err)" = ''
check 'of members and variables' "$(matches members)" -eq 1
check 'of an event before' "$(matches later)" -ge 2
check 'the name of a thread' "$(sed -n 's/^named: //p' err)" = reader
printf 'detect r: f [.args[0]-1 > 1e+3 && x < 2.5e-3]\n' >r.dpe
run "$DPE" fmt r.dpe
check 'formatting keeps numbers whole' "$(cat out)" = 'detect r: f [.args[0] - 1 > 1e+3 && x < 2.5e-3]'
finish
