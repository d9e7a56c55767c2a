# Functions whose implementation is selected when the program loads (IFUNC).
. tests/tap.sh
need_live 'IFUNC'
${CC:-cc} -g -O1 -fno-builtin "$TOP/tests/live/targets/ifunc.c" -lm -o ifunc || not_ok 'compiling ifunc.c'

count_seen() {
	grep -c "$1" err
}

cat >ifunc.dpe <<'DPE'
detect length: strlen.exit { print($1.ret); }
detect copy(n): libc::memcpy(d, s, n) [.args[2] > 100]
detect sine: sin.exit
DPE
run "$DPE" run --all --stack=0 -s ifunc.dpe -- ./ifunc
check 'an IFUNC of the C library is observed in its selected implementation' \
	"$(count_seen '^length: 299$') $(count_seen '^length: 295$')" = '1 1'
check 'calls of an IFUNC have their arguments' "$(count_seen 'memcpy(.*, 101)') $(count_seen 'memcpy(.*, 105)')" = '1 1'
check 'an IFUNC of the mathematical library is observed' "$(count_seen 'sine: match')" -eq 1
check 'no event of an IFUNC is lost' "$(count_seen ' 0 lost')" -eq 1
run "$DPE" list ./ifunc '*::strlen'
check 'dpe list shows an IFUNC' "$(grep -c '^libc.so.6::strlen' out)" -eq 1

# refused NAME SPEC TEXT: the rule is refused with this text before the target starts
refused() {
	echo "$2" >refused.dpe
	run "$DPE" run -s refused.dpe -- ./ifunc
	says "$1" 2 "$3"
	check "$1: before the target starts" ! -s out
}
refused "an IFUNC of the program itself is refused" 'detect r: selected' \
	"the implementation of 'selected' in ifunc is selected when the program loads (IFUNC), and its choice is not known in advance"
refused 'a function of the vDSO of the kernel is refused' 'detect r: libc::gettimeofday' "here it is a function of the kernel (vDSO)"
echo 'detect r: (first_implementation + second_implementation)' >implementations.dpe
run "$DPE" run -s implementations.dpe -- ./ifunc
check 'the implementations of an IFUNC of the program can be observed' "$(count_seen 'r: match')" -eq 1
finish
