# dpe deadlock on programs that could hang and do not, and on programs that hang without a cycle. Each
# case is a program of its own, and all run at once.
. tests/tap.sh
need_live 'potential deadlocks and hangs'
compile_target orders
orders=$PWD/orders

# watch TIMES STATUS NAME WAYS TEXT...: each of TIMES runs has this status, each TEXT, and at most one finding
watch() {
	times=$1
	wanted=$2
	name=$3
	ways=$4
	shift 4
	mkdir "${ways%% *}" && cd "${ways%% *}" || exit 1
	good=0
	while test $good -lt "$times"; do
		run timeout -s KILL 200 "$DPE" deadlock --on-deadlock=kill -- "$orders" $ways
		for text in "$@"; do
			grep -qF -- "$text" err || status=untold
		done
		test "$status" = "$wanted" && ! grep -q '^#2' err || break
		good=$((good + 1))
	done
	check "$name: $times times of $times" $good -eq "$times"
}

watch 20 1 'a lock inversion that never hangs is a potential deadlock' inversion '#1 potential deadlock of 2 threads' ' (b), while it held ' \
	' (a), while it held ' 'possible in another run, unless unobserved data' 'exited with status 0' '1 potential deadlock' \
	>inversion.tap &
watch 20 0 'gate, one thread, readers, join, signal, post, trylock, new mutexes: no deadlock' \
	'gate alone readers joined try reuse signalled posted' 'nothing found' 'exited with status 0' ' 0 lost' >gate.tap &
watch 20 1 'a condition that is never signalled is a hang' wakeup 'no thread can proceed, 3 threads wait' '(never)' '1 hang' 'signal 9' \
	>wakeup.tap &
watch 3 1 'a lock cycle of three threads is a potential deadlock' three 'potential deadlock of 3 threads' 'possible in another run, unless' >three.tap &
watch 3 1 'a single thread that waits for ever is a hang' main 'no thread can proceed, 1 thread waits' 'by wait_for_ever+' >main.tap &
watch 3 1 'a semaphore that is never posted is a hang' semaphore '1 thread waits' '(none)' >semaphore.tap &
watch 3 1 'a mutex taken twice is a deadlock of one thread' twice 'deadlock of 1 thread ' >twice.tap &
watch 3 0 'a wait that ends after a while is no hang' while 'nothing found' >while.tap &
wait

# within WAY TEXT: watches the program, whose input never ends, for two seconds, and if that was not
# enough for the text, for longer
within() {
	mkdir "$1" && cd "$1" && mkfifo input || exit 1
	for seconds in 2 8 32; do
		run timeout -s KILL 200 "$DPE" deadlock -d $seconds -- "$orders" "$1" <>input
		! grep -qF "$2" err || break
	done
}

# quiet NAME WAY: nothing is found for so long that a hang would have been reported; then the program is killed
quiet() {
	within "$2" 'nothing found'
	says "$1" 0 'nothing found'
}
quiet 'a program that waits for input has no hang' input >input.tap &
( within handler 'possible hang'
	says 'a hang that a signal handler could end is inconclusive' 3 'nothing found' 'possible hang: no thread can proceed' \
		'a handler may post' '1 inconclusive' ) >handler.tap &
quiet 'a hang that another process could end is not reported' shared >shared.tap &
( within stays 'potential deadlock'
	says 'a potential deadlock is reported at the end of -d' 1 'potential deadlock of 2 threads' ' (a)' ' (b)' ) >duration.tap &
( mkdir interrupt && cd interrupt
	run python3 "$TOP/tests/live/interrupts.py" 'is done' "$DPE" deadlock -- "$orders" stays
	says 'a potential deadlock is reported at Ctrl-C' 1 'potential deadlock of 2 threads' ' (a)' 'by take_two+' 'signal 2' ) >interrupt.tap &
wait

run "$DPE" deadlock -- "$orders" crossed
check 'crossed: a deadlock that needs another order of a lock is not called certain' \
	"$(grep -c 'potential deadlock of 2' err) $(grep -c 'certain' err)" = '1 0'
run "$DPE" deadlock --no-predict -- "$orders" inversion
check '--no-predict: a potential deadlock is not called certain' \
	"$(grep -c 'potential deadlock of 2' err) $(grep -c 'certain' err)" = '1 0'

run "$DPE" deadlock --format=json -- "$orders" inversion
check 'JSON of a potential deadlock has its threads, locks and count' "$(python3 -c '
import json, sys
found = [json.loads(line) for line in sys.stdin if line.startswith("{")]
[f] = [f for f in found if f["type"] == "finding"]
print(f["kind"], len(f["threads"]), [w["name"] for w in f["waits"]], f["predicted"], f["certain"],
	found[-1]["potential_deadlocks"])' <out)" = \
	"potential deadlock 2 ['b', 'a'] True False 1"
run "$DPE" deadlock --format=json --on-deadlock=kill -- "$orders" wakeup
check 'JSON of a hang has its waits, holder and count' "$(python3 -c '
import json, sys
found = [json.loads(line) for line in sys.stdin if line.startswith("{")]
[f] = [f for f in found if f["type"] == "finding"]
print(f["kind"], len(f["waits"]), sum("holder" in w for w in f["waits"]), found[-1]["hangs"])' <out)" = 'hang 3 1 1'
run "$DPE" deadlock --format=sarif --report=found.sarif -- "$orders" inversion
check 'SARIF of a potential deadlock has its threads and locks' "$(grep -c 'potential deadlock of 2 threads; thread [0-9]* took b while it held a; .*; possible in another run, unless unobserved data prevents it' found.sarif)" -eq 1

# A replay of the run's log has the same findings.
run "$DPE" deadlock -o hang.dpel --on-deadlock=kill -- "$orders" wakeup
run "$DPE" replay -s deadlock.dpe hang.dpel
says 'a replay reports the hang' 1 'no thread can proceed, 3 threads wait'
run "$DPE" deadlock -o order.dpel -- "$orders" inversion
run "$DPE" replay -s deadlock.dpe order.dpel
says 'a replay reports the potential deadlock' 1 'potential deadlock of 2 threads' 'by take_two+'
for tap in *.tap; do
	cat "$tap"
	failures=$((failures + $(grep -c '^not ok' "$tap")))
done
finish
