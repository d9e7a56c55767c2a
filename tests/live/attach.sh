# Attaching to running threads: inside critical sections, by two observers at once; and detaching.
. tests/tap.sh
need_live 'attaching to a running process'
compile_target sections

rounds=1
test -n "${DPE_TEST_LONG:-}" && rounds=5

# begin WAY: starts the target in this mode, as $target, and waits until it has its threads
begin() {
	./sections 1000000 "$1" >/dev/null &
	target=$!
	await has_threads
}
has_threads() {
	test "$(ls /proc/$target/task | wc -l)" -eq 3
}
# sees REPORT: a progress line in the report counts events
sees() {
	grep -q '^dpe: [0-9]* s: [1-9][0-9]* events' "$1"
}

# twenty WAY COMMAND...: attaches 20 times (4 unless DPE_TEST_LONG is set), four at a time, for a second each.
# $alarms counts the runs that do not exit with 0; the file "alarms" has their reports.
twenty() {
	way=$1
	shift
	alarms=0
	: >alarms
	for round in $(seq $rounds); do
		for i in 1 2 3 4; do
			(
				begin "$way"
				sleep 0.0$round$i
				timeout -s KILL 120 "$@" -d 1 -p $target $what 2>report.$i
				echo $? >status.$i
				kill -KILL $target
			) 2>/dev/null &
		done
		wait
		for i in 1 2 3 4; do
			test "$(cat status.$i)" -eq 0 && continue
			alarms=$((alarms + 1))
			cat report.$i >>alarms
		done
	done
}

# quiet NAME WAY COMMAND...: none of these runs reports anything
quiet() {
	name=$1
	shift
	twenty "$@"
	test $alarms -eq 0 && ok "attached to $name: no false alarm" && return
	not_ok "attached to $name: $alarms false alarms in $((4 * rounds))"
	explain "$(head -c 3000 alarms)"
}
what=
quiet 'two lock orders under a gate lock' gated "$DPE" deadlock
if test $rounds -gt 1; then
	quiet 'a recursive lock' recursive "$DPE" deadlock
	quiet 'threads with read-write locks, conditions and semaphores' readers "$DPE" deadlock
fi
need_watchpoints 'data events of a process that already runs'
what=count
quiet 'a counter under a contended lock' counter "$DPE" race
what=hand
quiet 'a variable that is handed over by a condition' handed "$DPE" race
what=

# An actual race is still found, once both threads have run.
race() {
	begin racy
	"$DPE" race -p $target count 2>report.$1 &
	observer=$!
	await grep -q '^#1 ' report.$1
	kill -TERM $observer
	wait $observer
	echo $? >status.$1
	kill -KILL $target
}
for round in $(seq $rounds); do
	for i in 1 2 3 4; do
		race $i 2>/dev/null &
	done
	wait
	check "dpe race -p finds a race in each of 4 runs, round $round" "$(cat status.? | tr '\n' ' ')" = '1 1 1 1 '
done
begin deadlock
begin_observing deadlock --debug=probes:1 --on-deadlock=kill -p $target
: >enough
wait $observer
status=$?
says 'dpe deadlock -p reports a deadlock that forms after it attached' 1 'deadlock of 2 threads' '(a)' '(b)'
wait $target 2>/dev/null

# A replay of the recording gives the same result: the recording includes the threads that were already running.
begin counter
cat >count.dpe <<'DPE'
include "pthread.dpe"
detect race: [count'] & [count]
DPE
# One thread may hold the lock for long: wait until both were found.
echo 'detect both: thread::found(_, _, _) ; thread::found(_, _, _)' >both.dpe
"$DPE" attach -s both.dpe -s count.dpe -o watch.jsonl -p $target >out 2>err &
observer=$!
await grep -q '^#1 both: match' err
kill -TERM $observer
wait $observer
check 'a recording of a running process has thread::found for both threads' "$(grep -c '"thread::found"' watch.jsonl)" -ge 2
run "$DPE" replay -s count.dpe watch.jsonl
gives 'a replay of the recording of a running process reports no race' 0

# Two observers of one target at once, and one of another target; none leaves anything behind.
shared=$target
begin counter
other=$target
"$DPE" deadlock --progress=1 -p $shared 2>first &
first=$!
"$DPE" attach --progress=1 -s count.dpe -p $shared 2>second &
second=$!
await sees first
await sees second
run "$DPE" deadlock -d 1 -p $other
says 'dpe deadlock of another target beside two observers finds nothing' 0 ' 0 lost' 'nothing found'
kill -TERM $second
wait $second
check 'dpe attach, one of two observers of a target, exits with status 0' $? -eq 0
kill -TERM $first
wait $first
check 'dpe deadlock, the other observer of this target, exits with status 0' $? -eq 0
check 'both observers of one target see events and lose none' "$(cat first second | grep -c '^dpe: [1-9][0-9]* events, 0 lost')" -eq 2
check 'no thread of the target is stopped after its observers have ended' "$(grep -c 'State:.*stopped' /proc/$shared/task/*/status | grep -vc ':0$')" -eq 0
check 'a target has at most one mapping for uprobes after dpe has detached' "$(grep -c uprobes /proc/$other/maps)" -le 1
kill -KILL $shared $other

# Threads that ran before, and no rule about synchronisation. What precedes a thread's first event is taken for its past.
cat >handed.c <<'X'
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static sem_t more;
static volatile int begun;
__attribute__((noipa)) void put(int i) { (void)i; }
__attribute__((noipa)) void get(int i) { (void)i; }
static void *take(void *unused)
{
	while (access("stands-by", F_OK))
		usleep(1000);
	while (!access("stands-by", F_OK))
		usleep(1000);
	put(7);
	get(7);
	begun = 1;
	for (int i = 0; i < 3; i++) {
		sem_wait(&more);
		get(i);
	}
	return unused;
}
int main(void)
{
	pthread_t taker;

	pthread_create(&taker, NULL, take, NULL);
	close(creat("stands-by", 0600));
	while (!begun)
		usleep(1000);
	for (int i = 0; i < 3; i++) {
		put(i);
		sem_post(&more);
	}
	return pthread_join(taker, NULL);
}
X
cc -O2 -pthread handed.c -o handed || not_ok 'compiling handed.c'
attaches ./handed -e 'expect item(i): put(i) ; get(i)'
says 'attach without sync rules: inconclusive findings come with the hint to pthread.dpe' 3 'ran before it was observed' \
	'warning: no `sync` rule orders events of different threads: include "pthread.dpe"'
attaches ./handed -e 'include "pthread.dpe"' -e 'expect item(i): put(i) ; get(i)'
gives 'and with it, nothing is found' 0
finish
