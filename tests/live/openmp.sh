# dpe race without words, for programs that use OpenMP: what orders is known, and what does not is found.
. tests/tap.sh
need_live 'OpenMP'

# build NAME COMPILER: the target, compiled by it
build() {
	"$2" -fopenmp -fsanitize=thread -g -O1 -c "$TOP/tests/live/targets/openmp.c" -o "$1.o" &&
		"$2" -fopenmp "$1.o" -o "$1" -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok "building $1"
}
export OMP_CANCELLATION=true

# cases COMPILER: all of them, three times
cases() {
	build "$1" "$1"
	run ./"$1" right
	check "$1: without dpe it runs as ever" "$status $(lines out) $(lines err)" = '0 0 0'
	./"$1" list | grep '^wrong' | sort >cases
	check "$1: there are cases" "$(lines cases)" -ge 22
	for i in 1 2 3; do
		run timeout -s KILL 120 "$DPE" race -- ./"$1" right
		says "$1: what is ordered is no race, run $i" 0 'nothing found' ' 0 lost'
	done
	while read -r name; do
		run timeout -s KILL 120 "$DPE" race -- ./"$1" "$name"
		test "$status $(grep -c ' 0 lost' err)" = '1 1' && echo "$name"
	done <cases >found
	same "$1: each race is found" found <cases
}
cases gcc
cases clang
finish
