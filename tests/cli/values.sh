# Values in conditions and slices: numbers that do not fit in 64-bit integers, and text.
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
# seen CONDITION NUMBERS: the condition holds for the events with these numbers
seen() {
	echo "detect r(i): f(_, i) [$1] { print(i); }" >r.dpe
	run "$DPE" replay -s r.dpe numbers.jsonl
	check "$1 holds for the events $2" "$(sed -n 's/^r: \([0-9]\)$/\1/p' err | tr -d '\n')" = "$2"
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
	check "an argument $literal matches the events with this value" "$(sed -n 's/.* \([0-9]*\) match.*/\1/p' err)" = \
		"$(test $literal = 1.5 && echo 2 || echo 1)"
done
echo 'detect r(x): f(x, _) ; f^(x, _)' >r.dpe
run "$DPE" replay --all -s r.dpe numbers.jsonl
check 'different numbers beyond 64 bits are different slices' "$(grep -c 'r: match' err) $(grep -c 'f(1.50, 2)' err)" = '1 1'

# seen_in LOG CONDITION NUMBERS: the same for another log, with the number as the second argument
seen_in() {
	echo "detect r(i): f(_, i) [$2] { print(i); }" >r.dpe
	run "$DPE" replay -s r.dpe "$1"
	check "$2 holds for the events $3 of $1" "$(sed -n 's/^r: \([0-9]\)$/\1/p' err | tr -d '\n')" = "$3"
}

# Literals that are real numbers, too: whole ones below 2^64 have all their digits, and those of time are exact.
cat >whole.jsonl <<'LOG'
{"event":"f","thread":1,"args":[9223372036854775808,1]}
{"event":"f","thread":1,"args":[9223372036854775807,2]}
{"event":"f","thread":1,"args":[1152921504606846976,3]}
{"event":"f","thread":1,"args":[1001000,4]}
{"event":"f","thread":1,"args":[1000999.9999999999,5]}
LOG
seen_in whole.jsonl '.args[0] == 9223372036854775808.0' 1
seen_in whole.jsonl '.args[0] == 1152921504606846976.0' 3
seen_in whole.jsonl '.args[0] < 9223372036854775808.0' 2345
seen_in whole.jsonl '.args[0] == 1.001ms' 4
for number in 18446744073709551616.0 9.223372036854775807e18 3.14159265358979323846 0.1000000000000000055 1e23 9007199254740993.0; do
	echo "{\"event\":\"f\",\"thread\":1,\"args\":[$number,1]}" >same.jsonl
	seen_in same.jsonl ".args[0] == $number && .args[0] <= ${number}l" 1
done
seen_in whole.jsonl '.args[0] >= 1.001ms' 1234
for literal in 1e-400 1e400; do
	echo "detect r: f [.args[0] > $literal]" >r.dpe
	run "$DPE" check r.dpe
	says "$literal is refused" 2 "$literal does not fit into a double"
done

# Integers beyond 128 bits are compared digit by digit.
cat >huge.jsonl <<'LOG'
{"event":"f","thread":1,"args":[340282366920938463463374607431768211455,1]}
{"event":"f","thread":1,"args":[340282366920938463463374607431768211456,2]}
{"event":"f","thread":1,"args":[340282366920938463463374607431768211457,3]}
{"event":"f","thread":1,"args":[340282366920938463463374607431768211457.0,4]}
LOG
seen_in huge.jsonl '.args[0] > 340282366920938463463374607431768211455' 234
echo 'detect r(i, j): f(x, i) ; f(x, j) { print(i, j); }' >r.dpe
run "$DPE" replay --all -s r.dpe huge.jsonl
check 'equal numbers beyond 128 bits are one slice' "$(sed -n 's/^r: //p' err | tr '\n' '|')" = '3 4|'

# Unsigned integers of 2^63 and more are unsigned in all operators.
cat >unsigned.jsonl <<'LOG'
{"event":"f","thread":1,"args":[9223372036854775808,1]}
{"event":"f","thread":1,"args":["0x8000000000000000",2]}
{"event":"f","thread":1,"args":[18446744073709551615,3]}
{"event":"f","thread":1,"args":[-1,4]}
{"event":"f","thread":1,"args":[-9223372036854775808,5]}
LOG
seen_in unsigned.jsonl '.args[0] > 9223372036854775807' 123
seen_in unsigned.jsonl '.args[0] / 2 >= 4611686018427387904' 123
seen_in unsigned.jsonl '.args[0] / 2 == -4611686018427387904' 5
seen_in unsigned.jsonl '.args[0] / -1 < 0' 125
seen_in unsigned.jsonl '.args[0] % 10 == 8' 12
seen_in unsigned.jsonl '.args[0] % 10 == 5' 3
seen_in unsigned.jsonl '.args[0] % 10 == -8' 5
seen_in unsigned.jsonl '.args[0] >> 63 == 1' 123
seen_in unsigned.jsonl '.args[0] >> 63 == -1' 45
seen_in unsigned.jsonl '.args[0] + 0 == .args[0]' 12345
seen_in unsigned.jsonl '(.args[0] & ~0) == .args[0]' 12345
seen_in unsigned.jsonl '.args[0] - 1 < .args[0]' 1234
seen_in unsigned.jsonl '9223372036854775807 - .args[0] == -1' 125
seen_in unsigned.jsonl '(.args[0] * 1) == .args[0]' 12345

# Equality is the same in conditions, in patterns and between slices.
cat >equal.py <<'PYTHON'
import itertools, json, random, subprocess, sys
from fractions import Fraction

class Text(str): pass

random.seed(int(sys.argv[2]))
NEAR = [0, 1, 5, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**127, 2**128 - 1, 2**128, 2**128 + 1, 10**40]

def texts(number):
	"""Texts of the number in a log, with the number's value."""
	yield str(number)
	yield '%d.0' % number
	yield '%de0' % number
	yield '%sE-1' % (number * 10)
	yield '%d.50' % number
	if 0 <= number < 2**64:
		yield '"0x%x"' % number

def value(text):
	if text in ('true', 'false'):
		return Fraction(text == 'true')
	if text[0] == '"':
		return Fraction(int(text[1:-1], 16)) if text.startswith('"0x') else text
	return Fraction(text)

pool = ['true', 'false', '-0', '-0.0', '"nan"', '"1"', '1e999', '1e-999']
pool += [t for n in NEAR for m in (n, -n) for t in texts(m)]
values = random.sample(pool, 30)
with open('equal.jsonl', 'w') as log:
	for i, text in enumerate(values):
		log.write('{"event":"f","thread":1,"args":[%s,%d]}\n' % (text, i))
with open('equal.dpe', 'w') as spec:
	spec.write('detect slices(x, i, j): f(x, i) ; f(x, j) { print(i, j); }\n'
		'detect conditions(x, y, i, j): f(x, i) ; f(y, j) [x == y] { print(i, j); }\n'
		'detect less(x, y, i, j): f(x, i) ; f(y, j) [x < y] { print(i, j); }\n')
err = subprocess.run([sys.argv[1], 'replay', '--all', '-s', 'equal.dpe', 'equal.jsonl'],
	capture_output=True, text=True).stderr
seen = {'slices': set(), 'conditions': set(), 'less': set()}
for line in err.splitlines():
	rule, _, pair = line.partition(': ')
	if rule in seen and pair.replace(' ', '').isdigit():
		seen[rule].add(tuple(map(int, pair.split())))
pairs = [(i, j, value(values[i]), value(values[j])) for i, j in itertools.combinations(range(len(values)), 2)]
same = {(i, j) for i, j, a, b in pairs if a == b}
comparable = [(i, j, a, b) for i, j, a, b in pairs if type(a) is type(b)]
assert seen['slices'] == same, ('slices', values, seen['slices'] ^ same)
assert seen['conditions'] == same, ('conditions', values, seen['conditions'] ^ same)
assert seen['less'] == {(i, j) for i, j, a, b in comparable if a < b}, ('less', values)
PYTHON
for seed in 1 2 3 4 5 6 7 8; do
	python3 equal.py "$DPE" $seed >out 2>err && ok "equal random numbers are equal in slices and conditions, seed $seed" ||
		not_ok "equal random numbers are equal in slices and conditions, seed $seed: $(tail -1 err)"
done

# NaN is the string "nan" in a log; a text that reads so is not NaN.
cat >nan.jsonl <<'LOG'
{"event":"f","thread":1,"args":["nan",1],"vars":{"real":"nan"}}
{"event":"f","thread":1,"args":[2.5,2],"vars":{"real":2.5}}
LOG
seen_in nan.jsonl 'real != real' 1
seen_in nan.jsonl 'real == real' 2
seen_in nan.jsonl 'real <= real || real >= real' 2
seen_in nan.jsonl 'real < 2.5 || real > 2.5 || real == 2.5' 2
seen_in nan.jsonl '!(real < 3)' 1
seen_in nan.jsonl 'real' 12
seen_in nan.jsonl '.args[0] == "nan"' 1
echo 'detect r(s, i): f(text(s), i) [s == text(s)] { print(i); }' >r.dpe
run "$DPE" replay -s r.dpe nan.jsonl
check 'a text "nan" is equal to itself' "$(sed -n 's/^r: //p' err)" = 1

# There is no arithmetic on other numbers: whether such a condition holds is unknown.
for condition in '.args[0] + 1 > 2' '-.args[0] < 0' '1 - .args[0] < 5 || 1'; do
	for number in 1.5 18446744073709551616 '"nan"'; do
		echo "{\"event\":\"f\",\"thread\":1,\"args\":[$number]}" >real.jsonl
		echo "expect r: f [$condition]" >r.dpe
		run "$DPE" replay --all -s r.dpe real.jsonl
		says "arithmetic on $number is inconclusive: $condition" 3 "there is no arithmetic on the number"
	done
done

# A text is an argument itself, or a variable of the message that belongs to it.
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
check 'text() works in slices, literals and conditions on results' "$(matches same) $(matches literal) $(matches result)" = '2 2 1'
check 'conditions compare text variables' "$(sed -n 's/^other: //p' err | tr '\n' '|')" = 'abc abc|0x10 abc|'
check 'a condition on a text that could not be read does not hold' "$(sed -n 's/^none: //p' err)" = ''
check 'conditions compare texts of members and variables' "$(matches members)" -eq 1
check 'a condition compares the text of an earlier event' "$(matches later)" -ge 2
check 'a condition compares the name of a thread' "$(sed -n 's/^named: //p' err)" = reader

# A text may read like an address, or like a number; in vars it is a text all the same, in every format.
for text in 0x10 0xffffffffffffffff 16 1.0 nan true null; do
	cat >like.jsonl <<-LOG
		{"event":"open","thread":1,"args":[4096],"vars":{"text(arg@0)":"$text"}}
		{"event":"close","thread":1,"args":[8192],"vars":{"text(arg@0)":"$text"}}
	LOG
	cat >like.dpe <<-DPE
		detect same(s): open(text(s)) ; close(text(s))
		detect literal: open("$text")
		detect result(s): close(s) [s == "$text" && text(s) <= "$text"] { print(text(s)); }
	DPE
	"$DPE" convert like.jsonl like.dpel
	for log in like.jsonl like.dpel; do
		run "$DPE" replay --all -s like.dpe $log
		check "the text $text is a text, in $log" "$(matches same) $(matches literal) $(sed -n 's/^result: //p' err)" = "1 1 $text"
	done
done
printf 'detect r: f [.args[0]-1 > 1e+3 && x < 2.5e-3]\n' >r.dpe
run "$DPE" fmt r.dpe
check 'dpe fmt keeps numbers unchanged' "$(cat out)" = 'detect r: f [.args[0] - 1 > 1e+3 && x < 2.5e-3]'
finish
