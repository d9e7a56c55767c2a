# --trace: each step from messages to verdicts.
. tests/tap.sh

cat >log.jsonl <<'X'
{"id":"2","event":"b","pred":["1"],"thread":2}
{"id":"1","event":"a","thread":1,"args":[3]}
{"id":"3","event":"open","thread":1,"args":["x"]}
{"id":"4","event":"unlock","thread":1,"args":[7]}
{"id":"5","event":"lock.exit","thread":2,"args":[7]}
{"id":"6","event":"close","thread":2,"args":["x"]}
{"id":"7","event":"use","thread":2,"args":["x",1]}
{"id":"8","event":"use","thread":2,"args":["x",2]}
{"id":"9","event":"gone","thread":2,"args":["x"]}
{"event":"c","thread":3,"seq":1}
{"event":"c","thread":3,"seq":0}
{"id":"d\u001b","event":"d","thread":3,"pred":["10"]}
X
cat >rules.dpe <<'X'
sync last l(m): unlock(m) ; lock(m).exit
expect file(f): open(f) ; close(f) observing use(f, 2), gone(f) ends
detect pair: a ; b
X
run "$DPE" replay --trace -s rules.dpe log.jsonl
same '--trace prints the steps of each message' err <<'X'
  pair: began
held     b 2, thread 2: waits for predecessor 1
released a 1, thread 1
  pair: took a 1 with nothing of the slice before it: 1 partial match
released b 2, thread 2
  pair: took b 2 after a 1: a match
#1 pair: match of a;b  [rules.dpe:3]
  $1 a(3)  id "1"  thread 1
  $2 b  id "2"  thread 2
released open 3, thread 1
  file {f = x}: began
  file {f = x}: took open 3 with nothing of the slice before it: 1 reading
released unlock 4, thread 1
released lock.exit 5, thread 2: synchronised with unlock 4
released close 6, thread 2
  file {f = x}: took close 6 after open 3: 1 reading
released use 7, thread 2
released use 8, thread 2
  file {f = x}: refused use 8 after close 6
#2 file: violation of open(f);close(f)  [rules.dpe:2]
  where f = "x"
  at use("x", 2)  id "8"  thread 2
  right after close("x")  id "6"  thread 2
  8 came right after 6
  expected nothing more
released gone 9, thread 2
  file {f = x}: ended by gone 9
held     c@3:1, thread 3: waits for earlier messages of its thread
released c@3:0, thread 3
released c@3:1, thread 3
held     d d\x1b, thread 3: waits for predecessor 10
held to the end: d  id "d\u001b"  thread 3
  it waited for predecessor 10, which never arrived
released d d\x1b, thread 3
#3 file: inconclusive verdict on open(f);close(f)  [rules.dpe:2]
  d\x1b waited for predecessor 10, which never arrived
dpe: 12 events, 0 lost, 1 held; 2 rules: 1 match, 1 violated, 1 inconclusive
X
run "$DPE" replay --trace=steps.txt -s rules.dpe log.jsonl
check '--trace=FILE writes the steps to a file' "$(grep -c '^released' steps.txt) $(grep -c '^released' err)" = '12 0'
run "$DPE" replay --trace=steps.txt --format=json -s rules.dpe log.jsonl
check '--trace=FILE works with --format=json' "$(grep -c '^released' steps.txt) $(lines err)" = '12 0'
run "$DPE" replay --trace=/nowhere/steps.txt -s rules.dpe log.jsonl
says '--trace reports a file that cannot be created' 2 '/nowhere/steps.txt: error: cannot create this trace'

# A condition over several variables is decided in the slice.
printf 'detect more(x, y): a(x) ; b(y) [y > x]\n' >more.dpe
printf '{"event":"a","thread":1,"args":[2]}\n{"event":"b","thread":1,"args":[1]}\n{"event":"b","thread":1,"args":[3]}\n' >more.jsonl
run "$DPE" replay --trace -s more.dpe more.jsonl
same '--trace shows conditions decided in slices of several variables' err <<'X'
released a@1, thread 1
  more {x = 2}: began
  more {x = 2}: took a@1 with nothing of the slice before it: 1 partial match
released b@2, thread 1
  more {x = 2, y = 1}: began
  more {y = 1}: began
  more {y = 1}: ignored b@2: no condition holds
  more {x = 2, y = 1}: ignored b@2: no condition holds
released b@3, thread 1
  more {x = 2, y = 3}: began
  more {y = 3}: began
  more {y = 3}: ignored b@3: no condition holds
  more {x = 2, y = 3}: took b@3 after a@1: a match
#1 more: match of a(x);b(y) [y > x]  [more.dpe:1]
  where x = 2, y = 3
  $1 a(2)  thread 1
  $2 b(3)  thread 1
more.dpe:1:25: warning: no event binds both 'x' and 'y': there is a slice for each value of the one with each value of the other, and an event costs as much as it has slices
  | detect more(x, y): a(x) ; b(y) [y > x]
  |                         ^
dpe: 3 events, 0 lost; 1 rule: 1 match
X
finish
