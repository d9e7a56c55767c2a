# dpe run --follow: child processes, the programs that they execute, and how all of them end.
. tests/tap.sh
need_live 'following processes'
compile_target follow
# Another program, which dpe cannot examine before it begins.
sed 's/step/stride/g' "$TOP/tests/live/targets/follow.c" >other.c
cc -D_GNU_SOURCE -g -O1 -pthread other.c -o other || not_ok 'compiling other.c'

cc -static -D_GNU_SOURCE -g -O1 -pthread other.c -o static || not_ok 'compiling other.c statically'
echo 'detect step(x): step(x)' >step.dpe
(cat step.dpe && echo 'detect stride(x): stride(x)') >steps.dpe
# counts PATTERN: how many steps were reported
counts() {
	grep -c "^  \$1 $1 " err
}

# ---- children ---------------------------------------------------------------------------------
children() {
	run "$DPE" run --all --stack=0 --follow -s steps.dpe -- ./follow fork
	check '--follow observes a forked child' "$(counts 'step(1)') $(counts 'step(2)')" = '1 1'
	says 'a function that none of the followed programs has is reported' 2 "'stride' was in none of the programs"
	run "$DPE" run --target-status --stack=0 --follow -e 'detect none: step(1) ; step(99)' -- ./follow fork
	check '--target-status with --follow gives the exit status of the first process' "$status" -eq 3
	run "$DPE" run --all --stack=0 -s step.dpe -- ./follow fork
	check 'a forked child is not observed without --follow' "$(counts 'step(1)') $(counts 'step(2)')" = '1 0'
	says 'without --follow, a child process is reported as not observed' 1 'dpe: 1 child process was not observed (see --follow)'
	printf '#include <sys/wait.h>\n#include <unistd.h>\nint main(void) { if (!fork()) execl("./follow", "follow", "fork", 0); wait(0); _exit(0); }\n' >leaves.c
	${CC:-cc} leaves.c -o leaves || not_ok 'compiling leaves.c'
	run "$DPE" deadlock -- ./leaves
	says 'shipped rules without --follow, for a program that leaves all to a child: nothing was observed' 3 'nothing was observed, so nothing can'
	run "$DPE" deadlock -- timeout 60 ./follow fork
	says 'the locks that a program with one thread takes in libc are no observation, if it leaves all to a child' 3 'nothing was observed, so nothing can'
	run "$DPE" deadlock --follow -- ./leaves
	says 'with --follow they observe the child' 0 'nothing found'
	run "$DPE" run --preload --stack=0 -s step.dpe -- ./follow fork
	check '--follow is not advised where it is refused' "$(grep -cx 'dpe: 1 child process was not observed' err)" -eq 1
}

rounds=1 mappings='1 2'
test -n "${DPE_TEST_LONG:-}" && rounds=10 mappings='1 2 3 4'
# begin HOW: the target begins the program `other` in this way
begin() {
	times=0
	while test $times -lt $rounds; do
		run "$DPE" run --all --follow -s steps.dpe -- ./follow "$1"
		test "$(counts 'step(1)') $(counts 'stride(4)')" = '1 1' || break
		grep -q 'at stride+0x0 (.*other.c:' err && grep -q 'exited with status 7' err || break
		times=$((times + 1))
	done
	check "a program that is begun by $1 is observed from its start" $times -eq $rounds
}

programs() {
	run "$DPE" run --all --stack=0 --follow -s steps.dpe -- sh -c './follow fork | ./other fork'
	check 'both programs of a pipeline of a shell are observed, with their children' "$(counts 'step([12])') $(counts 'stride([12])')" = '2 2'
	run "$DPE" run --all --stack=0 --follow -s steps.dpe -- ./follow daemon
	check 'a daemon is observed to its end' "$(counts 'step(1)') $(counts 'step(3)')" = '1 1'
	check 'a daemon does not change the exit status that is reported' "$(grep -c 'exited with status 4' err)" -eq 1
	run "$DPE" run --all --stack=0 --follow -s steps.dpe -- ./follow crash
	check 'a child that crashes is observed, and its parent runs to its end' "$(counts 'step(2)') $(grep -c 'exited with status 5' err)" = '1 1'
	run "$DPE" record --stack=0 --follow -s steps.dpe -o many.jsonl -- ./follow many ./other 100
	check 'a hundred programs that begin one after the other are observed' "$(cat out) $(grep -c '"stride.enter"' many.jsonl)" = '100 of 100 100'
	run "$DPE" run --all --follow -s steps.dpe -- sh -c './other begun; ldd ./other >/dev/null; ./follow exec /bin/true'
	check 'programs are observed beside scripts and programs without the observed functions' "$(counts 'stride(4)') $(counts 'step(1)')" = '1 1'

	run "$DPE" run --all --stack=0 --follow -s steps.dpe -- sh -c './static begun; ./static begun'
	check 'a static program is observed each time that it begins' "$(counts 'stride(4)')" -eq 2
}

