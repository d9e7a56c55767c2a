# Logs: dpe convert, and dpe replay on logs good and bad.
. tests/tap.sh

# The paper's example of stabilizing: e2 sends, e4 receives.
printf '(e1 .) (e2 e3) (e3 e1) (e4 e1) (e5 e4)\n' >in.msg
printf 'sync S: e2 ; e4\n' >sync.dpe
run "$DPE" convert --stabilize -s sync.dpe in.msg out.msg
gives 'dpe convert --stabilize stabilizes the paper'"'"'s example' 0
same 'dpe convert --stabilize writes the order of the paper in its notation' out.msg <<'X'
(e1 .)
(e3 e1)
(e2 e3)
(e4 e1)
(e5 e4 e2)
X
run "$DPE" convert --stabilize -s sync.dpe in.msg out.jsonl
gives 'dpe convert --stabilize writes JSON Lines' 0
same 'dpe convert --stabilize writes the order of the paper as JSON Lines' out.jsonl <<'X'
{"dpe_log":1,"ordered":true}
{"event":"e1","id":"e1"}
{"event":"e3","id":"e3","pred":["e1"]}
{"event":"e2","id":"e2","pred":["e3"]}
{"event":"e4","id":"e4","pred":["e1"]}
{"event":"e5","id":"e5","pred":["e4","e2"]}
X
run "$DPE" convert in.msg plain.jsonl
gives 'dpe convert reads .msg and writes .jsonl' 0
run "$DPE" convert --stabilize -s sync.dpe plain.jsonl stable.msg
same 'stabilizing the .jsonl log gives the same .msg log' stable.msg <out.msg
run "$DPE" convert plain.jsonl back.msg
printf '(e1 .)\n(e2 e3)\n(e3 e1)\n(e4 e1)\n(e5 e4)\n' | same 'a .msg log converted to .jsonl and back is unchanged' back.msg
run "$DPE" convert out.jsonl again.jsonl
grep -v dpe_log out.jsonl >wanted.events
grep -v dpe_log again.jsonl | same 'a .jsonl log converted to .jsonl is unchanged' wanted.events
run "$DPE" convert --to=msg plain.jsonl -
same 'dpe convert --to=msg writes to standard output' out <back.msg
run sh -c '"$0" convert --from=msg --to=msg - - <back.msg' "$DPE"
same 'dpe convert --from=msg reads standard input' out <back.msg

cat >full.jsonl <<'X'
{"dpe_log":1}
{"event":"f.enter","id":"one","thread":7,"process":3,"host":"h","seq":0,"time":1000000000000000001,"args":[1,"x","0x7f"],"vars":{"n":2},"stack":["f+0x0 (f.c:1)"],"unknown":{"kept":[1.50,null]}}
{"event":"f.exit","thread":7,"process":3,"host":"h","seq":1,"time":1000000000000000002,"args":[1,"x","0x7f"],"ret":-1}
X
run "$DPE" convert full.jsonl copy.jsonl
gives 'dpe convert reads a .jsonl log with every member' 0
run python3 - full.jsonl copy.jsonl <<'X'
import json, sys
old, new = ([json.loads(l) for l in open(f)][1:] for f in sys.argv[1:])
sys.exit(old != new)
X
check 'every member is the same after a conversion' "$status" -eq 0

printf 'expect R: a;(b&(c;d));e\n' >r.dpe
cat >log.jsonl <<'X'
{"id":"1","event":"a","thread":1}
{"id":"2","event":"b","pred":["1"],"thread":2}
{"id":"3","event":"c","pred":["1"],"thread":3}
{"id":"4","event":"d","pred":["3"],"thread":3}
{"id":"5","event":"e","pred":["2","4"],"thread":1}
X
run "$DPE" replay -s r.dpe log.jsonl
says 'dpe replay reports a satisfied rule' 0 'nothing found, 1 satisfied'
run sh -c '"$0" replay -s r.dpe - <log.jsonl' "$DPE"
says 'dpe replay reads a log from standard input' 0 'dpe: 5 events, 0 lost; 1 rule: nothing found, 1 satisfied'

head -c 190 log.jsonl >cut.jsonl
run "$DPE" replay -s r.dpe cut.jsonl
says 'a truncated .jsonl log is replayed up to its end and is inconclusive' 3 'cut' 'inconclusive'
run "$DPE" convert cut.jsonl cut.msg
check 'dpe convert of a truncated log fails' "$status" -ne 0
grep -v '"id":"3"' log.jsonl >lost.jsonl
run "$DPE" replay -s r.dpe lost.jsonl
says 'a missing predecessor makes the verdict inconclusive' 3 'held to the end: d' 'predecessor 3, which never arrived' \
	'inconclusive'
