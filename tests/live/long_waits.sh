# dpe deadlock on programs in which some threads wait for ever while another one polls.
. tests/tap.sh
need_live 'long waits'
compile_target long_waits

# watch WAY [OPTION...]: runs it until something is reported, and then lets the polling thread end it
watch() {
	way=$1
	shift
	rm -f end err
	"$DPE" deadlock --hang-after=1 "$@" -- ./long_waits "$way" >out 2>err &
	observer=$!
	command_line="dpe deadlock $* -- ./long_waits $way"
	await eval 'grep -q "${awaited:-possible hang\|^#}" out err || is_over $observer'
	: >end
	wait $observer
	status=$?
}

watch wakeup
says 'a lost wakeup' 0 'possible hang: 1 thread has waited for 1 s' 'not certain' '(wakeup)' 'by lose_wakeup+' 'nothing found, 1 possible hang'
watch post
says 'a missing post' 0 'possible hang: 1 thread has waited for 1 s' '(post)' 'by await_post+'
watch barrier
says 'a barrier that counts more threads than come' 0 'possible hang: 2 threads have waited for 1 s' \
	', and 1 more at the same place, waits for' '(barrier)' 'by await_others+'
watch pool
says 'an idle pool: no more than possible, once' 0 'possible hang: 3 threads have waited' 'exited with status 0' '1 possible hang'
check 'once' "$(grep -c '^#' err)" -eq 1
awaited=inconclusive watch locked
says 'a lock held by a thread that waits, too: inconclusive' 3 'possible hang' '(b), which thread' \
	'inconclusive: a thread holds what others wait for, and waits, too' 'by take_b+' 'by await_work_with_b+'
watch cycle
says 'a cycle beside a polling thread is a deadlock' 1 'deadlock of 2 threads' 'by a_then_b+' 'by b_then_a+'
watch pool --on-deadlock=kill
says 'a program that may hang is left alone' 0 'possible hang' 'exited with status 0'
watch pool --format=json
check 'as JSON' "$(python3 -c '
import json, sys
found = [json.loads(line) for line in sys.stdin if line.startswith("{")]
[f] = [f for f in found if f["type"] == "finding"]
print(f["kind"], f["lasted"], len(f["waits"]), f["waits"][0]["alike"], found[-1]["possible_hangs"])' <out)" = \
	'possible hang 1000000000 1 2 1'
watch compute
says 'a join of a thread that runs is no long wait' 0 'possible hang: 1 thread has waited' 'by lose_wakeup+'
check 'and is not reported later' "$(grep -c '^#' err)" -eq 1

# table WAY FUNCTION: the stacks of waiting threads are whole, beyond calls whose returns are observed
table() {
	awaited='whether all threads\|can ever' watch "$1"
	sed -n '/^blocked/,/^can go on/p' err >table
	check "$1: the table's stacks go beyond the call that waits" "$(grep -c " by $2+" table)" -eq \
		"$(grep -c ' waits \(for\|at\) ' table)" -a "$(grep -c ' waits \(for\|at\) ' table)" -gt 0
	check 'and have no address of the kernel, and no end before the outermost frame' "$(grep -c 'uprobes\|…' table)" -eq 0
}
table wakeup lose_wakeup
table post await_post
table barrier await_others

rm -f end
"$DPE" deadlock --hang-after=0 -- ./long_waits post >out 2>err &
observer=$!
await eval '"$DPE" hang -p "$(pgrep -n -x long_waits)" >table 2>&1; grep -q "waits in futex post" table'
check 'of a process that another dpe observes, stacks end where the kernel has its address' \
	"$(grep -c uprobes table)" -eq 0 -a "$(grep -c ' …$' table)" -eq 2
: >end
wait $observer
finish
