# Memory that is never freed: the rule of docs/which-command.md.
. tests/tap.sh
need_live 'allocations'
compile_target leaks
rule=$(sed -n "s/.*dpe run -e '\(expect leak.*\)' -- PROGRAM.*/\1/p" "$TOP/docs/which-command.md")

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
finish
