# `predict` rules: refused expressions, reports, slices that end, losses, explicit order.
. tests/tap.sh

# refused TEXT PLACE MESSAGE
refused() {
	echo "$1" >refused.dpe
	run "$DPE" check refused.dpe
	says "dpe check refuses: $1" 2 "refused.dpe:1:$2: error: $3"
}
refused 'predict a ; b*' 14 "a predict rule has no '*' and no '@'"
refused 'predict (a & b)@' 16 "a predict rule has no '*' and no '@'"
refused 'predict a;b;c;d;e;f;g;h;i' 9 'a predict rule has at most 8 events in a match'
refused 'predict a ; [x = 1]' 13 'a predict rule has no events on the value of data'
refused 'var v; predict a [v = 1] & b' 19 'a predict rule has no conditions on the value of data'
refused 'predict R(n): a(n) ; b [$1.tid = 1]' 25 'a condition of a predict rule names its own event'
refused 'predict a & b { break; }' 9 'a predict rule has no break'
refused 'predict a { print(1); } & b' 9 'events of a predict rule have no actions'
refused 'predict (a ; b) & (b ; a)' 9 'the predict rule matches nothing'
refused 'sync keep exclusive a(x) ; b(x)' 21 "'sync keep' pairs by fifo, last, all or once, not by 'exclusive'"
refused 'sync reads x(p): a(p) ; b(p)' 23 "'sync reads' has one side"
refused 'sync exclusive l(x, y): a(x, y) ; b(x, y)' 33 'a lock is identified by one value, which both sides bind; these bind 2'
refused 'sync shared l(x, y): a(x) ; b(y)' 27 'a lock is identified by one value, which both sides bind; these bind 0'
refused 'sync exclusive l(x): a ; b(x)' 24 'a lock is identified by one value, which both sides bind; these bind 0'
refused 'sync exclusve l(x): a(x) ; b(x)' 6 "unknown pairing 'exclusve'; did you mean 'exclusive'?"
echo 'detect predict: keep ; shared ; exclusive & reads + writes' >words.dpe
run "$DPE" check words.dpe
check 'predict, keep, shared, exclusive, reads and writes can be names of events' "$(sed -n 1p out)" = 'detect predict: ((keep;shared;exclusive)&reads)+writes'

cat >race.dpe <<'X'
sync exclusive lock(l): release(l) ; acquire(l)
detect happened(x): write(x) & write^(x)
predict possible(x): write(x) & write^(x) { printf("%s of %s", $1.name, x); }
X
# events THREAD EVENT ARGUMENT …, a line each
events() {
	sed -n 's/^\([^ ]*\) \([^ ]*\) \([^ ]*\)$/{"thread":"\1","event":"\2","args":["\3"]}/p'
}
events >race.jsonl <<'X'
A write total
A acquire L
A release L
B acquire L
B release L
B write total
X
echo 'predict ordered: write ; acquire' >ordered.dpe
run "$DPE" replay -s ordered.dpe race.jsonl
says 'a predicted match that this run may contain too says so' 1 'possible in this run or in another one, unless' '1 match'
echo 'predict single: release' >single.dpe
cp err ordered.err
run "$DPE" replay -s single.dpe race.jsonl
says 'a predicted match of one event says that it happened in this run' 1 'single: predicted match of release' 'it happened in this run' '2 matches'
mv ordered.err err
check 'a predicted match of one event has no remark on the order in this run' "$(grep -c 'not in this order in this run' err)" = 0
run "$DPE" replay --format=sarif --report=ordered.sarif -s ordered.dpe race.jsonl
check 'SARIF has the remark on a predicted match that this run may contain' "$(grep -c 'match of write;acquire; possible in this run or in another one, unless' ordered.sarif)" = 1
run "$DPE" replay --format=sarif --report=race.sarif -s race.dpe race.jsonl
check 'SARIF has the remark on a predicted match of another run' "$(grep -c '; possible in another run, unless unobserved data prevents it' race.sarif)" = 1
run "$DPE" replay -s race.dpe race.jsonl
says 'a race that a lock hides in this run is predicted' 1 '1 match'
check 'the report of a predicted race shows the schedule and the section left out' "$(cat err)" = '#1 possible: predicted match of write(x)&write^(x)  [race.dpe:3]
  where x = "total"
  $1 write("total")  thread "B"
  $2 write("total")  thread "A"
  not in this order in this run; possible in another run, unless unobserved data prevents it,
  when the threads run in turns (*), each until it reaches
    thread  "B"  "A"
            *    |    release@5
            |    *    write@1
            *    |    write@6
  left out: thread "A" in the section of "L" to
    release@3
  here thread "B" took that lock after it, and nothing else orders the events
