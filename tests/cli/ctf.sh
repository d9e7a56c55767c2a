# Traces in the Common Trace Format: written by ctf.py, and by LTTng where it is installed.
. tests/tap.sh

# ---- written by ctf.py ----
python3 "$TOP/tests/cli/ctf.py" mutexes
run babeltrace2 mutexes
check 'babeltrace2 reads the trace that ctf.py wrote' "$status $(lines out)" = '0 10'
run "$DPE" convert mutexes mutexes.jsonl
gives 'dpe convert reads a CTF trace' 0
python3 - >seen <<'E'
import json
for line in open("mutexes.jsonl"):
    m = json.loads(line)
    if "event" in m:
        print(m["event"], m["args"], m.get("ret"), m["thread"], m["process"], m["host"], m["time"], m.get("vars", {}))
E
same 'a CTF trace keeps events, threads and times, and unlocks a mutex before the next lock' seen <<'E'
pthread_mutex_lock.enter ['0x10'] None 11 1 h 1000000100 {}
pthread_mutex_lock.exit ['0x10'] 0 11 1 h 1000000110 {}
work::step [5, -3, 'a "text"', 0.5] None 11 1 h 1000000115 {'name': 'work:step', 'n': 5, 'below': -3, 'label': 'a "text"', 'share': 0.5}
pthread_mutex_lock.enter ['0x10'] None 12 1 h 1000000120 {}
pthread_mutex_unlock.enter ['0x10'] None 11 1 h 1000000129 {}
pthread_mutex_lock.exit ['0x10'] 0 12 1 h 1000000130 {}
pthread_mutex_trylock.exit ['0x10'] 16 11 1 h 1000000135 {}
work::step [6, 0, '', 1] None 12 1 h 1000000140 {'name': 'work:step', 'n': 6, 'below': 0, 'label': '', 'share': 1}
pthread_mutex_unlock.enter ['0x10'] None 12 1 h 1000000150 {}
work::array [None] None 12 1 h 1000000160 {'name': 'work:array', 'values': None}
E
says 'dpe convert warns of CTF fields that are structures or arrays' 0 'warning: 1 events have structures or arrays'
run "$DPE" replay -s pthread.dpe -e 'detect race: work::step & work::step^' mutexes
says 'pthread.dpe orders events of a CTF trace by its mutexes' 0 'nothing found'
run "$DPE" replay -e 'detect race: work::step & work::step^' mutexes
says 'without pthread.dpe the mutexes of a CTF trace order nothing' 1 '1 match'
python3 "$TOP/tests/cli/ctf.py" discarded 7
run "$DPE" replay -e 'expect all: work::step*' discarded
says 'discarded events of a CTF trace are lost' 3 ' 7 lost' inconclusive
run "$DPE" replay -e 'detect a' .
check 'CTF traces below one folder are one log' "$(grep -o '^dpe: [0-9]* events, 7 lost' err)" = 'dpe: 20 events, 7 lost'
mkdir empty
run "$DPE" replay -e 'detect a' empty
says 'a folder without a CTF trace is refused' 2 "empty: error: there is no trace in this folder"
for size in 0 10 100 300; do
	mkdir -p damaged
	head -c $size mutexes/metadata >damaged/metadata
	cp mutexes/stream damaged
	run timeout 20 "$DPE" replay -e 'detect a' damaged
	check "CTF metadata cut at $size bytes is one error" "$status $(grep -c 'error: ' err)" = '2 1'
done
cp mutexes/metadata damaged
for size in 1 20 60 100; do
	head -c $size mutexes/stream >damaged/stream
	run timeout 20 "$DPE" replay -e 'detect a' damaged
	check "a CTF stream cut at $size bytes is one error" "$status $(grep -c 'error: ' err)" = '2 1'
done
# A packet whose content is larger than itself, or whose size is negative: libbabeltrace2 aborts.
python3 - <<'E'
stream = bytearray(open("mutexes/stream", "rb").read())
stream[24:32] = (1 << 62).to_bytes(8, "little")
open("damaged/stream", "wb").write(stream)
stream = bytearray(open("mutexes/stream", "rb").read())
stream[32:40] = (1 << 63).to_bytes(8, "little")
open("discarded/stream", "wb").write(stream)
E
for trace in damaged discarded; do
	run timeout 20 "$DPE" replay -e 'detect a' $trace
	check "an impossible packet size in a CTF stream is one error ($trace)" "$status $(grep -c 'error: ' err) $(lines err)" = '2 1 1'
done
rm -r damaged discarded

# ---- LTTng ----
if ! command -v lttng >/dev/null || ! find /usr/lib -name 'liblttng-ust-pthread-wrapper.so*' | grep -q .; then
	echo "ok - traces that LTTng wrote # skip there is no lttng"
	finish
fi
cat >inversion.c <<'E'
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *both(void *outer)
{
	pthread_mutex_t *inner = outer == &a ? &b : &a;

	pthread_mutex_lock(outer);
	pthread_mutex_lock(inner);
	pthread_mutex_unlock(inner);
	pthread_mutex_unlock(outer);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, both, &a);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, both, &b);
	pthread_join(thread, NULL);
}
E
gcc -g inversion.c -o inversion -lpthread || not_ok 'compiling inversion.c'
export LTTNG_HOME="$PWD" LTTNG_UST_REGISTER_TIMEOUT=10000
{
	lttng-sessiond --daemonize --pidfile="$PWD/sessiond" --no-kernel # or there is one, which serves as well
	lttng create "inversion-$$" --output="$PWD/lttng" &&
		lttng enable-event -u 'lttng_ust_pthread:*' && lttng add-context -u -t vpid -t vtid -t procname && lttng start &&
		LD_PRELOAD=liblttng-ust-pthread-wrapper.so ./inversion && lttng stop && lttng destroy "inversion-$$"
} >lttng.out 2>&1 </dev/null
traced=$?
test -s sessiond && kill "$(cat sessiond)"
check "LTTng traces: $(tail -1 lttng.out)" $traced -eq 0
run "$DPE" convert lttng lttng.jsonl
check 'dpe convert reads each event of an LTTng trace' "$status $(grep -c '"event"' lttng.jsonl)" = "0 $(babeltrace2 lttng | wc -l)"
run "$DPE" replay -s deadlock.dpe -s pthread.dpe lttng
says 'pthread.dpe and deadlock.dpe find the potential deadlock in an LTTng trace' 1 'potential deadlock of 2 threads' '(inversion)'
finish
