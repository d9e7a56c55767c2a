# pthread.dpe on a program for each way to synchronise, by itself and then many in one run: what it
# orders is ordered, what it does not is independent.
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

# orders NAME OPTION WAY: in a folder of its own, as others run beside it
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
check 'all cases were tried' "$(cat ./*.tap | grep -c 'ok - ')" -eq 20
run "$DPE" run --stack=0 -s sync.dpe -- ./sync spin
check 'which are else said not to be seen' "$(grep -c 'sync calls pthread_spin_lock, .*unless by --preload' err)" -ge 1
run "$DPE" run --stack=0 -s without.dpe -- ./sync mutex
check 'without the rules, there is no order' "$(grep -c '^#. racing: match' err) $(grep -c '^#. ordered' err)" = '1 0'

# ---- many in one run, with and without order ---------------------------------------------------
cat >cases.dpe <<'END'
include "pthread.dpe"
detect ordered(n): before(n) ; after(n) { print(n, "ordered"); }
detect racing(n): before(n) & after(n) { print(n, "racing"); }
detect reversed(n): after(n) ; before(n) { print(n, "reversed"); }
detect independent(n): left(n) & right(n) { print(n, "independent"); }
END

# reported NUMBER: what the last run says of a way
reported() {
	sed -n "s/^[a-z]*: $1 \([a-z]*\)$/\1/p" err | sort | tr '\n' ' '
}

# number NAME: that of a way
number() {
	sed -n "s/^\([0-9]*\) [a-z]* $1$/\1/p" list
}

# all_ways HOW: each way as it is said to be
all_ways() {
	while read -r number is name; do
		test "$is" = racing && wanted='independent racing ' || wanted='independent ordered '
		check "$name: $is, $1" "$(reported "$number")" = "$wanted"
	done <list
}

./sync_cases list >list
check 'there are cases' "$(lines list)" -ge 30
run "$DPE" run --stack=0 -s cases.dpe -- ./sync_cases
all_ways 'with probes'
check 'nothing is left to guess' "$(grep -c 'cannot be read' err)" -eq 0
run "$DPE" run --preload --stack=0 -s cases.dpe -- ./sync_cases
all_ways 'with --preload'
run "$DPE" record --stack=0 -o cases.jsonl -s cases.dpe -- ./sync_cases
run "$DPE" replay -s cases.dpe cases.jsonl
all_ways 'in a log'

# Where the lock is not known, any of its holders may have been the writer.
readers=$(number 'a reader after a reader')
sed 's/,"vars":{[^}]*}//' cases.jsonl >unknown.jsonl
check 'a log has what locks hold, another has not' "$(grep -c cur_writer unknown.jsonl)" -lt "$(grep -c cur_writer cases.jsonl)"
run "$DPE" replay -s cases.dpe unknown.jsonl
check 'orders readers as well' "$(reported "$readers")" = 'independent ordered '
check 'and writers as before' "$(reported "$(number 'a reader after a writer')")" = 'independent ordered '
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
check 'a function of the program whose lock cannot be read is reported' \
	"$(grep -c "'arg@0->__data.__cur_writer' cannot be read: own has no debug information.*; the rule works without it" err)" -ge 1
check 'and orders readers as well' "$(reported "$readers")" = 'independent ordered '
# A name that the program lacks is a mistake in rules of one's own, and none in shipped ones.
printf 'include "pthread.dpe"\nsync mine(x): nowhere(x) ; enqueue(x)\ndetect r: enqueue\n' >lacking.dpe
run "$DPE" run -s lacking.dpe -- "$BUILD/examples/producer-consumer"
says 'a function that is not there' 1 "lacking.dpe:2:15: warning: the program and its libraries have no 'nowhere'"
check 'is the only one' "$(grep -c 'warning: the program and its libraries have no' err)" -eq 1
finish
