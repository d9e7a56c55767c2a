# Processes that are not observed run on as ever beside dpe --follow, and programs that translate code within it.
. tests/tap.sh
need_live 'outsiders'
compile_target unchanged
echo 'detect never: libc::malloc(123456789) ; libc::free ; libc::realpath ; libc::puts' >rule.dpe
mkfifo go
printf '#!/bin/sh\n./unchanged\necho >begun\nread line <go\n/bin/true\n' >waits
chmod 755 waits

# beside_it OPTIONS...: follows the script, which waits, in the background
beside_it() {
	rm -f begun
	"$DPE" run -s rule.dpe "$@" -- ./waits >out 2>err &
	observer=$!
	command_line="dpe run -s rule.dpe $* -- ./waits"
	await test -s begun
}

# over NAME: the script goes on, and its observer finds nothing wrong
over() {
	is_over $observer || echo >go
	wait $observer
	status=$?
	says "$1" 0 'nothing found' ' 0 lost'
	check "$1: is observed" "$(cat out)" = changed
}

# outsider NAME TEXT COMMAND...: succeeds and says TEXT
outsider() {
	name=$1
	text=$2
	shift 2
	if "$@" >outside 2>&1 && grep -q "$text" outside; then
		ok "$name"
	else
		not_ok "$name"
		explain "$*" "$(tail -20 outside)"
	fi
}

# dpe is stopped while the target makes a process that becomes valgrind. That stays stopped; another program, which comes
# later, does not: the guardian has looked at both.
cp /bin/true fresh
cat >stalled <<'SH'
kill -STOP $PPID
valgrind -q ./unchanged >translated &
until read -r state </proc/$!/stat && case $state in *'(valgrind.bin) T '*) true ;; *) false ;; esac; do :; done
./fresh
kill -CONT $PPID
wait $!
SH
"$DPE" run -s rule.dpe --follow -- sh stalled >stalled.out 2>stalled.err &
stalled=$!

beside_it --follow
outsider 'outside: no byte is changed' '^unchanged' ./unchanged
outsider 'outside: valgrind' 'ERROR SUMMARY: 0 errors' valgrind ./unchanged
outsider 'outside: qemu' '^unchanged' qemu-x86_64 ./unchanged
outsider 'outside: gdb stops at a function that is observed' 'Breakpoint 1[.0-9]*, .*puts' \
	env DEBUGINFOD_URLS= gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break puts' -ex run ./unchanged
outsider 'outside: another dpe' 'nothing found' "$DPE" run -s rule.dpe -- ./unchanged
outsider 'outside: another dpe that follows' 'nothing found' "$DPE" run -s rule.dpe --follow -- sh -c './unchanged; ./unchanged'
outsider 'outside: still no byte is changed' '^unchanged' ./unchanged
over 'inside'

run "$DPE" run -s rule.dpe --follow -- sh -c './unchanged; valgrind -q ./unchanged; qemu-x86_64 ./unchanged; ./unchanged'
says 'followed: valgrind and qemu' 3 'valgrind.bin: warning: process ' 'qemu-x86_64: warning: process ' \
	'is not observed from here on, which counts as a loss: this program translates the code that it runs' '2 lost'
same 'followed: they run, and the others are observed' out <<'END'
changed
unchanged
unchanged
changed
END
run "$DPE" run -s rule.dpe -- valgrind -q ./unchanged
says 'a program that becomes valgrind' 3 'valgrind.bin: warning: process ' '1 lost'
check 'a program that becomes valgrind: runs' "$(cat out)" = unchanged
run "$DPE" run -s rule.dpe -- qemu-x86_64 ./unchanged
says 'qemu' 2 'qemu-x86_64: error: cannot be observed: it translates the code that it runs'
check 'qemu: is not run' ! -s out
wait $stalled
status=$?
command_line='dpe run -s rule.dpe --follow -- sh stalled'
cp stalled.err err
says 'dpe is stopped as a program becomes valgrind' 3 'valgrind.bin: warning: process ' 'sh exited with status 0'
check 'it runs all the same, without probes' "$(cat translated)" = unchanged
rm -f begun
qemu-x86_64 /bin/sh -c 'echo >begun; read line <go' &
target=$!
await test -s begun
run "$DPE" attach -s rule.dpe -p $target
says 'attach: qemu' 2 'qemu-x86_64: error: cannot be observed'
! kill -0 $target || echo >go
wait $target
check 'attach: qemu goes on' $? -eq 0
finish
