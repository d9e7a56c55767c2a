# dpe check and dpe compile.
. tests/tap.sh

cat >three.dpe <<'X'
expect A: a b
detect B: c ;
expect C: d & & e
X
run "$DPE" check three.dpe
check 'dpe check reports each of three errors in a specification' "$status $(grep -c ': error: ' err)" = '2 3'
same 'each error has its line, its column and a caret' err <<'X'
three.dpe:1:13: error: an operator is missing between 'a' and 'b': write ; (then), & (independently) or + (either)
  | expect A: a b
  |             ^
three.dpe:2:13: error: nothing follows this ';': write the event that comes next, or remove it
  | detect B: c ;
  |             ^
three.dpe:3:15: error: an event is missing between '&' and '&'
  | expect C: d & & e
  |               ^
X

: >empty.dpe
run "$DPE" check empty.dpe
says 'dpe check of an empty specification fails' 2 'empty.dpe: error: this specification has no rule'
printf '/* nothing\n   here */\n' >comment.dpe
run "$DPE" check comment.dpe
says 'dpe check of a specification of comments alone fails' 2 'comment.dpe: error: this specification has no rule'

printf 'expect N: (a;b) & (b;a)\n' >none.dpe
printf '(a .)\n' >a.msg
for command in 'check none.dpe' 'compile none.dpe' 'replay -s none.dpe a.msg'; do
	run "$DPE" $command
	says "dpe $command refuses a rule that accepts nothing" 2 "none.dpe:1:8: error: rule 'N' accepts nothing"
	check 'the rule that accepts nothing is reported once' "$(grep -c ': error: ' err)" -eq 1
done

printf 'detect open: thread::exit [state = 1] ;\n  c\n' >later.dpe
run "$DPE" run -s later.dpe -- true
says 'dpe run refuses conditions on variables of the running program' 2 'later.dpe:1:28: error: not yet supported: variables of the running program'
for command in 'check later.dpe' 'compile later.dpe' 'replay -s later.dpe a.msg'; do
	run "$DPE" $command
	gives "dpe $command accepts a condition on a variable, which a log may have" 0
done

cat >rules.dpe <<'X'
expect file(f): open(f) ; (read(f) + write(f))* ; close(f)
detect both: a & b observing c { print("both"); }
sync last S(m): unlock(m).enter ; lock(m).exit
X
run "$DPE" check rules.dpe
gives 'dpe check of a correct specification succeeds' 0
same 'dpe check shows class, alphabet and slices of each rule' out <<'X'
expect file: open(f);(read(f)+write(f))*;close(f)
  class     sequential: only ; + and *
  alphabet  open(f), read(f), write(f), close(f)
  slices    one for each f
detect both: a&b
  class     multiple: & between sequential expressions
  alphabet  a, b
  observing c
  slices    one
sync S: unlock(m).enter;lock(m).exit
  pairing   last
  alphabet  unlock(m).enter, lock(m).exit
  slices    one for each m
X
run "$DPE" check - <rules.dpe
check 'dpe check - reads a specification from standard input' "$status $(grep -c class out)" = '0 2'
printf 'include "pthread.dpe"\ndetect mine: a & b\n' >mine.dpe
run "$DPE" check mine.dpe
check 'dpe check shows the rules of the file, and only the number of included ones' \
	"$(grep -c '  class ' out) $(grep -cE '^and [0-9]+ rules of included specifications' out)" = '1 1'
run "$DPE" check --all mine.dpe
check 'dpe check --all shows included rules' "$(grep -c '^sync ' out)" -gt 5
run "$DPE" check pthread.dpe
check 'dpe check of a shipped specification shows its rules' "$(grep -c '^sync ' out)" -gt 5
gives 'the shipped pthread.dpe is found by its name' 0
run "$DPE" check "$TOP/examples/producer-consumer/race.dpe"
gives "dpe check of an example's specification succeeds" 0

# The paper's figures 4-6 and 4-7.
printf 'expect R: a;(b&(c;d));e\n' >figure.dpe
run "$DPE" compile --emit=dot figure.dpe
same 'the automaton of figure 4-6 as a drawing' out <<'X'
digraph "R" {
	rankdir=LR;
	node [shape=circle];
	7 [shape=doublecircle];
	0 -> 1 [label="(a .)"];
	1 -> 2 [label="(b a)"];
	1 -> 3 [label="(c a)"];
	2 -> 4 [label="(c a)"];
	3 -> 4 [label="(b a)"];
	3 -> 5 [label="(d c)"];
	4 -> 6 [label="(d c)"];
	5 -> 6 [label="(b a)"];
	6 -> 7 [label="(e b d)"];
}
X
run "$DPE" compile --rule=both rules.dpe
check 'dpe compile --rule writes the chosen rule of several' "$status $(head -1 out)" = '0 both: a&b'
run "$DPE" compile --rule=flie rules.dpe
says 'dpe compile --rule suggests the nearest name for an unknown rule' 2 "no rule 'flie'; did you mean 'file'?"
run "$DPE" compile --max-states=3 figure.dpe
says 'an automaton of more than --max-states states is refused' 2 'states'

# Each way to begin a rule without name and mode, on the same line and on the next.
wrong=
for before in 'var n;' 'var n = 1, m;' 'include "rapid.dpe"'; do
	for rule in '{ k = 0; } ; a { ++k; }' '[X = 0] { print(1); }' '(a ; b)* { print(1); }' 'a { print(1); }' '"a" { print(1); }'; do
		for between in ' ' '\n'; do
			printf "%s$between%s\n" "$before" "$rule" >begun.dpe
			run "$DPE" check begun.dpe
			test "$status" -eq 0 || wrong="$wrong $before $rule"
		done
	done
done
check 'rules begin with any operand after variables and includes' "$wrong" = ''
finish
