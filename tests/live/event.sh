# Events that programs report themselves: dpe/probe.h.
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

# observed WAY SOURCE COMPILER...: all events, with their arguments
observed() {
	way=$1
	source=$2
	shift 2
	if ! "$@" -I"$TOP" -c -DOTHER "$source" -o other.o 2>compiled || ! "$@" -I"$TOP" -c "$source" -o event.o 2>compiled ||
		! "$@" event.o other.o -o event 2>compiled; then
		not_ok "$way: compiled"
		explain "$(head -c 2000 compiled)"
		return
	fi
	run ./event
	gives "$way: runs by itself" 0
	run "$DPE" run --all -s event.dpe -- ./event
	check "$way: all is seen, with its arguments" \
		"$(grep -c '^#[0-9]* [a-z]*: match' err) $(grep -c '^dpe: 36 events, 0 lost' err)" = '38 1'
	run "$DPE" list --placement ./event reported
	check "$way: on a nop of five bytes" "$(grep -c 'nop' out)" -ge 1
}

c=$TOP/tests/live/targets/event.c
cp "$c" event.cc
cc=${CC:-cc}
observed 'optimised' "$c" "$cc" -O2 -Wall -Wextra -Werror
observed 'without optimisation' "$c" "$cc" -O0
observed 'position-independent, optimised as a whole' "$c" "$cc" -O2 -fPIE -pie -flto

# In a library the same events are functions of its own, that no other file sees.
"$cc" -O2 -fPIC -shared -I"$TOP" -DOTHER "$c" -o libother.so && "$cc" -O2 -I"$TOP" "$c" -o event -L. -lother '-Wl,-rpath,$ORIGIN' ||
	not_ok 'compiling a library'
run "$DPE" run --all -s event.dpe -- ./event
check 'in the program and a library: all is seen' \
	"$(grep -c '^#[0-9]* [a-z]*: match' err) $(grep -c '^dpe: 36 events, 0 lost' err)" = '38 1'

if command -v clang >/dev/null; then
	observed 'clang' "$c" clang -O2 -Wall -Wextra -Werror
fi
if command -v g++ >/dev/null; then
	observed 'C++' event.cc g++ -O2 -Wall -Wextra -Werror
fi
finish
