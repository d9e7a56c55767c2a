# The report of a replay as text and as JSON, and its exit status.
. tests/tap.sh

cat >log.jsonl <<'X'
{"id":"1","event":"a","thread":1,"time":1000,"args":[3]}
{"id":"2","event":"b","pred":["1"],"thread":2,"time":2000,"stack":["b+0x1f (f.c:12)","main+0x4 (f.c:30)"]}
{"id":"3","event":"c","pred":["1"],"thread":3,"time":3000}
{"id":"4","event":"d","pred":["3"],"thread":3,"time":4000}
X
cat >rules.dpe <<'X'
detect race: b & d { print("race", $1.tid, $2.name); }
expect order(x): a(x) ; e { print("never"); } else { printf("no e after %d", x); }
detect none: a ; f
X
run "$DPE" replay -s rules.dpe log.jsonl
gives 'dpe replay with findings has exit status 1' 1
check 'the text report goes to standard error' "$(lines out)" -eq 0
same 'the text report has findings, actions, unobserved events and a summary' err <<'X'
#1 race: match of b&d  [rules.dpe:1]
  $1 b  id "2"  thread 2, at 0.000001000 s
       at b+0x1f (f.c:12)
       by main+0x4 (f.c:30)
  $2 d  id "4"  thread 3, at 0.000003000 s
race: race 2 d
#2 order: incomplete match of a(x);e  [rules.dpe:2]
  where x = 3
  stopped after a(3)  id "1"  thread 1, at 0.000000000 s
  expected e after a(x)
order: no e after 3
order: a(x) occurred 1 time, e was never observed
none: a occurred 1 time, f was never observed
dpe: 4 events, 0 lost; 3 rules: 1 match, 1 incomplete
X
run "$DPE" replay --format=json -s rules.dpe log.jsonl
check 'a JSON report goes to standard output only' "$status $(lines err)" = '1 0'
same 'the JSON report has verdicts, prints and a summary' out <<'X'
{"type":"verdict","rule":"race","mode":"detect","verdict":"match","event":"4","params":{},"events":["2","4"],"messages":[{"event":"b","id":"2","pred":["1"],"thread":2,"time":2000,"stack":["b+0x1f (f.c:12)","main+0x4 (f.c:30)"]},{"event":"d","id":"4","pred":["3"],"thread":3,"time":4000}]}
{"type":"print","rule":"race","text":"race 2 d"}
{"type":"verdict","rule":"order","mode":"expect","verdict":"incomplete","expected":["e after a(x)"],"params":{"x":3},"last":[{"event":"a","id":"1","thread":1,"time":1000,"args":[3]}]}
{"type":"print","rule":"order","text":"no e after 3"}
{"type":"summary","events":4,"unobserved":[{"rule":"order","pattern":"e"},{"rule":"none","pattern":"f"}],"lost":0,"held":0,"rules":3,"satisfied":0,"violated":0,"incomplete":1,"inconclusive":0,"matches":1,"deadlocks":0,"potential_deadlocks":0,"hangs":0,"possible_hangs":0,"errors":0,"suppressed":0}
X
run "$DPE" replay --report=report.txt -s rules.dpe log.jsonl
check '--report=FILE writes the report to the file only' "$(grep -c 'match of b&d' report.txt) $(lines out) $(lines err)" = '1 0 0'

printf 'detect none: a ; f\n' >nothing.dpe
run "$DPE" replay -s nothing.dpe log.jsonl
says 'a replay without findings has exit status 0' 0 'dpe: 4 events, 0 lost; 1 rule: nothing found'
printf 'detect r: b & d { break; }\ndetect late: c ; d { print("late"); }\n' >break.dpe
run "$DPE" replay -s break.dpe log.jsonl
says 'a break action ends the replay' 1 'the replay stops here'
run "$DPE" replay --on-break=continue -s break.dpe log.jsonl
says '--on-break=continue continues the replay after a break action' 1 'late: late'
printf 'detect r: a { error("bad", 1); }\n' >error.dpe
run "$DPE" replay -s error.dpe log.jsonl
says 'error() is a finding' 1 'r: error: bad 1'
printf 'expect r: b ; d\n' >violated.dpe
run "$DPE" replay -s violated.dpe log.jsonl
says 'a violation is reported with its event and the expected one' 1 'violation of b;d' 'at d' 'expected d after b'
printf 'expect r: (a;b)* & (a^;b^)* & (a^^;b^^)*\n' >alike.dpe
printf '{"event":"a","thread":1}\n{"event":"a","thread":1}\n' >twice.jsonl
run "$DPE" replay -s alike.dpe twice.jsonl
check 'a place at which several events with carets are expected is named once' \
	"$(grep 'the rule requires' err)" = '  a@2 came right after a@1; the rule requires it independent of all earlier events'

