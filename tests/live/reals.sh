# Floating point numbers in registers, which a probe cannot read: rules that ask for them are refused.
. tests/tap.sh
need_live 'floating point numbers in registers'
${CC:-cc} -D_GNU_SOURCE -g -O2 "$TOP/tests/live/targets/reals.c" -o reals || not_ok 'compiling reals.c'

echo 'detect seen(n): add(_, _, n) ; add(_, _, n).exit { print(n); }' >seen.dpe
run "$DPE" run -s seen.dpe -- ./reals
check 'an integer argument beside floating point ones has its value' "$(grep '^seen: ' err | tail -1)" = 'seen: 3'
echo 'detect ninth(j): many(_, _, _, _, _, _, _, _, _, j) [j > 10] { print(j); }' >ninth.dpe
run "$DPE" run -s ninth.dpe -- ./reals
check 'a floating point argument on the stack has its value' "$(grep '^ninth: ' err | tail -1)" = 'ninth: 10.5'

# refused NAME SPEC TEXT
refused() {
	echo "$2" >refused.dpe
	run "$DPE" run -s refused.dpe -- ./reals
	says "$1" 2 "$3"
	check 'the refusal of a number comes before the target starts' ! -s out
}
IN='it is in a floating point register, which a probe cannot read'
refused 'a floating point argument in a register is refused' 'detect r(x): add(x)' "argument 1 of 'add', which has no value: $IN"
refused 'a floating point result is refused' 'detect r: add(_, _, _).exit [.ret > 1]' "the result of 'add', which has no value: $IN"
refused 'a floating point member in a register is refused' 'detect r(m): members(m) [m.real = 1.5]' "$IN"
refused 'an operand of a USDT probe in a floating point register is refused' 'detect r(x): usdt::reals::reported(x)' 'it is in a place that no probe can read'
refused 'a complex argument is refused' 'detect r(x): both(x)' \
	"argument 1 of 'both', which has no value: it is in floating point registers, and neither a float nor a double"
refused 'a long double argument is refused' 'detect r(x): both(_, x)' \
	"argument 2 of 'both', which has no value: it is a floating point number of more than 8 bytes"
finish
