# dpe view: pages in a browser, what a click does, other formats, and hostile logs.
. tests/tap.sh

cat >race.dpe <<'X'
include "pthread.dpe"
detect race(x): get(x) & put(x)
detect chain: put ; get
X
cat >log.jsonl <<'X'
{"dpe_log":1,"ordered":true}
{"event":"get","thread":1,"seq":0,"time":1000,"args":[7],"comm":"reader","stack":["get+0x0 (src/queue.c:2)"]}
{"event":"pthread_mutex_lock.exit","thread":2,"seq":0,"time":2000,"args":["0x10"],"ret":0}
{"event":"put","thread":2,"seq":1,"time":3000,"args":[7],"stack":["put+0x0 (src/queue.c:5)"]}
{"event":"pthread_mutex_unlock.enter","thread":2,"seq":2,"time":4000,"args":["0x10"]}
{"event":"pthread_mutex_lock.exit","thread":1,"seq":1,"time":5000,"args":["0x10"],"ret":0}
{"event":"get","thread":1,"seq":2,"time":6000,"args":[8]}
{"event":"pthread_mutex_unlock.enter","thread":1,"seq":3,"time":7000,"args":["0x10"]}
X
cat >file.dpe <<'X'
expect file(f): open(f) ; (read(f) + write(f))* ; close(f)
detect order(f): write(f) ; read(f) ; close(f)
detect beside: (write("a") ; close("a")) & sync("a")
expect copies(f): open(f) ; (seek(f) ; tell(f))@
expect rounds(f): open(f) ; ((seek(f) + read(f) + write(f))* ; tell(f))@ ; close(f)
expect both(f): open(f) ; (((write(f) & tell(f)) ; read(f))@ & (read(f) + close(f))*) ; close(f)
X
cat >file.jsonl <<'X'
{"event":"open","thread":1,"args":["a"]}
{"event":"open","thread":1,"args":["b"]}
{"event":"write","thread":1,"args":["a"]}
{"event":"close","thread":1,"args":["a"]}
{"event":"read","thread":1,"args":["a"]}
{"event":"close","thread":1,"args":["b"]}
{"event":"sync","thread":2,"args":["a"]}
{"event":"open","thread":1,"args":["c"]}
{"event":"write","thread":1,"args":["c"]}
{"event":"read","thread":1,"args":["c"]}
{"event":"close","thread":1,"args":["c"]}
{"event":"open","thread":3,"args":["d"]}
{"event":"seek","thread":3,"args":["d"]}
{"event":"tell","thread":3,"args":["d"]}
X
run "$DPE" view -o bare.html file.jsonl
gives 'dpe view without rules draws the log' 0
check 'and does not miss events of rules' "$(grep -c 'nothing was observed' err)" = 0
run "$DPE" view --steps -s file.dpe -o steps.html file.jsonl
gives 'dpe view --steps writes a page with the steps of rules' 1
cat >predict.dpe <<'X'
include "pthread.dpe"
predict another: get & put
X
cat >predict.jsonl <<'X'
{"dpe_log":1,"ordered":true}
{"event":"get","thread":1,"seq":0,"time":1000}
{"event":"pthread_mutex_lock.exit","thread":1,"seq":1,"time":2000,"args":["0x10"],"ret":0}
{"event":"pthread_mutex_unlock.enter","thread":1,"seq":2,"time":4000,"args":["0x10"]}
{"event":"pthread_mutex_lock.exit","thread":2,"seq":0,"time":5000,"args":["0x10"],"ret":0}
{"event":"pthread_mutex_unlock.enter","thread":2,"seq":1,"time":7000,"args":["0x10"]}
{"event":"put","thread":2,"seq":2,"time":9000}
X
run "$DPE" view -s predict.dpe -o predict.html predict.jsonl
gives 'dpe view writes a page with a prediction' 1
echo 'detect job(j): submit(j) [j->id > 0]' >job.dpe
echo '{"event":"submit.enter","thread":1,"args":["0x10"],"vars":{"arg@0->id":7}}' >job.jsonl
run "$DPE" view -s job.dpe -o job.html job.jsonl
check 'a page names members of arguments as the rules do' "$(grep -c '"j->id"' job.html) $(grep -c 'arg@0' job.html)" = '1 0'
cat >box.dpe <<'X'
include "pthread.dpe"
expect box(b): put(b) ; get(b)
X
cat >runs.py <<'X'
import json

