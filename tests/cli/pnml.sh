# Petri nets as DPEs: their rules, and nets that are refused because they are no safe P/T nets.
. tests/tap.sh

# net BODY >file: a document around places, transitions and arcs
net() {
	printf '<?xml version="1.0"?>\n<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">\n'
	printf '<net id="%s" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">\n%s\n</page></net></pnml>\n' \
		"${2:-n}" "$1"
}
# p ID TOKENS, t ID NAME, a FROM TO [WEIGHT]
p() { printf '<place id="%s"><initialMarking><text> %s </text></initialMarking></place>\n' "$1" "$2"; }
t() { printf '<transition id="%s"><name><graphics/><text>%s</text></name></transition>\n' "$1" "$2"; }
a() {
	printf '<arc id="%s-%s" source="%s" target="%s"><inscription><text>%s</text></inscription></arc>\n' \
		"$1" "$2" "$1" "$2" "${3:-1}"
}
rule() { grep -v '^//' out; }

net "$(p free 2; p full 0; t t1 put; t t2 get; a free t1; a t1 full; a full t2; a t2 free)" buffer >buffer.pnml
run "$DPE" compile buffer.pnml
gives 'dpe compile reads a PNML net of a buffer' 0
check 'each token of a place becomes an operand of &' "$(rule)" = 'expect buffer: (put;get)* & (put^;get^)*'

net "$(p s 1; p r1 0; p r2 0; p w1 0; p w2 0; p e 0; t a a; t b b; t c c; t d d
	a s a; a a r1; a a r2; a r1 b; a b w1; a r2 c; a c w2; a w1 d; a w2 d; a d e)" >fork.pnml
run "$DPE" compile fork.pnml
check 'a net with fork and join becomes a;(b & c);d' "$(rule)" = 'expect n: a;(b & c);d'

net "$(p s 1; p e 0; t x 'get fork 1'; t y expect; t z 'f(1, "a").exit'; t w never; p q 0
	a s x; a x e; a e y; a y s; a e z; a z q; a q w 2)" >names.pnml
run "$DPE" compile names.pnml
same 'names that are no events are rewritten, and a dead transition is observed' out <<'END'
// net 'n': 3 places, 4 transitions
expect n: get_fork_1;(expect;get_fork_1)*;f(1, "a").exit
	observing never
// get_fork_1: "get fork 1"
END
run "$DPE" check names.dpe
"$DPE" compile names.pnml >names.dpe
run "$DPE" check names.dpe
gives 'dpe check accepts the rule of a net with rewritten names' 0

# A label is an event if the parser accepts it as one; its carets are replaced by the carets that the rule needs.
labels() {
	net "$(p s 1; p e 0; t x "$1"; a s x; a x e; p s2 1; p e2 0; t y "$1"; a s2 y; a y e2)" >labels.pnml
	run "$DPE" compile labels.pnml
	check "the label $1 becomes an event" "$(rule)" = "expect n: $2"
	check "the label $1 is in a comment only if it is no event" "$(sed -n 's|^// [a-z_]*: ||p' out)" = "${3:-}"
	rule >labels.dpe
	run "$DPE" check --dump=ast labels.dpe
	gives "dpe check accepts the rule of the label $1" 0
}
labels 'm::f^^(1, "a").exit' 'm::f(1, "a").exit & m::f^(1, "a").exit'
labels '"operator new"(_).exit = -1' '"operator new"(_).exit = -1 & "operator new"^(_).exit = -1'
labels 'q::~q(7)' 'q::~q(7) & q::~q^(7)'
labels 'f [.tid == 1]' 'f [.tid == 1] & f^ [.tid == 1]'
labels 'a // b' 'a____b & a____b^' '"a // b"'
labels 'a include "absent"' 'a_include__absent_ & a_include__absent_^' '"a include "absent""'
labels 'a + b' 'a___b & a___b^' '"a + b"'
labels 'a {exit();}' 'a__exit____ & a__exit____^' '"a {exit();}"'
labels 'a observing b' 'a_observing_b & a_observing_b^' '"a observing b"'

