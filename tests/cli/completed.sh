# The search for dead states: it ignores the order of events, looks at operands without common events
# separately, and is given up beyond a limit.
. tests/tap.sh

python3 -c '
places = {"out": 4, "cabins": 1, "bags": 1}
moves = [("entry", ["out"], ["entered"]), ("getkey", ["entered", "cabins"], ["w"]), ("getbag", ["w", "bags"], ["dress"]),
         ("relkey", ["dress"], ["swim", "cabins"]), ("getk2", ["swim", "cabins"], ["dress2"]),
         ("relbag", ["dress2"], ["w2", "bags"]), ("relk2", ["w2"], ["out", "cabins"])]
print("<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">")
for p in sorted({p for _, takes, leaves in moves for p in takes + leaves}):
    print(f"<place id=\"{p}\"><initialMarking><text>{places.get(p, 0)}</text></initialMarking></place>")
for n, (label, takes, leaves) in enumerate(moves):
    print(f"<transition id=\"t{n}\"><name><text>{label}</text></name></transition>")
    for p in takes:
        print(f"<arc id=\"{p}-t{n}\" source=\"{p}\" target=\"t{n}\"/>")
    for p in leaves:
        print(f"<arc id=\"t{n}-{p}\" source=\"t{n}\" target=\"{p}\"/>")
print("</page></net></pnml>")' >pool.pnml
run "$DPE" compile pool.pnml
cp out pool.dpe
check 'dpe compile turns a net of a swimming pool for four persons into a rule' "$status" -eq 0
# limited KIB COMMAND...: with so much address space
limited() (
	grep -q __asan_init "$DPE" || ulimit -v "$1"
	shift
	exec "$@"
)
: >nothing.jsonl
run limited 120000 "$DPE" replay -s pool.dpe nothing.jsonl
says 'the dead states of the rule of the swimming pool are found in 120 MB' 1 'incomplete' 'entry first'

toggles() { for i in $(seq "$1"); do printf '%s & ' "((a$i;b$i)*$2)"; done; }
{
	printf 'expect never: %sc;d & d;c\n' "$(toggles 24 ';c')"
	printf 'expect other: x;y\n'
} >never.dpe
printf '{"event":"a1","id":"a"}\n{"event":"x","id":"x"}\n{"event":"y","id":"y","pred":["x"]}\n{"event":"b1","id":"b"}\n' >never.jsonl
run limited 1000000 "$DPE" replay --format=json -s never.dpe never.jsonl
check 'a replay gives up a search for dead states that exceeds its limits' "$status" -eq 3
check 'the rule whose search was given up has one inconclusive verdict' "$(grep -c '"rule":"never".*"verdict":"inconclusive".*can be completed is not known' out)" -eq 1
check 'other rules keep their certain verdicts when a search is given up' "$(grep -c '"other".*"satisfied"\|"satisfied":1' out)" -ge 1
run limited 1000000 "$DPE" compile --rule=never --emit=pa never.dpe
says 'dpe compile refuses an automaton whose dead states are not found' 2 "the search for the dead states of rule 'never' exceeds its limits"

printf 'expect apart: %sc;d & d;c\n' "$(toggles 24 '')" >apart.dpe
run limited 1000000 "$DPE" check apart.dpe
says 'operands without common events are searched separately for dead states' 2 "rule 'apart' accepts nothing"
finish