def run(path, order, threads, mutex, broken):
    """The first thread creates two, of which one puts three numbers and one gets them, each with a lock; the last get of a broken run without."""
    locked = lambda event, i: [("pthread_mutex_lock.exit", [mutex], 0), (event, [i], None), ("pthread_mutex_unlock.enter", [mutex], None)]
    does = [[("thread::create", [thread], None) for thread in threads[1:]], sum((locked("put", i) for i in range(3)), []), sum((locked("get", i) for i in range(3)), [])]
    if broken:
        does[2][6:] = [("get", [2], None)]
    numbers = [0, 0, 0]
    with open(path, "w") as log:
        log.write('{"dpe_log":1,"ordered":true}\n')
        for time, of in enumerate(order):
            event, args, ret = does[of].pop(0)
            log.write(json.dumps({"event": event, "thread": threads[of], "seq": numbers[of], "time": time * 1000, "args": args, **({} if ret is None else {"ret": ret})}) + "\n")
            numbers[of] += 1
    assert not any(does)

put, get = [1, 1, 1], [2, 2, 2]
run("pass.jsonl", [0, 0] + (put + get) * 3, [100, 101, 102], "0x5000", False)
run("fail.jsonl", [0, 0] + put + put + get + get + [2] + put, [200, 201, 202], "0x7000", True)
def plain(path, events):
    with open(path, "w") as log:
        for event, thread, arg in events:
            log.write(json.dumps({"event": event, "thread": thread, "args": [arg]}) + "\n")

plain("ids.jsonl", [("put", 1, 1), ("get", 2, 2)])
plain("swapped.jsonl", [("put", 1, 2), ("get", 2, 2)])
for run_of in (0, 1):
    plain(f"long{run_of}.jsonl", [("begin", 1, 0)] + [(f"step{run_of}", 1, i) for i in range(1100)] + [("end", 1, 0)])
run("again.jsonl", [0, 0] + (put + get) * 3, [300, 302, 301], "0x9000", False)
X
/usr/bin/python3 runs.py
run "$DPE" view -s box.dpe -o beside.html --beside=pass.jsonl fail.jsonl
says '--beside counts the events and findings of the other run separately' 1 'pass.jsonl: note: drawn beside it: 20 events, 0 lost, 0 findings, 0 inconclusive' '18 events' '1 violated, 2 satisfied'
run "$DPE" view -s box.dpe -o alike.html --beside=pass.jsonl again.jsonl
gives 'dpe view --beside writes a page with two equal runs' 0
run "$DPE" view -o ids.html --beside=swapped.jsonl ids.jsonl
run "$DPE" view -o cut.html --beside=long1.jsonl long0.jsonl
run "$DPE" view -s box.dpe -o beside.json --beside=pass.jsonl fail.jsonl
says '--beside is refused for a format other than a page' 2 '--beside is for pages: use -o PAGE.html'
run "$DPE" view -s box.dpe -o missing.html --beside=missing.jsonl fail.jsonl
says '--beside reports a missing log' 2 'missing.jsonl: error: cannot open'
mkdir src
printf '%s\n' 'int queue;' 'int get(void) { return queue; }' '' 'void' 'put(void) { queue = 1; }' >src/queue.c

run "$DPE" view -s race.dpe -o page.html log.jsonl
says 'dpe view writes a page and prints the report' 1 '#1 race: match of get(x)&put(x)' '2 matches'
check 'a page refers to no external resource' "$(grep -ciE 'https?:|src=|@import|url\(' page.html)" -eq 0
run "$DPE" replay -s race.dpe --html=same.html log.jsonl
gives 'dpe replay --html writes a page' 1
check 'dpe replay --html writes the same page as dpe view' "$(cmp page.html same.html && echo same)" = same
run "$DPE" view -s race.dpe log.jsonl
says 'dpe view without -o is refused' 2 'no page to write: use -o PAGE.html'
run "$DPE" view -s race.dpe -o no/page.html log.jsonl
says 'dpe view reports a page that cannot be created' 2 'no/page.html: error: cannot create this page'
run "$DPE" view -s race.dpe -o /dev/full log.jsonl
says 'dpe view reports a page that is incomplete on a full device' 2 '/dev/full: error: the page is incomplete'
for words in 'convert log.jsonl ./log.jsonl' 'view -o log.jsonl log.jsonl' 'view -o p.html --beside=log.jsonl --report=log.jsonl calls.jsonl' \
	'replay -s race.dpe --trace=log.jsonl log.jsonl' 'replay -s race.dpe --html=log.jsonl log.jsonl'; do
	cp log.jsonl kept.jsonl
	cp log.jsonl calls.jsonl
	# shellcheck disable=SC2086
	run "$DPE" $words
	says "dpe refuses to write to a log that it reads: $words" 2 'log.jsonl: error: this log is read: write to another file'
	check 'the log that is read is unchanged' "$(cmp log.jsonl kept.jsonl 2>&1)" = ''
done
run "$DPE" view -o plain.html log.jsonl
says 'dpe view draws a log without rules' 0 '7 events'

