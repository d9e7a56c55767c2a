# --suppressions: which lines suppress a finding, and how the report shows it.
. tests/tap.sh

cat >log.jsonl <<'X'
{"id":"1","event":"a","thread":1,"args":[3]}
{"id":"2","event":"b","pred":["1"],"thread":2,"stack":["b+0x1f (src/f.c:12)","ns::q::push(int, char)+0x4 (f.c:30)","run+0x3 (libfoo.so.6)"]}
{"id":"3","event":"c","pred":["1"],"thread":3}
{"id":"4","event":"d","pred":["3"],"thread":3,"module":"libd.so.1"}
X
printf 'detect race: b & d { print("race"); error("bad"); break; }\n' >race.dpe

# silences LINE: the race is not reported
silences() {
	printf '%s\n' "$1" >known
	run "$DPE" replay --suppressions=known -s race.dpe log.jsonl
	same "a finding is suppressed by $1" err <<'X'
dpe: 4 events, 0 lost; 1 rule: nothing found, 1 suppressed
X
	gives 'exit status 0 when the finding is suppressed by $1' 0
}

# leaves LINE: the race is still reported
leaves() {
	printf '%s\n' "$1" >known
	run "$DPE" replay --on-break=continue --suppressions=known -s race.dpe log.jsonl
	says "a finding is not suppressed by $1" 1 '#1 race: match of b&d' 'race: error: bad' '1 match, 1 error'
}

silences 'rule:race'
silences 'rule:r?c[a-f]   # known'
silences 'function:b'
silences 'function:d'
silences 'function:run library:libfoo'
silences 'function:ns::q::push'
silences 'function:ns::q::push(int,?char)'
silences 'function:*::push'
silences 'file:src/f.c'
silences 'file:f.c function:b'
silences 'library:libfoo.so.*'
silences 'library:libd'
silences 'rule:race	function:ru* library:*'
leaves 'rule:rac'
leaves 'function:a'
leaves 'function:push'
leaves 'function:b library:libfoo'
leaves 'file:src'
leaves '# rule:race'
leaves 'rule:r library:libd'

printf 'var n = 0;\ndetect one: a { n = 1; print("heard"); }\ndetect two: b { print(n); }\n' >state.dpe
echo 'rule:one' >known
run "$DPE" replay --suppressions=known -s state.dpe log.jsonl
same 'the action of a suppressed finding is executed, and its output is not printed' err <<'X'
#1 two: match of b  [state.dpe:3]
  $1 b  id "2"  thread 2
       at b+0x1f (src/f.c:12)
       by ns::q::push()+0x4 (f.c:30)
       by run+0x3 (libfoo.so.6)
two: 1
dpe: 4 events, 0 lost; 2 rules: 1 match, 1 suppressed
X
printf 'detect e: (b { error("bad"); }) ; never\n' >error.dpe
echo 'function:ns::q::*' >known
run "$DPE" replay --suppressions=known --format=json -s error.dpe log.jsonl
check 'an error() is suppressed by a function of the stack of its event' "$(grep -c 'kind' out) $(grep -c '"suppressed":1' out)" = '0 1'
cat >deadlock.dpe <<'X'
detect l: lock(m) by t { wait_for(t, m); check_deadlock(); }
detect g: got(m) by t { release(t, m); hold(t, m); }
X
cat >deadlock.jsonl <<'X'
{"event":"got","thread":1,"seq":0,"args":[7],"stack":["take+0x1 (a.c:1)"]}
{"event":"got","thread":2,"seq":0,"args":[8],"stack":["other+0x1 (a.c:9)"]}
{"event":"lock","thread":1,"seq":1,"args":[8]}
{"event":"lock","thread":2,"seq":1,"args":[7]}
X
for place in function:take 'file:a.c function:other'; do
	printf 'rule:l %s\n' "$place" >known
	run "$DPE" replay --suppressions=known -s deadlock.dpe deadlock.jsonl
	check "a deadlock is suppressed by $place, where a lock was taken" "$(grep -c 'deadlock of' err)" -eq 0
