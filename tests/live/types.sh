# Values by their C types: which expressions have one, and which are refused since their type is unknown.
. tests/tap.sh
need_live 'values of C types' '[first]'
compile_target types

count_seen() {
	grep -c "$1" err
}

cat >types.dpe <<'DPE'
detect numbers: step { printf("%s %s %s %s %s", real, single, limit, nothing, big); }
detect high: step [real > 2 && real < 3 && single = 1]
detect infinite: step [limit > 1000000]
detect none: step [nothing > 0 || nothing <= 0]
detect beyond: step [big > 9223372036854775807]
detect many: step [big > 5]
detect grown: [real'] { print(real, real'); }
detect returned(x): truth(x).exit { print("truth", x, $1.ret); }
detect small(x): byte(x).exit [.ret = -3]
detect kind(x): colour(x).exit { print("colour", $1.ret); }
detect point: middle(_, 7)
detect whole(w): whole(w) [w.a < 2] { print("whole", w.b); }
detect wide(n): wide(n).exit [.ret > 170141183460469231731687303715884105727] { print("wide", n, $1.ret); }
detect sums(n): sum(n).exit { print("sum", n, $1.ret, total); }
detect total: sum(_) [total < -18446744073709551616]
detect minus: minus.exit [.ret = -1] { print($1.ret); }
DPE
run "$DPE" run --all -s types.dpe -- ./types
check 'values of double, float, infinity, NaN and unsigned are printed' \
	"$(count_seen '^numbers: 2.5 1.0 1e999 nan 18446744073709551615$')" -eq 1
check 'conditions over floating point values hold' "$(count_seen '^numbers: ') $(count_seen 'high: match') $(count_seen 'infinite: match')" = '2 1 2'
check 'NaN is neither above nor below a number' "$(count_seen 'none: match')" -eq 0
check 'an unsigned value above the signed range is compared' "$(count_seen 'many: match')" -eq 2
check 'a double is watched' "$(count_seen '^grown: 2.5 0.1$') $(count_seen '^grown: -1e+22 2.5$')" = '1 1'
check 'a bool result is read' "$(count_seen '^returned: truth 2 1$') $(count_seen '^returned: truth 0 0$')" = '1 1'
check 'a signed char result is read' "$(count_seen 'small: match')" -eq 1
check 'an enumeration result is read' "$(count_seen '^kind: colour 2$')" -eq 1
check 'a member of a structure passed by value is read' "$(count_seen '^whole: whole 2$')" -eq 1
check 'unsigned numbers of 128 bits are read' "$(count_seen '^wide: wide 3 340282366920938463463374607431768211453$')" -eq 1
check 'signed numbers of 128 bits are read' "$(grep '^sums: ' err | tr '\n' ' ')" = \
	'sums: sum -36893488147419103232 -36893488147419103233 -36893488147419103232 sums: sum 5 -36893488147419103227 -36893488147419103227 '
check 'a signed number of 128 bits is compared' "$(count_seen 'total: match')" -eq 1
check 'an int result of -1 is read' "$(count_seen '^minus: -1$')" -eq 1
check 'an argument after one in other registers is read' "$(count_seen 'point: match')" -eq 1
run "$DPE" record -o types.jsonl -s types.dpe -- ./types
python3 -c 'import json
for line in open("types.jsonl"): json.loads(line)' && ok 'a log is JSON' || not_ok 'a log is JSON'
run "$DPE" replay --all -s types.dpe types.jsonl
check 'a replay has the same values and matches' "$(count_seen '^grown: 2.5 0.1$') $(count_seen 'infinite: match')" = '1 2'

# Other compilers, and debug information in a file of its own, describe the places of variables in other ways.
for compiler in "${CC:-cc} -g -gsplit-dwarf" "${CC:-cc} -g -gdwarf-4" 'clang -g' 'clang -g -gsplit-dwarf'; do
	if ! command -v "${compiler%% *}" >where; then
		ok "values of a program by $compiler # skip it is not installed"
		continue
	fi
	$compiler -D_GNU_SOURCE -O0 -pthread "$TOP/tests/live/targets/types.c" -o types 2>compiled || not_ok "compiling with $compiler"
	run "$DPE" run --all -s types.dpe -- ./types
	check "values of a program by $compiler are read" \
		"$(count_seen '^numbers: 2.5 1.0 1e999 nan 18446744073709551615$') $(count_seen '^grown: 2.5 0.1$')" = '1 1'
done
compile_target types

# refused NAME SPEC TEXT
refused() {
	echo "$2" >refused.dpe
	run "$DPE" run -s refused.dpe -- ./types
	says "$1" 2 "$3"
	check 'the refusal of a value comes before the target starts' ! -s out
}
refused 'a structure passed by value is refused as a value' 'detect r(x): whole(x)' "argument 1 of 'whole', which has no value: it is a structure that is passed by value"
REAL="'real' is a floating point number, which can only be compared and printed"
refused 'arithmetic on a double is refused' 'detect r: step [1 < 2 * real]' "$REAL"
refused 'the negation of a double is refused' 'detect r: step { print(-real); }' "$REAL"
refused 'arithmetic on a conditional that may be a double is refused' 'detect r: step [(big ? real : 1) - 1 > 0]' "$REAL"
refused 'arithmetic on a float is refused' 'detect r: step [single + 1 > 0]' "'single' is a floating point number"
echo 'detect r: step [(real > 1) + !real + (real ? 1 : 2) == 2] { print(1); }' >computed.dpe
run "$DPE" run -s computed.dpe -- ./types
check 'arithmetic on results of comparisons is evaluated' "$(count_seen '^r: 1$')" -eq 1
echo 'detect r: step [nothing != nothing && nothing != 1 && nothing && !(nothing < 1)] { print(2); }
detect s: step [nothing == nothing || nothing <= nothing || nothing == limit] { print(3); }' >nan.dpe
run "$DPE" run -s nan.dpe -- ./types
check 'NaN is different from all numbers' "$(count_seen '^r: 2$') $(count_seen '^s: 3$')" = '2 0'
finish
