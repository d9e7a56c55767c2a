# Beginnings and ends: a target that ends while dpe begins, dpe that ends before its target, closed descriptors.
. tests/tap.sh
need_live 'beginnings and ends of observation'
compile_target steps
printf 'detect never: stride(-1)\n' >rule.dpe

# The process ends at some time between the first look at it and the last probe.
reported=0
for rest in 0.02 0.05 0.1 0.15; do
	sh -c "sleep $rest" &
	run "$DPE" deadlock -p $!
	grep -q 'process [0-9]*: error: it has ended\|its main thread has ended\|there is no such process\|^dpe: process [0-9]* has ended' err &&
		test "$(lines err)" -le 2 && reported=$((reported + 1))
	wait
done
check 'a process that ends while probes are attached is reported in at most two lines' $reported -eq 4

python3 -c '
import os, time
child = os.fork()
if not child:
	os._exit(0)
print(child, flush=True)
time.sleep(600)' >zombie &
parent=$!
while ! test -s zombie; do sleep 0.05; done
for command in 'deadlock' 'race a,b' 'attach -s rule.dpe' 'hang'; do
	run "$DPE" $command -p "$(cat zombie)"
	check "dpe $command of a zombie is one error" "$status $(grep -c 'has ended' err) $(grep -c . err)" = '2 1 1'
done
run "$DPE" list -p "$(cat zombie)"
says 'dpe list of a zombie says that it has ended' 2 "process $(cat zombie): error: it has ended"
run "$DPE" attach -s rule.dpe -p "$(cat zombie)"
says 'dpe attach to a zombie says that it cannot be observed' 2 "process $(cat zombie): error: cannot be observed"
kill -KILL $parent

cp steps stripped
strip stripped
run "$DPE" list ./stripped 'pthread_mutex_lock'
says 'dpe list of a stripped program says that its own functions are not known' 0 'stripped: note: its own functions are not known'
run "$DPE" list ./steps 'stride'
check 'dpe list of a program with symbols prints no note' "$status $(lines err)" = '0 0'
run "$DPE" list ./stripped 'stride'
says 'a missing function of a stripped program is explained by its missing symbols' 2 "no function matches 'stride'" 'its own functions are not known'
run "$DPE" list steps
says 'a program that is not in PATH but in the current folder is suggested' 2 'steps: error: cannot be run' 'the file of that name here is ./steps'
head -c 1000 steps >damaged
chmod +x damaged
run "$DPE" run -s rule.dpe -- ./damaged
says 'a truncated program is reported as damaged' 2 'damaged: error: ' 'may be damaged'

run "$DPE" run -d 1 -s rule.dpe -- ./steps until enough
says 'dpe run -d says that the program runs on' 0 'dpe: ./steps runs on, no longer observed'
: >enough
await grep -q right out
check 'a program that dpe run -d has left runs to its end' "$(tr '\n' ' ' <out)" = 'begun right '
rm enough
./steps until enough >said &
process=$!
await test -s said
began=$(date +%s%N)
run "$DPE" attach -d 1 -s rule.dpe -p $process
says 'dpe attach -d says that the process runs on' 0 "dpe: process $process runs on, no longer observed"
check 'dpe attach -d 1 takes at least one second' $((($(date +%s%N) - began) / 1000000)) -ge 1000
"$DPE" attach --progress=1 -s rule.dpe -p $process >out 2>err &
observer=$!
await grep -q '^dpe: [0-9]* s: [1-9][0-9]* events' err
: >enough
wait $observer
status=$?
says 'dpe attach says that the process has ended' 0 "dpe: process $process has ended"
wait $process
check 'a process that dpe attach has observed twice runs to its end' "$(tr '\n' ' ' <said)" = 'begun right '

# The kernel's verification of a BPF program is interrupted while dpe is stopped again and again.
cat >disturb.py <<'X'
import os, signal, subprocess, sys, time
dpe = subprocess.Popen(sys.argv[1:])
end = time.monotonic() + 1
while time.monotonic() < end and dpe.poll() is None:
	os.kill(dpe.pid, signal.SIGSTOP)
	os.kill(dpe.pid, signal.SIGCONT)
	time.sleep(0.001)
sys.exit(dpe.wait())
X
run python3 disturb.py "$DPE" run -s rule.dpe -- ./steps slowly 10
says 'dpe observes without loss although it is stopped again and again while it begins' 0 'exited with status 7' ' 0 lost'

# After an exec, addresses belong to other code.
cat >twice.c <<'X'
#include <unistd.h>

__attribute__((noinline)) int stride(int x)
{
	__asm__ volatile("" : "+r"(x) : : "memory");
	return x + 1;
}

int main(int argc, char **argv)
{
	int y = stride(argc);

	if (argc < 2)
		execl(argv[0], argv[0], "again", (char *)NULL);
	return y - 3;
}
X
cc -g -O1 twice.c -o twice
printf 'detect any: stride(x)\n' >any.dpe
good=0
while test $good -lt 10; do
	run "$DPE" run --all -s any.dpe -- ./twice
	test "$(grep -c 'at stride+0x0 (.*twice.c:[0-9]*)' err)" -eq 2 || break
	good=$((good + 1))
done
check 'stacks before and after an exec are reported, 10 times of 10' $good -eq 10

"$DPE" record -s rule.dpe -o log.jsonl -- ./steps slowly 10 >out 2>&-
check 'no message is written into a log when standard error is closed' "$(grep -c -v '^{' log.jsonl)" -eq 0
run "$DPE" deadlock -- sh -c 'test -e /proc/self/fd/0 && echo open || echo closed' <&-
check 'a descriptor that is closed in dpe is closed in the program' "$(cat out)" = closed
run "$DPE" deadlock -- sh -c 'test -e /proc/self/fd/0 && echo open || echo closed' </dev/null
check 'a descriptor that is open in dpe is open in the program' "$(cat out)" = open
finish