net "$(p s 4; p m 0; p e 0; t a a; t b b; a s a 2; a a m; a m b 2; a b e)" >weights.pnml
run "$DPE" compile --emit=pa weights.pnml
gives 'dpe compile reads a net with arc weights' 0
"$DPE" compile weights.pnml >weights.dpe
# replay NAME STATUS EVENTS...: each is name:id:predecessors
replay() {
	name=$1 wanted=$2
	shift 2
	for e in "$@"; do
		echo "$e" | awk -F: '{ n = split($3, p, ","); printf "{\"event\":\"%s\",\"id\":\"%s\",\"pred\":[", $1, $2
			for (i = 1; i <= n; i++) printf "%s\"%s\"", (i > 1 ? "," : ""), p[i]; print "]}" }'
	done >log.jsonl
	run "$DPE" replay -s weights.dpe log.jsonl
	gives "$name" "$wanted"
}
replay 'arc weights: two concurrent a before b satisfy the rule' 0 a:1: a:2: b:3:1,2
replay 'arc weights: two ordered a before b violate the rule' 1 a:1: a:2:1 b:3:2

# ---- several tokens in a place without a place invariant --------------------------------------------
net "$(p s 2; p m 0; t a a; t b b; t c c; t d d; a s a; a a m 2; a m b; a m c 2; a m d 3)" cross >cross.pnml
run "$DPE" compile cross.pnml
says 'several tokens in a place without a place invariant are refused' 2 "not supported: place 's' of net 'cross' can hold several tokens" 'no place invariant'

# ---- several tokens in a place, joined and parted repeatedly -----------------------------------------
net "$(p p 2; p q 2; t a a; t b b; a q a; a a p; a p b 2; a b q 2)" meet >meet.pnml
"$DPE" compile meet.pnml >weights.dpe
replay 'joins of two tokens: a of both tokens that b joined is accepted' 0 b:1: a:2:1 a:3:1
replay 'joins of two tokens: a of the other two tokens is accepted' 0 b:1: a:2: a:3:1
replay 'joins of two tokens: b can join the two tokens that a moved' 0 a:1: a:2: b:3:1,2
replay 'joins of two tokens: b can join one token that a moved and one other' 0 a:1: b:2:1 a:3:2
replay 'joins of two tokens: a after a of the same token is refused' 1 b:1: a:2:1 a:3:2
printf '<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="a">%s</page><page id="b">%s</page></net></pnml>' \
	"$(p s 1; t x x; a s x; a x r)" '<place id="e"/><referencePlace id="r" ref="q"/><referencePlace id="q" ref="e"/>' >pages.pnml
run "$DPE" compile pages.pnml
check 'a net of several pages and reference places becomes one rule' "$(rule)" = 'expect n: x'

# ---- nets of rules -----------------------------------------------------------------------------------
cat >rules.dpe <<'END'
expect fork: (fork;parent)* & (fork;child)@
expect then: a ; (b & c)
sync order: a ; b
END
run "$DPE" compile --emit=pnml rules.dpe
gives '--emit=pnml writes an @ that nothing follows as a P/T net' 0
check '--emit=pnml writes all rules into one document with distinct ids' "$(python3 -c 'import sys, xml.etree.ElementTree as xml
ids = [e.get("id") for e in xml.parse("out").iter() if e.get("id")]
print(len(ids) == len(set(ids)), sum(i.strip("n").isdigit() for i in ids))' 2>&1)" = 'True 2'
run "$DPE" compile --emit=pnml --rule=then rules.dpe
cp out then.pnml
run "$DPE" compile then.pnml
check 'the net of a rule converted back is the same rule' "$(rule)" = 'expect then: a;(b & c)'
printf 'expect R: a@ ; b\nexpect S: a ; b\n' >join.dpe
run "$DPE" compile --emit=pnml join.dpe
says '--emit=pnml refuses an @ that is followed by an event' 2 "rule 'R' has no P/T net: an event after an '@'"
check '--emit=pnml writes the other rules when one is refused' "$(grep -c '<net ' out)" = 1