# ---- objects and events of several processes -------------------------------------------------
whose() {
	cat >private.dpe <<'X'
include "pthread.dpe"
detect ordered: step(2) ; step(5)
detect racing: step(2) & step(5)
X
	run "$DPE" run --stack=0 --follow -s private.dpe -- ./follow private
	check 'a lock and its copy in a child do not order the two processes' "$(grep -c '^#. racing: match' err) $(grep -c '^#. ordered' err)" = '1 0'
	sed -i s/pthread.dpe/ipc.dpe/ private.dpe
	run "$DPE" run --stack=0 --follow -s private.dpe -- ./follow private
	check 'with ipc.dpe, a pipe orders two processes' "$(grep -c '^#. racing: match' err) $(grep -c '^#. ordered' err)" = '0 1'
	cat >locks.dpe <<'X'
detect lock(m): pthread_mutex_lock(m) [.process != 0] { printf("%s", m); } observing step(1)
X
	run "$DPE" record --stack=0 --follow -s locks.dpe -o locks.jsonl -- ./follow private
	check 'a lock and its copy in a child are recorded as different values' "$(sed -n 's/.*pthread_mutex_lock.enter.*"args":\["\(0x[0-9a-f]*\)"\].*/\1/p' locks.jsonl | sort -u | grep -c .)" -ge 2
}

structure() {
	# Memory behind an argument is read at its address, whatever value stands for this.
	cat >shared.dpe <<'X'
detect before(b): fill(b) { print(b->len); }
detect filled(b): fill(b).exit [b->len > 0] { print(b->len); }
X
	run "$DPE" run --all --stack=0 --follow -s shared.dpe -- ./follow shared
	check 'members of a structure in shared memory are read in both processes' \
		"$(grep -E '^(before: [02]|filled: [25])$' err | sort | uniq | wc -l) $(grep -c ': match' err)" = '4 4'
	check 'a structure in shared memory has the same value in both processes' "$(sed -n 's/.*where b = \(0x40[0-9a-f]*\).*/\1/p' err | sort -u | wc -l)" -eq 1
}

# The mapping of an address is found, too, while another thread changes mappings. Without waiting for that thread, half
# of the calls are lost in most runs; a few may be lost where it has no processor.
mapping() {
	echo 'detect filled(b): fill(b) [.tid == 0]' >filled.dpe
	times=0
	for i in $mappings; do
		run "$DPE" run --stack=0 --follow -s filled.dpe -- ./follow maps 5000
		sed -n 's/^dpe: \([0-9]*\) events, \([0-9]*\) lost.*/\1 \2/p' err >counts
		awk '{ exit !($1 + $2 == 5004 && $2 < 100) }' counts && times=$((times + 1))
	done
	check 'fewer than 100 of 5004 calls are lost while another thread maps and unmaps' $times -eq $(echo $mappings | wc -w)
}

# Events that are left out until an event of another process.
wanted() {
	printf 'include "ipc.dpe"\ndetect late: step(2) ; step(5)\n' >late.dpe
	run "$DPE" run --dynamic --stack=0 --follow -s late.dpe -- ./follow private
	check '--dynamic observes an event whose predecessor occurs in another process' \
		"$(grep -c '^#1 late: match' err) $(grep -c ' 0 lost' err)" = '1 1'
}

# Run alone: processes of other tests may get the id.
again() {
	# A reused process id belongs to another thread. The kernel may be unable to give it on request.
	cat >again.dpe <<'X'
include "pthread.dpe"
detect ordered: step(2) ; step(3)
detect racing: step(2) & step(3)
X
	run "$DPE" run --stack=0 --follow -s again.dpe -- ./follow again
	if grep -q 'exited with status 6' err; then
		check 'a process with the reused id of an earlier one is another process' "$(grep -c '^#. racing: match' err) $(grep -c '^#. ordered' err) $(grep -c 'step(3)  thread "[0-9]*\.[0-9]"' err)" = '1 0 1'
	else
		ok 'a process with the reused id of an earlier one # skip ids cannot be chosen here'
	fi
}