# The reason is that the event does not fit, or its predecessors do not; none if only conditions distinguish events.
printf 'expect order: a ; b ; c\nexpect side: x & y\nexpect two: f [.ret = 0] ; f [.ret = 1] ; f [.ret = 0]\n' >fits.dpe
printf '{"event":"%s","thread":1}\n' a c x y >fits.jsonl
printf '{"event":"f","thread":1,"ret":0}\n{"event":"f","thread":1,"ret":0}\n' >>fits.jsonl
run "$DPE" replay -s fits.dpe fits.jsonl
grep 'came\|expected' err >reasons
same 'a violation is reported with its reason' reasons <<'X'
  c@2 came right after a@1; the rule allows no such event here
  expected b after a
  y@4 came right after x@3; the rule requires it independent of all earlier events
  expected y independent of all earlier events
  f@6 came right after f@5
  expected f [.ret = 1] after f [.ret = 0]
X

# Identical findings.
i=0
while test $i -lt 5; do
	printf '{"event":"x","stack":["x+0x0 (x.c:1)"]}\n'
	i=$((i + 1))
done >many.jsonl
printf 'detect x: x\n' >x.dpe
run "$DPE" replay -s x.dpe many.jsonl
check 'identical findings are reported once, with their number' \
	"$(grep -c '^#1 x: match' err) $(grep -c 'seen 5 times' err)" = '1 1'
run "$DPE" replay --all -s x.dpe many.jsonl
check '--all reports each identical finding' "$(grep -c 'x: match' err)" -eq 5
# Other offsets in the same line are the same finding; without lines, offsets distinguish findings.
printf '{"event":"x","stack":["f+0x%d (f.c:%d)","g+0x%d (libg.so)"]}\n' 1 5 1 2 5 1 3 6 1 3 6 2 >lines.jsonl
run "$DPE" replay -s x.dpe lines.jsonl
check 'findings are distinguished by the source lines of their stacks' \
	"$(grep -c 'x: match' err) $(grep -c '^#1 was seen 2 times' err)" = '3 1'
# Without stacks, findings are distinguished by event names and values of the rule's variables.
printf '{"event":"%s","thread":%d,"args":[%d]}\n' w 1 7 w 2 7 w 3 7 w 1 8 r 2 8 w 3 8 >races.jsonl
printf 'detect ww(x): w(x) & w^(x)\ndetect rw(x): r(x) & w(x)\n' >races.dpe
run "$DPE" replay -s races.dpe races.jsonl
check 'findings without stacks are distinguished by values of the variables' "$status $(grep -c ': match of' err) $(
	grep -c '^#1 was seen 2 times' err) $(grep -c '^#2 was seen' err) $(grep -c '^#. was seen' err)" = '1 3 1 1 2'
grep -q '2 rules: 5 matches$' err
check 'the summary counts identical findings, too' $? -eq 0
run "$DPE" replay --all -s races.dpe races.jsonl
check '--all reports each identical finding without a stack' "$status $(grep -c ': match of' err)" = '1 5'
run "$DPE" replay --format=json -s races.dpe races.jsonl
check 'JSON has each identical finding without a stack' "$status $(grep -c '"match"' out)" = '1 5'
run "$DPE" replay --format=json -s x.dpe many.jsonl
check 'JSON has each identical finding with a stack' "$(grep -c '"match"' out)" -eq 5

# Control characters of a log do not reach a terminal.
printf '{"event":"x","args":["\\u001b[31mred\\n"]}\n' >escape.jsonl
run "$DPE" replay -s x.dpe escape.jsonl
check 'the report has no control characters from the log' "$(tr -d '\n' <err | grep -c '[[:cntrl:]]')" -eq 0