# Names, values, threads and frames that contain markup, end the script, or name files outside the directory.
python3 - <<'X'
import json
bad = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><!--"
with open("hostile.jsonl", "w") as log:
	for i, thread in enumerate(["<b>1", "2"]):
		log.write(json.dumps({"event": "a" if i else bad, "thread": thread, "comm": bad, "args": [bad, "\u202e\u0007\n"], "ret": bad,
			"stack": [f"{bad} ({bad}.c:3)", "f+0x0 (/etc/passwd:1)", "f+0x0 (../secret.c:1)", "f+0x0 (link.c:1)", "f+0x0 (src/queue.c:99999999999999999999)"],
			"vars": {bad: 1}, "module": bad}) + "\n")
X
echo 'never to be seen' >"$folder.secret.c"
ln -s "$folder.secret.c" link.c
run "$DPE" view -e 'detect hostile: a' -o hostile.html hostile.jsonl
gives 'dpe view writes a page with hostile names' 1
check 'hostile names on a page are no markup' "$(grep -c '<img\|<b>1\|owned.</script>' hostile.html)" -eq 0
check 'a page has no source from outside the working directory' "$(grep -c 'never to be seen\|root:x:' hostile.html)" -eq 0
rm -f "$folder.secret.c"

# Other formats, read by a checker of each format.
cat >calls.jsonl <<'X'
{"dpe_log":1,"ordered":true}
{"event":"outer.enter","thread":1,"seq":0,"time":1000,"args":[7]}
{"event":"inner.enter","thread":1,"seq":1,"time":1000}
{"event":"lost.enter","thread":1,"seq":2,"time":2000}
{"event":"inner.exit","thread":1,"seq":3,"time":3000,"ret":0}
{"event":"pthread_mutex_lock.exit","thread":1,"seq":4,"time":3500,"args":["0x10"],"ret":0}
{"event":"put","thread":1,"seq":5,"time":3600,"args":[1]}
{"event":"pthread_mutex_unlock.enter","thread":1,"seq":6,"time":4000,"args":["0x10"]}
{"event":"pthread_mutex_lock.exit","thread":2,"seq":0,"time":3900,"args":["0x10"],"ret":0}
{"event":"get","thread":2,"seq":1,"time":5000,"args":["\"\n<b>"]}
{"event":"outer.exit","thread":1,"seq":7,"time":6000,"ret":0}
X
for ending in trace.json shiviz dot; do
	run "$DPE" view -s race.dpe -o "calls.$ending" calls.jsonl
	gives "dpe view writes .$ending" 1
	test $ending != trace.json || says 'dpe view says which times trace.json cannot hold' 1 'the format cannot hold the times of 2 events as they are'
	test $ending != shiviz || says 'dpe view says which data ShiViz cannot hold' 1 'cannot hold stacks, times, locks held'
done
{ cat calls.jsonl; echo '{"dpe_lost":3}'; } >lossy.jsonl
run "$DPE" view -s race.dpe -o lossy.shiviz lossy.jsonl
check 'dpe view warns that ShiViz cannot hold remarks on losses' "$(grep -c 'lossy.shiviz: warning: .*; nor the remarks that a page has at its top, such as losses$' err)" -eq 1
python3 "$TOP/tests/cli/view_exports.py" calls.trace.json calls.shiviz calls.dot >exports.tap 2>err
status=$?
cat exports.tap
failures=$((failures + $(grep -c '^not ok' exports.tap)))
gives 'view_exports.py ends without an error' 0
run "$DPE" view -e 'detect hostile: a' -o hostile.trace.json hostile.jsonl
python3 - >order.jsonl <<'X'
seq = {}
def event(thread, name, lock, place):
    seq[thread] = seq.get(thread, -1) + 1
    print('{"event":"pthread_mutex_%s","thread":%d,"seq":%d,"args":["%#x"],"ret":0,"stack":["lock","%s"]}' % (name, thread, seq[thread], lock, place))
def both(thread, outer, inner, times=1):
    for _ in range(times):
        for lock in outer, inner:
            event(thread, "lock.enter", lock, "f%d" % thread)
            event(thread, "lock.exit", lock, "f%d" % thread)
        for lock in inner, outer:
            event(thread, "unlock.enter", lock, "f%d" % thread)