# ---- libraries --------------------------------------------------------------------------------
# library FILE RESULT: a library whose work(n) returns n + RESULT
library() {
	printf 'int work(int n)\n{\n\treturn n + %s;\n}\n' "$2" >work.c
	cc -g -O1 -shared -fPIC work.c -o "$1" || not_ok "compiling $1"
}
compile_target loads
mkdir one two
library libfirst.so 100
library one/libneeded.so 1000
library two/libneeded.so 2000
printf 'int work(int);\nint main(void)\n{\n\treturn work(1) > 2000;\n}\n' >needs.c
cc -g -O1 needs.c -Lone -lneeded -o needs || not_ok 'compiling needs.c'
echo 'detect work(n): work(n).exit { print(n, $1.ret); }' >work.dpe
appear() {
	run "$DPE" run --all --stack=0 --follow -s work.dpe -- sh -c './loads =./libfirst.so; ./loads %./libfirst.so; ./loads =one/libneeded.so'
	check 'libraries that child processes load are observed' \
		"$(grep -c '^work: 0 100$' err) $(grep -c '^work: 0 1000$' err) $(grep -c ' 0 lost' err)" = '2 1 1'
	run "$DPE" run --all --stack=0 --follow -s work.dpe -- sh -c \
		'LD_LIBRARY_PATH=one ./needs; LD_LIBRARY_PATH=two ./needs; LD_LIBRARY_PATH=one ./needs'
	check 'a program that begins again with another library is observed' \
		"$(grep -c '^work: 1 1001$' err) $(grep -c '^work: 1 2001$' err) $(grep -c ': match' err)" = '2 1 3'
	if unshare -m true 2>/dev/null; then
		cat >mount.sh <<'SH'
LD_LIBRARY_PATH=one ./needs
unshare -m sh -c 'mount --bind two/libneeded.so one/libneeded.so && LD_LIBRARY_PATH=one ./needs'
LD_LIBRARY_PATH=one ./needs
SH
		run "$DPE" run --all --stack=0 --follow -s work.dpe -- sh mount.sh
		check 'another file of the same path in another mount namespace is observed' \
			"$(grep -c '^work: 1 1001$' err) $(grep -c '^work: 1 2001$' err) $(grep -c ': match' err)" = '2 1 3'
	else
		ok 'another file of the same path # skip mount namespaces cannot be created'
	fi
}

at_once() {
	for i in 1 2 3 4; do cp needs needs$i; done
	run "$DPE" run --all --stack=0 --follow -s work.dpe -- sh -c \
		'for i in 1 2 3 4; do LD_LIBRARY_PATH=one ./needs$i & LD_LIBRARY_PATH=two ./needs$i & done; wait'
	check 'eight processes that begin at once are observed' "$(grep -c '^work: 1 [12]001$' err) $(grep -c ': match' err)" = '8 8'
}

# ---- no harm to the target -------------------------------------------------------------------
# Programs without a dynamic linker are stopped until dpe has examined them; others wait. New ones begin until
# the file "enough" exists, and five more.
cat >begin.sh <<'SH'
echo $$ >begun
number=0
good=0
more=5
while test $more -gt 0; do
	number=$((number + 1))
	cp static static$number
	./static$number begun
	test $? -eq 7 && good=$((good + 1))
	./other begun
	rm static$number
	test ! -e enough || more=$((more - 1))
done
echo $((number - good)) of them failed >undisturbed
SH
# go_on NAME: after dpe was killed
go_on() {
	: >enough
	await test -s undisturbed
	check "$1: the programs run to their ends" "$(cat undisturbed)" = '0 of them failed'
}
# die TIME: dpe is killed after 0.TIME s
die() {
	"$DPE" record --stack=0 --follow -s steps.dpe -o killed.dpel -- sh begin.sh 2>/dev/null &
	dpe=$!
	while ! test -s begun; do sleep 0.02; done
	sleep "0.$1"
	kill -9 $dpe
	wait $dpe 2>/dev/null
	check 'dpe is killed before the programs have ended' $? -eq 137
	go_on "dpe is killed while programs begin, after 0.$1 s"
}
# stopped SESSION: how many processes of the session are stopped
stopped() {
	ps -o stat= -g "$1" | grep -c '^T'
}
# The kernel ends an orphaned process group in which a process is stopped.
two_are_stopped() {
	test "$(stopped "$session")" -ge 2
}
job() {
	setsid bash -c 'set -m; "$@" </dev/null & while :; do sleep 1; done' - "$DPE" record --stack=0 --follow \
		-s steps.dpe -o killed.dpel -- sh begin.sh >/dev/null 2>&1 &
	shell=$!
	while ! test -s begun; do sleep 0.02; done
	dpe=$(pgrep -P $shell dpe)
	session=$(ps -o sid= -p "$dpe" | tr -d ' ')
	kill -STOP $dpe
	await two_are_stopped
	check 'a program that begins is stopped while dpe is stopped' $? -eq 0
	# The process that continues the program after dpe is killed runs late.
	for guardian in $(pgrep -P $dpe); do
		test "$(ps -o sid= -p $guardian | tr -d ' ')" != $guardian || break
	done
	kill -STOP $guardian
	kill -9 $dpe
	await test ! -e /proc/$dpe
	kill -CONT $guardian
	go_on 'dpe is killed as a job of a shell'
	kill -9 $shell
	wait $shell 2>/dev/null
}
times='00 03 08'
test -n "${DPE_TEST_LONG:-}" && times='00 01 02 03 04 05 06 07 08 09 10 12 14 16 18 20'

