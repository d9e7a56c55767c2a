# Events that programs report themselves, by dpe/probe.h.
. tests/tap.sh
need_live 'events by dpe/probe.h'

cat >event.dpe <<'X'
detect begun: begun()
detect reported: reported(_, _)
detect minus: reported(-7, _)
detect one: one(65)
detect three: three(1, 2, _)
detect four: four(1, 2, 3, 100)
detect five: five(1, 2, 3, 4, 5)
detect six: six(1, 2, 3, 4, 5, 6)
detect two: reported(2, "two")
X

# observed WAY SOURCE COMPILER...: all events are seen, with their arguments
observed() {
	way=$1
	source=$2
	shift 2
	if ! "$@" -I"$TOP" -c -DOTHER "$source" -o other.o 2>compiled || ! "$@" -I"$TOP" -c "$source" -o event.o 2>compiled ||
		! "$@" event.o other.o -o event 2>compiled; then
		not_ok "$way: a program with dpe/probe.h compiles"
		explain "$(head -c 2000 compiled)"
		return
	fi
	run ./event
	gives "$way: a program with dpe/probe.h runs without dpe" 0
	run "$DPE" run --all -s event.dpe -- ./event
	check "$way: all 36 events of dpe/probe.h are seen, with their arguments" \
		"$(grep -c '^#[0-9]* [a-z]*: match' err) $(grep -c '^dpe: 36 events, 0 lost' err)" = '38 1'
	run "$DPE" list --placement ./event reported
	check "$way: an event of dpe/probe.h is on a nop" "$(grep -c 'nop' out)" -ge 1
}

c=$TOP/tests/live/targets/event.c
cp "$c" event.cc
cc=${CC:-cc}
observed 'with -O2' "$c" "$cc" -O2 -Wall -Wextra -Werror
observed 'with -O0' "$c" "$cc" -O0
observed 'position-independent, with link-time optimisation' "$c" "$cc" -O2 -fPIE -pie -flto

# In a library, the same events are local functions of the library.
"$cc" -O2 -fPIC -shared -I"$TOP" -DOTHER "$c" -o libother.so && "$cc" -O2 -I"$TOP" "$c" -o event -L. -lother '-Wl,-rpath,$ORIGIN' ||
	not_ok 'compiling a library'
run "$DPE" run --all -s event.dpe -- ./event
check 'all 36 events of dpe/probe.h in a program and a library are seen' \
	"$(grep -c '^#[0-9]* [a-z]*: match' err) $(grep -c '^dpe: 36 events, 0 lost' err)" = '38 1'

if command -v clang >/dev/null; then
	observed 'clang' "$c" clang -O2 -Wall -Wextra -Werror
fi
if command -v g++ >/dev/null; then
	observed 'C++' event.cc g++ -O2 -Wall -Wextra -Werror
fi
finish