done
echo 'rule:l function:nobody' >known
run "$DPE" replay --suppressions=known -s deadlock.dpe deadlock.jsonl
check 'a deadlock is not suppressed by another function' "$(grep -c 'deadlock of' err)" -eq 1

# --show-suppressions: the line that suppresses each finding, and the lines that matched nothing.
printf 'rule:race function:x\n\nrule:none # 3\nrule:o*\n' >known
cat >some.dpe <<'X'
detect race: b & d
detect one: c
expect order: a ; d ; e
detect error: c { error("e"); }
X
run "$DPE" replay --suppressions=known --show-suppressions -s some.dpe log.jsonl
same '--show-suppressions prints a line for each finding, and names unused lines' err <<'X'
#1 error: match of c  [some.dpe:4]
  $1 c  id "3"  thread 3
  suppression rule:error function:c
error: error: e
  suppression rule:error
#2 race: match of b&d  [some.dpe:1]
  $1 b  id "2"  thread 2
       at b+0x1f (src/f.c:12)
       by ns::q::push()+0x4 (f.c:30)
       by run+0x3 (libfoo.so.6)
  $2 d  id "4"  thread 3
  suppression rule:race function:d
order: a occurred 1 time, d occurred 1 time, e was never observed
dpe: 4 events, 0 lost; 4 rules: 2 matches, 1 error, 2 suppressed
  known:1 silenced nothing
  known:3 silenced nothing
  known:4 silenced 2 findings
X
run "$DPE" replay --show-suppressions --format=json -s race.dpe --on-break=continue log.jsonl
sed -n 's/.*"verdict":"match".*"suppression":"\(.*\)"}/\1/p' out >known
run "$DPE" replay --suppressions=known -s race.dpe log.jsonl
says "the suppression that JSON has with a finding suppresses it" 0 '1 suppressed'
printf '{"event":"x","stack":["ns::f(char const *)::\\u001b[0m+0x1 (f.cc:1)"]}\n' >odd.jsonl
printf 'detect x: x\n' >x.dpe
run "$DPE" replay --show-suppressions -s x.dpe odd.jsonl
sed -n 's/^  suppression //p' err >known
run "$DPE" replay --suppressions=known -s x.dpe odd.jsonl
says 'a suppression of a stack with control characters suppresses its finding' 0 '1 suppressed'

# Invalid files of suppressions.
printf 'rule:race\n  rule:\nrule:a rule:b\nfunktion:x\n' >known
run "$DPE" replay --suppressions=known -s race.dpe log.jsonl
gives 'a file with invalid suppressions is refused' 2
same 'each invalid suppression is an error with its place' err <<'X'
known:2:3: error: 'rule:' has no pattern; * matches anything
  |   rule:
  |   ^~~~~
known:3:8: error: a second rule: in one line
  | rule:a rule:b
  |        ^~~~~~
known:4:1: error: 'funktion:x' should be rule:PATTERN, function:PATTERN, file:PATTERN or library:PATTERN
  | funktion:x
  | ^~~~~~~~~~
X

# Files of other tools.
refuses() { # FILE ERROR
	printf "$1" >known
	run "$DPE" replay --suppressions=known -s race.dpe log.jsonl
	check "one error refuses $1" "$status $(grep -c error: err) $(grep -cF "$2" err)" = '2 1 1'
}
for file in '# known\nrace:f\nrace:g\nmutex:h\n' 'called_from_lib:libz.so\n' '{\n   known\n   Helgrind:Race\n   fun:f\n   obj:*/libz.so\n}\n' 'fun:f\nfun:g\n'; do
	refuses "$file" "should be rule:PATTERN, function:PATTERN, file:PATTERN or library:PATTERN"
done
run "$DPE" replay --suppressions=nowhere -s race.dpe log.jsonl
says 'a missing file of suppressions is reported' 2 'nowhere: error: cannot read these suppressions: No such file'
finish