# A deadlock of threads without losses, after a loss of another thread.
cat >locks.dpe <<'X'
expect locks(x, T): (lock(x).enter by T { wait_for(T, x); check_deadlock(); } + lock(x).exit by T { release(T, x); hold(T, x); })*
X
cat >locks.jsonl <<'X'
{"event":"lock.exit","thread":3,"seq":0,"time":1,"args":["c"]}
{"event":"lock.exit","thread":3,"seq":2,"time":2,"args":["d"]}
{"event":"lock.exit","thread":1,"seq":0,"time":3,"args":["a"]}
{"event":"lock.exit","thread":2,"seq":0,"time":4,"args":["b"]}
{"event":"lock.enter","thread":1,"seq":1,"time":5,"args":["b"]}
{"event":"lock.enter","thread":2,"seq":1,"time":6,"args":["a"]}
X
run "$DPE" replay -s locks.dpe locks.jsonl
says 'a deadlock of threads without losses is certain after a loss of another thread' 1 '#1 deadlock of 2 threads  [locks.dpe:1]' \
	'locks.dpe:1 locks: inconclusive in 2 slices: 1 message of thread 3 was lost before lock.exit@3:2' \
	'1 deadlock, 2 inconclusive, 4 satisfied' '  thread 3 lost 1 from 0.000000 s to 0.000000 s'

# A reader that waits for a writer.
cat >rwlock.jsonl <<'X'
{"event":"pthread_rwlock_wrlock.exit","thread":1,"seq":0,"time":1,"args":["0x20"],"ret":0}
{"event":"pthread_mutex_lock.exit","thread":2,"seq":0,"time":2,"args":["0x80"],"ret":0}
{"event":"pthread_mutex_lock.enter","thread":1,"seq":1,"time":3,"args":["0x80"]}
{"event":"pthread_rwlock_rdlock.enter","thread":2,"seq":1,"time":4,"args":["0x20"]}
X
run "$DPE" replay -s deadlock.dpe --draw=always rwlock.jsonl
says 'a deadlock with a reader names the read-write lock by its address' 1 'thread 2 waits for 0x20, which thread 1 holds'
check 'as the drawing does' "$(grep -c 0x21 err)" = 0
for format in json sarif; do
	run "$DPE" replay -s deadlock.dpe --format=$format rwlock.jsonl
	check "and as $format" "$status $(grep -c 0x20 out | grep -vc '^0') $(grep -c 0x21 out)" = '1 1 0'
done

# A deadlock that is retracted: thread 1 may have got its lock and released it.
cat >early.jsonl <<'X'
{"dpe_log":1,"ordered":true}
{"event":"lock.exit","thread":1,"seq":0,"time":1000000,"args":["a"]}
{"event":"lock.enter","thread":1,"seq":1,"time":2000000,"args":["b"]}
{"event":"lock.exit","thread":2,"seq":0,"time":4000000,"args":["b"]}
{"event":"lock.enter","thread":2,"seq":1,"time":5000000,"args":["a"]}
{"event":"lock.exit","thread":1,"seq":4,"time":6000000,"args":["c"]}
X
run "$DPE" replay -s locks.dpe early.jsonl
says 'a deadlock is retracted when a loss of its thread becomes known' 3 '#1 deadlock of 2 threads  [locks.dpe:1]' \
	'#2 possible deadlock of 2 threads  [locks.dpe:1]' \
	'  inconclusive: reported too early as a deadlock: 2 messages of thread 1 were lost before lock.exit@1:4' \
	'nothing found, 4 inconclusive, 2 satisfied' '  thread 1 lost 2 from 0.001000 s to 0.005000 s'
run "$DPE" replay --format=json -s locks.dpe early.jsonl
check 'JSON has the retracted deadlock with the reason' "$status $(grep -c '"kind":"possible deadlock","rule":"locks","reason":"reported too early as a deadlock: 2 messages of' out)" = '3 1'
check 'JSON has the losses of a thread with their times' "$(grep -c '"type":"lost","thread":1,"count":2,"before":5,"first":2000000,"last":6000000' out) $(
	grep -c '"losses":\[{"thread":1,"count":2,"first":2000000,"last":6000000}\]' out)" = '1 1'
