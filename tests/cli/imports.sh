# Logs of other programs: OpenTelemetry, ShiViz, the systemd journal, and any text by a regular expression.
. tests/tap.sh
imports=$TOP/tests/cli/imports.py

# ten TITLE FUNCTION: the function succeeds for ten seeds
ten() {
	right=0
	for seed in 1 2 3 4 5 6 7 8 9 10; do
		"$2" $seed && right=$((right + 1))
	done
	check "$1, $right of 10" $right -eq 10
}

# members LOG NAME...: of each of its events, in seen
members() {
	python3 "$imports" members "$@" >seen
}

# ---- vector clocks ----
in_order_of_clocks() {
	python3 "$imports" make "$1" >log.shiviz
	run "$DPE" convert log.shiviz log.jsonl
	test "$status $(python3 "$imports" order log.jsonl log.shiviz)" = '0 True 0'
}
ten 'random ShiViz logs are ordered as their vector clocks say' in_order_of_clocks
run "$DPE" convert --pattern='^(?<host>\S*) (?<clock>\{.*\})\n(?<event>.*)$' log.shiviz again.jsonl
check '--pattern reads a ShiViz log to the same messages' "$status $(cmp log.jsonl again.jsonl 2>&1)" = '0 '
printf '{"event":"a","id":"1","host":"x"}\n{"event":"b","id":"2","host":"y","pred":["1"]}\n{"event":"c","id":"3","host":"z"}\n' >small.jsonl
run "$DPE" view small.jsonl -o small.shiviz
run "$DPE" replay -e 'detect ordered: a ; b' -e 'detect apart: b & c' -e 'detect none: c ; b' small.shiviz
says 'a ShiViz log that dpe view wrote has the order of its events' 1 'ordered: match' 'apart: match' '2 matches'
printf 'x {"x":1}\na\n' >x.shiviz
printf 'y {"x":1,"y":1}\nb\n' >y.shiviz
run "$DPE" replay -e 'detect apart: a & b' x.shiviz y.shiviz
says 'vector clocks of several logs are refused' 2 'y.shiviz: error: vector clocks order the events of one log: put this one and the others into one file'
run "$DPE" replay -e 'detect any: b' y.shiviz
says 'a host without events in a ShiViz log is named' 1 "y.shiviz: warning: clocks count events of 'x', of which this log has none" '1 match'
cat y.shiviz x.shiviz >both.shiviz
run "$DPE" replay -e 'detect apart: a & b' both.shiviz
says 'and order the events of one, in any order' 0 'nothing found'
printf 'h {"g":1}\nevent\n' >wrong.shiviz
run "$DPE" replay -e 'detect a' wrong.shiviz
says 'a ShiViz clock without its own host is an error with its line' 2 "wrong.shiviz:1: error: its clock is not a JSON object with a number for 'h'"

# ---- clocks of hosts ----
cat >clocks.py <<'END'
import json, random, re, sys
HOSTS = "abc"
def make(seed):
    chance = random.Random(seed)
    offsets = {host: chance.randrange(-10 ** 9, 10 ** 9) for host in HOSTS}
    events, count = [], {host: 0 for host in HOSTS}
    def event(time, host, what, message):
        events.append((time, {"event": what, "host": host, "thread": 1, "time": 10 ** 12 + time + offsets[host], "args": [message]}))
    for message in range(60):
        time, (sender, receiver) = chance.randrange(10 ** 9), chance.sample(HOSTS, 2)
        event(time, sender, "send", message)
        event(time + chance.randrange(10 ** 7), receiver, "receive", message)
    for time, one in sorted(events, key=lambda pair: pair[0]):
        one["seq"] = count[one["host"]]
        count[one["host"]] += 1
        print(json.dumps(one))
    return offsets
def check(seed, page):
    offsets, found = make(seed), 0
    for host, least, most, way, other in re.findall(
            r'the clock of \\"(\w)\\" is between ([\d.]+) ms and ([\d.]+) ms (behind|ahead of) that of \\"(\w)\\"', open(page).read()):
        truth = (offsets[host] - offsets[other]) * (1 if way == "ahead of" else -1) / 1e6
        assert float(least) <= truth <= float(most), (seed, host, other, least, truth, most)
        found += 1
    return found
if len(sys.argv) > 2:
    sys.stdout = open("/dev/null", "w")
    sys.exit(check(int(sys.argv[1]), sys.argv[2]) != 3)
