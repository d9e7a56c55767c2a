# Held locks: reports show them with each event, whatever the rule.
. tests/tap.sh

cat >rules.dpe <<'X'
expect keeps(T): (take(_) by T { hold(T, .args[0]); } + give(_) by T { unhold(T, .args[0]); }
	+ look(_) by T { share(T, .args[0]); } + quit by T { ended(T); })* observing quit by T ends
detect race: put & get
X

# log EVENT...: THREAD:NAME, or THREAD:NAME=LOCK; 1?put says that one event before it was lost
log() {
	python3 - "$@" <<'X' >log.jsonl
import json, sys
next_seq = {}
for time, word in enumerate(sys.argv[1:]):
    thread, name = word[0], word[2:]
    seq = next_seq.get(thread, 0) + (word[1] == '?')
    next_seq[thread] = seq + 1
    name, _, lock = name.partition('=')
    print(json.dumps({'event': name, 'thread': int(thread), 'seq': seq, 'time': time,
                      'args': [int(lock)] if lock.isdigit() else [],
                      'vars': {'lock': lock} if lock and not lock.isdigit() else {}}))
X
	run "$DPE" replay -s rules.dpe log.jsonl
}

# held EVENT: the locks of the reported event, in the order reported
held() {
	sed -n "s/^  \\\$[12] $1(*)*  *\(lock.*\)  thread.*/\1/p" err | head -1
}

log 1:take=7 1:put 1:give=7 2:take=8 2:get
check 'each event of a race is reported with the lock that its thread holds' "$(held put); $(held get)" = 'lock = 7; lock = 8'
log 1:take=7 1:take=5 1:look=6 1:take=4 1:give=5 1:put 2:get
check 'of several held locks the one taken last is reported first' "$(held put)" = 'lock = 4, lock2 = 6, lock3 = 7'
check 'an event of a thread without locks is reported without a lock' -z "$(held get)"
log 1:take=7 1:take=7 1:give=7 1:put 2:take=7 2:give=7 2:get
check 'a lock taken twice and released once is still held' "$(held put)" = 'lock = 7'
check 'a released lock is not reported as held' -z "$(held get)"
log 1:take=1 1:take=2 1:take=3 1:take=4 1:take=5 1:take=6 1:take=7 1:take=8 1:take=9 1:put 2:get
check 'nine held locks are all reported' "$(held put)" = 'lock = 9, lock2 = 8, lock3 = 7, lock4 = 6, lock5 = 5, lock6 = 4, lock7 = 3, lock8 = 2, lock9 = 1'
log 1:take=7 1?put 2:get
check 'a lock taken before a loss of its thread is not reported as held' -z "$(held put)"
log 1:take=7 1:quit 1:put 2:get
check 'a thread with the id of an ended one holds no lock' -z "$(held put)"
log 1:take=7 1:put=mine 2:get
check "an event's own variable named lock is not replaced" "$(held put)" = 'lock = "mine"'

# ---- all kinds of rules ----------------------------------------------------------------------
log 1:take=7 1:put 2:take=8 2:get 1:put
cp rules.dpe all.dpe
cat >>all.dpe <<'X'
detect pair: put ; put
expect never(T): put by T ; (get by T)*
detect where: get [lock = 8]
X
for engine in auto pa net; do
	run "$DPE" replay --all --engine=$engine -s all.dpe log.jsonl
	check "--engine=$engine: matches, violations and conditions have the held locks" "$(grep -c 'put.*lock = 7  thread' err) \
$(grep -c 'get.*lock = 8  thread' err)" = '6 4'
done
run "$DPE" replay --format=json -s rules.dpe log.jsonl
check 'JSON has the held locks in the variables of each message' "$(python3 -c '
import json
for line in open("out"):
    reported = json.loads(line)
    if reported.get("rule") == "race":
        print([m["vars"]["lock"] for m in reported["messages"]])')" = "[7, 8]
[7, 8]"

# ---- the shipped rule ------------------------------------------------------------------------
cat >shipped.dpe <<'X'
include "pthread.dpe"
include "locks.dpe"
detect race: put & get
X
python3 - <<'X' >log.jsonl
import json
def tell(thread, *events):
    for seq, (name, args, ret) in enumerate(events):
        line = {'event': name, 'thread': thread, 'seq': seq, 'time': thread * 100 + seq, 'args': args}
        print(json.dumps(line if ret is None else {**line, 'ret': ret}))
tell(1, ('pthread_mutex_lock.exit', ['0x10'], 0), ('pthread_rwlock_rdlock.exit', ['0x20'], 0),
     ('pthread_mutex_trylock.exit', ['0x30'], 16), ('pthread_spin_lock.exit', ['0x40'], 0),
     ('pthread_cond_wait.enter', ['0x50', '0x10'], None), ('put', [], None))
tell(2, ('pthread_mutex_lock.exit', ['0x60'], 130), ('pthread_cond_wait.enter', ['0x50', '0x60'], None),
     ('pthread_rwlock_wrlock.exit', ['0x70'], 0), ('pthread_cond_wait.exit', ['0x50', '0x60'], 0),
     ('pthread_rwlock_unlock.enter', ['0x70'], None), ('get', [], None))
X
run "$DPE" replay -s shipped.dpe log.jsonl
check 'locks.dpe: a failed lock call holds nothing, and a condition wait releases its mutex' \
	"$(held put); $(held get)" = 'lock = 0x40, lock2 = 0x20; lock = 0x60'
finish