run "$DPE" replay --format=sarif -s locks.dpe early.jsonl
check 'SARIF has the retracted deadlock and the losses as notes' "$status $(grep -c 'possible deadlock of 2 threads' out) $(grep -c 'thread 1 lost 2 from 0.001000 s to 0.005000 s' out)" = '3 1 1'

# Losses that the log states, of a thread or of unknown threads.
cat >each.dpe <<'X'
expect each(T): (open(_) by T ; close(_) by T)*
X
head -6 early.jsonl | sed 's/lock.exit/open/; s/lock.enter/close/; s/"seq":4/"seq":2/' >said.jsonl
echo '{"dpe_lost":3,"thread":2}' >>said.jsonl
run "$DPE" replay -s each.dpe said.jsonl
says 'a stated loss of a thread makes only verdicts on that thread inconclusive' 1 '#1 each: incomplete match of' '#2 each: inconclusive verdict on' '  3 messages of thread 2 were lost' \
	'5 events, 3 lost; 1 rule: 1 incomplete, 1 inconclusive'
echo '{"dpe_lost":1,"thread":0}' >>said.jsonl
run "$DPE" replay -s each.dpe said.jsonl
says 'a stated loss of unknown threads makes all verdicts inconclusive' 3 'nothing found, 2 inconclusive' '  unknown threads lost 1'

# Inconclusive verdicts of many slices are one line.
awk 'BEGIN { for (i = 0; i < 200; i++) printf "{\"event\":\"open\",\"thread\":1,\"seq\":%d,\"args\":[%d]}\n", i + (i > 99), i }' >gap.jsonl
cat >files.dpe <<'X'
expect file(f): open(f) ; close(f)
expect all: open*
X
run "$DPE" replay -s files.dpe gap.jsonl
same 'inconclusive slices of a rule are one line, a single one is reported in full' err <<'X'
events were lost: verdicts that could depend on them are inconclusive from here on
files.dpe:1 file: inconclusive in 200 slices: 1 message of thread 1 was lost before open@1:101
#1 all: inconclusive verdict on open*  [files.dpe:2]
  1 message of thread 1 was lost before open@1:101
file: open(f) occurred 200 times, close(f) was never observed
dpe: 200 events, 1 lost; 2 rules: nothing found, 201 inconclusive
  thread 1 lost 1
X
run "$DPE" replay --all -s files.dpe gap.jsonl
check '--all reports each inconclusive slice' "$status $(grep -c '^#.* file: inconclusive verdict on open(f);close(f)' err)" = '3 200'
printf 'expect %s: open*\n' first second third >alike.dpe
run "$DPE" replay -s alike.dpe gap.jsonl
same 'rules with the same inconclusive verdict are named in one report' err <<'X'
events were lost: verdicts that could depend on them are inconclusive from here on
#1 first: inconclusive verdict on open*  [alike.dpe:1]
  1 message of thread 1 was lost before open@1:101
  and so of second, third
dpe: 200 events, 1 lost; 3 rules: nothing found, 3 inconclusive
  thread 1 lost 1
X
run "$DPE" replay --format=json -s files.dpe gap.jsonl
check 'JSON has each inconclusive verdict' "$(grep -c '"inconclusive","reason"' out)" -eq 201
# The first of more verdicts than are remembered cannot be retracted one by one: the report says that they may be wrong.
{ echo '{"dpe_log":1,"ordered":true}'
  seq 0 4999 | sed 's/.*/{"event":"b","thread":1,"seq":&,"args":[&]}/'
  echo '{"event":"thread::found","thread":2,"seq":0}'; } >found.jsonl
{ echo '{"dpe_log":1,"ordered":true}'
  seq 1 5000 | sed 's/.*/{"event":"b","thread":&,"seq":0}/'
  echo '{"dpe_lost":3}'; } >unknown.jsonl
echo 'expect R(x): a(x) ; b(x)' >found.dpe
echo 'detect R(t): b by t' >unknown.dpe
for log in found unknown; do
	run "$DPE" replay -s $log.dpe $log.jsonl
	check "$log: verdicts no longer remembered are declared doubtful" \
		"$status $(grep -c 'so any of the first 904 verdicts could be wrong' err)" = '3 1'
	check "$log: the summary does not count doubtful verdicts" "$(tail -n 1 err | grep -c 'matches\|violated\|incomplete')" = 0
done

