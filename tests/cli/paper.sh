# The paper (Hseush and Kaiser, Data Path Expressions): every expression that it prints, by the section or
# table that prints it, with the class and the behaviours that it states.
. tests/tap.sh

# follow RULE LOG ENGINE: the verdict, or the status where there is none
follow() {
	printf '%s\n' "$1" >rule.dpe
	printf '%s\n' "$2" >log.msg
	run "$DPE" replay --format=json --engine="$3" -s rule.dpe log.msg
	verdict=$(sed -n 's/.*"type":"verdict".*"verdict":"\([a-z]*\)".*/\1/p' out)
	verdict=${verdict:-$status}
}

# of SECTION EXPRESSION CLASS: the expression that the next lines test
of() {
	section=$1
	expression=$2
	case $3 in
	general | extended) engines='auto net' ;;
	*) engines='auto pa net' ;;
	esac
	printf 'expect R: %s\n' "$2" >rule.dpe
	run "$DPE" check rule.dpe
	check "$1: $2 is $3" "$(sed -n 's/^  class *\([a-z]*\):.*/\1/p' out)" = "$3"
	run "$DPE" compile --emit=net rule.dpe
	case $2 in
	*'*n'*) says "$1: $2 has no finite net" 2 'control variables' ;;
	*) check "$1: $2 has a net" "$status" -eq 0 ;;
	esac
	case $3 in
	general | extended)
		follow "expect R: $2" '(A .)' pa
		says "$1: $2 has no predecessor automaton" 2 "no predecessor automaton for rule 'R'"
		;;
	esac
}

# is VERDICT EXECUTION...: each execution has this verdict, on each engine
is() {
	wanted=$1
	shift
	for execution in "$@"; do
		for engine in $engines; do
			follow "expect R: $expression" "$execution" $engine
			check "$section: $expression on $engine: ${execution:-empty log} is $wanted" "$verdict" = "$wanted"
		done
	done
}

# ---- tables 3-1, 3-2, 3-3 --------------------------------------------------------------------
of 'table 3-1' 'A;B' sequential
is satisfied '(A .) (B A)'
is violated '(A .) (B .)' '(B .) (A B)'
is incomplete '(A .)' ''
of 'table 3-1' 'A+B' sequential
is satisfied '(A .)' '(B .)'
is violated '(A .) (B .)' '(A .) (B A)'
of 'table 3-1' 'A*' sequential
is satisfied '' '(A .)' '(A .) (A#2 A)' '(A .) (A#2 A) (A#3 A#2)'
is violated '(A .) (A#2 .)'
of 'table 3-1' 'A&B' multiple
is satisfied '(A .) (B .)' '(B .) (A .)'
is violated '(A .) (B A)' '(B .) (A B)'
of 'table 3-1' 'A@' general
is satisfied '' '(A .)' '(A .) (A#2 .)' '(A .) (A#2 .) (A#3 .)'
is violated '(A .) (A#2 A)' '(A .) (A#2 .) (A#3 A)'

of 'table 3-2' 'open;(read+write)*;close' sequential
is satisfied '(open .) (close open)' '(open .) (read open) (write read) (close write)'
is violated '(read .)' '(open .) (read open) (write open)' '(open .) (close open) (read close)'
of 'table 3-2' '(a;s;b) & (c;s;d)' multiple
is satisfied '(a .) (c .) (s a c) (b s) (d s)'
is violated '(a .) (s a)' '(a .) (c .) (s a c) (b s) (d b)'
of 'table 3-2' '(enq;deq)+(enq&deq)' safe
is satisfied '(enq .) (deq enq)' '(enq .) (deq .)' '(deq .) (enq .)'
is violated '(deq .) (enq deq)'
of 'table 3-2' '(fork;parent)* & (fork;child)@' general
is satisfied '(fork .) (parent fork) (child fork)' \
	'(fork .) (parent fork) (fork#2 parent) (child#2 fork#2) (parent#2 fork#2) (child fork)'
is violated '(child .)' '(fork .) (parent fork) (child parent)'
of 'table 3-2' '(enq;update)@;deq;display' extended
is satisfied '(deq .) (display deq)' \
	'(enq .) (enq#2 .) (update enq) (update#2 enq#2) (deq update update#2) (display deq)'
is violated '(enq .) (enq#2 .) (update enq) (update#2 enq#2) (deq update)' \
	'(enq .) (update enq) (deq update) (enq#2 deq)'

