# dpe hang on programs that hang already, and on some that do not.
. tests/tap.sh
compile_target hangs
target=
leave() {
	test -z "$target" || { kill -KILL $target $(pgrep -P $target) && wait $target; } 2>/dev/null
	target=
}
trap 'leave; rm -rf "$folder"' EXIT

# begin COMMAND...: starts the command, as $target
begin() {
	"$@" </dev/null >target.out 2>&1 &
	target=$!
}

# answers STATUS TEXT...: dpe hang of $target exits with this status and prints each text
answers() {
	wanted=$1
	shift
	command_line="dpe hang ${options:-} -p $target"
	"$DPE" hang ${options:-} -p $target >out 2>err
	status=$?
	test $status -eq "$wanted" || return
	for text in "$@"; do
		grep -qE -- "$text" out || return
	done
}

# is NAME STATUS TEXT...: the answer of dpe hang for ./hangs NAME, once it waits
is() {
	name=$1
	shift
	begin ./hangs "$name"
	if await answers "$@"; then
		ok "dpe hang of case $name${options:+ with $options}: the expected status and waits"
	else
		not_ok "dpe hang of case $name${options:+ with $options}: the expected status and waits"
		explain_run
	fi
	leave
}

# What rules cannot find, as no call that they name waits: the table at the end shows it, and is a finding.
ends_blocked() {
	begin_observing deadlock --debug=probes:1 -- ./hangs streams
	target=$(pgrep -P $observer -x hangs)
	await answers 1 'deadlock of 2 threads'
	kill -TERM $observer
	wait $observer
	status=$?
	says 'dpe deadlock that ends while threads are in a deadlock, which no rule finds, has a finding' 1 'deadlock of 2 threads: ' \
		'nothing found by rules, but threads that can never proceed'
	leave
}

# Where the kernel forbids tracing (Yama), only this message can be tested.
begin sleep 1000
run "$DPE" hang -p $target
if test "$status" -eq 2 && test "${DPE_LIVE:-}" != require; then
	says 'dpe hang says that the kernel forbids tracing a process' 2 'does not let us trace it'
	finish
fi
leave

ends_blocked

two='deadlock of 2 threads: [0-9]+ waits for b, held by [0-9]+; [0-9]+ waits for a, held by [0-9]+'
is plain 1 "$two" 'waits for mutex b, which thread [0-9]+ holds, for [0-9.]+ s' 'by a_then_b\+.*hangs.c:' 'by b_then_a\+' \
	'sleeps in poll' ': 1 deadlock'
is robust 1 "$two"
is inherits 1 'waits for mutex [ab], which thread' 'the kernel refused the wait'
is written 1 'deadlock of 2 threads' 'waits to read, for read-write lock lock, which thread [0-9]+ holds' 'waits for mutex a, '
is read 1 'waits to write, for read-write lock lock, which 1 reader holds: the lock does not record which' 'no thread can proceed'
is read-polling 3 'which 1 reader holds' 'is not known'
streams="deadlock of 2 threads: [0-9]+ waits for (stdout|0x[0-9a-f]+) of .*, held by [0-9]+; [0-9]+ waits for"
is streams 1 "$streams" 'waits for stream stdout of .*target.out, which thread [0-9]+ holds, for' 'waits for stream 0x[0-9a-f]+ of /dev/null, which thread' \
	'at (_IO_)?puts\+' 'by stream_then_stdout\+'
is condition 1 'and 1 more, each: waits for a signal of condition wakeup' 'waits for the end of thread' 'no thread can proceed'
is pool 3 'waits for a signal of condition wakeup, for' 'it is not known who will wake them' 'is not known'
is signalled 1 'deadlock of 2 threads: [0-9]+ waits for (b, held by|the end of) [0-9]+'
is semaphore 1 'waits for a post of semaphore post' 'no thread can proceed$'
is handled 3 'waits for a post of semaphore post' 'no thread can proceed, unless a signal handler'
is barrier 3 'waits at barrier four, for 2 more threads'
is futex 3 'waits in futex word \(value [1-9][0-9]*\), which does not record who can wake it'
is once 1 'deadlock of 2 threads' 'waits for an initialisation that is done once, once, which thread'
is shared 3 'which thread [0-9]+ of another process holds'
is held 0 'waits for mutex a, which thread [0-9]+ holds' 'sleeps in poll' 'every thread can proceed'
is timed 0 'waits for mutex a, which thread [0-9]+ holds, with a timeout' 'every thread can proceed'
is runs 0 ' runs$' 'waits for mutex a, ' 'every thread can proceed'
is ended 0 '1 thread: every thread can proceed'
red=$(printf '\033\[1;31m')
options=--color=always is plain 1 "^${red}deadlock of 2 threads" "^$(printf '\033\[1m')dpe: process"
options=--format=json is plain 1 '"type":"waits"' '"deadlocks":1,' '"holder":[0-9]+' '"waits_for":"mutex"'