# ---- silent transitions ---------------------------------------------------------------------------
s() { printf '<transition id="%s"><name><text/></name></transition>\n' "$1"; }
end() { printf '<place id="%s"><name><text>end</text></name></place>\n' "$1"; }
net "$(p s 1; p p 0; p q 0; p p1 0; p q1 0; end e; s f; s j; s o; t a a; s u; t b b; s v
	a s f; a f p; a f q; a p a; a a p1; a p u; a u p1; a q b; a b q1; a q v; a v q1; a p1 j; a q1 j; a j s; a s o; a o e)" >optional.pnml
"$DPE" compile optional.pnml >weights.dpe
replay 'silent transitions: rounds of a alone and b alone are accepted' 0 a:1: b:2:1
replay 'silent transitions: rounds of a and b together are accepted' 0 a:1: b:2: a:3:1,2 b:4:1,2
replay 'silent transitions: rounds of both, then of one each are accepted' 0 a:1: b:2: a:3:1,2 a:4:3 b:5:4 b:6:5
replay 'silent transitions: a round that begins before b ends is refused' 1 a:1: b:2: a:3:1
net "$(p p 1; p p1 0; p q 1; p q1 0; end e; s x; s y; t a a; t b b; t c c
	a p a; a a p1; a q b; a b q1; a p1 x; a q1 x; a x p; a x q; a p1 y; a q1 y; a y e; a q c; a c q1)" >rounds.pnml
run "$DPE" compile rounds.pnml
check 'a net that repeats concurrent parts becomes an iteration of &' "$(rule)" = 'expect n: (a & (b+c));(a & (b+c))*'
net "$(p h 1; p q 1; p q1 0; p r 1; p r1 0; end e; s x; s y; s z; t b b; t c c
	a h x; a q x; a x h; a x q1; a q1 b; a b q; a h y; a r y; a y h; a y r1; a r1 c; a c r; a h z; a q z; a r z; a z e)" >hub.pnml
run "$DPE" compile hub.pnml
says 'a silent transition that synchronises several state machines is refused' 2 'not supported: the silent transition' \
	"synchronises state machines of net 'n': give it a name, or use --name-silent"
run "$DPE" compile --name-silent hub.pnml
gives '--name-silent accepts a net whose silent transitions synchronise' 0
cp out weights.dpe
replay '--name-silent: alternating silent transitions are accepted as events' 0 x:1: b:2:1 y:3:1 c:4:3 z:5:2,4
replay '--name-silent: independent silent transitions violate the rule' 1 x:1: y:2:
run "$DPE" compile --name-silent rounds.pnml
check '--name-silent keeps the names of labelled transitions' "$(grep -o '[a-z]*' out | sort -u | grep -c '^[abcxy]$')" -eq 5

# A long search without a result needs little memory.
net "$(p p0 1; p q0 1; p r0 1; p p1 0; p over 0; t a a; t b b; t c c; s v; s w; s x; s y; s z
	a p0 a; a q0 a; a r0 a; a a p0; a a q0; a a r0; a p0 b; a b p1; a p1 c; a c p0
	a p1 v; a r0 v; a v p0; a v r0; a p1 w; a w p0; a q0 x; a r0 x; a x q0; a x r0; a p0 y; a q0 y; a y p0; a y q0
	a p0 z; a q0 z; a r0 z; a z over)" >much.pnml
kilobytes=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], capture_output=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$DPE" compile much.pnml)
check 'a search that finds no rule takes less than 2 GB' "$kilobytes" -lt 2000000
net "$(p p 1; p q 0; p r 0; t c c; t f c; t d d; t b b; p v 0; a p c; a c q; a c v; a p f; a f r; a f v; a q d; a r b)" >vanish.pnml
"$DPE" compile vanish.pnml >weights.dpe
replay 'transitions without output: b after c is accepted' 0 c:1: b:2:1
replay 'transitions without output: d after c is accepted' 0 c:1: d:2:1
replay 'transitions without output: both b and d after c are refused' 1 c:1: b:2:1 d:3:1
replay 'transitions without output: c alone is refused' 1 c:1:

# ---- from rule to net and back --------------------------------------------------------------------
# comes_back EXPRESSION AS: the net of a rule, converted back to a rule
comes_back() {
	echo "expect R: $1" >there.dpe
	"$DPE" compile --emit=pnml there.dpe >there.pnml
	run "$DPE" compile there.pnml
	check "the net of $1 converted back is an equivalent rule" "$(grep -v '^//' out)" = "expect R: $2"
}
comes_back '(a* & b*)*' '(a* & b*)*'
comes_back '((a*&b);(c*&d*))*' '((a* & b);(c* & d*))*'
comes_back '((a&b*)*;(c&(d*;e)))*' '((a & b*)*;(c & d*;e))*'
comes_back '((a*&b*)* & c*)*;a' '((a* & b*)* & c;c*+a* & b*)*;a'
comes_back '(a;b) & (a^;b^)' 'a;b & a^;b^'
comes_back '((a;b) & (b;(c&d)))*' '(a;b;(c & d))*'
comes_back '(d+d^)* & (c+d^);(d&d^)' '(c+d^);(d & d^^) & (d+d^^+d^)*'
comes_back '(c+b)* & (d* & c)*' 'b*;(c;b*)* & (d* & c)*'

{
	p p 1; p q 0; p r 0; t b b; a q b; a b p; t c c; a q c; a c r
	awk 'BEGIN {
		for (i = 0; i < 1000; i++) {
			printf "<transition id=\"t%d\"><name><text>e%d</text></name></transition>", i, i
			printf "<arc id=\"i%d\" source=\"p\" target=\"t%d\"/>", i, i
			printf "<arc id=\"o%d\" source=\"t%d\" target=\"q\"/>\n", i, i
		}
	}'
} >wide
net "$(cat wide)" >wide.pnml
timeout 60 "$DPE" compile wide.pnml >wide.dpe
run timeout 60 "$DPE" check wide.dpe
says 'dpe check accepts the rule of a net with 1,000 alternatives' 0

# 800 paths from each of four places to each other one
{
	p s0 1; p s1 0; p s2 0; p s3 0
	awk 'BEGIN {
		for (i = 0; i < 9600; i++) {
			from = i % 4; to = (from + 1 + int(i / 4) % 3) % 4
			printf "<transition id=\"t%d\"><name><text>e%d</text></name></transition>", i, i
			printf "<arc id=\"i%d\" source=\"s%d\" target=\"t%d\"/>", i, from, i
			printf "<arc id=\"o%d\" source=\"t%d\" target=\"s%d\"/>\n", i, i, to
		}
	}'
} >dense
net "$(cat dense)" >dense.pnml
run timeout 60 "$DPE" compile dense.pnml
says 'a net whose rule would have more than 4000 events is refused' 2 "not supported: the rule of net 'n' would have more than 4000 events"

# ---- not safe -------------------------------------------------------------------------------------
net "$(p go 1; p full 0; t t1 put; t t2 get; a go t1; a t1 go; a t1 full; a full t2)" >unsafe.pnml
run "$DPE" compile unsafe.pnml
says 'a net that is not safe is refused with the firings that repeat' 2 'not safe' 'put can occur again and again' "place 'full'"
net "$(p s 1; p g 0; p f 0; t i i; t j j; t k k; a s i; a i g; a g j; a j g; a j f; a f k)" >unsafe2.pnml
run "$DPE" compile unsafe2.pnml
says 'a net that is not safe is refused with the firings before the repeated ones' 2 'after i, j can occur again and again'
net "$(p s 1; p e 0; t x x; t y y; a s x; a x e; a y e)" >source.pnml
run "$DPE" compile source.pnml
says 'a transition without input places is refused' 2 "'y' takes no token, so it can occur any number of times concurrently"

