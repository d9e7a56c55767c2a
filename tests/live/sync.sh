# pthread.dpe on a program for each way to synchronise, each by itself and then many in one run: calls that
# the way orders are ordered, others are independent.
. tests/tap.sh
need_live 'what pthread.dpe orders'
compile_target sync
compile_target sync_cases

cat >sync.dpe <<'END'
include "pthread.dpe"
detect ordered: before() ; after()
detect racing: before() & after()
detect independent: left() & right()
detect related: left() ; right() + right() ; left()
END
cat >without.dpe <<'END'
sync once create(T): thread::create(T) ; thread::start by T
detect ordered: before() ; after()
detect racing: before() & after()
END

# orders NAME OPTION WAY: runs in a folder of its own, as others run beside it
orders() {
	mkdir "$3" && cd "$3" || exit 1
	run "$DPE" run $2 --stack=0 -s ../sync.dpe -- ../sync "$3"
	check "$1" "$(sed -n 's/^#. \([a-z]*\): match.*/\1/p' err | sort -u | tr '\n' ' ')" = 'independent ordered '
}

# Four cases at a time.
count=0
for way in mutex trylock timedlock semaphore sem_trywait sem_timedwait cond cond_timedwait broadcast \
	rwlock_write rwlock_read rwlock_readers barrier once create join tryjoin thrd_join c11; do
	(orders "$way orders, and nothing more" '' $way) >$way.tap &
	count=$((count + 1))
	test $((count % 4)) -ne 0 || wait
done
(orders 'spin locks order, and nothing more, with --preload' --preload spin) >spin.tap &
wait
cat ./*.tap
failures=$(cat ./*.tap | grep -c '^not ok')
check 'all 20 ways to synchronise were tried' "$(cat ./*.tap | grep -c 'ok - ')" -eq 20
run "$DPE" run --stack=0 -s sync.dpe -- ./sync spin
check 'without --preload, spin locks are observed or reported as not observed' \
	"$(grep -c 'sync calls pthread_spin_lock, .*unless by --preload' err)" -ge "$(spin_is_unobserved)"
run "$DPE" run --stack=0 -s without.dpe -- ./sync mutex
check 'without the rules of pthread.dpe, a mutex does not order' "$(grep -c '^#. racing: match' err) $(grep -c '^#. ordered' err)" = '1 0'

# ---- many in one run, with and without order ---------------------------------------------------
cat >cases.dpe <<'END'
include "pthread.dpe"
detect ordered(n): before(n) ; after(n) { print(n, "ordered"); }
detect racing(n): before(n) & after(n) { print(n, "racing"); }
detect reversed(n): after(n) ; before(n) { print(n, "reversed"); }
detect independent(n): left(n) & right(n) { print(n, "independent"); }
END

# reported NUMBER: the matches that the last run printed for a way
reported() {
	sed -n "s/^[a-z]*: $1 \([a-z]*\)$/\1/p" err | sort | tr '\n' ' '
}

# number NAME: the number of a way
number() {
	sed -n "s/^\([0-9]*\) [a-z]* $1$/\1/p" list
}

# all_ways HOW: each way is ordered or racing, as the list has it
all_ways() {
	while read -r number is name; do
		test "$is" = racing && wanted='independent racing ' || wanted='independent ordered '
		check "$name: $is, $1" "$(reported "$number")" = "$wanted"
	done <list
}

./sync_cases list >list
check 'the program has at least 30 ways' "$(lines list)" -ge 30
run "$DPE" run --stack=0 -s cases.dpe -- ./sync_cases
all_ways 'with probes'
check 'no value of a lock is reported as unreadable' "$(grep -c 'cannot be read' err)" -eq 0
run "$DPE" run --preload --stack=0 -s cases.dpe -- ./sync_cases
all_ways 'with --preload'
run "$DPE" record --stack=0 -o cases.jsonl -s cases.dpe -- ./sync_cases
run "$DPE" replay -s cases.dpe cases.jsonl
all_ways 'in a log'

# Where the value of the lock is not known, any of its holders may have been the writer.
readers=$(number 'a reader after a reader')
sed 's/,"vars":{[^}]*}//' cases.jsonl >unknown.jsonl
check 'a log without variables has fewer values of locks' "$(grep -c cur_writer unknown.jsonl)" -lt "$(grep -c cur_writer cases.jsonl)"
run "$DPE" replay -s cases.dpe unknown.jsonl
check 'a log without values of locks: readers are ordered, too' "$(reported "$readers")" = 'independent ordered '
check 'a log without values of locks: writers are ordered as before' "$(reported "$(number 'a reader after a writer')")" = 'independent ordered '
cat >own.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	int (*real)(pthread_rwlock_t *) = dlsym(RTLD_NEXT, "pthread_rwlock_unlock");

	return real(lock);
}
END
${CC:-cc} -O1 -pthread -rdynamic "$TOP/tests/live/targets/sync_cases.c" own.c -o own
run "$DPE" run --stack=0 -s cases.dpe -- ./own
check "a function that replaces one of the C library: its lock is read by that one's types" "$(grep -c 'cannot be read' err)" -eq 0
all_ways 'where the program replaces a function of the C library'
${CC:-cc} -O1 -static -pthread "$TOP/tests/live/targets/sync_cases.c" -o static || not_ok 'compiling a static program'
run "$DPE" run --stack=0 -s cases.dpe -- ./static
check 'a static program without debug information gets one warning about values of locks, none of them at shipped rules' \
	"$(grep -c '^static: warning: has no debug information that describes its locks' err) $(grep -c 'pthread.dpe:.*warning\|cannot be read' err)" = '1 0'
# A name that the program lacks may be a mistake in the user's rules, and is none in shipped ones.
printf 'include "pthread.dpe"\nsync mine(x): nowhere(x) ; enqueue(x)\ndetect r: enqueue\n' >lacking.dpe
run "$DPE" run -s lacking.dpe -- "$BUILD/examples/producer-consumer"
says 'an absent function in a sync rule of the user gets a warning' 1 "lacking.dpe:2:15: warning: the program and its libraries have no 'nowhere'"
check 'absent functions in shipped sync rules get no warning' "$(grep -c 'warning: the program and its libraries have no' err)" -eq 1
finish
