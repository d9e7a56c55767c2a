# dpe deadlock on programs in which some threads wait for ever while another one polls.
. tests/tap.sh
need_live 'long waits'
compile_target long_waits

# watch WAY [OPTION...]: runs dpe deadlock until it reports something, and then lets the polling thread end the program
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
says 'a lost wakeup is a possible hang' 0 'possible hang: 1 thread has waited for 1 s' 'not certain' '(wakeup)' 'by lose_wakeup+' 'nothing found, 1 possible hang'
watch post
says 'a missing post of a semaphore is a possible hang' 0 'possible hang: 1 thread has waited for 1 s' '(post)' 'by await_post+'
watch barrier
says 'a barrier for more threads than come is a possible hang' 0 'possible hang: ' '(barrier)' 'by await_others+'
watch pool
says 'an idle thread pool is a possible hang only' 0 'possible hang: ' 'exited with status 0' '1 possible hang'
check 'an idle thread pool is reported once' "$(grep -c '^#' err)" -eq 1
awaited=inconclusive watch locked
says 'a lock held by a thread that itself waits makes the verdict inconclusive' 3 'possible hang' '(b), which thread' \
	'inconclusive: a thread that holds what others wait for waits as well' 'by take_b+' 'by await_work_with_b+'
watch cycle
says 'a cycle beside a polling thread is a deadlock' 1 'deadlock of 2 threads' 'by a_then_b+' 'by b_then_a+'
watch pool --on-deadlock=kill
says '--on-deadlock=kill does not kill a program with a possible hang' 0 'possible hang' 'exited with status 0'
watch pool --format=json
check 'a possible hang in JSON has its kind and duration' "$(python3 -c '
import json, sys
found = [json.loads(line) for line in sys.stdin if line.startswith("{")]
[f] = [f for f in found if f["type"] == "finding"]
print(f["kind"], f["lasted"], len(f["waits"]), found[-1]["possible_hangs"])' <out)" = 'possible hang 1000000000 1 1'

# Which threads are in a report depends on when each of them began to wait: so from a log.
python3 - >waits.jsonl <<'X'
from json import dumps
events = [(1, ms, "thread::create", [thread, thread, 1]) for ms, thread in enumerate((2, 3, 4, 5))]
events += [(thread, ms, "sem_wait.enter", [64]) for thread, ms in ((2, 10), (3, 20), (4, 105), (5, 900))]
print(dumps({"dpe_log": 1, "ordered": True}))
for thread, ms, event, args in [*events, (1, 1111, "sem_post.enter", [128])]:
    print(dumps({"event": event, "thread": thread, "time": ms * 1000000, "args": args, "stack": ["work+0x4"]}))
X
run "$DPE" replay --hang-after=1 -s deadlock.dpe waits.jsonl
says 'threads that began to wait at about the same time are one possible hang' 0 'possible hang: 3 threads have waited for 1 s' \
	'thread 2, and 2 more at the same place, waits for' 'nothing found, 1 possible hang'
run "$DPE" replay --format=json --hang-after=1 -s deadlock.dpe waits.jsonl
check 'a possible hang in JSON has the number of threads at each place' "$(grep -c '"alike":2,.*"lasted":1000000000' out)" -eq 1
watch compute
says 'a join of a thread that runs is no long wait' 0 'possible hang: 1 thread has waited' 'by lose_wakeup+'
check 'a join of a thread that runs is not reported later' "$(grep -c '^#' err)" -eq 1

# table WAY FUNCTION: stacks in the table of waits are complete: they include the callers of calls whose returns are observed
table() {
	awaited='whether all threads\|can ever' watch "$1"
	sed -n '/^blocked/,/^can proceed/p' err >table
	check "$1: stacks in the table of waits go beyond the call that waits" "$(grep -c " by $2+" table)" -eq \
		"$(grep -c ' waits \(for\|at\) ' table)" -a "$(grep -c ' waits \(for\|at\) ' table)" -gt 0
	check 'stacks in the table of waits have no address of uprobes, and are not cut short' "$(grep -c 'uprobes\|…' table)" -eq 0
}
table wakeup lose_wakeup
table post await_post
table barrier await_others

rm -f end
"$DPE" deadlock --hang-after=0 -- ./long_waits post >out 2>err &
observer=$!
await eval '"$DPE" hang -p "$(pgrep -n -x long_waits)" >table 2>&1; grep -q "waits in futex post" table'
check 'dpe hang of a process that another dpe observes: stacks end at the address of uprobes' \
	"$(grep -c uprobes table)" -eq 0 -a "$(grep -c ' …$' table)" -eq 2
: >end
wait $observer

# dpe waits for a reader of its report, and the program is killed meanwhile.
rm -f end
mkfifo report
exec 4<>report
dd if=/dev/zero of=report oflag=nonblock bs=1 2>/dev/null
"$DPE" deadlock --hang-after=1 -- ./long_waits post >out 2>report &
observer=$!
command_line='dpe deadlock --hang-after=1 -- ./long_waits post 2>report'
await grep -q '^1 0x2 ' /proc/$observer/syscall
pkill -KILL -P $observer -x long_waits
cat report >full 4>&- &
exec 4>&-
wait $observer
status=$?
wait
tr -d '\0' <full >err
says 'a program that ends before its table of waits is read: the possible hang is reported' 137 'possible hang: 1 thread has waited'
check 'a program that ends before its table of waits is read: no error is reported' "$(grep -c 'error:' err)" -eq 0
finish
