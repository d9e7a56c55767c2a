# Go: events are those of goroutines, which move between threads, and whose stacks move. Rules about threads are refused.
. tests/tap.sh
need_live 'programs of Go'

# The standard library is compiled without inlining as well, once.
export HOME=$PWD GOCACHE=$BUILD/go-cache
go build -gcflags='all=-l' -o plain "$TOP/tests/live/targets/goroutines.go" || not_ok 'building a Go program'
go build -o inlined "$TOP/tests/live/targets/goroutines.go" || not_ok 'building a Go program with inlined locks'
go build -ldflags=-w -o stripped "$TOP/tests/live/targets/goroutines.go" || not_ok 'building a Go program without DWARF'

# ---- order ---------------------------------------------------------------------------------------

printf 'include "go.dpe"\ndetect ordered: "main.write" & "main.write"^\ndetect alone: "main.alone" & "main.alone"^\n' >race.dpe
races() {
	run "$DPE" run -s race.dpe --allow-unobserved -- "./$1" "$2"
}
races plain ordered
says 'what goroutines, channels, package sync and timers order is no race' 0 'nothing found' ' 0 lost' 'plain: note: Go: go.dpe says what'
for how in none readers sent; do
	races plain $how
	says "calls that $how orders are a race" 1 'alone: match' 'main.alone(' 'by main.main.func' 'goroutines.go:'
	check "calls that $how orders: nothing else is" "$(grep -c 'ordered: match' err)" = 0
done
races plain atomic
says 'a warning names atomic operations of the program' 1 'synchronises by atomic instructions, in main.' 'main.main.func'
races inlined none
says 'what may be ordered by inlined locks is inconclusive' 3 'is inlined in inlined, so what it orders is not observed' "go build -gcflags='all=-l'"
run "$DPE" run -e 'detect bare: "main.alone" & "main.alone"^' -- ./plain none
says 'the warning about absent sync rules names the rules of Go' 1 'include "go.dpe", or write rules'

# ---- calls ---------------------------------------------------------------------------------------

# measures NAME TEXT...: what `how` measures
measures() {
	name=$1
	shift
	run "$DPE" run -e "$how" -- ./plain calls
	says "$name" 0 "$@" ' 0 lost'
}
how='measure calls: "main.deep".enter { count(); } measure returns: "main.deep".exit { count(); }'
measures 'each call is one event, and returns once, though the stack is moved' 'calls: count 4040' 'returns: count 4040'
run "$DPE" run -e 'expect paired(T): ("main.leave".enter by T ; "main.leave".exit by T)*' -- ./plain calls
says 'a call that a panic leaves does not return' 1 'right after main.leave'
how='measure left: "main.leave"(n).enter { count(n); } measure back: "main.leave"(n).exit { count(n); }'
measures 'later calls at its place do' 'left[0]: count 1' 'left[1]: count 1' 'back[2]: count 1' 'back[3]: count 1'
run "$DPE" run -e 'detect put(q, n): "main.(*queue).put"(q, n, s).exit [q->items = 7 && s.len = 3 && .ret = 15]' -- ./plain calls
says 'arguments, members and the first result are read' 1 'n = 4' ', 4, null, null) = 15  q->items = 7, s.len = 3  thread 1 (plain)' \
	'at main.(*queue).put+0x0 (' 'by main.main+'
# obstacle PATTERN TEXT: why the value has none
obstacle() {
	run "$DPE" run -e "detect r(x): $1" -- ./plain calls
	says "no value: $1" 2 "$2"
}
obstacle '"main.(*queue).put"(_, _, x)' 'it is a structure, string, slice or interface'
obstacle '"main.far"(_, _, _, _, _, _, _, _, _, x)' 'Go passes it on the stack'
obstacle '"main.real"(x)' 'floating point register'
run "$DPE" run -e 'detect r(n): "main.real"(_, n).exit [.ret = -1]' -- ./plain calls
says 'a register of floating point numbers is none of the others' 1 'n = -3'

run "$DPE" list ./plain 'main.*'
check 'the list of functions has their parameters, without results' "$status $(grep -cxF -e 'plain::main.(*queue).put(main.queue *q, int n, string name, int32[] last)' \
	-e 'plain::main.real(float64 x, int8 n)' out)" = '0 2'

# ---- refusals ------------------------------------------------------------------------------------

for rule in '"main.write","main.write"' value,none; do
	run "$DPE" race "$rule" value,none -- ./plain none
	says "dpe race $rule is refused, with a note on go build -race" 2 'plain: error: it is a Go program: its goroutines are not threads' 'note: go build -race finds data races'
	check "dpe race $rule is refused once, whatever it names" "$(grep -c error err)" = 1
done
run "$DPE" deadlock -- ./plain none
says 'dpe deadlock is refused' 2 'goroutines are not threads'
run "$DPE" run -e 'measure calls: "main.write" { count(); }' -- ./stripped ordered
says 'a program without debug information is refused' 2 'stripped: error: it is a Go program: it has no debug information'
run "$DPE" run -e 'detect v: [main.value]' -- ./plain none
says 'variables are not watched' 2 'only calls of its functions are known by goroutine'
run "$DPE" run --follow -e 'measure calls: "main.write".exit { count(); }' -- /bin/sh -c './plain ordered; echo status $?'
check 'nothing of Go is probed in a process that is followed' "$status $(tail -1 out)" = '3 status 0'
says '… and a warning says so' 3 "'main.write' of plain cannot be observed"
run "$DPE" run --follow -e 'measure calls: "main.write" { count(); }' -- ./plain ordered
says 'a Go program is not followed' 2 'only observed without --follow'
finish