possible: write of total
dpe: 6 events, 0 lost; 2 rules: 1 match'

# A waits for the lock from its acquire on; B releases it before A proceeds.
events >waits.jsonl <<'X'
B acquire L
B write total
A acquire L
B release L
A write total
X
run "$DPE" replay --all -s race.dpe waits.jsonl
says 'a release after an acquire without .exit does not order the waiting thread' 1 'happened: match of write(x)&write^(x)' '1 match'
sed 's/acquire(l)$/acquire(l).exit/' race.dpe >exit.dpe
sed 's/"acquire"/"acquire.exit"/' waits.jsonl | sed '3{h;d};4{G}' >exit.jsonl
run "$DPE" replay --all -s exit.dpe exit.jsonl
says 'an acquire.exit after the release orders the waiting thread' 0 'nothing found'

# A holds the lock when it is first observed; it releases it, in the second log, twice, as a recursive lock.
for releases in 1 2; do
	{
		echo 'A thread::found 0'
		echo 'A write total'
		for i in $(seq $releases); do
			echo 'A release L'
		done
		printf 'B acquire L\nB write total\nB release L\n'
	} | events >attached.jsonl
	run "$DPE" replay -s race.dpe attached.jsonl
	says "a lock taken before observation forbids the race, released $releases times" 0 'nothing found'
done
sed 2d attached.jsonl >later.jsonl
echo 'A write total' | events >>later.jsonl
run "$DPE" replay -s race.dpe later.jsonl
says 'a write after the section of such a lock is in a predicted race' 1 'predicted match'

sed '3s/$/\n{"dpe_lost":1,"thread":"A"}/' race.jsonl >lossy.jsonl
run "$DPE" replay -s race.dpe lossy.jsonl
says 'a prediction after a loss is inconclusive' 3 'inconclusive'

events >twice.jsonl <<'X'
A acquire L
B acquire L
A write total
B write total
A release L
B release L
X
grep -v detect race.dpe >only.dpe
run "$DPE" replay -s only.dpe twice.jsonl
says 'two threads that hold one lock make predictions inconclusive' 3 'two threads hold one lock at once'
# A robust mutex is taken over from a thread that ended while it held the mutex.
events >ended.jsonl <<'X'
A acquire L
A write total
A thread::exit A
B acquire L
B write total
B release L
C acquire L
C write total
C release L
C write other
B write other
X
run "$DPE" replay -s only.dpe ended.jsonl
says 'the end of a thread releases its lock' 1 'possible: write of other' '1 rule: 1 match'

