# Text of the program in conditions, slices and reports, and members of structures that are passed
# by value.
. tests/tap.sh
need_live 'text behind pointers'
compile_target texts

reported() {
	sed -n "s/^$1: //p" err | tr '\n' '|'
}

count_seen() {
	grep -c "$1" err
}

cat >texts.dpe <<'DPE'
detect same(s): use(text(s)) ; leave(text(s))
detect literal: use("abc") { print("seen"); }
detect shown(s): use(s) { print(text(s)); }
detect compared(s): use(s) [s > "abc" && s < "b"] { print(text(s)); }
detect later(s): use(s) ; leave [s == "abd"] { print(text(s)); }
detect result: name_of.exit { print(text($1.ret)); }
detect returned: name_of.exit [.ret = "one"]
detect members(p): look(p) [p->name == "thing" && p->tag != "abcdefg"] { print(text(p->name), text(p->tag), text(title)); }
detect mixed(m): mix(m, n) { print(m.number, m.byte, n); }
detect large(l): load(_, l) [l.name != "elsewhere"] { print(l.a, l.b, l.d, text(l.name)); }
DPE
run "$DPE" run --all -s texts.dpe -- ./texts
check 'calls with the same text are in one slice' "$(count_seen 'same: match') $(count_seen '  where s = "abc"')" = '1 1'
check 'a call with a given string matches' "$(reported literal)" = 'seen|'
x127=$(printf '%126s' '' | tr ' ' x)y
check 'texts are printed, null where they cannot be read' "$(reported shown)" = "abc|abd|null|null|edge|caf�e9|café|$x127|"
check 'conditions with < and > compare texts' "$(reported compared)" = 'abd|'
check 'the text of an earlier event is compared' "$(reported later)" = 'abd|'
check 'the text of a result is read' "$(reported result) $(count_seen 'returned: match')" = 'one|null| 1'
check 'texts of members and variables are read' "$(reported members)" = 'thing abcdefgh a title|'
check 'members of a structure in registers are read' "$(reported mixed)" = '7 200 -9|'
check 'members of a structure on the stack are read' "$(reported large)" = '1 -2 -5 in large|'
check 'the report shows texts' "$(count_seen 'text(s) = "abd"')" -ge 1
check 'no event is lost' "$(count_seen ' 0 lost')" -eq 1
summary=$(grep '^dpe: .*rules' err)
shown=$(reported shown)
run "$DPE" record -o texts.jsonl -s texts.dpe -- ./texts
run "$DPE" replay --all -s texts.dpe texts.jsonl
check 'a replay of a .jsonl log has the same verdicts and texts' "$(grep '^dpe: .*rules' err)$(reported shown)" = "$summary$shown"
run "$DPE" convert texts.jsonl texts.dpel
run "$DPE" replay --all -s texts.dpe texts.dpel
check 'a replay of a .dpel log has the same verdicts and texts' "$(grep '^dpe: .*rules' err)$(reported shown)" = "$summary$shown"

# An event that cannot match costs no message; a text that is too long is not taken for another one.
echo 'detect r: use("abd") ; use(_).enter [.args[0] == "edge"]' >sent.dpe
run "$DPE" run --stack=0 -s sent.dpe -- ./texts
check 'an event that no rule can use is not sent' "$(count_seen '^dpe: 2 events, 0 lost')" -eq 1
echo 'detect r(s): use(s) [s != "abc"] { print(text(s)); }' >long.dpe
run "$DPE" run --stack=0 -s long.dpe -- ./texts cut
check 'a long text is printed cut off' "$(reported r | tr '|' '\n' | tail -n 1)" = "x${x127%y}…"
check 'a long text is compared with a shorter one' "$(count_seen '^dpe: 7 events, 0 lost')" -eq 1
echo 'detect r(s): use(text(s)) ; use^(text(s))' >long.dpe
run "$DPE" run --stack=0 -s long.dpe -- ./texts cut
check 'two long texts are not equal' "$(count_seen 'r: match')" -eq 0
check 'events with long texts that rules compare are lost, with a warning' "$(count_seen ' 2 lost;') $(count_seen 'warning: 2 events are lost: a text that rules compare was longer than 127 bytes')" = '1 1'

# refused NAME SPEC TEXT
refused() {
	echo "$2" >refused.dpe
	run "$DPE" run -s refused.dpe -- ./texts
	says "$1" 2 "$3"
}
refused 'a member too far up the stack is refused' 'detect r(f): reach(f) [f.at[6] > 1]' 'it is too far up the stack'
refused 'the comparison of two structures is refused' 'detect r(m): mix(m) ; mix^(m) [m.number = 1]' "it is a structure that is passed by value: name its members"
refused 'the text of an argument that is no text is refused' 'detect r(n): handed(n) [n == "a"]' "'text(n)' cannot be read: it is not text"
refused 'the comparison with a string that is too long is refused' "detect r: use(\"${x127}y\")" 'it is compared with a string of 128 bytes: text of the program is known up to 127'
refused 'more texts than an event carries are refused' \
	'detect r(p): look(p) { print(text(p->name), text(p->tag), text(title), text(second), text(third)); }' \
	'the rules want 5 texts of the program at'
need_watchpoints 'text that is watched'
refused 'the text of a watched variable is refused' 'detect r: [text(title) == "b"]' 'text is read at functions, lines and USDT probes'
finish