# Frames that need registers, and a program without frame pointers.
${CC:-cc} -D_GNU_SOURCE= -g -O0 -pthread "$TOP/tests/live/targets/hangs.c" -o hangs || not_ok 'compiling hangs.c'
is plain 1 "$two" 'by take_both\+' 'by a_then_b\+' 'by b_then_a\+'
options=--format=json is plain 1 'clone.*clone'
${CC:-cc} -D_GNU_SOURCE= -O2 -static -fomit-frame-pointer -pthread "$TOP/tests/live/targets/hangs.c" -o hangs ||
	not_ok 'compiling hangs.c statically'
is plain 1 "$two" 'by a_then_b\+' 'by b_then_a\+'
is streams 1 "$streams" 'by stream_then_stdout\+' 'by stdout_then_stream\+'

# A stopped process stays stopped; another one is never left stopped, even if dpe is killed.
begin ./hangs plain
await answers 1 "$two"
kill -STOP $target
is_stopped() {
	grep -q '^State:.T' /proc/$target/status
}
await is_stopped
answers 1 "$two" 'it is stopped, by a signal or a debugger' && ok 'dpe hang of a stopped process reports its deadlock and that it is stopped' || not_ok 'dpe hang of a stopped process reports its deadlock and that it is stopped'
is_stopped && ok 'dpe hang leaves a stopped process stopped' || not_ok 'dpe hang leaves a stopped process stopped'
kill -CONT $target
for time in 1 2 3 4 5 6 7 8 9 10; do
	"$DPE" hang -p $target >/dev/null 2>&1 &
	kill -KILL $! 2>/dev/null
	wait $! 2>/dev/null
done
await answers 1 "$two" && ok 'dpe hang answers as before after ten dpe hang of the process were killed' || not_ok 'dpe hang answers as before after ten dpe hang of the process were killed'
check 'no thread is traced or stopped after dpe hang was killed' "$(cat /proc/$target/task/*/status | grep -c 'TracerPid:.[1-9]\|^State:.[tT]')" -eq 0
leave

# Locks and other waits of C++.
cat >waits.cc <<'END'
#include <condition_variable>
#include <cstring>
#include <latch>
#include <mutex>
#include <poll.h>
#include <semaphore>
#include <shared_mutex>
#include <thread>
static std::mutex first, second;
static std::condition_variable wakeup;
static std::shared_mutex book;
static std::counting_semaphore<4> permits(0);
static std::latch gate(2), two(2);
int main(int, char **argv)
{
	auto is = [&](const char *name) { return !strcmp(argv[1], name); };
	auto both = [](auto take, auto other) {
		std::thread one(take), two(other);
		poll(nullptr, 0, -1);
	};
	if (is("mutex"))
		both([] { std::lock_guard a(first); two.arrive_and_wait(); std::lock_guard b(second); },
			[] { std::lock_guard b(second); two.arrive_and_wait(); std::lock_guard a(first); });
	if (is("shared"))
		both([] { std::unique_lock a(book); two.arrive_and_wait(); std::lock_guard b(second); },
			[] { std::lock_guard b(second); two.arrive_and_wait(); std::shared_lock a(book); });
	if (is("condition"))
		std::thread([] { std::unique_lock l(first); wakeup.wait(l); }).join();
	if (is("semaphore"))
		std::thread([] { permits.acquire(); }).join();
	if (is("latch"))
		std::thread([] { gate.arrive_and_wait(); }).join();
}
END
if command -v "${CXX:-g++}" >/dev/null; then
	"${CXX:-g++}" -std=c++20 -g -O1 -pthread waits.cc -o waits || not_ok 'compiling C++'
	cxx() {
		name="dpe hang of C++, case $1: the expected status and waits"
		begin ./waits "$1"
		shift
		await answers "$@" && ok "$name" || { not_ok "$name" && explain_run; }
		leave
	}
	cxx mutex 1 'deadlock of 2 threads: [0-9]+ waits for (first|second), held by' 'std::lock_guard'
	cxx shared 1 'deadlock of 2 threads' 'waits to read, for read-write lock book, which'
	cxx condition 1 'waits for a signal of condition wakeup, for' 'waits for the end of thread' 'std::thread::join'
	cxx semaphore 1 'waits in futex permits' 'acquire\(\)'
	cxx latch 1 'waits in futex gate' 'std::latch::'
fi

cat >locks.py <<'END'
import threading
a, b, meet = threading.Lock(), threading.Lock(), threading.Barrier(2)
def take(one, other):
    with one:
        meet.wait()
        other.acquire()
for pair in ((a, b), (b, a)):
    threading.Thread(target=take, args=pair).start()
