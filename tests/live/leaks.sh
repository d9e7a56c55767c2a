# Resources never released, or released twice: the rules of docs/which-command.md.
. tests/tap.sh
need_live 'allocations'
compile_target leaks
# rule_of WORDS: the rule that begins so
rule_of() {
	sed -n "s/.*dpe run -e '\($1.*\)' -- PROGRAM.*/\1/p" "$TOP/docs/which-command.md"
}
rule=$(rule_of 'expect leak')

# own: the lines of findings that are in the program's own code
own() {
	grep -o 'leaks\.c:[0-9]*' err | sort | uniq -c | tr -s ' ' | tr '\n' ';'
}
for i in 1 2 3 4 5; do
	run "$DPE" run -e "$rule" -- ./leaks clean
	test "$(own) $(grep -c ' 0 lost' err)" = ' 1' || break
done
check 'all is freed, five times of five' "$(own) $(grep -c ' 0 lost' err)" = ' 1'
for i in 1 2 3 4 5; do
	run "$DPE" run -e "$rule" -- ./leaks leaks
	test "$(own)" = ' 1 leaks.c:10; 1 leaks.c:19;' || break
done
says 'a block in each of two threads is not' 1 'leak: incomplete' 'stopped after malloc.exit(103)' 'by worker+' 'was seen 2 times'
check 'five times of five' "$(own)" = ' 1 leaks.c:10; 1 leaks.c:19;'

# Handles, by the rules of docs/which-command.md: of each kind one is left.
source=$TOP/tests/live/targets/handles.cc
${CXX:-c++} -g -O2 -pthread "$source" -o handles || not_ok 'compiling handles.cc'
printf 'rule:open function:_IO_file_open\n' >of_libc
# left NAME RULE MARK: a finding in the line with this mark
left() {
	run "$DPE" run --suppressions=of_libc -e 'include "pthread.dpe"' -e "$2" -- ./handles
	rm -f socket
	says "$1 is left" 1 ' stopped after ' "handles.cc:$(grep -n "// $3\$" "$source" | cut -d: -f1))" ' 1 incomplete'
}
open=$(rule_of 'expect open')
left 'a descriptor that was opened' "$open" 'both opened'
left 'one that was accepted' "$(printf '%s\n' "$open" | sed 's/open(_, _)/accept(_, _, _)/')" accepted
left 'a file' "$(rule_of 'expect file')" 'both files'
left 'an object' "$(rule_of 'expect life')" 'both sessions'

# Another thread frees an object that it received: the queue orders the two.
run "$DPE" run -e 'include "pthread.dpe"' -e "$rule" -- ./handles
says 'without the queue, frees of another thread are not ordered' 1 ' 20 violated'
run "$DPE" run -e 'include "pthread.dpe"' -e 'sync last queue(p): push(p) ; pop().exit = p' -e "$rule" -- ./handles
says 'with it they are' 1 ' 0 lost'
check 'and none is violated' "$(grep -c violated err)" -eq 0

# Programs that others wrote are right: they keep memory until they end, and that is all.
seq 1 20000 >numbers
echo 'int main(void) { return 0; }' >empty.c
printf 'all:\n\techo made\n' >Makefile
git init -q repository
for command in 'ls -l /etc' 'grep -r root /etc/default' 'sort --parallel=2 -rn numbers -o sorted' 'xz -T2 -k -f numbers' \
	'/usr/bin/python3 -c print(open("/etc/passwd").read())' 'curl -s file:///etc/passwd' 'git -C repository status' \
	'sqlite3 :memory: values(1)' 'gcc -c empty.c' 'make'; do
	command -v "${command%% *}" >path || {
		ok "${command%% *} # skip it is not installed"
		continue
	}
	# shellcheck disable=SC2086
	run "$DPE" run --stack=0 --allow-unobserved --report=report -e 'include "pthread.dpe"' -e "$(rule_of 'detect twice')" -e "$(rule_of 'expect file')" \
		-e "$rule" -- $command
	check "${command%% *}: no file, descriptor or block of memory is misused" \
		"$(grep -c '^dpe: .* 0 lost; 3 rules: ' report) $(grep -c '^#[0-9]* \(twice\|file\)\|violated' report)" = '1 0'
done
finish