make(int(sys.argv[1]))
END
within_bounds() {
	python3 clocks.py "$1" >hosts.jsonl
	run "$DPE" view -e 'sync message(m): send(m) ; receive(m)' -e 'detect never: none' -o hosts.html hosts.jsonl
	python3 clocks.py "$1" hosts.html
}
ten 'a page bounds the offsets between the clocks of hosts correctly' within_bounds

# ---- OpenTelemetry ----
without_cycles() {
	python3 "$imports" otlp "$1" >log.otlp
	run "$DPE" convert log.otlp log.jsonl
	test "$status $(python3 "$imports" acyclic log.jsonl)" = '0 acyclic True'
}
ten 'the order of random OpenTelemetry spans has no cycle' without_cycles

# span ID PARENT KIND BEGIN END NAME MORE: one of the trace 01
span() {
	printf '{"traceId":"01","spanId":"%s","parentSpanId":"%s","kind":%s,"startTimeUnixNano":"%s","endTimeUnixNano":"%s","name":"%s"%s}' "$@"
}
# service NAME SPANS: a request with these spans
service() {
	printf '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"%s"}},%s]},"scopeSpans":[{"spans":[%s]}]}]}\n' \
		"$1" '{"key":"host.name","value":{"stringValue":"h1"}}' "$2"
}
{
	service shop "$(span a '' 2 100 900 'GET /checkout' ',"attributes":[{"key":"http.status","value":{"intValue":"200"}}]'),$(
		span b a 3 200 300 pay ''),$(span c a 3 400 500 ship ''),$(span d a 3 450 600 mail ',"events":[{"name":"sent it","timeUnixNano":"460"}]')"
	service bank "$(span e b 2 150 290 charge ',"status":{"code":1}')"
} >shop.otlp
run "$DPE" replay -e 'expect order(t): GET__checkout(t).enter ; pay(t).enter ; charge(t).enter ; charge(t).exit ; pay(t).exit ;
	(ship(t).enter ; ship(t).exit & mail(t).enter ; sent_it(t) ; mail(t).exit) ; GET__checkout(t).exit' shop.otlp
says 'OpenTelemetry spans that do not overlap are ordered, and server spans are in client spans' 0 '1 satisfied' '11 events, 0 lost'
run "$DPE" convert shop.otlp shop.jsonl
check 'OpenTelemetry spans keep host, attributes and status' "$(grep -c '"host":"bank/h1".*"ret":1' shop.jsonl) $(grep -c '"vars":{"name":"GET /checkout","http_status":200}' shop.jsonl)" = '1 2'
run "$DPE" replay -e 'detect failed(t): charge(t).exit [.ret == 1]' shop.otlp
says 'a condition tests the status of an OpenTelemetry span' 1 'failed: match'
sed 's/"parentSpanId":"b"/"parentSpanId":"ff"/' shop.otlp >lost.otlp
run "$DPE" replay -e 'expect order(t): (pay(t).enter ; charge(t).enter)' lost.otlp
says 'a missing parent of an OpenTelemetry span is a loss' 3 'warning: 1 parents or links of spans are not in this log' ' 1 lost' inconclusive
sed 's/"parentSpanId":"b"/"parentSpanId":"B"/; s/"kind":2/"kind":"SPAN_KIND_SERVER"/; s/"kind":3/"kind":"SPAN_KIND_CLIENT"/; s/"code":1/"code":"STATUS_CODE_OK"/' shop.otlp >names.otlp
run "$DPE" convert names.otlp names.jsonl
check 'OpenTelemetry kinds and statuses can be names, and ids be in upper case' "$status $(cmp shop.jsonl names.jsonl 2>&1)" = '0 '
sed 's/"endTimeUnixNano":"290"/"endTimeUnixNano":"0"/' shop.otlp >unfinished.otlp
run "$DPE" replay -e 'expect answered(t): charge(t).enter ; charge(t).exit' -e 'detect returned(t): pay(t).exit' unfinished.otlp
says 'an OpenTelemetry span without an end has no exit event' 1 'answered: incomplete' 'returned: match' '10 events, 0 lost'
service shop "$(span a a 1 100 200 own ''),$(span b c 1 1 2 left ''),$(span c b 1 1 2 right '')" >cycle.otlp
run "$DPE" replay -e 'detect x(t): own(t).exit' cycle.otlp
check 'a replay of OpenTelemetry spans that are their own parents ends' "$status" != 0
for damage in '{' '{}' '[]' 'text' '{"resourceSpans":{"a":[]}}' '{"resourceSpans":[{"scopeSpans":[{"spans":[1,"x",null,{}]}]}]}' '{"resourceSpans":[1,null]}' '' \
	'{"resourceMetrics":[]}'; do
	printf '%s' "$damage" >damaged.otlp
	run "$DPE" replay -e 'detect x: a' damaged.otlp
	check "a damaged OpenTelemetry trace is refused: $damage" "$status" -ge 2 && check 'the refusal of a damaged OpenTelemetry trace has a message' "$(lines err)" -ge 1
