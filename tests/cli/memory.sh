# Long logs take no more memory than short ones.
. tests/tap.sh

if grep -q __asan_init "$DPE"; then
	echo 'ok - memory of long logs # skip a sanitizer keeps what was freed'
	finish
	exit
fi

cat >log.py <<'X'
import sys
# Work on objects: thread 0 hands one to two others, which do it side by side, and takes it back.
count, turn, out = int(sys.argv[1]), 0, []
for turn in range(count // 10):
    o, t = turn % 500, 1 + turn % 3 * 2
    line = '{"event":"%s","thread":%d,"args":[' + str(o) + ']}'
    out += [line % e for e in (("a", 0), ("go", 0), ("got", t), ("b", t), ("done", t), ("got", t + 1),
                               ("c", t + 1), ("done", t + 1), ("back", 0), ("d", 0))]
print("\n".join(out))
X
cat >peak.c <<'X'
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* peak FILE COMMAND…: the command's peak memory in KiB, to the file; its exit status. A small parent: what
 * a process held before it executed the command counts, too. */
int main(int argc, char **argv)
{
	FILE *to = fopen(argv[1], "w");
	struct rusage used;
	int status;
	pid_t pid = fork();

	if (!pid) {
		execv(argv[2], argv + 2);
		_exit(127);
	}
	wait4(pid, &status, 0, &used);
	fprintf(to, "%ld\n", used.ru_maxrss);
	return argc < 3 || !WIFEXITED(status) || fclose(to) ? 126 : WEXITSTATUS(status);
}
X
cc -O1 peak.c -o peak || not_ok 'compiling peak.c'
# peak FILE ARGUMENT...: dpe's peak memory, to the file; the file is empty if it followed no events
peak() {
	to=$1
	shift
	./peak "$to" "$DPE" "$@" >out 2>err
	test $? -le 1 && grep -q '[0-9] events,\|"events":[1-9]' out err || : >"$to"
}
sync='sync last g(o): go(o) ; got(o)
sync all h(o): done(o) ; back(o)'
python3 log.py 50000 >short.jsonl
python3 log.py 400000 >long.jsonl
for log in short long; do "$DPE" convert $log.jsonl $log.dpel; done

# as_small NAME LONG SHORT: the peak in the file LONG is at most a quarter and 2 MiB above that in SHORT
as_small() {
	check "$1" "$(cat "$2")" -gt 0 -a "$(cat "$2")" -lt "$(awk '{ print int($1 * 5 / 4 + 2048) }' "$3")"
}

# flat NAME RULE: the long log takes no more than the short one, as as_small says
flat() {
	printf '%s\n%s\n' "$sync" "$2" >rule.dpe
	for log in short.jsonl long.jsonl short.dpel long.dpel; do
		peak $log.peak replay --format=json -s rule.dpe $log
	done
	explain "$2: $(cat short.jsonl.peak) and $(cat long.jsonl.peak) KiB; .dpel: $(cat short.dpel.peak) and $(cat long.dpel.peak)"
	for format in jsonl dpel; do
		as_small "$1, .$format" long.$format.peak short.$format.peak
	done
}
flat 'memory of detect b(o) & c(o) with matches' 'detect r(o): b(o) & c(o)'
flat 'memory of detect a & b without matches' 'detect r: a & b'
flat 'memory of detect a(o) ; b(o) with matches' 'detect r(o): a(o) ; b(o)'
flat 'memory of detect a(o) ; z(o) without matches' 'detect r(o): a(o) ; z(o)'
flat 'memory of an expect rule with a slice for each object' 'expect r(o): (a(o) ; (b(o) & c(o)) ; d(o))*'

# Each object has its lock, and any of eight threads works on it under that lock; or objects come and go,
# a hundred at a time.
cat >locked.py <<'X'
import random, sys
count, comes, dice, out = int(sys.argv[1]), sys.argv[2] == "comes", random.Random(1), []
steps = [0] * 100
for turn in range(count):
    first = turn // 16 if comes else 0
    o, t = first + dice.randrange(100), dice.randrange(8)
    lock = o % 20 if comes else o
    line = '{"event":"%s","thread":' + str(t) + ',"args":[%d]}'
    out += [line % ("acq", lock), line % ("abcdacbd"[steps[o % 100] % 8], o), line % ("rel", lock)]
    steps[o % 100] += 1
    if comes and turn % 16 == 15:
        out.append(line % ("gone", first))
print('{"dpe_log":1,"ordered":true}\n' + "\n".join(out))
X
# locked NAME WHICH RULE
locked() {
	printf '%s\n%s\n' 'sync last lock(l): rel(l) ; acq(l)' "$3" >rule.dpe
	for n in 6000 48000; do
		test -f $2.$n.dpel || { python3 locked.py $n $2 >log.jsonl && "$DPE" convert log.jsonl $2.$n.dpel; }
		peak $n.peak replay --format=json -s rule.dpe $2.$n.dpel
	done
	explain "$3: $(cat 6000.peak) and $(cat 48000.peak) KiB"
	as_small "$1" 48000.peak 6000.peak
}
locked 'memory of a detect rule when each object has its lock' stays 'detect r(o): a(o) ; (b(o) & c(o)) ; d(o)'
locked 'memory of an expect rule when each object has its lock' stays 'expect r(o): (a(o) ; (b(o) & c(o)) ; d(o))*'
locked 'memory of a rule whose objects come and go' comes 'detect r(o): a(o) ; (b(o) & c(o)) ; d(o) observing gone(o) ends'

# The same through a pipe, which dpe cannot read in advance.
# kept FILE COMMAND...: how many events slices keep of what the command prints, to the file
kept() {
	to=$1
	shift
	"$@" | "$DPE" replay --stats -s rule.dpe - >out 2>err
	keeps >"$to"
	grep -v ' slices keep \|^dpe: processor' err >reports.$to
}
keeps() {
	sed -n 's/.* slices keep \([0-9]*\) events;.*/\1/p' err
}
# piped NAME RULE
piped() {
	printf '%s\n%s\n' 'sync last lock(l): rel(l) ; acq(l)' "$2" >rule.dpe
	for n in 12000 48000; do kept $n python3 locked.py $n stays; done
	python3 locked.py 48000 stays >log.jsonl
	run "$DPE" replay --stats -s rule.dpe log.jsonl
	sed '/ slices keep \|^dpe: processor/d; s/log\.jsonl/-/' err >reports.file
	explain "$2: $(cat 12000) and $(cat 48000) events are kept"
	check "$1" "$(cat 12000)" -gt 0 -a "$(cat 48000)" -lt $(($(cat 12000) * 5 / 4 + 100))
	same "$1: same reports as from a file" reports.file <reports.48000
}
piped 'kept events of detect a(o) ; b(o), through a pipe' 'detect r(o): a(o) ; b(o)'
piped 'kept events of detect a(o) ; (b(o) & c(o)) ; d(o), through a pipe' 'detect r(o): a(o) ; (b(o) & c(o)) ; d(o)'

# Events that nothing can follow are not kept: finished requests of unordered threads.
done_by() {
	awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) {
		printf "{\"event\":\"a\",\"thread\":%d,\"seq\":0}\n{\"event\":\"b\",\"thread\":%d,\"seq\":1}\n", i, i } }'
}
for rule in 'a ; b' '(a;b)@' '((a;b)@ + c)@'; do
	echo "detect r: $rule" >rule.dpe
	for n in 500 4000; do
		done_by $n >done.jsonl
		run "$DPE" replay --stats -s rule.dpe done.jsonl
		keeps >$n
	done
	check "events of finished threads are not kept by detect $rule" "$(cat 500)" -gt 0 -a "$(cat 4000)" -le $(($(cat 500) + 64))
