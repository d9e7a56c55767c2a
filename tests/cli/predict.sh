# `predict` rules: what they refuse, how they are reported, slices that end, losses, explicit order.
. tests/tap.sh

# refused TEXT PLACE MESSAGE
refused() {
	echo "$1" >refused.dpe
	run "$DPE" check refused.dpe
	says "refused: $1" 2 "refused.dpe:1:$2: error: $3"
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
refused 'sync exclusive l(x, y): a(x, y) ; b(x, y)' 33 'a lock is known by one value, which both sides bind; these bind 2'
refused 'sync shared l(x, y): a(x) ; b(y)' 27 'a lock is known by one value, which both sides bind; these bind 0'
refused 'sync exclusive l(x): a ; b(x)' 24 'a lock is known by one value, which both sides bind; these bind 0'
refused 'sync exclusve l(x): a(x) ; b(x)' 6 "unknown pairing 'exclusve'; did you mean 'exclusive'?"
echo 'detect predict: keep ; shared ; exclusive & reads + writes' >words.dpe
run "$DPE" check words.dpe
check 'none of the words is reserved' "$(sed -n 1p out)" = 'detect predict: ((keep;shared;exclusive)&reads)+writes'

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
says 'an order that this run may have, too' 1 'possible in this run or in another one, unless' '1 match'
echo 'predict single: release' >single.dpe
cp err ordered.err
run "$DPE" replay -s single.dpe race.jsonl
says 'a match of one event' 1 'single: predicted match of release' 'it happened in this run' '2 matches'
mv ordered.err err
check 'no word on the order here' "$(grep -c 'not in this order here' err)" = 0
run "$DPE" replay --format=sarif --report=ordered.sarif -s ordered.dpe race.jsonl
check 'SARIF has the same words' "$(grep -c 'match of write;acquire; possible in this run or in another one, unless' ordered.sarif)" = 1
run "$DPE" replay --format=sarif --report=race.sarif -s race.dpe race.jsonl
check 'and those of another run' "$(grep -c '; possible in another run, unless data that is not observed forbids it' race.sarif)" = 1
run "$DPE" replay -s race.dpe race.jsonl
says 'a race behind a lock' 1 '1 match'
check 'the report' "$(cat err)" = '#1 possible: predicted match of write(x)&write^(x)  [race.dpe:3]
  where x = "total"
  $1 write("total")  thread "B"
  $2 write("total")  thread "A"
  not in this order here; possible in another run, unless data that is not observed forbids it,
  when the threads run in turns (*), each until it comes to
    thread  "B"  "A"
            *    |    release@5
            |    *    write@1
            *    |    write@6
  left out: thread "A" in the section of "L" to
    release@3
  here thread "B" took that lock after it, and nothing else orders the events
possible: write of total
dpe: 6 events, 0 lost; 2 rules: 1 match'

# A begins to wait for the lock at its acquire, which B releases before A goes on.
events >waits.jsonl <<'X'
B acquire L
B write total
A acquire L
B release L
A write total
X
run "$DPE" replay --all -s race.dpe waits.jsonl
says 'a release after an acquire that is no .exit is not what it got' 1 'happened: match of write(x)&write^(x)' '1 match'
sed 's/acquire(l)$/acquire(l).exit/' race.dpe >exit.dpe
sed 's/"acquire"/"acquire.exit"/' waits.jsonl | sed '3{h;d};4{G}' >exit.jsonl
run "$DPE" replay --all -s exit.dpe exit.jsonl
says 'which its .exit says' 0 'nothing found'

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
	says "a lock that was taken before observation, released $releases times" 0 'nothing found'
done
sed 2d attached.jsonl >later.jsonl
echo 'A write total' | events >>later.jsonl
run "$DPE" replay -s race.dpe later.jsonl
says 'a write after that section' 1 'predicted match'

sed '3s/$/\n{"dpe_lost":1,"thread":"A"}/' race.jsonl >lossy.jsonl
run "$DPE" replay -s race.dpe lossy.jsonl
says 'after a loss it is inconclusive' 3 'inconclusive'

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
says 'two threads in one lock: inconclusive' 3 'two threads hold one lock at once'
# A robust mutex passes on from a thread that ended with it.
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
says 'the end of a thread gives its lock back' 1 'possible: write of other' '1 rule: 1 match'

# Which slice a match belongs to, and which events do.
cat >slices.jsonl <<'X'
{"thread":"A","event":"a","args":[2]}
{"thread":"B","event":"b","args":[2,1]}
X
# in_slices RULE MATCHES: as many matches, and the values of the last one
in_slices() {
	echo "predict R: $1" >slices.dpe
	run "$DPE" replay -s slices.dpe slices.jsonl
	check "$1: $2" "$(grep -c '^#' err) $(sed -n 's/  where //p' err | tail -1)" = "$2"
}
in_slices '(a + a(x)) & b' '2 x = 2'
in_slices '(a + a(x)) ; z + (a + a(x)) & b' '2 x = 2'
in_slices 'a(x) [x != y] & (b(x) + b(x, y))' '1 x = 2, y = 1'
in_slices 'a(x) [x != y] + b(x, y) ; z' '0 '
check 'where its values come from is no matter' -z "$(grep warning err)"
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
says 'a slice that has ended has no part in later matches' 0 'nothing found'
grep -v allocate ends.jsonl >reuse.jsonl
run "$DPE" replay -s ends.dpe reuse.jsonl
says 'use after free in another order' 1 'reuse: predicted match of free(p)&use(p)'

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
# reordered NAME STATUS EVENTS TEXT...: what a replay of these events says
reordered() {
	name=$1
	wanted=$2
	printf '%s\n' $3 | sed 's/\([^,]*\),\([^,]*\),\([^,]*\)/\1 \2 \3/' | events >swapped.jsonl
	shift 3
	run "$DPE" replay -s swapped.dpe swapped.jsonl
	says "$name" "$wanted" "$@"
}
reordered 'use after free only with the sections swapped' 1 \
	'A,acquire,L A,use,P A,release,L B,acquire,L B,release,L B,free,P' 'freed: predicted match of free(p)&use(p)' \
	'there locks are taken in another order:' '"L" by thread "B" before thread "A", which took it first here' '1 match'
run "$DPE" replay --format=json -s swapped.dpe swapped.jsonl
check 'the schedule' "$(grep -c '"order":"changed".*"schedule":\[\["A",1\],\["B",5\],\["A",2\],\["B",6\]\]' out)" = 1
reordered 'an order violation, known at the end of the section' 1 \
	'A,acquire,L A,init,P A,release,L B,acquire,L B,use,P B,release,L' 'early: predicted match of use(p);init(p)' \
	'"L" by thread "B" before thread "A", which took it first here' '1 match'
reordered 'or while more follows' 1 \
	'A,acquire,L A,init,P A,release,L B,acquire,L B,use,P B,release,L B,acquire,K A,acquire,L' '1 match'
reordered 'none where the section does not end' 0 'A,acquire,L A,init,P A,release,L B,acquire,L B,use,P' 'nothing found'
reordered 'nor where both are in the section' 0 \
	'A,acquire,L A,use,P A,release,L B,acquire,L B,free,P B,release,L' 'nothing found'
reordered 'nor across a fork' 0 \
	'A,acquire,L A,use,P A,release,L A,fork,B B,begin,B B,acquire,L B,release,L B,free,P' 'nothing found'
reordered 'nor across a join' 0 \
	'A,acquire,L A,use,P A,release,L A,end,A B,join,A B,acquire,L B,release,L B,free,P' 'nothing found'
reordered 'nor after a signal' 0 \
	'B,acquire,L B,wait,C B,release,L A,acquire,L A,use,P A,signal,C A,release,L B,woken,C B,acquire,L B,release,L B,free,P' \
	'nothing found'
reordered 'nor where a value that was read forbids it' 0 \
	'A,acquire,L A,use,P A,store,X A,release,L B,acquire,L B,load,X B,release,L B,free,P' 'nothing found'
reordered 'nor where a read would see what came later' 0 \
	'A,acquire,L A,load,X A,use,P A,release,L B,acquire,L B,store,X B,release,L B,free,P' 'nothing found'
reordered 'nor with a second lock around both' 0 \
	'A,acquire,K A,acquire,L A,use,P A,release,L A,release,K B,acquire,K B,acquire,L B,release,L B,free,P B,release,K' \
	'nothing found'

# The part before the sections is as observed, except for a few events.
swapped='A,acquire,L A,use,P A,release,L B,acquire,L B,release,L'
long=$(seq -f 'C,tick,%g' 6000)
reordered 'after a long run' 1 "$long $swapped B,free,P" 'freed: predicted match' \
	'there locks are taken in another order:'
run "$DPE" replay --format=json -s swapped.dpe swapped.jsonl
check 'nearly all of it is in the schedule' "$(grep -c '"schedule":\[\["C",5937\],\["A",6001\],\["B",6005\],\["A",6002\],\["B",6006\]\]' out)" = 1
reordered 'events too far apart are not looked at' 0 "$swapped $long B,free,P" 'nothing found'

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
says 'explicit predecessors hold in every run' 0 'nothing found'
sed 's/,"pred":\["2"\]//' explicit.jsonl >free.jsonl
run "$DPE" replay -s explicit.dpe free.jsonl
says 'and without them they do not' 1 'predicted match'

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
says 'a value that was read forbids it' 0 'nothing found'
grep -v sync.reads data.dpe >blind.dpe
run "$DPE" replay -s blind.dpe data.jsonl
says 'one that nobody mentions does not' 1 'predicted match'

cat >late.dpe <<'X'
predict R(x, y): a(x) & b(y) [x < y]
X
events <<'X' | sed 's/\["\([0-9]\)"\]/[\1]/' >late.jsonl
A a 2
B b 1
B b 3
X
run "$DPE" replay -s late.dpe late.jsonl
says 'a condition on both events' 1 'where x = 2, y = 3' '1 match'
says 'and only where it holds' 1 '1 rule: 1 match'

run "$DPE" check --explain race.dpe
check 'explained' "$(grep -c 'engine    least runs of the same threads' out)" = 1
run "$DPE" replay --format=json -s race.dpe race.jsonl
check 'as JSON' "$(grep -c '"order":"kept","certain":false,"happened":false,"schedule":\[\["B",5\],\["A",1\],\["B",6\]\]' out)" = 1
# ---- runs of more than one stretch ---------------------------------------------------------------
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
says 'a long run in which nothing can have been missed' 0 '2200005 events' 'nothing found'
long 'T0|w(other)|7' 'T1|r(other)|8' >long.std
run "$DPE" replay -s long.dpe long.std
says 'and one in which something was' 3 'the run is long' 'nothing found, 1 inconclusive'
finish