of 'table 3-3' '(a;b)&(c;d)' multiple
is satisfied '(a .) (c .) (b a) (d c)' '(c .) (d c) (a .) (b a)'
is violated '(a .) (c .) (b a) (d c b)' '(a .) (c a)'
of 'table 3-3' '(a;s;b)&(c;s;d)' multiple
is satisfied '(c .) (a .) (s a c) (d s) (b s)'
is violated '(a .) (s a)'
of 'table 3-3' '(a;s;b) & (c;s^;d)' multiple
is satisfied '(a .) (s a) (b s) (c .) (s#2 c) (d s#2)' '(a .) (c .) (s a) (s#2 c) (b s) (d s#2)'
is violated '(a .) (c .) (s a c)'

# ---- section 3 -------------------------------------------------------------------------------
of 'section 3' 'open ; (write + read) *; close' sequential
is satisfied '(open .) (write open) (write#2 write) (close write#2)'
is violated '(open .) (write open) (open#2 write)'
of 'section 3' 'E *n ; X *n' extended
is satisfied '' '(E .) (X E)' '(E .) (E#2 E) (X E#2) (X#2 X)'
is violated '(X .)' '(E .) (X E) (X#2 X)'
is incomplete '(E .) (E#2 E) (X E#2)'
of 'section 3' 'enq ; deq + (enq & deq)' safe
is satisfied '(enq .) (deq enq)' '(enq .) (deq .)'
of 'section 3' '(A; B) @; C' extended
is satisfied '(C .)' '(A .) (A#2 .) (B#2 A#2) (B A) (C B B#2)'
is violated '(A .) (A#2 .) (B A) (C B A#2)' '(A .) (A#2 .) (B A) (B#2 A#2) (C B)'

for log in '(E .) (X E)' '(E .) (E#2 E) (X E#2) (X#2 X)' '(x .)'; do
	follow 'expect R: { n = 0}; E { n = n + 1} *; X { n = n - 1 } *; { if ( n != 0) error}' "$log" auto
	check "section 3: actions that count accept equal numbers of E and X: $log" "$verdict $status" = 'satisfied 0'
done
for log in '(E .) (E#2 E) (X E#2)' '(E .) (X E) (X#2 X)'; do
	follow 'expect R: { n = 0}; E { n = n + 1} *; X { n = n - 1 } *; { if ( n != 0) error}' "$log" auto
	check "section 3: actions that count reject unequal numbers of E and X: $log" "$verdict $status $(grep -c '"type":"finding"\|"type":"error"' out)" = 'satisfied 1 1'
done

# ---- section 3.1: synchronisation --------------------------------------------------------------
# thread:event, the semaphore or message being 7
log_of() {
	python3 -c '
import json, sys
for word in sys.argv[1:]:
    thread, event = word.split(":")
    print(json.dumps({"event": event, "thread": int(thread), "args": [7]}))' "$@" >log.jsonl
}
# ordered TEXT SPEC: the synchronisation orders `before` and `behind`
ordered() {
	printf '%s\ndetect after: before ; behind\ndetect beside: before & behind\n' "$2" >rule.dpe
	run "$DPE" replay -s rule.dpe log.jsonl
	says "$1" 1 'after: match'
	check "$1: the ordered events are not independent" "$(grep -c 'beside: match' err)" -eq 0
}
log_of 1:before 1:send 2:receive 2:behind
ordered 'section 3.1: a message that is received orders its sender and its receiver' 'SYNC(M): send(M); receive(M) {sync_event($1, $2);}'
log_of 1:P.enter 1:P.exit 2:P.enter 1:before 1:V.enter 1:V.exit 2:P.exit 2:behind 2:V.enter 2:V.exit
ordered 'section 3.1: V1.exit and P2.exit of a semaphore order two threads' 'SYNC(X): V(X).exit; P(X).exit { sync_event($1, $2);}'

# ---- section 4 -------------------------------------------------------------------------------
of 'figure 4-6' 'a;(b&(c;d));e' safe
is satisfied '(a .) (b a) (d c) (c a) (e b d)' '(a .) (b a) (c a) (d c) (e b d)'
is violated '(a .) (b a) (c b)'
of 'section 4.3' '(e*)*' sequential
is satisfied '' '(e .) (e#2 e)'
run "$DPE" compile rule.dpe
sed 1d out >nested
printf 'expect R: e*\n' >rule.dpe
run "$DPE" compile rule.dpe
check 'section 4.3: (e*)* has the automaton of e*' "$(sed 1d out)" = "$(cat nested)"
of 'figure 4-12' '((a&b);(c;d;e))+(c;e*;(a&b))' safe
is satisfied '(a .) (b .) (c a b) (d c) (e d)' '(c .) (e c) (e#2 e) (a e#2) (b e#2)' '(c .) (a c) (b c)'
is violated '(a .) (b a)' '(c .) (e c) (a e) (b a)'