printf '{"event":"a"}\nthis is not JSON\n{"event":"b"}\n' >bad.jsonl
run "$DPE" replay -s r.dpe bad.jsonl
says 'a line that is not JSON is an error with its number' 2 'bad.jsonl:2'
printf '{"id":1,"event":"a"}\n{"event":5}\n{"id":3}\n' >wrong.jsonl
run "$DPE" replay -s r.dpe wrong.jsonl
says 'members of the wrong type are errors with their line' 2 'wrong.jsonl:2' 'wrong.jsonl:3'
printf '{"id":1,"event":"a"}\n{"id":1,"event":"b"}\n' >twice.jsonl
run "$DPE" replay -s r.dpe twice.jsonl
says 'an id that occurs twice is an error' 2 'message 2: error: a message with the id 1 occurred before'
printf '(a .) (b' >open.msg
run "$DPE" replay -s r.dpe open.msg
check 'a truncated .msg log is not replayed as a whole one' "$status" -ge 2
: >empty.jsonl
run "$DPE" replay -s r.dpe empty.jsonl
says 'an empty log leaves an expectation incomplete' 1 'incomplete' '0 events'
run "$DPE" replay -s r.dpe log.jsonl no-such.jsonl
says 'dpe replay of two logs fails if one of them is missing' 2 'no-such.jsonl'
head -2 log.jsonl >first.jsonl
tail -3 log.jsonl >second.jsonl
run "$DPE" replay -s r.dpe second.jsonl first.jsonl
check 'dpe replay reads two parts of a log in reverse order' "$status" -le 3
# A second reader of .dpel logs, written from docs/dpel.md.
python3 - >all.jsonl <<'X'
import random
dice, seq = random.Random(4), [0] * 3
for i in range(3000):
    t = dice.randrange(3)
    seq[t] += 1 + (dice.random() < 0.01)
    line = f'{{"event":"f{dice.randrange(4)}{dice.choice(["", ".enter", ".exit"])}"'
    if dice.random() < 0.1:
        line += f',"id":"e{i}","pred":[{i},"x"]'
    if t == 1:
        line += ',"host":"h","process":7'
    line += f',"thread":{["1", chr(34) + "T" + chr(34), "3"][t]}'
    if t == 2:
        line += ',"comm":"worker"'
    line += f',"seq":{seq[t]},"time":{1000 * i + 5000000000 * (dice.random() < 0.01)}'
    if dice.random() < 0.5:
        line += ',"module":"libc.so.6"'
    args = [dice.choice(["-1", "7", '"s"', '"0x7f0000001234"', '"0x10"', "1.5", "18446744073709551615", "4294967296", "true"])
            for _ in range(dice.choice([0, 1, 1, 2, 9]))]
    if args:
        line += ',"args":[' + ",".join(args) + "]"
    if dice.random() < 0.3:
        line += ',"ret":-22'
    if dice.random() < 0.1:
        line += ',"vars":{"x":1,"y":"long ' + 70 * "y" + '"}'
    if dice.random() < 0.2:
        line += ',"stack":["f+0x1","main+0x2"]'
    if dice.random() < 0.2:
        line += ',"loc":%d' % dice.randrange(9)
    print(line + "}")
X
for order in '' ',"ordered":true'; do
	{ echo "{\"dpe_log\":1$order}"; cat all.jsonl; } >plain.jsonl
	"$DPE" convert plain.jsonl plain.dpel && "$DPE" convert plain.dpel back.jsonl
	run python3 "$TOP/tests/cli/dpel.py" plain.dpel
	gives "a reader written from docs/dpel.md reads the .dpel log${order:+, ordered}" 0
	cp out other.jsonl
	same "a reader written from docs/dpel.md reads the same messages as dpe${order:+, ordered}" other.jsonl <back.jsonl
done