# The slice of a match and of its events.
cat >slices.jsonl <<'X'
{"thread":"A","event":"a","args":[2]}
{"thread":"B","event":"b","args":[2,1]}
X
# in_slices RULE MATCHES: as many matches, and the values of the last one
in_slices() {
	echo "predict R: $1" >slices.dpe
	run "$DPE" replay -s slices.dpe slices.jsonl
	check "predict $1: number and values of matches are $2" "$(grep -c '^#' err) $(sed -n 's/  where //p' err | tail -1)" = "$2"
}
in_slices '(a + a(x)) & b' '2 x = 2'
in_slices '(a + a(x)) ; z + (a + a(x)) & b' '2 x = 2'
in_slices 'a(x) [x != y] & (b(x) + b(x, y))' '1 x = 2, y = 1'
in_slices 'a(x) [x != y] + b(x, y) ; z' '0 '
check 'predict rules whose alternatives bind different variables have no warning' -z "$(grep warning err)"
printf '{"thread":"A","event":"%s","args":[1,%s]}\n' a 1 c 1 b 2 >slices.jsonl
in_slices 'a ; (b(x) + b(x, y))' '2 x = 1, y = 2'
in_slices 'a(x) ; b(x, y) observing c(x) [x != y]' '0 '
in_slices 'a(x) ; b(x, y) observing c(x) [x = y]' '1 x = 1, y = 2'

cat >ends.dpe <<'X'
sync exclusive lock(l): release(l) ; acquire(l)
predict reuse(p): free(p) & use(p) observing allocate(p) ends
X
events >ends.jsonl <<'X'
A use p
A acquire L
A release L
B acquire L
B allocate p
B release L
B free p
X
run "$DPE" replay -s ends.dpe ends.jsonl
says 'a slice that has ended is in no later prediction' 0 'nothing found'
grep -v allocate ends.jsonl >reuse.jsonl
run "$DPE" replay -s ends.dpe reuse.jsonl
says 'a use after free in another order is predicted' 1 'reuse: predicted match of free(p)&use(p)'

# ---- locks in another order --------------------------------------------------------------------------
cat >swapped.dpe <<'X'
sync exclusive lock(l): release(l) ; acquire(l)
sync last forked(t): fork(t) ; begin(t)
sync last joined(t): end(t) ; join(t)
sync keep all waits(c): wait(c) ; signal(c)
sync all signals(c): signal(c) ; woken(c)
sync writes stores(x): store(x)
sync reads loads(x): load(x)
predict freed(p): free(p) & use(p)
predict early(p): use(p) ; init(p)
X
# reordered TITLE STATUS EVENTS TEXT...: a replay of these events has this status, and says each TEXT
reordered() {
	name=$1
	wanted=$2
	printf '%s\n' $3 | sed 's/\([^,]*\),\([^,]*\),\([^,]*\)/\1 \2 \3/' | events >swapped.jsonl
	shift 3
	run "$DPE" replay -s swapped.dpe swapped.jsonl
	says "$name" "$wanted" "$@"
}
reordered 'a use after free that needs critical sections swapped is predicted' 1 \
	'A,acquire,L A,use,P A,release,L B,acquire,L B,release,L B,free,P' 'freed: predicted match of free(p)&use(p)' \
	'in that run, locks are taken in another order:' '"L" by thread "B" before thread "A", which took it first in this run' '1 match'
run "$DPE" replay --format=json -s swapped.dpe swapped.jsonl
check 'JSON has the schedule of a run with swapped sections' "$(grep -c '"order":"changed".*"schedule":\[\["A",1\],\["B",5\],\["A",2\],\["B",6\]\]' out)" = 1
reordered 'an order violation is predicted at the end of the section' 1 \
	'A,acquire,L A,init,P A,release,L B,acquire,L B,use,P B,release,L' 'early: predicted match of use(p);init(p)' \
	'"L" by thread "B" before thread "A", which took it first in this run' '1 match'
reordered 'an order violation is predicted when further events follow the section' 1 \
	'A,acquire,L A,init,P A,release,L B,acquire,L B,use,P B,release,L B,acquire,K A,acquire,L' '1 match'
reordered 'swapped sections: no prediction if the section does not end' 0 'A,acquire,L A,init,P A,release,L B,acquire,L B,use,P' 'nothing found'
reordered 'swapped sections: no prediction if both events are in sections of the lock' 0 \
	'A,acquire,L A,use,P A,release,L B,acquire,L B,free,P B,release,L' 'nothing found'