# ---- many findings -------------------------------------------------------------------------------
printf 'expect item(x): put(x) ; take(x)\ndetect first: put(0)\n' >items.dpe
for i in $(seq 0 149); do
	printf '{"event":"put","thread":1,"args":[%s],"stack":["put+0x1 (f.c:%s)"]}\n' $i $i
done >items.jsonl
run "$DPE" replay -s items.dpe items.jsonl
says 'a rule with many findings is reported with the number of findings not printed' 1 'item: 50 more like these, not printed (see --max-findings)' \
	'150 incomplete' '1 match'
check 'at most 100 findings of a rule are printed' "$(grep -c '^#[0-9]* item: ' err) $(grep -c '^#[0-9]* first: ' err)" = '100 1'
run "$DPE" replay --max-findings=3 -s items.dpe items.jsonl
check '--max-findings=3 prints three findings of a rule' "$(grep -c '^#[0-9]* item: ' err) $(grep -c '147 more like these' err)" = '3 1'
for option in --max-findings=0 --all; do
	run "$DPE" replay $option -s items.dpe items.jsonl
	check "$option prints all findings of a rule" "$(grep -c '^#[0-9]* item: ' err) $(grep -c 'more like these' err)" = '150 0'
done
run "$DPE" replay --format=json -s items.dpe items.jsonl
check 'JSON has all findings of a rule' "$(grep -c '"verdict":"incomplete"' out)" -eq 150

# Without stacks, or with one place, they are one finding with three examples.
sed 's/,"stack".*/}/' items.jsonl >alike.jsonl
run "$DPE" replay -s items.dpe alike.jsonl
says 'findings that differ only in values are counted with the first ones' 1 '147 more like #2, with other values (see --all)' '150 incomplete' 'stopped after put(2)'
check 'of findings that differ only in values three are printed' "$(grep -c '^#[0-9]* item: ' err)" -eq 3
for option in --max-findings=0 --all; do
	run "$DPE" replay $option -s items.dpe alike.jsonl
	check "$option prints findings that differ only in values" "$(grep -c '^#[0-9]* item: ' err) $(grep -c 'more like' err)" = '150 0'
done
sed 's/f.c:[0-9]*/f.c:7/' items.jsonl >place.jsonl
run "$DPE" replay -s items.dpe place.jsonl
says 'findings at one source line are one finding with further values' 1 '#2 was seen 150 times, also with x = 1; x = 2'
check 'findings at one source line are printed once' "$(grep -c '^#[0-9]* item: ' err)" -eq 1

# ---- independent events of a violation -----------------------------------------------------------
for i in 1 2 3 4 5; do
	printf '{"event":"a","thread":%s,"stack":["a+0x1 (f.c:%s)"]}\n' $i $i
done >sides.jsonl
printf '{"event":"b","thread":6}\n' >>sides.jsonl
run "$DPE" replay -e 'expect R: (a & a^ & a^^ & a^^^ & a^^^^) ; b' sides.jsonl
says 'a violation names the events that its event is not ordered after' 1 '  at b  thread 6' '  not ordered after a  thread 1' \
	'       at a+0x1 (f.c:1)' '  and 2 more' 'the rule requires it after'
check 'a violation names at most three events that its event is not ordered after' "$(grep -c 'not ordered after' err)" -eq 3
run "$DPE" replay --format=json -e 'expect R: (a & a^ & a^^ & a^^^ & a^^^^) ; b' sides.jsonl
check 'JSON has all events that the event of a violation is not ordered after' "$(grep -o '"independent":.*' out | grep -o '"event":"a"' | wc -l)" -eq 5
run "$DPE" replay -e 'expect R: a* ; b' sides.jsonl
says 'a violation names one event that its event is not ordered after' 1 'not ordered after a  thread 1'

# ---- sequences without synchronisation -----------------------------------------------------------
for event in 'a","thread":1' 'b","thread":2' 'b","thread":2' 'a","thread":2,"args":[1]'; do
	printf '{"event":"%s}\n' "$event"
done >unordered.jsonl
run "$DPE" replay -e 'detect R: a ; b' unordered.jsonl
says 'a sequence that occurred only as independent events is noted' 0 \
	"R: no match, but 'a & b', causally independent, occurred 2 times" 'warning: no `sync` rule orders'
