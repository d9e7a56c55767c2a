# Rules on the command line, and the exit status that findings are to have.
. tests/tap.sh

cat >log.jsonl <<'END'
{"event":"a","thread":1}
{"event":"b","thread":2}
END
echo 'detect order: a ; b' >order.dpe

run "$DPE" replay -e 'detect race: a & b' log.jsonl
says 'a rule on the command line' 1 'race: match of a&b  [command line:1]'
run "$DPE" replay -e 'var n;' -e 'detect race: a & b { n++; print(n); }' -s order.dpe log.jsonl
says 'several, and a file' 1 'race: 1' '2 rules: 1 match'
run "$DPE" replay -e 'detect race: a &' log.jsonl
says 'a mistake in it has its place' 2 'command line:1:' 'detect race: a &'
printf '{"event":"%s","thread":%s,"args":[%s]}\n' a 1 1  c 1 1  b 1 1  a 1 2  b 1 2  c 2 2 >between.jsonl
run "$DPE" replay -e 'detect order: a ; b without c { print($1.args[0]); }' between.jsonl
says 'without: the match with nothing in between, and no other' 1 'order: 2' '1 rule: 1 match'
mv err one
run "$DPE" replay -e 'detect order: a ; b observing c { print($1.args[0]); }' between.jsonl
same 'as with observing' one <err
run "$DPE" replay -e 'expect order: (a ; b)* without c' between.jsonl
says 'what is expected to be absent' 1 'order: violation of (a;b)*' 'at c(1)'
run "$DPE" replay -e 'detect order: a ; b without d observing c ends' between.jsonl
says 'both' 1 '1 rule: 1 match'
run "$DPE" replay log.jsonl
says 'neither a file nor a rule' 2 'use -s SPEC, or -e RULE'

run "$DPE" check -e 'detect race: a & b' -e 'detect order: b ; a'
check 'check' "$status $(grep -c '^detect ' out)" = '0 2'
run "$DPE" check -e 'detect race: a ; b not c'
says 'and its errors' 2 'command line:1:20: error: unexpected' 'without c'
run "$DPE" check --explain -e 'include "order.dpe"' -e 'detect race: a & b' order.dpe
check 'with files, explained' "$status $(grep -c '^detect ' out)" = '0 2'

run "$DPE" replay --error-exitcode=7 -e 'detect race: a & b' log.jsonl
gives 'another status of findings' 7
run "$DPE" replay --error-exitcode=7 -e 'detect race: a & c' log.jsonl
gives 'of findings alone' 0
run "$DPE" replay --error-exitcode=7 -e 'detect' log.jsonl
gives 'not of errors' 2
run "$DPE" replay --error-exitcode=256 -e 'detect race: a & b' log.jsonl
says 'a status that is none' 2 '--error-exitcode takes a number from 1 to 255'
finish