done

# Traces of another tool, read as they are and from a .dpel log.
for n in 20000 160000; do
	awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) { t = i % 4; l = i % 7
		printf "T%d|acq(L%d)|1\nT%d|w(V%d)|2\nT%d|rel(L%d)|3\n", t, l, t, l, t, l } }' >$n.std
	"$DPE" convert $n.std $n.dpel
	for format in std dpel; do
		peak $n.$format.peak replay -s rapid.dpe $n.$format
	done
done
for format in std dpel; do
	as_small "memory of rapid.dpe on a long trace, .$format" 160000.$format.peak 20000.$format.peak
done

# deadlock.dpe: threads that come and go, whose ids are reused, each with its own mutexes.
# A recording gives each message an id, too.
threads() {
	awk -v n="$1" 'function tell(name, thread, args, ret) {
		printf "{\"event\":\"%s\",\"thread\":%d,\"args\":[%s],\"id\":\"%d:%d\",\"seq\":%d%s}\n",
			name, thread, args, thread, numbers[thread], numbers[thread], ret
		numbers[thread]++
	}
	BEGIN {
		for (turn = 0; turn < n; turn++) {
			thread = 2 + turn % 1000
			name = 4096 + turn % 3
			mutex[0] = 1000000 + 64 * turn
			mutex[1] = mutex[0] + 8
			tell("thread::create", 1, thread "," name)
			tell("thread::start", thread, thread "," name)
			for (i = 0; i < 2; i++) {
				tell("pthread_mutex_lock.enter", thread, mutex[i])
				tell("pthread_mutex_lock.exit", thread, mutex[i], ",\"ret\":0")
			}
			for (i = 1; i >= 0; i--) {
				tell("pthread_mutex_unlock.enter", thread, mutex[i])
				tell("pthread_mutex_destroy.enter", thread, mutex[i])
			}
			tell("thread::exit", thread, thread "," name)
			tell("pthread_join.enter", 1, name)
			tell("pthread_join.exit", 1, name, ",\"ret\":0")
		}
	}'
}
for n in 5000 40000; do
	threads $n >$n.jsonl
	peak $n.peak replay -s deadlock.dpe $n.jsonl
