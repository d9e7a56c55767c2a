# Arguments of static functions, of which clang removes the ones that are not used.
. tests/tap.sh
need_live 'arguments of static functions'
if ! command -v clang >where; then
	ok 'arguments of static functions # skip clang is not installed'
	finish
fi
cat >passed.dpe <<'X'
detect unused: unused(_, x, y).exit { print("unused", x, y, $1.ret); }
detect real: real(_, _, p) { print("real", 0, *p); }
detect same: same(_, x) { print("same", x); }
detect called: called(x, y) { print("called", x, y); }
X

# seen NAME TEXT...: the lines that the rules print
seen() {
	name=$1
	shift
	printf '%s\n' "$@" | sort -u >wanted
	grep -E '^[a-z]+: [a-z]+ [0-9]' err | sort >printed
	if cmp -s wanted printed; then
		ok "$name"
	else
		not_ok "$name"
		explain_run
	fi
}

# compiled FLAGS...
compiled() {
	clang -g "$@" "$TOP/tests/live/targets/passed.c" -o passed 2>compiler || not_ok "compiling with $*"
}

compiled -O0
run "$DPE" run --all -s passed.dpe -- ./passed
seen 'without optimisation, all arguments have their values' 'unused: unused 1 2 3' 'unused: unused 3 4 7' \
	'same: same 2' 'same: same 3' 'called: called 8 9' 'called: called 9 10' 'real: real 0 7'
echo 'detect called: called(x, y) { print("called", x, y); }' >called.dpe
for flags in '-O2' '-O2 -gdwarf-4'; do
	compiled $flags
	run "$DPE" run --all -s called.dpe -- ./passed
	seen "a function whose address is taken has all arguments with $flags" 'called: called 8 9' 'called: called 9 10'
done

# refused NAME SPEC
refused() {
	echo "$2" >refused.dpe
	run "$DPE" run -s refused.dpe -- ./passed
	says "$1" 2 'which has no value: the compiler removed arguments of this static function'
	check 'the refusal of an argument comes before the target starts' ! -s out
}
compiled -O2
refused 'an argument that is not used is refused' 'detect r(x): unused(x, _, _)'
refused 'an argument that is the same in all calls is refused' 'detect r: same(5, _)'
refused 'an argument after a removed one is refused' 'detect r(x): unused(_, x, _)'
compiled -O0
run "$DPE" run -s refused.dpe -- ./passed
says 'the argument refused with optimisation is accepted without it' 1 'r: match'
echo 'detect r: whole(x, 3) [x.second = 2]' >whole.dpe
run "$DPE" run -s whole.dpe -- ./passed
says 'a field of a structure passed by value is read' 1 'r: match'
finish