both(1, 0x10, 0x20, 3); both(2, 0x20, 0x30); both(3, 0x30, 0x10); both(4, 0x40, 0x10); both(4, 0x40, 0x50)
X
run "$DPE" view -o order.locks.dot order.jsonl
sed -n 's/.*\(l[0-9]*\) \[label="\(0x.0\)"\];/s,\1 ,\2 ,/p' order.locks.dot >names
sed -n 's/$/ /; s/ \[label/  [label/; /->/p' order.locks.dot | sed -f names | sed -f names | sed 's/^	//; s/  */ /g; s/ $//' | sort >seen
same 'dpe view writes the order of locks as .locks.dot with its cycle in red' seen <<'X'
0x10 -> 0x20 [label="thread 1, f1 (3 times)", color=red, penwidth=2];
0x20 -> 0x30 [label="thread 2, f2", color=red, penwidth=2];
0x30 -> 0x10 [label="thread 3, f3", color=red, penwidth=2];
0x40 -> 0x10 [label="thread 4, f4"];
0x40 -> 0x50 [label="thread 4, f4"];
X
printf '{"event":"a","thread":1}\n' >none.jsonl
run "$DPE" view -e 'detect r: a' -o none.locks.dot none.jsonl
says 'dpe view says that no rule knows locks when .locks.dot is empty' 1 'no rule knows any here: include "locks.dpe"'
run "$DPE" view -s deadlock.dpe -o twice.locks.dot order.jsonl
check '.locks.dot is the same with further rules that know the locks' "$(cmp order.locks.dot twice.locks.dot 2>&1)" = ''
check 'trace.json with hostile names is valid JSON' "$(python3 -c 'import json; print(len(json.load(open("hostile.trace.json"))))')" -eq 3

if test -x "$BUILD-tiny/dpe" && test "$BUILD" = "$TOP/build"; then
	run "$BUILD-tiny/dpe" view -s race.dpe -o tiny.html log.jsonl
	check 'a page says how many events a limit leaves out' "$(grep -c '2 events after the first ones are left out' tiny.html)" -eq 1
fi

if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null || ! /usr/bin/python3 -c 'import selenium' 2>/dev/null; then
	echo "ok - pages in a browser # skip no chromium with chromium-driver and python3-selenium: make test-deps"
	test "${DPE_LIVE:-}" != require || not_ok 'a browser is needed: make test-deps'
	finish
fi
python3 - >many.jsonl <<'X'
import json
print(json.dumps({"dpe_log": 1, "ordered": True}))
for i in range(100000):
	lock, thread, step = i // 4, i // 4 % 8 + 1, i % 4
	event = ["pthread_mutex_lock.exit", "get", "put", "pthread_mutex_unlock.enter"][step]
	print(json.dumps({"event": event, "thread": thread, "seq": lock // 8 * 4 + step, "time": i * 100,
		"args": [f"0x{lock % 20 + 1:x}0"] if step in (0, 3) else [i], **({"ret": 0} if step == 0 else {})}))
X
run "$DPE" view -s race.dpe -o many.html many.jsonl
gives 'dpe view writes a page of 100,000 events' 1
python3 - >random.jsonl <<'X'
import json, random
dice, ids = random.Random(1), []
for i in range(400):
	thread = dice.randrange(4)
	event = {"id": f"e{i}", "thread": thread, "host": f"h{thread % 2}", "event": dice.choice(["send", "recv", "a", "b", "a", "b", "acq", "rel"]),
		"args": [dice.randrange(3)]}
	if dice.random() < .2 and ids:
		event["pred"] = [dice.choice(ids)]
	ids.append(event["id"])
	print(json.dumps(event))
X
cat >random.dpe <<'X'
sync fifo pipe(x): send(x) ; recv(x)
sync exclusive lock(x): rel(x) ; acq(x)
detect independent(x): a(x) & b(x)
detect ordered: a ; b
X
run "$DPE" view -s random.dpe -o random.html random.jsonl
gives 'dpe view writes a page of a random partial order' 1
pattern='^(?<time>\S+) (?<host>\S+) \w+\[(?<thread>\d+)\]: (?<event>\w+)(?: \w+)? tx=(?<arg1>\d+)(?:.* id=(?<arg2>\w+))?'
run "$DPE" view --pattern="$pattern" -s "$TOP/examples/two-phase-commit/commit.dpe" -o hosts.html "$TOP"/examples/two-phase-commit/*.log
gives 'dpe view writes a page of logs of several hosts' 1
printf '{"event":"%s","args":[1],"host":"%s","thread":1,"time":%s}\n' send a 100 receive.exit b 50 >behind.jsonl
run "$DPE" view -e 'sync message(m): send(m) ; receive(m).exit' -e 'detect never: none' -o behind.html behind.jsonl
check 'a page says by how much a clock is behind at least' "$(grep -o 'is at least 0.000050 ms behind that of' behind.html)"
/usr/bin/python3 "$TOP/tests/cli/view_page.py" page.html hostile.html many.html steps.html random.html predict.html beside.html alike.html ids.html cut.html hosts.html >page.tap 2>page.err
ended=$?
cat page.tap
failures=$((failures + $(grep -c '^not ok' page.tap)))
status=$ended
cp page.err err
gives 'view_page.py ends without an error' 0
finish
