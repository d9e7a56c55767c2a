# dpe check --explain: engine, orders and examples of each rule.
. tests/tap.sh
export LC_ALL=C.UTF-8

cat >rules.dpe <<'END'
detect race: enqueue() & dequeue()
expect diamond: a;(b&c);d
expect rounds: (E ; X)*
expect file(f): open(f) ; (read(f) + write(f))* ; close(f)
expect synchronised: (a;s;b)&(c;s;d)
expect unsafe: (a;b)@ ; c
sync last lock(m): unlock(m) ; lock(m)
END
cat >expected <<'END'
detect race: enqueue()&dequeue()
  class     multiple: & between sequential expressions
  alphabet  enqueue(), dequeue()
  slices    one
  model     a subset of k-safe nets
  engine    pair table: every match is two independent events, without actions
  independent
            enqueue() and dequeue()
  accepted, for example
      enqueue()
      dequeue()
  rejected, for example
      enqueue() ─ dequeue()
    dequeue() came after enqueue(); the rule requires it independent of all earlier events
expect diamond: a;(b&c);d
  class     safe: & within an operand of ;
  alphabet  a, b, c, d
  slices    one
  model     k-safe nets
  engine    predecessor automaton: the rule is safe, and its automaton of moderate size
  independent
            b and c
  ordered   a and b, a and c, a and d, b and d, c and d
  accepted, for example
      a ─ b ─ d
          c
      c after a; d after b and c
  rejected, for example
      a
      b
    b is independent of all earlier events; the rule requires it after a
expect rounds: (E;X)*
  class     sequential: only ; + and *
  alphabet  E, X
  slices    one
  model     finite state automata
  engine    predecessor automaton: the rule is safe, and its automaton of moderate size
  ordered   everything
  accepted, for example
      E ─ X
  rejected, for example
      E
      X
    X is independent of all earlier events; the rule requires it after E
expect file: open(f);(read(f)+write(f))*;close(f)
  class     sequential: only ; + and *
  alphabet  open(f), read(f), write(f), close(f)
  slices    one for each f
  model     finite state automata
  engine    predecessor automaton: the rule is safe, and its automaton of moderate size
  ordered   everything
  accepted, for example
      open(f) ─ close(f)
  rejected, for example
      open(f)
      read(f)
    read(f) is independent of all earlier events; the rule requires it after open(f)
expect synchronised: (a;s;b)&(c;s;d)
  class     multiple: & between sequential expressions
  alphabet  a, s, b, c, d
  slices    one
  model     a subset of k-safe nets
  engine    predecessor automaton: the rule is safe, and its automaton of moderate size
  independent
            a and c, b and d
  ordered   a and s, a and b, a and d, s and b, s and c, s and d, b and c, c and d
  accepted, for example
      a ─ s ─ b
      c
              d
      s after a and c; d after s
  rejected, for example
      a ─ c
    c came after a; the rule requires it independent of all earlier events
expect unsafe: (a;b)@;c
  class     extended: @ within an operand of ;
  alphabet  a, b, c
  slices    one
  model     extended Petri nets
  engine    token game on the net: the rule is not safe
  examples  none: the rule is not safe
sync lock: unlock(m);lock(m)
  pairing   last
  alphabet  unlock(m), lock(m)
  slices    one for each m
END
run "$DPE" check --explain rules.dpe
check 'dpe check --explain shows class, engine, orders and examples of rules' "$status $(diff out expected)" = '0 '
run "$DPE" check --explain --format=json rules.dpe
check 'dpe check --explain --format=json writes a line for each rule' "$(python3 -c '
import json, sys
rules = [json.loads(line) for line in sys.stdin]
print(len(rules), [e["event"] for e in rules[3]["accepted"]], rules[3]["accepted"][0]["args"])' <out)" = \
	"7 ['open', 'close'] [1]"
printf 'expect N: (a;b) & (b;a)\n' >none.dpe
run "$DPE" check --explain none.dpe
says 'dpe check --explain refuses a rule that accepts nothing' 2 "rule 'N' accepts nothing"
printf 'expect R: %s\n' "$(for i in $(seq 16); do printf '(a%s;b%s;c%s;d%s)* & ' $i $i $i $i; done | sed 's/ & $//')" >wide.dpe
run "$DPE" check --explain wide.dpe
says 'dpe check --explain accepts a rule with too many states' 0
check 'an expect rule with too many states is followed by the token game' "$(grep -c 'engine    token game on the net: its automaton would have too many states' out)" -eq 1
sed s/expect/detect/ wide.dpe >search.dpe
run "$DPE" check --explain search.dpe
check 'a detect rule with too many states is followed by the conjunction engine' "$(grep -c 'engine    conjunction of partial matches of operands: ' out)" -eq 1
check 'dpe check --explain limits the lists of pairs of events' "$(grep -c 'pairs more' out)" -ge 1
run python3 "$TOP/tests/conformance/explained.py" --dpe "$DPE" "$TOP/tests/conformance/safe.jsonl"
check 'for 500 rules, replay accepts the accepted example and rejects the rejected one' "$status" -eq 0
finish