# sleeps: whether the process whose id is in the file "pid" has a child that sleeps
sleeps() {
	pgrep -P "$(cat pid)" -x sleep >/dev/null
}
# end_later: when a stop is reported, creates the file "reported", which ends the program
end_later() {
	rm -f err reported
	(await grep -q 'some time after this event' err && : >reported) &
}

ends() {
	"$DPE" run --stack=0 --follow -s steps.dpe -- sh -c './other begun; echo $$ >pid; sleep 1000' >out 2>err &
	observer=$!
	await sleeps
	kill -TERM $observer
	wait $observer
	status=$?
	kill -KILL $(cat pid) $(pgrep -P "$(cat pid)")
	says 'at SIGTERM, dpe reports that the program and a child process run on' 1 'runs on, no longer observed' '1 child process runs on'
	printf 'detect: stride(x) { break; }\n' >break.dpe
	end_later
	run "$DPE" run --on-break=continue --stack=0 --follow -s break.dpe -- \
		sh -c './follow spawn; status=$?; until test -e reported; do sleep 0.05; done; exit $status'
	check 'a break in a child process stops it, and it continues' \
		"$status $(grep -c 'exited with status 7' err) $(grep -c 'some time after this event' err)" = '1 1 1'
	printf 'detect: step(3) { break; }\n' >break.dpe
	end_later
	run "$DPE" run --on-break=continue --stack=0 --follow -s break.dpe -- ./follow daemon reported
	check 'a break stops a process although the first process has ended' \
		"$status $(grep -c 'exited with status 4' err) $(grep -c 'some time after this event' err)" = '1 1 1'
	run "$DPE" run --on-break=kill --stack=0 --follow -s break.dpe -- sh -c './follow daemon never; sleep 1000'
	check '--on-break=kill kills all followed processes' "$status $(grep -c 'was killed by signal 9' err)" = '1 1'
}

# The target forks until a child is seen, and then executes another program.
attached() {
	rm -f err
	sh -c 'until grep -q "step(2)" err 2>/dev/null; do ./follow fork; sleep 0.05; done; exec ./other begun' &
	run "$DPE" attach --all --stack=0 --follow -s steps.dpe -p $!
	check 'dpe attach --follow observes children of a process and the program that it executes' "$(counts 'step(2)')" -ge 1 -a "$(counts 'stride(4)')" -eq 1
	wait
	sleep 0.01 &
	run "$DPE" attach --stack=0 --follow -s steps.dpe -p $!
	check 'dpe attach --follow reports a process that ends before or just after it is observed' \
		"$status $(grep -c 'has ended' err)" = '0 1' -o "$status" -eq 2
	wait
}

# ---- refusals --------------------------------------------------------------------------------
refused() {
	echo "detect w: [mutex.__data.__lock']" >watch.dpe
	run "$DPE" run --follow -s watch.dpe -- ./follow fork
	says '--follow is refused with watchpoints' 2 'cannot be watched in several processes'
	run "$DPE" run --follow --preload -s steps.dpe -- ./follow fork
	says '--follow is refused with --preload' 2 '--preload observes one process'
	run "$DPE" race --follow -- ./follow fork
	says '--follow is refused by dpe race of all memory' 2 'without --follow'
	run "$DPE" run --follow --break-at=event -s steps.dpe -- ./follow fork
	says '--follow is refused with --break-at=event' 2 '--break-at=event stops one process'
}

all() {
	case $1 in
	[0-9]*) die "$1" ;;
	exec | vfork | spawn) begin "$1" ;;
	*) $1 ;;
	esac
}
beside all exec vfork spawn $times children job programs whose structure wanted appear at_once ends attached refused
again
mapping
finish