done
head -c 300 shop.otlp >cut.otlp
run "$DPE" replay -e 'detect x: pay.enter' cut.otlp
says 'a truncated OpenTelemetry trace is inconclusive' 3 'the log ends within a request: the rest is lost'

# ---- the systemd journal ----
# entry MICROSECONDS PID MESSAGE MORE: as journalctl -o json prints it
entry() {
	printf '{"__CURSOR":"s=1;i=%s","__REALTIME_TIMESTAMP":"%s","__MONOTONIC_TIMESTAMP":"%s","_HOSTNAME":"web1","_PID":"%s","_COMM":"dbd","SYSLOG_IDENTIFIER":"db-server","PRIORITY":"6","_SYSTEMD_UNIT":"db.service","MESSAGE":%s%s}\n' \
		"$1" "$1" "$1" "$2" "$3" "$4"
}
{
	entry 1795428000000001 7 '"open id=1"' ''
	entry 1795428000000002 7 '[111,112,101,110,32,105,100,61,50,255]' ',"_TID":"9"'
	entry 1795428000000003 7 '"close id=1"' ',"SYSLOG_FACILITY":["3","4"]'
	entry 1795428000000004 7 '["close id=2","again"]' ',"_TID":"9"'
	entry 1795428000000005 7 '"nothing"' ''
} >db.journal
run "$DPE" convert db.journal db.jsonl
check 'journal entries are events named after their identifier' "$status $(grep -c '"event":"db_server".*"args":\["open id=1"\]' db.jsonl) $(grep -c '"unit":"db.service","priority":6' db.jsonl)" = '0 1 5'
run "$DPE" convert --pattern='^(?<event>\w+) id=(?<arg1>\d+)' db.journal db.jsonl
says '--pattern matches the messages of journal entries' 0 'note: 1 of 5 lines do not match --pattern'
members db.jsonl event args host process thread comm time unit
cat >right <<'END'
open 1 web1 7 7 dbd 1795428000000001000 db.service
open 2 web1 7 9 dbd 1795428000000002000 db.service
close 1 web1 7 7 dbd 1795428000000003000 db.service
close 2 web1 7 9 dbd 1795428000000004000 db.service
END
same 'journal entries keep threads, byte arrays and the first of several values' seen <right
run "$DPE" replay --pattern='^(?<event>\w+) id=(?<arg1>\d+)' -e 'expect file(i): open(i) ; close(i)' - <db.journal
says 'a journal on standard input is recognized by its content' 0 '2 satisfied'
run "$DPE" replay --from=journal -e 'detect urgent: db_server [priority = 6 && unit = "db.service" && .host = "web1"]' - <db.journal
says '--from=journal reads a journal from standard input' 1 '5 matches'
{ cat db.journal; entry 1795428000000006 7 '"Suppressed 3 messages"' ',"N_DROPPED":"3"'; } >dropped.journal
run "$DPE" replay -e 'expect n: db_server*' dropped.journal
says 'messages that journald dropped are lost' 3 ' 3 lost' inconclusive
entry 1795428000000008 7 '"Suppressed 4 messages"' ',"N_DROPPED":"4"' >>dropped.journal
run "$DPE" replay --pattern='^(?<event>\w+) id=(?<arg1>\d+)|^(?<lost>noth)' -e 'expect n: open*' dropped.journal
says 'drops of journald and losses that --pattern finds are added' 3 ' 8 lost' inconclusive
{ cat db.journal; entry 1795428000000006 7 null ''; } >large.journal
run "$DPE" replay -e 'expect n: db_server*' large.journal
says 'a journal field too large for journalctl to print is lost' 3 ' 1 lost' 'use journalctl --all'
{
	cat db.journal
	entry 1795428000000006 7 '[]' ''
	entry 1795428000000007 7 '[97,0,98]' ''
	entry 1795428000000008 7 '"x"' '' | sed 's/,"MESSAGE":"x"//'
} >texts.journal
run "$DPE" convert texts.journal texts.jsonl
check 'a journal entry with an empty or binary message, or none, is an event' "$status $(tail -n 3 texts.jsonl | sed 's/.*"time":[0-9]*,\(.*\)"vars".*/\1/' | tr '\n' ' ')" = '0 "args":[""], "args":["a�b"],  '
stamp='"__REALTIME_TIMESTAMP":"1"'
for damage in '{' '[]' 'text' '{"event":"a"}' '{"__REALTIME_TIMESTAMP":7}' '{"__REALTIME_TIMESTAMP":"x","MESSAGE":"a"}' \
	'{"__REALTIME_TIMESTAMP":"18446744073709552","MESSAGE":"a"}' "{$stamp,\"_PID\":\"99999999999999999999\",\"MESSAGE\":\"a\"}" \
	"{$stamp,\"_TID\":[\"x\",\"1\"],\"MESSAGE\":\"a\"}" "{$stamp,\"MESSAGE\":[300]}" "{$stamp,\"MESSAGE\":[1.5]}" "{$stamp,\"MESSAGE\":7}" \
	"{$stamp,\"MESSAGE\":{}}" "{$stamp,\"MESSAGE\":\"a\",\"N_DROPPED\":\"many\"}"; do
	{ cat db.journal; printf '%s\n' "$damage"; } >damaged.journal
	run "$DPE" replay -e 'expect n: db_server*' damaged.journal
	says "a damaged journal entry is an error with its line: $damage" 2 'damaged.journal:6: error: this is not an entry of a journal' inconclusive
