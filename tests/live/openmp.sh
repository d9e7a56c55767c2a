# dpe race without arguments, for programs that use OpenMP: ordered accesses are no race, unordered ones are found.
. tests/tap.sh
need_live 'OpenMP'

# build NAME COMPILER: compiles the target
build() {
	"$2" -fopenmp -fsanitize=thread -g -O1 -c "$TOP/tests/live/targets/openmp.c" -o "$1.o" &&
		"$2" -fopenmp "$1.o" -o "$1" -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok "building $1"
}
export OMP_CANCELLATION=true

# named: the wrong cases of which the report has a line, or a variable
named() {
	{
		sed -n 's/.*openmp\.c:\([0-9]*\).*/\1/p' err | awk '
			NR == FNR { if (match($0, /^CASE\(wrong_[a-z]*/)) { at[++n] = FNR; name[n] = substr($0, 6, RLENGTH - 5) } next }
			{ last = ""; for (i = 1; i <= n && at[i] <= $1; i++) last = name[i]; if (last) print last }
			' "$TOP/tests/live/targets/openmp.c" -
		grep -o 'wrong_[a-z]*' err
	} | sort -u
}

# patiently COMMAND...: runs it again if it hangs, as the program itself sometimes does after a cancelled region, even without dpe
patiently() {
	for try in 1 2 3; do
		run timeout -s KILL 60 "$@"
		test "$status" -eq 137 || break
	done
}

# cases COMPILER: correct cases three times, and wrong cases
cases() {
	build "$1" "$1"
	patiently ./"$1" right
	check "$1: the program runs without dpe and prints nothing" "$status $(lines out) $(lines err)" = '0 0 0'
	./"$1" list | grep '^wrong' | sort >cases
	check "$1: the program has at least 20 wrong cases" "$(lines cases)" -ge 20
	for i in 1 2 3; do
		patiently "$DPE" race -- ./"$1" right
		says "$1: accesses ordered by OpenMP are no race, run $i" 0 'nothing found' ' 0 lost'
	done
	patiently "$DPE" race -- ./"$1" wrong
	named >found
	same "$1: the race of each wrong case is found" found <cases
	check "$1: wrong cases give exit status 1, and no event is lost" "$status $(grep -c ' 0 lost' err)" = '1 1'
}
cases gcc
says 'gcc: a note names libgomp and openmp.dpe' 1 'libgomp.so' 'note: OpenMP: openmp.dpe'
cases clang
says 'clang: a note names libomp and openmp.dpe' 1 'libomp' 'note: OpenMP: openmp.dpe'
# The linker leaves libgomp out of a program that calls only functions of it that the library wraps.
printf 'int main(void)\n{\n\tint n = 0;\n#pragma omp parallel num_threads(4)\n\tn++;\n\treturn n == 0;\n}\n' >small.c
gcc -fopenmp -fsanitize=thread -g -c small.c && gcc -fopenmp small.o -o small -L"$BUILD" -Wl,-rpath,"$BUILD" -Wl,--as-needed -ldpe-mem ||
	not_ok 'building small'
check 'small: the program does not need libgomp' "$(readelf -d small | grep -c 'NEEDED.*libgomp')" = 0
run ./small
check 'small: the program runs without dpe' $status -eq 0
run "$DPE" race -- ./small
says 'small: the race is found' 1 'data race on 0x' ' 0 lost'
gcc -fopenmp -g "$TOP/tests/live/targets/openmp.c" -o uninstrumented || not_ok 'building without'
run "$DPE" race 'right_for,right_barrier' -- ./uninstrumented right_for
says 'race with functions warns that the order by OpenMP is not observed' 0 'libgomp.so' 'warning: OpenMP: what it orders is not observed'
cat >critical.c <<'X'
int total;
__attribute__((noinline)) void add(int n) { total += n; }
int main(void)
{
#pragma omp parallel num_threads(4)
	for (int i = 0; i < 10; i++) {
#pragma omp critical
		add(i);
	}
	return total != 180;
}
X
gcc -fopenmp -g -O1 critical.c -o critical || not_ok 'building critical'
run "$DPE" run --stack=0 -s pthread.dpe -e 'detect r: add() & add^()' -- ./critical
says 'calls that OpenMP may have ordered are inconclusive' 3 'inconclusive verdict on add' 'what OpenMP orders is not observed'
finish
