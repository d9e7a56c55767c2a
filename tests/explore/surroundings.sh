# Programs work under control as without it, and what is not controlled is reported.
. tests/tap.sh

targets=$TOP/tests/explore/targets
for target in ends outside executes signalled long_runs loads timers processors handlers clocks; do
	${CC:-cc} -g -O1 -pthread "$targets/$target.c" -o $target || not_ok "compiling $target.c"
done
${CXX:-c++} -g -O1 -pthread "$targets/cplusplus.cc" -o cplusplus || not_ok "compiling cplusplus.cc"

run "$DPE" explore --runs=100 -- ./cplusplus
says "C++ exceptions, thread_local and futures work under control" 0 "nothing found"
check "C++ exceptions, thread_local and futures are fully controlled" -z "$(grep 'not controlled' err)"
${CXX:-c++} -g -O2 -pthread "$targets/locks.cc" -o locks || not_ok "compiling locks.cc"
run "$DPE" explore -- ./locks
says "places of C++ locks are in the program's source" 1 "pthread_mutex_lock of 'b' at first()+" "locks.cc:10)" "locks.cc:16)"
check "places of C++ locks are not in the library's headers" -z "$(grep 'std::\|/usr/include' err found.schedule)"
${CXX:-c++} -g -O1 -w -pthread "$targets/crashes.cc" -o crashes || not_ok "compiling crashes.cc"
for how in assert strlen abort exception terminate read; do
	line=$(grep -n "$how(nothing)\|// $how\$" "$targets/crashes.cc" | sed 's/:.*//; q')
	run "$DPE" explore --runs=1 -- ./crashes $how
	says "$how: the place of the signal is the program's own" 1 "thread 2 at crash(void*)+" "crashes.cc:$line)"
done
run "$DPE" explore --runs=1 -- ./crashes overflow
says "a stack that overflows is reported with an operation of the thread" 1 "death by signal 11" "thread 2, after "
run "$DPE" explore --runs=1 --fails=1 -- ./crashes usual
says "signals that end the program have their usual actions" 0 "nothing found"
run "$DPE" explore --runs=1 --fails='!7' -- ./crashes handled
says "the program's own handler of SIGABRT runs" 0 "nothing found"
run "$DPE" explore -- true
says 'a program with one thread: nothing was explored' 3 'never had a second thread, so there was nothing to schedule'
mkfifo input
exec 3<>input
run "$DPE" explore --runs=1 -- true <&3
check 'nothing is said of a pipe that is empty' -z "$(grep 'standard input' err)"
echo 3 >&3
run "$DPE" explore --runs=1 -- true <&3
says 'input in a pipe, which runs cannot share, is reported' 3 'the program had no standard input, as that of dpe is no file: use < FILE'
exec 3<&-
run "$DPE" explore --allow-unobserved -- true
says 'a program with one thread is accepted with --allow-unobserved' 0 'never had a second thread' 'the only schedule was explored'
run "$DPE" explore --runs=100 -- ./ends
says "key destructors, pthread_exit and cancellation work under control" 0 "nothing found"
${CC:-cc} -g -O1 -shared -fPIC "$targets/plugin.c" -o plugin.so -pthread || not_ok "compiling plugin.c"
run "$DPE" explore -- ./loads ./plugin.so
says "threads of a library loaded by dlopen are explored, also during dlopen" 1 "exit status 2, and 3 in the first run"
check "threads of a library loaded by dlopen are fully controlled" -z "$(grep 'not controlled' err)"
run "$DPE" explore --replay=found.schedule -- ./loads ./plugin.so
says "a schedule with threads of a loaded library leads to the finding again" 1 "replay of found.schedule: exit status 2, and 3 in the first run"
run "$DPE" explore --runs=10 -- ./outside
says "a thread blocked in read, a spinning thread and a fork are reported" 0 "nothing found" "blocked in read" \
	"computed for a long time" "created processes"
check "a thread blocked in read is reported once" "$(grep -c 'blocked in read' err)" -eq 1
run "$DPE" explore --runs=5 -- ./outside waits
says "a thread that waits in the kernel for a child's exec has no finding" 0 "nothing found"
check "a thread that waits in the kernel for a child's exec stays controlled" -z "$(grep 'not controlled\|blocked' err)"
run "$DPE" explore --runs=20 -- ./executes
says "exec in a program with threads makes the result inconclusive" 3 "nothing found" "runs began another program (exec)"
check "exec in a program with threads is no complete exploration" -z "$(grep 'explore: \(all\|the only\) ' err)"
run "$DPE" explore --runs=100 -- ./signalled
says "a signal handler that posts a semaphore works under control" 0 "nothing found"
run "$DPE" explore --runs=10 -- ./signalled never
says "threads that a signal might wake are inconclusive, not a deadlock" 3 "signal handler might wake them"
check "threads that a signal might wake: not all schedules are explored" -z "$(grep 'explore: \(all\|the only\) ' err)"