run "$DPE" replay --format=json -e 'detect R: a ; b' unordered.jsonl
check 'JSON has the sequence that occurred only as independent events' "$(grep -c '"unordered":\[{"rule":"R","first":"a","second":"b","count":2}\]' out)" -eq 1
run "$DPE" replay -e 'sync s: c ; d' -e 'detect R: a ; b' unordered.jsonl
check 'with sync rules there is no warning that no sync rule orders the threads' "$(grep -c 'no match, but' err) $(grep -c 'warning:' err)" = '1 0'
run "$DPE" replay -e 'detect R: b ; a' unordered.jsonl
check 'a sequence without independent occurrences is not noted' "$(grep -c 'no match, but' err)" -eq 0
run "$DPE" replay -e 'expect R: a ; b' unordered.jsonl
says 'a violation in a log without sync rules comes with a warning' 1 'not ordered after a' 'warning: no `sync` rule orders'
printf '{"event":"%s"}\n' a b >threadless.jsonl
run "$DPE" replay -e 'expect R: a ; b' threadless.jsonl
says 'a log without threads gets a warning that nothing orders its events' 1 'nothing orders events without a thread'

# ---- events never observed -----------------------------------------------------------------------
printf 'detect either(x): submit(x) ; (run(x) + drop(x))\nexpect all: (open;close)*\n' >needs.dpe
printf '{"event":"submit","args":[%s]}\n' 1 2 3 >submit.jsonl
run "$DPE" replay -s needs.dpe submit.jsonl
says 'events that a rule needs and that were never observed are named' 0 \
	'either: submit(x) occurred 3 times, run(x) was never observed, drop(x) was never observed' 'all: open was never observed'
printf '{"event":"drop","args":[4]}\n' >>submit.jsonl
run "$DPE" replay -s needs.dpe submit.jsonl
check 'a rule with an observed alternative has no note on unobserved events' "$(grep -c '^either:' err)" = 0
printf 'expect all: (open;close)*\n' >vacuous.dpe
run "$DPE" replay -s vacuous.dpe submit.jsonl
says 'a rule none of whose events was observed is noted' 0 'all: open was never observed, close was never observed'
run "$DPE" replay -e 'detect values(x): submit(7) ; submit(2) by x [x = 0] ; submit(x) ; run' submit.jsonl
says 'events that occurred only with other values are noted' 0 'values: submit(7) was never observed (but 3 with other values)' \
	'submit(2) by x [x = 0] was never observed (but 3 with other values), submit(x) occurred 3 times, run was never'
run "$DPE" replay -e 'detect values: submit(1) ; run' submit.jsonl
says 'events that occurred with the value of the rule and others are counted separately' 0 'values: submit(1) occurred 1 time (and 2 with other values), run was never observed'
run "$DPE" replay -e 'detect late(x): submitt(x) ; drop(x)' submit.jsonl
says 'an event that no log has gets the name of one that is meant' 0 \
	"late: submitt(x) was never observed; did you mean 'submit'?, drop(x) occurred 1 time"
run "$DPE" replay -e 'detect late(x): drip(x) ; drop(x)' submit.jsonl
says 'an event that the rule itself has is not suggested' 0 'late: drip(x) was never observed, drop(x) occurred 1 time'
printf 'detect included: submit(_) ; absent\n' >included.dpe
run "$DPE" replay -e 'include "included.dpe"' -e 'include "pthread.dpe"' submit.jsonl
says 'unobserved events of an included file are noted' 0 'included: submit(_) occurred' 'absent was never observed'
: >empty.jsonl
run "$DPE" replay --format=json -s vacuous.dpe empty.jsonl
check 'JSON has the unobserved events' "$(grep -c '"unobserved":\[{"rule":"all","pattern":"open"},{"rule":"all","pattern":"close"}\]' out)" = 1
gives 'an empty log has exit status 3' 3
run "$DPE" replay -s vacuous.dpe empty.jsonl
says 'an empty log is reported as nothing observed' 3 'nothing was observed, so nothing can have been found (see --allow-unobserved)'
run "$DPE" replay --allow-unobserved -s vacuous.dpe empty.jsonl
says '--allow-unobserved accepts an empty log' 0 'nothing found'
printf 'expect some: open\n' >open.dpe
run "$DPE" replay -s open.dpe empty.jsonl
says 'an incomplete expectation on an empty log is a finding' 1 '1 incomplete'

