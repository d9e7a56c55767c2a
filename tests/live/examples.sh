# The examples do what their comments say, in each run. The broken ones fail under every schedule
# of the threads; therefore half of the programs run at once here, and disturb each other.
. tests/tap.sh
runs=5
test -n "${DPE_TEST_LONG:-}" && runs=20
need_live 'the examples'

# follow SPEC PROGRAM STATUS TEXT...: $runs runs, each of which reports this, and how the program ended ($ends)
ends='exited with status 0'
follow() {
	rule=$TOP/examples/$1
	program=$2
	shift 2
	mkdir "$program" && cd "$program" || exit 1
	i=1
	while test $i -le $runs; do
		run timeout -s KILL 120 "$DPE" run --on-deadlock=kill -s "$rule" -- "$BUILD/examples/$program"
		says "dpe run of $program, run $i: the expected report" "$@" "$ends" ' 0 lost'
		i=$((i + 1))
	done
}

# hang PROGRAM STATUS TEXT...: 3 runs of dpe deadlock, each of which reports this
hang() {
	program=$1
	shift
	mkdir "watch-$program" && cd "watch-$program" || exit 1
	i=1
	while test $i -le 3; do
		run timeout -s KILL 120 "$DPE" deadlock --on-deadlock=kill -- "$BUILD/examples/$program"
		says "dpe deadlock of $program, run $i: the expected report" "$@" ' 0 lost'
		i=$((i + 1))
	done
}

# The lost item is always the second; which producer's item is taken twice depends on the schedule.
follow bounded-buffer/items.dpe bounded-buffer-broken 1 'item: incomplete match of put(x);take(x)' 'where x = 2' \
	'item: violation of put(x);take(x)' '1 violated, 1 incomplete, 2 satisfied' >1.tap &
follow bounded-buffer/items.dpe bounded-buffer 0 'nothing found, 4 satisfied' >2.tap &
follow readers-writers/page.dpe readers-writers-broken 1 'race: match of read_page()&write_page()' >3.tap &
follow readers-writers/page.dpe readers-writers 0 'nothing found' >4.tap &
follow bank-transfer/accounts.dpe bank-transfer-broken 1 'race: match of withdraw(a)&withdraw^(a)' 'where a = 0' \
	>5.tap &
follow bank-transfer/accounts.dpe bank-transfer 0 'nothing found' >6.tap &
wait
follow lock-inversion/order.dpe lock-inversion 1 'potential deadlock of 2 threads' ' (cache), while it held ' \
	' (journal), while it held ' >7.tap &
follow lock-inversion/order.dpe lock-inversion-ordered 0 'nothing found' >8.tap &
follow dining-philosophers/forks.dpe dining-philosophers-ordered 0 'nothing found' >9.tap &
follow thread-pool/wakeup.dpe thread-pool 0 'nothing found' >10.tap &
ends='was killed by signal 9'
follow dining-philosophers/forks.dpe dining-philosophers 1 'deadlock of 5 threads' '(forks[0])' '(forks[4])' >11.tap &
follow thread-pool/wakeup.dpe thread-pool-broken 1 'no thread can proceed, 3 threads wait' '(not_empty)' '(all_done)' \
	'by worker+' >12.tap &
wait
hang lock-inversion 1 'potential deadlock of 2 threads' ' (cache), while it held ' ' (journal), while it held ' \
	'exited with status 0' >13.tap &
hang lock-inversion-ordered 0 'nothing found' 'exited with status 0' >14.tap &
hang thread-pool-broken 1 'no thread can proceed, 3 threads wait' '(not_empty)' '(all_done)' 'by worker+' >15.tap &
hang thread-pool 0 'nothing found' 'exited with status 0' >16.tap &
wait
cat ./*.tap
failures=$(cat ./*.tap | grep -c '^not ok')
finish
