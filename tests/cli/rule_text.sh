# -e, --error-exitcode: rules on the command line, and the exit status of findings.
. tests/tap.sh

cat >log.jsonl <<'END'
{"event":"a","thread":1}
{"event":"b","thread":2}
END
echo 'detect order: a ; b' >order.dpe

run "$DPE" replay -e 'detect race: a & b' log.jsonl
says '-e takes a rule on the command line' 1 'race: match of a&b  [command line:1]'
run "$DPE" replay -e 'var n;' -e 'detect race: a & b { n++; print(n); }' -s order.dpe log.jsonl
says 'several -e and one -s are one specification' 1 'race: 1' '2 rules: 1 match'
run "$DPE" replay -e 'detect race: a &' log.jsonl
says 'an error in an -e rule has its place' 2 'command line:1:' 'detect race: a &'
printf '{"event":"%s","thread":%s,"args":[%s]}\n' a 1 1  c 1 1  b 1 1  a 1 2  b 1 2  c 2 2 >between.jsonl
run "$DPE" replay -e 'detect order: a ; b without c { print($1.args[0]); }' between.jsonl
says 'detect ... without c matches only where no c is in between' 1 'order: 2' '1 rule: 1 match'
mv err one
run "$DPE" replay -e 'detect order: a ; b observing c { print($1.args[0]); }' between.jsonl
same 'without c has the same matches as observing c' one <err
run "$DPE" replay -e 'expect order: (a ; b)* without c' between.jsonl
says 'expect ... without c is violated by c' 1 'order: violation of (a;b)*' 'at c(1)'
run "$DPE" replay -e 'detect order: a ; b without d observing c ends' between.jsonl
says 'without and observing work together' 1 '1 rule: 1 match'
run "$DPE" replay log.jsonl
says 'dpe replay without -s and -e fails' 2 'use -s SPEC, or -e RULE'

run "$DPE" check -e 'detect race: a & b' -e 'detect order: b ; a'
check 'dpe check takes -e rules' "$status $(grep -c '^detect ' out)" = '0 2'
run "$DPE" check -e 'detect race: a ; b not c'
says 'dpe check reports errors in an -e rule' 2 'command line:1:20: error: unexpected' 'without c'
run "$DPE" check --explain -e 'include "order.dpe"' -e 'detect race: a & b' order.dpe
check 'dpe check --explain takes -e rules and files' "$status $(grep -c '^detect ' out)" = '0 2'

run "$DPE" replay --error-exitcode=7 -e 'detect race: a & b' log.jsonl
gives '--error-exitcode sets the exit status of findings' 7
run "$DPE" replay --error-exitcode=7 -e 'detect race: a & c' log.jsonl
gives '--error-exitcode does not change the status without findings' 0
run "$DPE" replay --error-exitcode=7 -e 'detect' log.jsonl
gives '--error-exitcode does not change the status of errors' 2
run "$DPE" replay --error-exitcode=256 -e 'detect race: a & b' log.jsonl
says '--error-exitcode refuses 256' 2 '--error-exitcode takes a number from 1 to 255'

# Times are printed as they are written; patterns with equal times are the same.
cat >times.dpe <<'X'
expect x: f(5ms, -2us) ; b [.time - $1.time < 1.5s] ; c [.time > 2min] ; c [.time > 120000000000]
X
run "$DPE" check --dump=resolved times.dpe
sed -n 's/^  tree //p' out >tree
same 'a rule has its times as they are written' tree <<'X'
f(5ms, -2us);b [.time - $1.time < 1.5s];c [.time > 2min];c [.time > 2min]
X
printf '{"event":"f","thread":1,"time":0,"args":[5000000,-2000]}\n{"event":"b","thread":1,"time":1500000000}\n' >times.jsonl
run "$DPE" replay -s times.dpe times.jsonl
says 'a report has the times as they are written' 1 'expected b [.time - $1.time < 1.5s] after f(5ms, -2us)'
finish