done
as_small 'memory of deadlock.dpe when threads and locks come and go' 40000.peak 5000.peak
printf 'include "pthread.dpe"\nexpect R: never*\n' >order.dpe
for n in 5000 40000; do
	sed '1i {"dpe_log":1,"ordered":true}' $n.jsonl >o$n.jsonl
	peak o$n.peak replay -s order.dpe o$n.jsonl
done
as_small 'memory of deadlock.dpe on an ordered log of destroyed locks' o40000.peak o5000.peak
run "$DPE" replay -s deadlock.dpe 5000.jsonl
says 'deadlock.dpe finds nothing when ids of threads are reused' 0 '8 rules: nothing found'
# Predictions compare a thread with the few that may run beside it, not with the thousands before it.
cat >pairs.py <<'X'
out = []
for first in range(1, 1000, 2):
    pair = (first, first + 1)
    out += [("fork", 0, t) for t in pair]
    out += [(e, t, a) for t in pair for e, a in (("begin", t), ("acq", t % 100), ("put", 1), ("rel", t % 100), ("end", t))]
    out += [("join", 0, t) for t in pair]
for line in out:
    print('{"event":"%s","thread":%d,"args":[%d]}' % line)
X
cat >pairs.dpe <<'X'
sync exclusive lock(l): rel(l) ; acq(l)
sync last forked(t): fork(t) ; begin(t)
sync last joined(t): end(t) ; join(t)
predict R(x): put(x) & put^(x)
X
python3 pairs.py >pairs.jsonl
peak pairs.peak replay --format=json -s pairs.dpe pairs.jsonl
check 'predictions for 1000 threads find all matches in less than 50 MB' "$(grep -c '"verdict":"match"' out) $(($(cat pairs.peak) < 50000))" = '500 1'
explain "$(cat pairs.peak) KiB"
finish