# ---- creations of threads -----------------------------------------------------------------------
printf 'detect r: a & b\n' >ab.dpe
printf '{"event":"thread::create","thread":1,"time":%s}\n' '1,"args":[2]' '2,"args":[3],"stack":["f+0x1 (f.c:3)"]' '9,"args":[2]' >created.jsonl
printf '{"event":"%s}\n' 'a","thread":2,"time":3' 'b","thread":3,"time":4' 'b","thread":5,"time":4' >>created.jsonl
run "$DPE" replay --all -s ab.dpe created.jsonl
grep 'created by\|f\.c' err >creations
same 'the creation of each thread is reported once, and none of an unknown thread' creations <<END
  thread 2 was created by thread 1, at 0.000000000 s
  thread 3 was created by thread 1, at 0.000000001 s
       at f+0x1 (f.c:3)
END
sed -i '/"thread":5/d' created.jsonl
run "$DPE" replay -e 'expect e: (a & b) ; c' created.jsonl
says 'the creation of a thread whose id is not reused is reported' 1 'e: incomplete' 'thread 3 was created by thread 1'
check 'a creation after the event, of a thread with the same id, is not reported' "$(grep -c 'thread 2 was created' err)" = 0
seq -f '{"event":"thread::create","thread":1,"args":[%.0f]}' 2 10002 >many.jsonl
printf '{"event":"%s}\n' 'a","thread":2' 'b","thread":10002' >>many.jsonl
run "$DPE" replay -s ab.dpe many.jsonl
says 'creations of the latest 10000 threads are known, of earlier ones not' 1 '  thread 10002 was created by thread 1' \
	'  thread 2 was created before the latest 10000 threads: it is not known where'

cat >allocated.jsonl <<'X'
{"event":"mem::alloc","thread":1,"time":10,"args":["0x1000",16],"stack":["first+0x1 (a.c:1)"]}
{"event":"mem::alloc","thread":1,"time":20,"args":["0x1010",16],"stack":["other+0x1 (a.c:2)"]}
{"event":"mem::write","thread":2,"time":30,"args":["0x1008",8,"0x1008"]}
{"event":"mem::free","thread":3,"time":40,"args":["0x1008"]}
{"event":"mem::alloc","thread":3,"time":50,"args":["0x1004",20],"stack":["second+0x1 (a.c:3)"]}
{"event":"mem::write","thread":2,"time":60,"args":["0x1010",8,"0x1010"]}
{"event":"mem::free","thread":3,"time":70,"args":["0x1010"]}
{"event":"mem::write","thread":2,"time":80,"args":["0x1000",8,"0x1000"]}
{"event":"mem::free","thread":3,"time":90,"args":["0x1000"]}
X
run "$DPE" replay -e 'detect r(c): mem::free(c) & mem::write(_, _, c)' allocated.jsonl
check 'an access is reported with the allocation that contains it at that time' "$status $(sed -n '/bytes into/{N; s/\n */ /p; }' err | tr '\n' ';')" = \
	'1   0x1008 is 8 bytes into 16 bytes allocated by thread 1, at 0.000000000 s at first+0x1 (a.c:1);  0x1010 is 12 bytes into 20 bytes allocated by thread 3, at 0.000000040 s at second+0x1 (a.c:3);'
