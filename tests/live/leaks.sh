# Resources never released, or released twice: the rules of docs/which-command.md.
. tests/tap.sh
need_live 'leaks of resources'
compile_target leaks
# rule_of WORDS: the rule in docs/which-command.md that begins with these words
rule_of() {
	sed -n "s/.*dpe run -e '\($1.*\)' -- PROGRAM.*/\1/p" "$TOP/docs/which-command.md"
}
rule=$(rule_of 'expect leak')

# own: the lines of leaks.c in the findings, with their numbers
own() {
	grep -o 'leaks\.c:[0-9]*' err | sort | uniq -c | tr -s ' ' | tr '\n' ';'
}
for i in 1 2 3 4 5; do
	run "$DPE" run -e "$rule" -- ./leaks clean
	test "$(own) $(grep -c ' 0 lost' err)" = ' 1' || break
done
check 'a program that frees all memory has no finding, five times of five' "$(own) $(grep -c ' 0 lost' err)" = ' 1'
for i in 1 2 3 4 5; do
	run "$DPE" run -e "$rule" -- ./leaks leaks
	test "$(own)" = ' 1 leaks.c:10; 1 leaks.c:19;' || break
done
says 'a block that each of two threads does not free is reported' 1 'leak: incomplete' 'stopped after malloc.exit(103)' 'by worker+' 'was seen 2 times'
check 'both lines that leak memory are reported, five times of five' "$(own)" = ' 1 leaks.c:10; 1 leaks.c:19;'

# Handles, by the rules of docs/which-command.md: one of each kind is not released.
source=$TOP/tests/live/targets/handles.cc
${CXX:-c++} -g -O2 -pthread "$source" -o handles || not_ok 'compiling handles.cc'
printf 'rule:open function:_IO_file_open\n' >of_libc
# left NAME RULE MARK: a finding in the line with this mark
left() {
	run "$DPE" run --suppressions=of_libc -e 'include "pthread.dpe"' -e "$2" -- ./handles
	rm -f socket
	says "$1 that is not released is reported with its line" 1 ' stopped after ' "handles.cc:$(grep -n "// $3\$" "$source" | cut -d: -f1))" ' 1 incomplete'
}
open=$(rule_of 'expect open')
left 'a descriptor from open' "$open" 'both opened'
left 'a descriptor from accept' "$(printf '%s\n' "$open" | sed 's/open(_, _)/accept(_, _, _)/')" accepted
left 'a file from fopen' "$(rule_of 'expect file')" 'both files'
left 'an object of C++' "$(rule_of 'expect life')" 'both sessions'

# Another thread frees a block that it received: the queue orders the two threads.
run "$DPE" run -e 'include "pthread.dpe"' -e "$rule" -- ./handles
says 'without a sync rule for the queue, blocks freed by another thread are violations' 1 ' 20 violated'
run "$DPE" run -e 'include "pthread.dpe"' -e 'sync last queue(p): push(p) ; pop().exit = p' -e "$rule" -- ./handles
says 'with a sync rule for the queue, no event is lost' 1 ' 0 lost'
check 'with a sync rule for the queue, blocks freed by another thread are no violations' "$(grep -c violated err)" -eq 0

# Common programs are correct: they only keep memory until they end.
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
