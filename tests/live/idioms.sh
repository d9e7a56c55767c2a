# dpe race without arguments, for ways in which threads order what they do, and wrong twins of them.
. tests/tap.sh
need_live 'idioms of threads'

# found: the variables of wrong cases that races are reported on, and a function that frees
found() {
	sed -n 's/^#[0-9]* \(predicted \)*data race on \(wrong_[a-z_]*\):.*/\2/p; s/^ .*at \(wrong_drop\)+.*/\1/p' err | sort -u
}
cat >expected <<'X'
wrong_beside_call_once
wrong_beside_once
wrong_cancelled_wait_count
wrong_drop
wrong_fence_of_other
wrong_in_another_order
wrong_unfenced
X

# cases COMPILER
cases() {
	"$1" -fsanitize=thread -g -O1 -fno-inline -c "$TOP/tests/live/targets/idioms.c" -o "$1.o" &&
		"$1" "$1.o" -o "$1" -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok "building $1"
	for i in 1 2 3; do
		run timeout -s KILL 120 "$DPE" race -- ./"$1" right
		says "$1: ordered accesses are no race, run $i" 0 'nothing found' ' 0 lost'
	done
	run timeout -s KILL 120 "$DPE" race -- ./"$1" wrong
	found >named
	same "$1: the race of each wrong case is found" named <expected
	check "$1: wrong cases give exit status 1, and no event is lost" "$status $(grep -c ' 0 lost' err)" = '1 1'
}
cases gcc
cases clang
finish
