# pthread.dpe on a program for each way to synchronise: what it orders is ordered, what it does not
# is independent.
. tests/tap.sh
need_live 'what pthread.dpe orders'
compile_target sync

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

# orders NAME OPTION WAY: five times; in a folder of its own, as others run beside it
orders() {
	mkdir "$3" && cd "$3" || exit 1
	times=0
	while test $times -lt 5; do
		run "$DPE" run $2 --stack=0 -s ../sync.dpe -- ../sync "$3"
		grep -q '^#. ordered: match' err && grep -q '^#. independent: match' err || break
		grep -q '^#. racing\|^#. related' err && break
		times=$((times + 1))
	done
	check "$1" $times -eq 5
}

# Four ways at a time.
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
check 'all ways were tried' "$(cat ./*.tap | grep -c 'ok - ')" -eq 20
run "$DPE" run --stack=0 -s sync.dpe -- ./sync spin
check 'which are else said not to be seen' "$(grep -c 'sync calls pthread_spin_lock, .*unless by --preload' err)" -ge 1
run "$DPE" run --stack=0 -s without.dpe -- ./sync mutex
check 'without the rules, there is no order' "$(grep -c '^#. racing: match' err) $(grep -c '^#. ordered' err)" = '1 0'
finish
