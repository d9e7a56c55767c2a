# --gdb: gdb at the event, and its commands for the match.
. tests/tap.sh
need_live 'gdb at a break'
compile_target exact
truncate -s 4096 shared
TMPDIR=$folder
export TMPDIR
printf 'detect S(i): begin(i);patched(i) [i == 12] { break; }\n' >rule.dpe

printf 'print shared->changed\nprint $dpe_i + 1\ninfo dpe\ndpe-match 1\ndpe-match 3\ninfo threads\ndetach\nquit\n' >commands
run "$DPE" run --gdb -s rule.dpe -- ./exact shared patched 20 2 <commands
says '--gdb: the program is stopped at the event' 1 'the program is stopped here, at this event' \
	'dpe-match takes the number of an event: 1, 2'
check '--gdb: the body of the observed function has not run yet' "$(grep -c '[$]1 = 12$' out) $(grep -c '[$]2 = 13$' out)" = '1 1'
check 'info dpe shows the rule, its value and the events with their places' \
	"$(grep -c 'S: match$' out) $(grep -c '^  i = 12' out) $(grep -c '\$2 patched(12)  thread [0-9]*, gdb.s 1' out)" = '2 2 3'
check 'gdb shows the places of events in the source' "$(grep -c 'at begin+0x0 (.*exact.c:[0-9]*)' out)" -eq 2
check 'dpe-match selects the thread of an event' "$(grep -c '^#0 .*in patched (round=.*12)' out)" -gt 1
check 'gdb lists all threads of the program' "$(grep -c 'LWP' out)" -ge 3
is_over_there() {
	test "$(od -An -j8 -N4 -td4 shared | tr -d ' ')" = 1
}
await is_over_there
check 'the program runs to its end after gdb detaches' "$(od -An -j4 -N4 -td4 shared | tr -d ' ')" = 20
check 'no file of dpe-match is left in TMPDIR' "$(find . -name 'dpe-match-*' | wc -l)" -eq 0

# Threads that are stopped when gdb attaches, numbers of events of a rule that are not all in the match, values.
printf 'detect S: (begin(77) + begin(12)) ; patched(12) [shared->changed >= 12] { break; }\n' >rule.dpe
truncate -s 0 shared && truncate -s 4096 shared
printf 'break main\nbreak _exit\ncontinue\nkill\nquit\n' >commands
run "$DPE" run --gdb -s rule.dpe -- ./exact shared patched 20 2 <commands
check 'gdb shows the events with the numbers that the report gives them' \
	"$(grep -c '\$2 begin(12)' out) $(grep -c '\$3 patched(12)' out) $(grep -c '^  \$3 patched(12)' err)" = '1 2 1'
check 'gdb shows the values of variables that belong to an event' "$(grep -c '\$3 patched(12)  shared->changed = 12  thread' out)" -eq 2
check 'no SIGSTOP of dpe is pending: gdb continues to its breakpoint' \
	"$(grep -c 'received signal' out) $(grep -c 'hit Breakpoint 2' out)" = '0 1'

# An action of an event: there is no match yet, only the event.
printf 'detect S(i): begin(i) & (patched(i) [i == 3] { break; })\n' >rule.dpe
truncate -s 0 shared && truncate -s 4096 shared
printf 'detach\nquit\n' >commands
run "$DPE" run --on-break=gdb -s rule.dpe -- ./exact shared patched 5 0 <commands
check 'gdb shows the event of a break that is an action of this event' "$(grep -c '^S: break' out) $(grep -c '\$1 patched(3)' out)" = '1 2'

mkdir copied
cp "$DPE" copied/dpe
run copied/dpe run --gdb -s rule.dpe -- ./exact shared patched 5 0 <commands
says 'gdb by a dpe without the scripts: a warning that the commands are missing' 3 'dpe: warning: gdb has no commands of dpe: dpe.py is neither in'

mkdir empty
PATH=$folder/empty run "$DPE" run --gdb -s rule.dpe -- ./exact shared patched 20 2
check '--gdb without an installed gdb is refused before the program starts' \
	"$status $(wc -l <err) $(cut -c 1-18 err)" = '2 1 gdb: error: is not'
finish
