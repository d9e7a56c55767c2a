# Processes outside dpe --follow run unchanged, and so do programs within it that translate code.
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

# over NAME: the script continues, and its observer has no finding
over() {
	is_over $observer || echo >go
	wait $observer
	status=$?
	says "$1" 0 'nothing found' ' 0 lost'
	check "$1: the program is observed" "$(cat out)" = changed
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
outsider 'outside: no byte of a program that is not followed is changed' '^unchanged' ./unchanged
outsider 'outside: valgrind works' 'ERROR SUMMARY: 0 errors' valgrind ./unchanged
outsider 'outside: qemu works' '^unchanged' qemu-x86_64 ./unchanged
outsider 'outside: gdb stops at a function that is observed' 'Breakpoint 1[.0-9]*, .*puts' \
	env DEBUGINFOD_URLS= gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break puts' -ex run ./unchanged
outsider 'outside: another dpe works' 'nothing found' "$DPE" run -s rule.dpe -- ./unchanged
outsider 'outside: another dpe with --follow works' 'nothing found' "$DPE" run -s rule.dpe --follow -- sh -c './unchanged; ./unchanged'
outsider 'outside: no byte is changed after another dpe has run' '^unchanged' ./unchanged
over 'inside: nothing is found and no event is lost'

run "$DPE" run -s rule.dpe --follow -- sh -c './unchanged; valgrind -q ./unchanged; qemu-x86_64 ./unchanged; ./unchanged'
says 'followed: valgrind and qemu are not observed, which counts as a loss' 3 'valgrind.bin: warning: process ' 'qemu-x86_64: warning: process ' \
	'is not observed from here on, which counts as a loss: this program translates the code that it runs' '2 lost'
same 'followed: valgrind and qemu run, and the other programs are observed' out <<'END'
changed
unchanged
unchanged
changed
END
run "$DPE" run -s rule.dpe -- valgrind -q ./unchanged
says 'a program that becomes valgrind is not observed, which counts as a loss' 3 'valgrind.bin: warning: process ' '1 lost'
check 'a program that becomes valgrind runs unchanged' "$(cat out)" = unchanged
run "$DPE" run -s rule.dpe -- qemu-x86_64 ./unchanged
says 'qemu as the target is refused' 2 'qemu-x86_64: error: cannot be observed: it translates the code that it runs'
check 'qemu as the target is not run' ! -s out
cat >i386.c <<'X'
void _start(void)
{
	__asm__("int $0x80" : : "a"(4), "b"(1), "c"("i386\n"), "d"(5) : "memory");
	__asm__("int $0x80" : : "a"(1), "b"(0));
}
X
if gcc -m32 -O1 -nostdlib -static -fno-pic -no-pie i386.c -o i386 2>gcc.err && test "$(./i386)" = i386; then
	run "$DPE" run -s rule.dpe -- ./i386
	says 'a program for i386 as the target is refused' 2 'i386: error: not yet supported: programs for machines other than x86-64'
	check 'a program for i386 as the target is refused with one error, and not run' "$(grep -c error err) $(cat out)" = '1 '
	run "$DPE" run -s rule.dpe -- sh -c 'exec ./i386'
	says 'a program that becomes one for i386 is not observed, which counts as a loss' 3 'i386: warning: process ' \
		'is not observed while it runs this program, which counts as a loss: it is for another machine than x86-64' '1 lost'
	run "$DPE" run -s rule.dpe --follow -- sh -c './unchanged; ./i386; ./i386; ./unchanged'
	says 'followed: a program for i386 is not observed, which counts as a loss' 3 'i386: warning: process ' '1 lost'
	same 'followed: the programs beside one for i386 are observed' out <<'END'
changed
i386
i386
changed
END
else
	ok 'programs for i386 # skip they cannot be built, or not run here'
fi
wait $stalled
status=$?
command_line='dpe run -s rule.dpe --follow -- sh stalled'
cp stalled.err err
says 'a program that becomes valgrind while dpe is stopped is reported as not observed' 3 'valgrind.bin: warning: process ' 'sh exited with status 0'
check 'a program that becomes valgrind while dpe is stopped runs without probes' "$(cat translated)" = unchanged
rm -f begun
qemu-x86_64 /bin/sh -c 'echo >begun; read line <go' &
target=$!
await test -s begun
run "$DPE" attach -s rule.dpe -p $target
says 'attach: qemu is refused' 2 'qemu-x86_64: error: cannot be observed'
! kill -0 $target || echo >go
wait $target
check 'attach: the refused qemu continues' $? -eq 0
finish