# ---- section 2.1: events ---------------------------------------------------------------------
cat >rule.dpe <<'X'
equal: [ X = 0 ]
incremented: [ X = X' + 1 ]
referenced: [ X ]
updated: [ X' ]
conditional: READ [lock = 1]
[ X' ] { counter = counter + 1; print(counter); }
entering: Function.enter
exiting: Function.exit
X
cat >log.jsonl <<'X'
{"event":"[X']","vars":{"X":1,"X'":0},"thread":1}
{"event":"[X]","thread":1}
{"event":"[X']","vars":{"X":0,"X'":1},"thread":1}
{"event":"READ","vars":{"lock":0},"thread":1}
{"event":"READ","vars":{"lock":1},"thread":1}
{"event":"Function.enter","thread":1}
{"event":"Function.exit","thread":1}
X
run "$DPE" replay --format=json -s rule.dpe log.jsonl
check 'section 2.1: control, data and conditional events, an action' "$(python3 -c '
import collections, json
reported = collections.Counter(o.get("rule") + o.get("text", "") for o in map(json.loads, open("out")) if o["type"] != "summary")
print(*sorted(f"{rule}:{count}" for rule, count in reported.items()))' 2>&1)" = \
	'conditional:1 entering:1 equal:1 exiting:1 incremented:1 referenced:3 rule61:1 rule62:1 rule6:2 updated:2'

# ---- section 5 -------------------------------------------------------------------------------
printf 'enqueue() & dequeue() { print(s); break;}\nlast: print\n' >rule.dpe
cat >log.jsonl <<'X'
{"event":"enqueue","thread":1,"vars":{"s":1}}
{"event":"dequeue","thread":2,"vars":{"s":0}}
{"event":"print","thread":2}
X
run "$DPE" replay -s rule.dpe log.jsonl
says 'section 5.1: the race stops the run and prints s' 1 'rule1: match of enqueue()&dequeue()' 'rule1: 0'
check 'section 5.1: events after the break are not reported' "$(grep -c 'last: match' err)" -eq 0
sed 's/"thread":2/"thread":1/' log.jsonl >alone.jsonl
run "$DPE" replay -s rule.dpe alone.jsonl
check 'section 5.1: calls of one thread are no race' "$(grep -c 'rule1: match' err)" -eq 0

cat >rule.dpe <<'X'
SYNC(X): UNLOCK(X).exit; LOCK(X).exit { sync_event($1, $2);}
LOCK(X).exit{hold($1.pid, X)};UNLOCK(X).exit{unhold($1.pid,X)}
LOCK(X).enter;wait(){ wait_for($1.pid,X);check_deadlock()} ; resume();LOCK(X).exit{release($4.pid,X)}
X
# thread:event:lock
locks() {
	python3 -c '
import json, sys
for number, word in enumerate(sys.argv[1:]):
    thread, event, lock = (word + ":").split(":")[:3]
    print(json.dumps({"event": event, "thread": int(thread), "args": [int(lock)] if lock else [], "time": number}))' "$@" >log.jsonl
	run "$DPE" replay -s rule.dpe log.jsonl
}
locks 1:LOCK.enter:1 1:LOCK.exit:1 2:LOCK.enter:2 2:LOCK.exit:2 1:LOCK.enter:2 1:wait 2:LOCK.enter:1 2:wait
check 'section 5.2: a cycle of two threads is a deadlock' "$(grep -c 'deadlock' err)" -ge 1
locks 1:LOCK.enter:1 1:LOCK.exit:1 2:LOCK.enter:1 2:wait 1:UNLOCK.enter:1 1:UNLOCK.exit:1 2:resume 2:LOCK.exit:1
check 'section 5.2: a wait that ends is no deadlock' "$(grep -c 'deadlock:' err)" -eq 0

printf 'var eaten;\neat { eaten = eaten + 1 }\npick(f) { progress(eaten, $1.tid, f); }\n' >rule.dpe
printf '{"event":"%s","thread":1,"args":[1]}\n' pick put pick >log.jsonl
run "$DPE" replay -s rule.dpe log.jsonl
says 'section 5.3: a state that recurs without progress is reported' 1 'no progress'
printf '{"event":"%s","thread":1,"args":[1]}\n' pick eat pick >log.jsonl
run "$DPE" replay -s rule.dpe log.jsonl
check 'section 5.3: a state that recurs with progress is not reported' "$(grep -c 'no progress' err)" -eq 0

# ---- appendix I ------------------------------------------------------------------------------
of 'appendix I' 'a +b+c' sequential
is satisfied '(a .)' '(b .)' '(c .)'
is violated '(a .) (b a)'
finish