head -3 allocated.jsonl | sed '2s/mem::alloc","thread":1/mem::read","thread":3/; 2s/\["0x1010",16/["0x1008",8,"0x1008"/' >two.jsonl
run "$DPE" replay -e 'detect r: mem::write(_, n, c)[n * 2 > 3] & mem::read(_, _, c)' two.jsonl
says 'a condition with * does not make a race an ordinary match' 1 'data race on 0x1008: write of 8 bytes by thread 2, not ordered with read of 8 bytes by thread 3'
run "$DPE" replay -e 'detect r: mem::write(_, _, c) & mem::read(_, _, c)*' two.jsonl
says 'a match of a rule with a repetition is not called a race' 1 'match of mem::write(_, _, c)'
check 'no report names a race' "$(grep -c 'data race' err)" = 0
sed 's/"args":\["0x1000",16\]/"process":9,&/' allocated.jsonl >elsewhere.jsonl
run "$DPE" replay -e 'detect r(c): mem::free(c) & mem::write(_, _, c)' elsewhere.jsonl
check 'an allocation of another process is not reported' "$(grep -c 'bytes into 16 bytes\|bytes into 20 bytes' err)" = 1
cat >again.jsonl <<'X'
{"event":"mem::alloc","thread":1,"time":10,"args":["0x1000",16],"stack":["first+0x1 (a.c:1)"]}
{"event":"mem::alloc","thread":3,"time":20,"args":["0x1000",16],"stack":["second+0x1 (a.c:3)"]}
{"event":"mem::write","thread":2,"time":30,"args":["0x1008",8,"0x1008"]}
{"event":"mem::free","thread":3,"time":40,"args":["0x1008"]}
X
run "$DPE" replay -e 'detect r(c): mem::free(c) & mem::write(_, _, c)' again.jsonl
check 'of two allocations at one address the latest is reported' "$(sed -n '/bytes into/{N; s/\n */ /p; }' err)" = \
	'  0x1008 is 8 bytes into 16 bytes allocated by thread 3, at 0.000000010 s at second+0x1 (a.c:3)'

# ---- the order of the events of a match -----------------------------------------------------------
# arrives THREAD...: a, b, c of threads 1, 2, 3, independent, in this order
arrives() {
	for thread; do
		printf '{"event":"%s","thread":%s}\n' "$(echo "$thread" | tr 123 abc)" "$thread"
	done
}
# reads_alike NAME RULE NUMBERS THREADS...: events of a match have these numbers in every order of arrival
reads_alike() {
	wanted="1 $3"
	what=$1 rule=$2
	shift 3
	for threads; do
		arrives $threads >arrived.jsonl
		run "$DPE" replay -e "$rule" arrived.jsonl
		check "events of a match are in the order of the rule: $what, arriving as $threads" "$status $(grep -o '^  \$[0-9]*' err | tr -dc '0-9')" = "$wanted"
	done
}
reads_alike 'two' 'detect r: a & b' 12 '1 2' '2 1'
reads_alike 'three' 'detect r: a & b & c' 123 '1 2 3' '3 2 1' '2 3 1'
reads_alike 'predicted' 'predict r: a & b' 12 '1 2' '2 1'
printf '{"event":"%s","thread":1}\n' x a b a b c >repeated.jsonl
run "$DPE" replay -e 'detect r: x ; (a ; b)* ; c' repeated.jsonl
check 'events of a match with repetitions are in causal order' "$status $(grep -o '^  \$[0-9]*' err | tr -dc '0-9')" = '1 123234'
: >empty.jsonl
printf 'detect e: e\n' >e.dpe
run "$DPE" replay --format=json -s e.dpe empty.jsonl
check 'the summary as JSON has the reason for status 3 if nothing was observed' "$status $(grep -c '"reason":"nothing was observed' out)" = '3 1'
run "$DPE" replay --format=sarif -s e.dpe empty.jsonl
check 'SARIF has it as a notification' "$status $(grep -c '"nothing was observed' out)" = '3 1'
run "$DPE" replay --format=json --allow-unobserved -s e.dpe empty.jsonl
check 'the summary as JSON has no reason if nothing had to be observed' "$status $(grep -c '"reason"' out)" = '0 0'
# Threads of two hosts with the same id.
printf '{"event":"%s}\n' 'thread::create","thread":0,"host":"x","args":[1]' 'a","thread":1,"host":"x"' \
	'thread::create","thread":0,"host":"y","args":[1]' 'b","thread":1,"host":"y"' >hosts.jsonl
run "$DPE" replay -e 'detect e: a & b' hosts.jsonl
check 'the threads of two hosts are two threads' "$status $(grep -c '  thread 1 was created by thread 0' err)" = '1 2'
# Threads of two hosts with the same id and the same numbers.
printf '{"event":"%s,"seq":0}\n' 'thread::create","thread":0,"host":"x","args":[1]' 'a","thread":1,"host":"x"' \
	'thread::create","thread":0,"host":"y","args":[1]' 'b","thread":1,"host":"y"' >hosts.jsonl
run "$DPE" replay --format=json -e 'detect e: a & b' hosts.jsonl
check 'messages of two hosts have different ids' "$status $(grep -c '"events":\[2,4\]' out)" = '1 1'
finish