END
cat >Locks.java <<'END'
class Locks {
	static void take(Object one, Object other, java.util.concurrent.CyclicBarrier meet) {
		synchronized (one) {
			try {
				meet.await();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
			synchronized (other) {
			}
		}
	}
	public static void main(String[] arguments) {
		Object a = new Object(), b = new Object();
		var meet = new java.util.concurrent.CyclicBarrier(2);
		new Thread(() -> take(a, b, meet), "first").start();
		new Thread(() -> take(b, a, meet), "second").start();
	}
}
END
cat >locks.go <<'END'
package main

import (
	"sync"
	"time"
)

func take(one, other *sync.Mutex, meet *sync.WaitGroup) {
	one.Lock()
	meet.Done()
	meet.Wait()
	other.Lock()
}

func main() {
	var a, b sync.Mutex
	var meet sync.WaitGroup
	meet.Add(2)
	go take(&a, &b, &meet)
	go take(&b, &a, &meet)
	time.Sleep(time.Hour)
}
END
# language NAME TOOL STATUS COMMAND TEXT...: the language has its own locks, and a note of the report says so
language() {
	name="$1: dpe hang shows the waits, with a note on locks of the language"
	wanted=$3 command=$4
	command -v "$2" >/dev/null || {
		ok "$name # skip $2 is not installed"
		return
	}
	shift 4
	begin $command
	await answers $wanted "$@" && ok "$name" || { not_ok "$name" && explain_run; }
	leave
}
language Python python3 1 "$(python3 -c 'import sys; print(sys.executable)') locks.py" 'waits for a post of semaphore' 'no thread can proceed' \
	'note: Python'
language Java javac 3 'java -Xmx64m Locks.java' '\(first\)' '\(second\)' "note: Java .*jstack PID"
HOME=$PWD go build -o locks locks.go || not_ok 'compiling locks.go'
language Go go 3 ./locks 'waits in futex' 'note: goroutines that wait'

# Each processor has a clock of its own for what it runs.
cat >pinned.py <<'END'
import os, threading
def wait(processor):
    os.sched_setaffinity(0, {processor})
    threading.Event().wait()
for processor in os.sched_getaffinity(0):
    threading.Thread(target=wait, args=(processor,)).start()
threading.Event().wait()
END
started=$(date +%s%N)
begin python3 pinned.py
await answers 1 "$(($(nproc) + 1)) threads: no thread can proceed" 'waits for a post of semaphore'
"$DPE" hang --format=json -p $target >out 2>err
cat >durations.py <<'END'
import json, sys
limit = int(sys.argv[1])
waits = [thread.get("asleep", -1) for thread in json.load(open("out"))["threads"]]
print(waits)
sys.exit(not all(0 < wait <= limit for wait in waits))
END
python3 durations.py $(($(date +%s%N) - started)) >>err
check 'threads that last ran on different processors wait for a time, and no longer than there is the process' $? -eq 0
leave

# Errors.
run "$DPE" hang
says 'dpe hang without -p is refused' 2 'no process: use -p PID'
run "$DPE" hang -p 4194304
says 'dpe hang of an unknown process is refused' 2 'there is no such process'
run "$DPE" deadlock -p 4194304
says 'dpe deadlock of an unknown process is refused' 2 'there is no such process'
check 'dpe deadlock reports an unknown process in one line' "$(lines err)" -eq 1
sh -c 'sleep 0 & exec sleep 1000' &
target=$!
ended() {
	child=$(pgrep -P $target) && grep -q '^State:.*zombie' "/proc/$child/status"
}
await ended || not_ok 'the test has a zombie'
run "$DPE" hang -p "$child"
says 'dpe hang of a zombie says that it has ended' 2 "process $child: error: it has ended, or is a kernel thread"
leave
run "$DPE" hang -p 1 extra
says 'dpe hang refuses an argument too many' 2 "unexpected argument 'extra'"
if test "$(id -u)" -eq 0 && id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
	begin sleep 1000
	chmod 755 .
	run setpriv --reuid=nobody --clear-groups --inh-caps=-all --bounding-set=-all "$DPE" hang -p $target
	says 'dpe hang of a process of another user is refused, with the user to run dpe as' 2 'the kernel does not let us trace it' 'Run dpe as'
	leave
	setpriv --reuid=nobody --clear-groups ./hangs plain </dev/null >target.out 2>&1 &
	target=$!
	as_nobody() {
		run setpriv --reuid=nobody --clear-groups "$DPE" hang -p $target
		test "$status" -eq 1 && grep -q 'deadlock of 2 threads' out
	}
	await as_nobody && ok 'dpe hang without privileges reports a deadlock of the same user' || { not_ok 'dpe hang without privileges reports a deadlock of the same user' && explain_run; }
	run setpriv --reuid=nobody --clear-groups "$DPE" deadlock -p $target
	says 'dpe deadlock without privileges reports an existing deadlock of the same user' 1 'deadlock of 2 threads'
	leave
	setpriv --reuid=nobody --clear-groups ./hangs held </dev/null >target.out 2>&1 &
	target=$!
	held_by_nobody() {
		run setpriv --reuid=nobody --clear-groups --inh-caps=-all --bounding-set=-all "$DPE" deadlock -p $target
		test "$status" -eq 2 && grep -q 'waits for mutex a, which thread' err
	}
	await held_by_nobody && ok 'dpe deadlock without capabilities shows the waits of the process' ||
		{ not_ok 'dpe deadlock without capabilities shows the waits of the process' && explain_run; }
	check 'dpe deadlock without capabilities names CAP_BPF' "$(grep -c 'CAP_BPF' err)" -ge 1
	leave
fi
finish
