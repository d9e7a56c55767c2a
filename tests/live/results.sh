# Results, and values that calls store behind pointers, as variables of rules.
. tests/tap.sh
need_live 'results as variables'
compile_target results

cat >results.dpe <<'DPE'
include "pthread.dpe"
expect memory(p): (take(_).exit = p [p] ; give(p) [p])*
expect file(f): (fopen(_, _).exit = f ; fclose(f))*
expect store(s): (open_store(_, &s).exit = 0 ; close_store(s))*
detect aligned(p): posix_memalign(&p, 64, _).exit = 0 ; free(p)
DPE
cat >descriptors.dpe <<'DPE'
opened(d) = open(_, _).exit = d [d >= 0] + socket(_, _, _).exit = d + accept(_, _, _).exit = d
expect descriptor(d): (opened(d) ; close(d))*
detect missing(s): open(text(s), _).exit = -1
DPE

run "$DPE" run -o right.jsonl -s results.dpe -- ./results right
says 'a value that a call stored behind a pointer is bound' 1 'aligned: match' ' = 0  p = 0x'
check 'a program without leaks satisfies all rules' "$(grep -c 'rules: 1 match, [0-9]* satisfied' err)" -eq 1
summary=$(grep -o 'rules: .*' err)
run "$DPE" replay -s results.dpe right.jsonl
says 'a replay of a .jsonl log has the same verdicts' 1 'aligned: match' "$summary"
run "$DPE" convert right.jsonl right.dpel
run "$DPE" replay -s results.dpe right.dpel
says 'a replay of a .dpel log has the same verdicts' 1 'aligned: match' "$summary"

run "$DPE" run --allow-unobserved -s results.dpe -- ./results wrong
says 'a leak of each kind is found' 1 'memory: incomplete match of' 'expected give(p) [p] after take(_).exit = p [p]' \
	'stopped after take.exit(100) = 0x' \
	'file: incomplete' 'store: incomplete' '3 incomplete'

run "$DPE" run -s descriptors.dpe -- ./results right descriptors
says 'closed descriptors satisfy the rule, and a failed open is found' 1 's = "/nonexistent"' '= -1' ': 1 match, 3 satisfied'
run "$DPE" run -s descriptors.dpe -- ./results wrong descriptors
says 'a descriptor that stays open is found' 1 'descriptor: incomplete' '1 match, 1 incomplete, 2 satisfied'

printf 'rule:memory function:use_memory\nrule:store function:open_store\n' >leaks.txt
run "$DPE" run --suppressions=leaks.txt -s results.dpe -- ./results wrong
says '--suppressions hides known leaks' 1 'file: incomplete' ' 1 incomplete'

# Which one is an address is known from types.
run "$DPE" run -e 'expect m(p): malloc(p) ; free(p)' -- ./results right
says 'a variable that is a size and a pointer gets a warning' 1 "'p' is argument 1 of 'malloc', a number, and argument 1 of 'free', a pointer" \
	'malloc.exit = p'
run "$DPE" run -e 'expect f(d): open(d) ; close(d)' -- ./results right descriptors
says 'the warning names the function whose result is meant, which comes first' 1 "'d' is argument 1 of 'close', a number" 'open.exit = d'
run "$DPE" run -e 'expect m(p): (take().exit = p ; give(p))*' -- ./results right
check 'a variable that is a pointer twice gets no warning' "$(grep -c ', a number, and' err)" -eq 0

# The type behind a pointer of a stripped library is unknown.
cp results stripped
strip --strip-debug stripped
run "$DPE" run -e 'expect store(s): (open_store(_, &s).exit ; close_store(s))*' -- ./stripped right
says 'without debug information, & binds a pointer, with a warning' 0 "no debug information on 'open_store': the value that '&' binds is assumed to be a pointer" '2 satisfied'
run "$DPE" run -e 'detect r: open_store(_, s).exit [*s > 1]' -- ./stripped right
says 'without debug information, a condition over *s is refused' 2 'has no debug information'
finish