run "$DPE" explore --runs=10 -- ./timers
says "the C library's threads for timers do not block other threads" 0 "nothing found" "10 runs had threads that dpe did not see created"
check "with the C library's threads for timers, not all schedules are explored" -z "$(grep 'explore: \(all\|the only\) ' err)"
run "$DPE" explore --runs=20 --fails='!0' -- ./clocks
says "all clocks of the C library tell virtual time" 0 "nothing found"
run ./processors
run "$DPE" explore --allow-unobserved --runs=1 --fails="!$status" -- ./processors
says "a program under control sees the machine's processors" 0 "nothing found"
run "$DPE" explore --allow-unobserved --runs=1 --fails='!1' -- ./processors one
says "a program under control sees the processors that it chose" 0 "nothing found"

run "$DPE" explore --strategy=delay --runs=100000 -- ./handlers 2
says "two nested signal handlers: all schedules are explored" 0 "schedules explored"
run "$DPE" explore --runs=20 -- ./handlers 6
says "more than 4 nested signal handlers are reported" 0 "had more than 4 signal handlers within each other" "nothing found"

# ---- the program writes to memory of dpe ----
${CC:-cc} -g -O1 -pthread -I "$TOP" "$targets/scribbles.c" -o scribbles || not_ok "compiling scribbles.c"
run "$DPE" explore --strategy=dfs --fails=2 -- ./scribbles
says "after an operation of a thread that there is not, not all behaviours are explored" 3 "or the program wrote over their record"

# ---- the time of a run ----
# loads COUNT: starts COUNT busy processes for each processor; their ids are in $loads
loads() {
	loads=
	for processor in $(seq $(($1 * $(nproc)))); do
		while :; do :; done &
		loads="$loads $!"
	done
}
loads 3
run "$DPE" explore --allow-unobserved --runs=1 --run-seconds=1 -- ./long_runs computes 7
kill $loads
says "--run-seconds does not count the wait for a processor on a busy machine" 0 "nothing found"
check "--run-seconds does not end a run that waits for a processor" -z "$(grep 'run-seconds' err)"
run "$DPE" explore --runs=1 --run-seconds=1 -- ./long_runs computes 1000
says "--run-seconds ends a run that computes for too long" 3 "1 run did not end in time (--run-seconds)"
run "$DPE" explore --runs=1 --run-seconds=1 -- ./long_runs waits
says "--run-seconds ends a run that waits for too long" 3 "1 run did not end in time (--run-seconds)"

# A thread that has its turn, but is woken late, is not blocked outside: each call of futex begins 30 ms late.
run strace -f -qq -o strace.out -e trace=futex -e inject=futex:delay_enter=30000 \
	"$DPE" explore --runs=2 -- "$BUILD/explored/reader-upgrades-fixed"
says "threads that are woken late have no finding" 0 "nothing found"
check "strace delays calls of futex" -n "$(grep 'DELAYED' strace.out)"
check "threads that are woken late stay controlled" -z "$(grep 'not controlled' err)"

# ---- the C library forks: the child writes when it has continued alone ----
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/daemon.c" -o daemon || not_ok "compiling daemon.c"
mkfifo lines
exec 4<>lines
run "$DPE" explore --runs=2 -- ./daemon lines
says "children of daemon(3) are reported" 3 "2 runs created processes, which are not controlled" "never had a second thread"
for child in first second; do
	read -r line <&4
	check "the $child daemon continues" "$line" = "a thread ran"
done
exec 4<&-

# ---- dpe ends first: the pipe is closed once no process of the run is left ----
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/stays.c" -o stays || not_ok "compiling stays.c"
for signal in TERM KILL; do
	rm -f pipe
	mkfifo pipe
	"$DPE" explore --run-seconds=1000 -- ./stays pipe >out 2>err &
	dpe=$!
	exec 3<pipe
	read -r line <&3
	kill -$signal $dpe
	timeout 60 cat <&3 >rest
	check "$signal ends dpe and its run" "$line $?" = "here 0"
	exec 3<&-
	wait $dpe
done

# As on a machine where a thread that wakes another one gets no processor for long: it still holds the library's lock.
cat >late.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
long syscall(long number, ...)
{
	__builtin_va_list list;
	long a[6], (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");

	__builtin_va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = __builtin_va_arg(list, long);
	long result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_futex && a[1] == FUTEX_WAKE)
		real(SYS_nanosleep, (long)&(struct timespec){0, 50000000}, 0L);
	return result;
}
END
cat >creates.c <<'END'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *use(void *x) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return x; }
int main(void)
{
	pthread_t threads[3];
	for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, use, NULL);
	for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}
END
${CC:-cc} -shared -fPIC late.c -o late.so && ${CC:-cc} -g -pthread creates.c -o creates || not_ok "compiling late.c and creates.c"
LD_PRELOAD=./late.so run "$DPE" explore --strategy=random --runs=8 -- ./creates
says "a program whose threads get no processor for long after they wake others is explored" 0 "nothing found"
check "a thread that waits for another one to leave the library stays controlled" -z "$(grep 'not controlled' err)"
finish