# ---- invalid documents ------------------------------------------------------------------------------
printf '' >empty.pnml
run "$DPE" compile empty.pnml
says 'an empty PNML file is refused' 2 'empty.pnml:1: error: this is not XML'
printf '<pnml>\n<net id="n"' >cut.pnml
run "$DPE" compile cut.pnml
says 'a truncated PNML file is refused' 2 'cut.pnml:2: error: this is not XML'
printf '<pnml/>' >none.pnml
run "$DPE" compile none.pnml
says 'a PNML file without a net is refused' 2 'this file has no net'
printf '<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/symmetricnet"/></pnml>' >coloured.pnml
run "$DPE" compile coloured.pnml
says 'a net of another type than P/T is refused' 2 'coloured.pnml:1: error: ' 'symmetricnet' 'only P/T nets'
net "$(p s 1; t x x; a s y)" >dangling.pnml
run "$DPE" compile dangling.pnml
says 'an arc to an unknown node is refused' 2 "dangling.pnml:6: error: there is no place or transition 'y'"
net "$(p s 1; p r 0; a s r)" >places.pnml
run "$DPE" compile places.pnml
says 'an arc between two places is refused' 2 'one end is a place, the other a transition'
net "$(p s -1)" >minus.pnml
run "$DPE" compile minus.pnml
says 'a negative number of tokens is refused' 2 'the tokens of a place: a number'
net "$(p s 2; p r 0; t x x; a s x 0; a x r)" >zero.pnml
run "$DPE" compile zero.pnml
says 'an arc of weight 0 is refused' 2 "zero.pnml:7: error: the weight of an arc: a number from 1 to 1000, not '0'"
net "$(p s 2; p r 0; t x 3; a s x ' '; a x r)" >blank.pnml
run "$DPE" compile blank.pnml
says 'an arc with an empty weight is refused' 2 "the weight of an arc: a number from 1 to 1000, not ''"
net "$(p s 1; p r 0; p q 0; t x x; t y ''; a s x; a x r; a r y; a y q)" >unnamed.pnml
run "$DPE" compile unnamed.pnml
check 'a transition with an empty name is silent' "$(rule)" = 'expect n: x'
sed -i 's/<name><graphics.><text><.text><.name>//' unnamed.pnml
run "$DPE" compile unnamed.pnml
check 'a transition without a name is the event of its id' "$(rule)" = 'expect n: x;y'
sed -i 's|<transition id="y">|<transition id="y"><name><text>z</text></name><toolspecific tool="ProM" version="6.4" activity="$invisible$"/>|' unnamed.pnml
run "$DPE" compile unnamed.pnml
check 'a transition that ProM marks as invisible is silent' "$(rule)" = 'expect n: x'
run "$DPE" compile --name-silent unnamed.pnml
check '--name-silent makes an event of a transition that ProM marks as invisible' "$(rule)" = 'expect n: x;y'
net '<referencePlace id="a" ref="b"/><referencePlace id="b" ref="a"/><transition id="t"/><arc source="a" target="t"/>' >round.pnml
run "$DPE" compile round.pnml
says 'reference places that refer to each other are refused' 2 "there is no place or transition 'a'"
net "$(p s 1; p end 0; t x x; a s x)" >stuck.pnml
sed -i 's/<place id="end">/<place id="end"><name><text>end<\/text><\/name>/' stuck.pnml
run "$DPE" compile stuck.pnml
says 'a net whose end is never reached is refused' 2 'can never reach its end'

