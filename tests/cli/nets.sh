# Rules as nets: text and PNML.
. tests/tap.sh

printf 'detect R: a;(b&(c;d));e\n' >r.dpe
run "$DPE" compile --emit=net r.dpe
same 'dpe compile --emit=net writes the net of a;(b&(c;d));e' out <<'END'
R: a;(b&(c;d));e
places 9, transitions 7, 1-safe, start p0, end p1
t0 a: p0 --> p3
t1 (silent): p3 --> p4 p5
t2 b: p4 --> p6
t3 c: p5 --> p8
t4 d: p8 --> p7
t5 (silent): p6 p7 --> p2
t6 e: p2 --> p1
END
printf 'expect T: (a;b)@;c\n' >t.dpe
run "$DPE" compile --emit=net t.dpe
check 'the net of (a;b)@;c has an inhibitor test on the copies of @' "$(grep -c ' unless p5 p6 p7$' out) $(grep -c extended out)" = '1 1'
run "$DPE" compile --emit=pnml t.dpe
says '--emit=pnml refuses an event after an @' 2 "an event after an '@' needs inhibitor arcs"
run "$DPE" compile --emit=dot t.dpe
check '--emit=dot draws the inhibitor arcs of an @' "$(grep -c 'arrowhead=odot' out) $(grep -c 'label="[abc]"' out)" = '3 3'
printf 'expect U: E*n;X*n\n' >u.dpe
run "$DPE" compile --emit=pnml u.dpe
says '--emit=pnml refuses control variables' 2 "not supported: a net of rule 'U'" 'control variables count without bound'
head -100 "$TOP/tests/conformance/unsafe.jsonl" >unsafe.jsonl
run python3 "$TOP/tests/conformance/nets.py" --dpe "$DPE" unsafe.jsonl
check 'accepted executions reach the end in nets of 100 unsafe rules' "$(tail -1 out)" = '100 passed, 0 failed'
printf 'expect V: f("<&>"); g\n' >v.dpe
run "$DPE" compile --emit=pnml v.dpe
check '--emit=pnml escapes labels' "$(grep -c 'f(&quot;&lt;&amp;&gt;&quot;)\|f("&lt;&amp;&gt;")' out)" -eq 1
run python3 "$TOP/tests/conformance/nets.py" --dpe "$DPE" "$TOP/tests/conformance/safe.jsonl"
check 'accepted executions reach the end in nets of 500 safe rules' "$(tail -1 out)" = '500 passed, 0 failed'
finish