done
{ cat db.journal; entry 1795428000000006 7 '"Linux"' '' | sed 's/"_PID":"7",//'; } >kernel.journal
run "$DPE" replay -e 'expect n: db_server*' kernel.journal
says 'journal entries without a process are counted' 1 'kernel.journal: note: 1 of 6 entries name no process: nothing orders them'
run "$DPE" replay --pattern='^(?<event>\w+)( id=(?<thread>\d+))?' -e 'detect n: nothing' kernel.journal
check 'journal entries whose thread --pattern names need no process' "$status $(grep -c 'name no process' err)" = '1 0'
printf 'LPKSHHRH\001\002' >own.journal
run "$DPE" replay -e 'detect a' own.journal
says "a binary journal file is refused with the journalctl command to use" 2 'journalctl --file=own.journal -o json'

# ---- any text ----
cat >app.log <<'END'
# begins
2026-11-23T10:00:00.5Z web1 [worker-3] open id=7 path=/a
2026-11-23 11:00:01,25+01:00 web1 [worker-3] close id=7 path=/a

1795428002 web1 [worker-4] close id=8 path=/b
1795428003.5 web1 [worker-4] shut.exit id=8 path=/b
1795428004000 web2 [worker-4] step id=-1.5 path=/b
Nov 23 10:00:00 web2 [worker-4] step id=0x10 path=/b
23/Nov/2026:10:00:00 +0000 web2 [worker-4] step id=007 path=/b
END
expression='^(?<time>.+?) (?<host>web\d) \[(?<thread>[^]]+)\] (?<event>\S+) id=(?<arg1>\S+) path=(?<path>\S+)'
run "$DPE" convert --pattern="$expression" app.log app.jsonl
says 'lines that do not match --pattern are counted' 0 'note: 1 of 8 lines do not match --pattern'
members app.jsonl event host thread time args path
cat >right <<'END'
open web1 worker-3 1795428000500000000 7 /a
close web1 worker-3 1795428001250000000 7 /a
close web1 worker-4 1795428002000000000 8 /b
shut.exit web1 worker-4 1795428003500000000 8 /b
step web2 worker-4 1795428004000000000 -1.5 /b
step web2 worker-4 91360800000000000 0x10 /b
step web2 worker-4 1795428000000000000 007 /b
END
same '--pattern reads hosts, threads, numbers and times of several forms' seen <right
run "$DPE" replay --pattern="$expression" -e 'expect file(i): open(i) ; close(i)' app.log
says 'a rule follows events that --pattern reads' 1 'where i = 8' '1 violated'
echo 'expect file(i): open(i) ; close(i)' >file.dpe
run "$DPE" replay --pattern="$expression" -s file.dpe app.log
says '--pattern takes a file of any name after -s SPEC as a log' 1 '1 violated'
printf 'a 1\nb 2 1\nc 3 1,2\n' >preds.txt
run "$DPE" replay --pattern='^(?<event>\w) (?<id>\d)(?: (?<pred>\S+))?' -e 'expect all: a ; b ; c' preds.txt
says '--pattern reads ids and predecessors' 0 '1 satisfied'
printf 'a 1\nb 1\n' >sequence.txt
run "$DPE" replay --pattern='^(?<event>\w) (?<arg1>\d)' -e 'expect all(x): a(x) ; b(x)' sequence.txt
says 'events without a thread are in no order, and the warning says how --pattern gives them one' 1 '(?<thread>)'
run "$DPE" replay --pattern='^(?<event>\w) (?<arg1>\d)(?<thread>)' -e 'expect all(x): a(x) ; b(x)' sequence.txt
says 'an empty group for the thread makes the log one sequence' 0 '1 satisfied'
# The times of a log are in its order, whatever the unit of numbers is, and where dates have no year or no day.
in_order() {
	run "$DPE" convert --pattern='^(?<time>.*\d(?: [AP]M)?) (?<event>\w)$' times.txt times.jsonl
	check "$1" "$status $(grep -o '"time":[0-9]*' times.jsonl | sed 's/.*://' | sort -nuc 2>&1 && grep -c '"time"' times.jsonl)" = "0 $2"
}
for unit in 1 1000 1000000; do
	for from in 1 9999999998 9999999999998 9999999999999998 1764288000000000000; do
		seq $((from / unit)) $((from / unit + 4)) | sed 's/$/ a/' >times.txt
		in_order "whole numbers from $from / $unit are times in one unit" 5
	done