reordered 'swapped sections: no prediction across a fork' 0 \
	'A,acquire,L A,use,P A,release,L A,fork,B B,begin,B B,acquire,L B,release,L B,free,P' 'nothing found'
reordered 'swapped sections: no prediction across a join' 0 \
	'A,acquire,L A,use,P A,release,L A,end,A B,join,A B,acquire,L B,release,L B,free,P' 'nothing found'
reordered 'swapped sections: no prediction across a signal' 0 \
	'B,acquire,L B,wait,C B,release,L A,acquire,L A,use,P A,signal,C A,release,L B,woken,C B,acquire,L B,release,L B,free,P' \
	'nothing found'
reordered 'swapped sections: no prediction if a read would miss its write' 0 \
	'A,acquire,L A,use,P A,store,X A,release,L B,acquire,L B,load,X B,release,L B,free,P' 'nothing found'
reordered 'swapped sections: no prediction if a read would see a later write' 0 \
	'A,acquire,L A,load,X A,use,P A,release,L B,acquire,L B,store,X B,release,L B,free,P' 'nothing found'
reordered 'swapped sections: no prediction if a second lock encloses both' 0 \
	'A,acquire,K A,acquire,L A,use,P A,release,L A,release,K B,acquire,K B,acquire,L B,release,L B,free,P B,release,K' \
	'nothing found'

# The part before the sections is as observed, except for a few events.
swapped='A,acquire,L A,use,P A,release,L B,acquire,L B,release,L'
long=$(seq -f 'C,tick,%g' 6000)
reordered 'swapped sections are found after a long run' 1 "$long $swapped B,free,P" 'freed: predicted match' \
	'in that run, locks are taken in another order:'
run "$DPE" replay --format=json -s swapped.dpe swapped.jsonl
check 'the schedule has nearly all events of the long run' "$(grep -c '"schedule":\[\["C",5937\],\["A",6001\],\["B",6005\],\["A",6002\],\["B",6006\]\]' out)" = 1
reordered 'swapped sections: no prediction for events too far apart' 0 "$swapped $long B,free,P" 'nothing found'

cat >explicit.dpe <<'X'
sync exclusive lock(l): release(l) ; acquire(l)
predict R: a & b
X
cat >explicit.jsonl <<'X'
{"id":"1","event":"a","thread":"A"}
{"id":"2","event":"sent","thread":"A"}
{"id":"3","event":"got","thread":"B","pred":["2"]}
{"id":"4","event":"b","thread":"B"}
X
run "$DPE" replay -s explicit.dpe explicit.jsonl
says 'explicit predecessors forbid a prediction' 0 'nothing found'
sed 's/,"pred":\["2"\]//' explicit.jsonl >free.jsonl
run "$DPE" replay -s explicit.dpe free.jsonl
says 'without explicit predecessors the race is predicted' 1 'predicted match'

cat >data.dpe <<'X'
sync exclusive lock(l): release(l) ; acquire(l)
sync writes stores(x): store(x)
sync reads loads(x): load(x)
predict possible(x): write(x) & write^(x)
X
events >data.jsonl <<'X'
A write total
A acquire L
A store flag
A release L
B acquire L
B load flag
B release L
B write total
X
run "$DPE" replay -s data.dpe data.jsonl
says 'a value that was read forbids a predicted race' 0 'nothing found'
grep -v sync.reads data.dpe >blind.dpe
run "$DPE" replay -s blind.dpe data.jsonl
says 'without a sync reads rule a read value forbids nothing' 1 'predicted match'

cat >late.dpe <<'X'
predict R(x, y): a(x) & b(y) [x < y]
X
events <<'X' | sed 's/\["\([0-9]\)"\]/[\1]/' >late.jsonl
A a 2
B b 1
B b 3
X
run "$DPE" replay -s late.dpe late.jsonl
says 'a predict rule has a condition on variables of both events' 1 'where x = 2, y = 3' '1 match'
says 'a predict rule has no match where its condition does not hold' 1 '1 rule: 1 match'