# A message without an id is referred to by its place, even if its thread and number are known.
cat >placed.jsonl <<'LOG'
{"event":"c","thread":2,"seq":0,"pred":[3]}
{"event":"b","thread":1,"seq":1}
{"event":"a","thread":1,"seq":0}
LOG
echo 'detect r: a ; c' >placed.dpe
run "$DPE" replay -s placed.dpe placed.jsonl
check 'a predecessor is found by its place in the log' "$status $(grep -c 'r: match' err)" = '1 1'
for letter in p:70 r:72 e:65 d:64; do
	sed "s/\(\"[pred]*\)${letter%:*}\([pred]*\":\[3\]\)/\1\\\\u00${letter#*:}\2/" placed.jsonl >spelled.jsonl
	run "$DPE" replay -s placed.dpe spelled.jsonl
	check "a member name with an escaped letter is read: $(grep -o '"[^"]*":\[' spelled.jsonl)" "$status $(grep -c 'r: match' err) $(grep -c u00 spelled.jsonl)" = '1 1 1'
done

# A pipe is read once: places are kept if the beginning of the log has predecessors; else a later one is an error.
# late COUNT: so many messages, and one that names the last but one of them
late() {
	seq 0 $(($1 - 1)) | sed "s/.*/{\"event\":\"b\",\"thread\":1,\"seq\":&}/; $(($1 - 1))s/b/a/"
	printf '{"event":"c","thread":2,"seq":0,"pred":[%d]}\n' $(($1 - 1))
}
for count in 10 16384 16385; do
	late $count >late.jsonl
	run "$DPE" replay -s placed.dpe late.jsonl
	check "a predecessor is found by its place in a file after $count messages" "$status $(grep -c 'r: match' err)" = '1 1'
	late $count | "$DPE" replay -s placed.dpe - >out 2>err
	status=$?
	test $count -gt 16384 && expected='2 0 1 1' || expected='1 1 0 0'
	check 'through a pipe a place is found or, after 16384 messages, is an error' "$status $(grep -c 'r: match' err) $(grep -c 'so earlier messages were forgotten' err) $(
		grep -c 'r: inconclusive' err)" = "$expected"
done

# The first edge of a stabilized log may come late: its first message has an id, so a pipe is read as the file is.
{
	echo '{"dpe_log":1,"ordered":true}'
	seq 0 16400 | sed 's/.*/{"event":"b","thread":1,"seq":&}/'
	printf '{"event":"%s","thread":%d,"seq":%d}\n' a 1 16401 acquire 2 0 c 2 1
} >unedged.jsonl
echo 'sync last l: a ; acquire' >edges.dpe
"$DPE" convert --stabilize -s edges.dpe unedged.jsonl edged.jsonl
"$DPE" replay -e 'detect r: a ; c' - <edged.jsonl >out 2>err
check 'a stabilized log is read from a pipe, however late its first edge is' "$? $(grep -c 'r: match' err)" = '1 1'

# Two ordered logs of one host are merged by time, not in the order of the command line.
cat >first.jsonl <<'LOG'
{"dpe_log":1,"ordered":true}
{"event":"a","thread":1,"seq":0,"time":1}
{"event":"unlock","thread":1,"seq":1,"time":2,"args":[7]}
LOG
cat >second.jsonl <<'LOG'
{"dpe_log":1,"ordered":true}
{"event":"lock.exit","thread":2,"seq":0,"time":3,"args":[7]}
{"event":"b","thread":2,"seq":1,"time":4}
LOG
printf 'sync last m(l): unlock(l) ; lock(l).exit\ndetect r: a ; b\n' >two.dpe
for logs in 'first.jsonl second.jsonl' 'second.jsonl first.jsonl'; do
	# shellcheck disable=SC2086
	run "$DPE" replay -s two.dpe $logs
	check "two ordered logs are merged by their times: $logs" "$status $(grep -c 'r: match' err)" = '1 1'
done
# Without times the logs have no common order.
sed -i 's/,"time":[0-9]//' first.jsonl second.jsonl
run "$DPE" replay -s two.dpe second.jsonl first.jsonl
check 'the verdict on two logs without times is inconclusive' "$status $(grep -c 'r: inconclusive' err)" = '3 1'

# A thread id that is reused after thread::exit is another thread, even if no rule names that event; its numbers may restart.
for second in 0 2; do
	cat >again.jsonl <<LOG
{"event":"a","thread":1,"seq":0}
{"event":"thread::exit","thread":1,"seq":1}
{"event":"b","thread":1,"seq":$second}
{"event":"b","thread":1,"seq":$((second + 1))}
LOG
	echo 'expect r: a & b ; b' >again.dpe
	run "$DPE" replay -s again.dpe again.jsonl
	check "a thread with the id of an ended one is another thread, numbered from $second" "$status $(grep -c 'satisfied' err)" = '0 1'
done
finish