done
printf '%s a\n' 0 9 1000000000 20000000000 100000000000 100000000000000 18446744073709551615 >times.txt
in_order 'numbers of nanoseconds from 0 on are times in one unit' 7
printf '%s a\n' 9.5 18446744073.1 18446744073.709551615 >times.txt
in_order 'numbers of seconds with fractions are times' 3
printf '%s a\n' 18446744073.709551616 18446744073709551616 99999999999.5 >times.txt
run "$DPE" replay --pattern='^(?<time>\S+) (?<event>\w)' -e 'detect b' times.txt
says 'numbers that are too large for times are none' 0 '3 times cannot be read'
printf '%s a\n' 'Feb 28 23:59:59' 'Feb 29 12:00:00' 'Mar  1 00:00:00' 'Dec 31 23:59:59' 'Jan  1 00:00:00' 'Sep 30 01:00:00' 'Jan  2 00:00:00' >times.txt
in_order 'dates without a year continue in the next year' 7
printf '%s a\n' 08:00:00 21:00:00 23:59:59.9 00:00:00.1 12:00:00 18:00:00 03:00:00 >times.txt
in_order 'times of day continue on the next day' 7
printf '%s a\n' 'Dec 31 23:59:59 2025' 'Jan  1 00:00:00 2026' 'Feb 28 23:59:59 2026' 'Mar  1 00:00:00 2026' 'Jan  1 00:00:00 2027' >times.txt
in_order 'dates with the year at their end' 5
printf '%s a\n' '11:00:00 AM' '01:00:00 PM' >times.txt
run "$DPE" replay --pattern='^(?<time>\S+ \S+) (?<event>\w)' -e 'detect b' times.txt
says 'times of half a day are not read' 0 '2 times cannot be read'
printf 'a 1\nlost 7 here\nb 2\nlost some\n' >lossy.txt
run "$DPE" replay --pattern='^(?<event>\w) (?<id>\d)|^lost (?<lost>\w+)' -e 'expect all: a* ; b*' lossy.txt
says '--pattern reads losses, at least one for each line' 3 '2 events, 8 lost' inconclusive
run "$DPE" replay --pattern='(\w' -e 'detect a' preds.txt
says '--pattern refuses an invalid regular expression' 2 'error: at character 4: missing closing parenthesis'
run "$DPE" replay --pattern='\w+' -e 'detect a' preds.txt
says '--pattern refuses a regular expression without a group for the event' 2 'it needs a group that names the event'
run "$DPE" replay --pattern='^(?<event>zzz)' -e 'detect a' preds.txt
says '--pattern refuses a log of which no line matches' 2 'none of its 3 lines matches --pattern'
head -c 100000 /dev/zero | tr '\0' a >evil.txt
run timeout 60 "$DPE" replay --pattern='(?<event>(a+)+)$b' -e 'detect a' evil.txt
check 'a regular expression that backtracks too much ends with an error' "$status" -eq 2
head -c 100000 /dev/urandom >bytes.txt
run "$DPE" replay --pattern='(?<event>.+) (?<x>.*)' -e 'detect a' bytes.txt
check '--pattern reads a log of random bytes without crashing' "$status" -le 3
run "$DPE" convert shop.jsonl x.otlp
says 'dpe convert refuses to write OpenTelemetry' 2 'this format is only read'
finish