run "$DPE" check --explain race.dpe
check 'dpe check --explain names the engine of a predict rule' "$(grep -c 'engine    least runs of the same threads' out)" = 1
run "$DPE" replay --format=json -s race.dpe race.jsonl
check 'JSON has order and schedule of a predicted match' "$(grep -c '"order":"kept","certain":false,"happened":false,"schedule":\[\["B",5\],\["A",1\],\["B",6\]\]' out)" = 1
# ---- runs longer than a window ------------------------------------------------------------------
# long LINE LINE: two threads that keep to a lock, with these lines near the beginning and at the end
long() {
	awk -v first="$1" -v last="$2" 'BEGIN {
		print "T0|w(init)|1\nT0|fork(T1)|2\n" first
		for (i = 0; i < 550000; i++) {
			t = "T" i % 2
			print t "|acq(L)|3\n" t "|w(total)|4\n" t "|rel(L)|5\n" t "|r(init)|6"
		}
		print last
	}'
}
cat >long.dpe <<'X'
sync exclusive lock(l): rel(l) ; acq(l)
sync last forked(t): fork(t) ; begin(t)
predict racy(x): w(x) & (w^(x) + r(x))
X
long 'T0|r(other)|7' 'T1|r(other)|8' >long.std
run "$DPE" replay -s long.dpe long.std
says 'a long run without possible matches across windows finds nothing' 0 '2200005 events' 'nothing found'
long 'T0|w(other)|7' 'T1|r(other)|8' >long.std
run "$DPE" replay -s long.dpe long.std
says 'a long run with a possible match across windows is inconclusive' 3 'the run is long' 'nothing found, 1 inconclusive'
printf '{"event":"%s,"thread":1,"host":"%s"}\n' 'write","args":["v"]' x 'acquire","args":["L"]' x 'release","args":["L"]' x \
	'acquire","args":["L"]' y 'release","args":["L"]' y 'write","args":["v"]' y | sed '1i{"dpe_log":1,"ordered":true}' >hosts.jsonl
run "$DPE" replay -s race.dpe hosts.jsonl
says 'turns of threads with the same id name their hosts' 1 '    thread  1 on "y"  1 on "x"' '1 match' \
	'left out: thread 1 on "x" in the section' 'here thread 1 on "y" took that lock'
# ---- many earlier events -------------------------------------------------------
# repeated THREADS EVENT...: they are done 21,000 times, by one thread after the other
repeated() {
	echo '{"dpe_log":1,"ordered":true}'
	awk -v threads="$1" -v events="$2" 'BEGIN {
		count = split(events, event, " ")
		for (i = 0; i < 21000 * count; i++) {
			thread = int(i / count) % threads
			printf "{\"event\":\"%s\",\"thread\":%d,\"seq\":%d,\"args\":[1]}\n", event[i % count + 1], thread, seq[thread]++
		}
	}'
}
echo 'predict R(x): b(x) ; d(x)' >many.dpe
repeated 1 'b d' >many.jsonl
run "$DPE" replay -s many.dpe many.jsonl
check 'an event whose slice has its match tries no further events' "$(grep -o '1 rule: .*' err)" = '1 rule: 21000 matches'
repeated 3 'b d' >many.jsonl
run "$DPE" replay -s many.dpe many.jsonl
check 'events that no run orders before it are not tried' "$(grep -o '1 rule: .*' err)" = '1 rule: 21000 matches'
echo 'predict R(x): b(x) ; c(x) ; d(x)' >many.dpe
repeated 1 'b c b d' >many.jsonl
run "$DPE" replay -s many.dpe many.jsonl
says 'events that others lie after in every run are not tried' 0 'nothing found'
finish