# ---- too many markings ------------------------------------------------------------------------------
switches() {
	for i in $(seq 30); do
		p "off$i" 1; p "on$i" 0; t "u$i" "up$i"; t "d$i" "down$i"
		a "off$i" "u$i"; a "u$i" "on$i"; a "on$i" "d$i"; a "d$i" "off$i"
	done
}
net "$(switches)" >switches.pnml
run "$DPE" compile switches.pnml
says 'a net with more than 100000 markings is refused' 2 "not supported: net 'n' has more than 100000 reachable markings"
net "$(switches; p more 1; t grow grow; a more grow; a grow more 2)" >grows.pnml
run "$DPE" compile grows.pnml
says 'a net that is not safe is recognised among many markings' 2 'not safe' 'grow can occur again and again'
net "$(p s 1; t x x)" >idle.pnml
run "$DPE" compile idle.pnml
says 'a net with a transition without arcs is refused as not safe' 2 'not safe'
net "$(p s 1; p r 0; t x x; t y y; a s x; a x r; a r y 2)" >one.pnml
run "$DPE" compile one.pnml
check 'a marking without enabled transitions is an end' "$(rule | head -1)" = 'expect n: x'
net '' >nothing.pnml
run "$DPE" compile nothing.pnml
says 'an empty net is refused' 2 "net 'n' has one behaviour, in which nothing happens"
run "$DPE" compile no-such.pnml
says 'dpe compile reports a missing PNML file' 2 'no-such.pnml: error: cannot read this file: No such file'
run "$DPE" compile --dump=nets buffer.pnml
same '--dump=nets writes the net after each pass' out <<'END'
// read: 2 places, 2 transitions
//   t1 put: free.0 --> full.1
//   t2 get: full.1 --> free.0
//   initial free.0 free.0
//   final free.0 free.0
// trimmed: 2 places, 2 transitions
//   t1 put: free.0 --> full.1
//   t2 get: full.1 --> free.0
//   initial free.0 free.0
//   final free.0 free.0
// named tokens: 4 places, 4 transitions
//   t1 put: free.0 --> full.2
//   t1 put: free.1 --> full.3
//   t2 get: full.2 --> free.0
//   t2 get: full.3 --> free.1
//   initial free.0 free.1
//   final free.0 free.1
// net 'buffer': 2 places, 2 transitions
expect buffer: (put;get)* & (put^;get^)*
END
echo 'expect R: a' >r.dpe
run "$DPE" compile --dump=nets r.dpe
says '--dump=nets refuses a specification' 2 "--dump=nets is for 'compile NET.pnml'"
run "$DPE" check --dump=nets r.dpe
says 'dpe check refuses --dump=nets' 2 "--dump=nets is for 'compile NET.pnml'"
run "$DPE" compile --dump=ast buffer.pnml
says '--dump=ast refuses a PNML net' 2 'this dump is for specifications'
run "$DPE" compile buffer.pnml r.dpe
says 'dpe compile refuses nets and specifications together' 2 'together'
python3 -c '
print("<!DOCTYPE pnml [<!ENTITY a0 \"xxxxxxxxxx\">" + "".join(
    "<!ENTITY a%d \"%s\">" % (i, "&a%d;" % (i - 1) * 10) for i in range(1, 12)) + "]><pnml>&a11;</pnml>")' >bomb.pnml
run "$DPE" compile bomb.pnml
says 'a PNML file with nested entities is refused' 2 'this is not XML'

# Elements within labels are no part of the net, whatever their names.
net "$(p s 1; t x x; a s x)" >plain.pnml
"$DPE" compile plain.pnml >plain.out
cat >within.py <<'X'
import itertools, re, subprocess, sys
net, wanted = open("plain.pnml").read(), open("plain.out").read()
names = "net page place transition arc referencePlace name initialMarking inscription toolspecific text".split()
for label, inner in itertools.product(("name", "initialMarking", "inscription"), names):
    for within in (f"<{inner}/>", f"<{inner}><text></text></{inner}>", f"<{inner} id='s'><text>7</text></{inner}>"):
        if inner == "text":
            within = f"<graphics>{within}</graphics>"
        changed = re.sub(f"<{label}>", f"<{label}>{within}", net)
        open("within.pnml", "w").write(changed)
        run = subprocess.run([sys.argv[1], "compile", "within.pnml"], capture_output=True, text=True)
        if (run.returncode, run.stdout) != (0, wanted):
            print(f"{within} in {label}: status {run.returncode}: {run.stdout}{run.stderr}")
X
python3 within.py "$DPE" >differences
check 'elements within labels do not change the net' "$(tail -1 plain.out) $(head -c 300 differences)" = 'expect n: x '
finish
