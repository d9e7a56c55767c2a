# ipc.dpe on two processes, for each way to synchronise: it orders what the way orders, and all else is
# independent.
. tests/tap.sh
need_live 'synchronisation between processes'
compile_target ipc

cat >order.dpe <<'X'
include "ipc.dpe"
detect ordered: before() ; after()
detect racing: before() & after()
detect independent: left() & right()
detect related: left() ; right() + right() ; left()
X
sed 's/ipc.dpe/pthread.dpe/' order.dpe >threads.dpe

rounds=1
test -n "${DPE_TEST_LONG:-}" && rounds=3
order() {
	times=0
	while test $times -lt $rounds; do
		run "$DPE" run --follow --stack=0 -s order.dpe -- ./ipc "$1"
		grep -q '^#. ordered: match' err && grep -q '^#. independent: match' err || break
		grep -q '^#. racing\|^#. related' err && break
		grep -q ' 0 lost' err || break
		times=$((times + 1))
	done
	check "ipc.dpe: $1 orders its events and nothing more" $times -eq $rounds
}
beside order fork wait waitid pipe socketpair datagrams connection mqueue sysv named semaphore condition \
	ahead two

mix() {
	run "$DPE" run --follow --stack=0 -s threads.dpe -- ./ipc "$1"
	check "$1 orders nothing without ipc.dpe" \
		"$(grep -c '^#. racing: match' err) $(grep -c '^#. ordered' err)" = '1 0'
}
beside mix wait pipe connection sysv

# The sender cannot be determined: the message counts as lost, and no order is claimed.
lose() {
	run "$DPE" run --follow --stack=0 -s order.dpe -- ./ipc "$1"
	check "ipc.dpe: $1: messages of unknown senders count as lost, and no rule matches" \
		"$(grep -c '^dpe: .* events, [1-9][0-9]* lost' err) $(grep -c '^#. [a-z]*: match' err)" = '1 0'
}
# The log is complete: a replay finds the same.
replay() {
	run "$DPE" record --follow --stack=0 -s order.dpe -o pipe.jsonl -- ./ipc pipe
	run "$DPE" replay -s order.dpe pipe.jsonl
	check 'a replay of a recorded pipe has the same matches' \
		"$(grep -c '^#. ordered: match\|^#. independent: match' err) $(grep -c '^#. racing\|^#. related' err)" = '2 0'
}
# 500 pieces of 1 to 7 bytes, read in other pieces: each byte has the number of its piece.
cat >pieces.dpe <<'X'
include "ipc.dpe"
detect good(i): put(i) ; got(i)
detect bad(i): put(i) & got(i)
detect early(i): put_next(i) ; got(i)
X
pieces() {
	run "$DPE" run --all --follow --stack=0 -s pieces.dpe -- ./ipc pieces
	check 'a byte read from a pipe is ordered after the piece that was written' "$(grep -c '^#.* good: match' err) $(grep -c '^#.* bad: match' err)" = "$(cat out) 0"
	check 'a byte read from a pipe is not ordered after later pieces' "$(grep -c '^#.* early: match' err)" -eq 0
}
threads() {
	run "$DPE" run --stack=0 -s order.dpe -- ./ipc threads
	check 'a pipe orders threads of one process' "$(grep -c '^#. ordered: match' err) $(grep -c '^#. racing' err)" = '1 0'
}
# The preloaded library numbers some events of a thread, the BPF programs the others.
preload() {
	compile_target pipes
	printf 'include "ipc.dpe"\ndetect racing: put(a, x) & put^(a, y)\n' >put.dpe
	for how in pipe socket stream; do
		run "$DPE" run --preload --stack=0 -s put.dpe -- ./pipes $how
		says "--preload: a $how orders threads that also use locks" 0 'nothing found' ' 0 lost'
		run "$DPE" run --preload --stack=0 -s put.dpe -- ./pipes $how late
		says "--preload: events after a message are not ordered by the $how" 1 'racing: match' ' 0 lost'
	done
}
# System calls that pass several messages at once, or what a file has.
transfers() {
	compile_target transfers
	printf 'include "ipc.dpe"\ndetect racing: put(a, x) & put^(a, y)\n' >transfer.dpe
	for how in pwritev2 preadv2 sendmmsg 'sendmmsg of datagrams' recvmmsg sendfile splice 'splice to a file' vmsplice; do
		run "$DPE" run --stack=0 -s transfer.dpe -- ./transfers "$how"
		says "$how orders threads" 0 'nothing found' ' 0 lost'
		run "$DPE" run --stack=0 -s transfer.dpe -- ./transfers "$how" late
		says "events after the call are not ordered by $how" 1 'racing: match' ' 0 lost'
	done
}
# dpe keeps no more of the data that is sent to an unobserved receiver than can be pending.
output() {
	compile_target prints
	printf 'include "ipc.dpe"\ndetect end: before()\n' >end.dpe
	"$DPE" record --stack=0 -s end.dpe -o out.jsonl -- ./prints 6000 2>err | wc -l >out
	check 'a program whose output is not read by an observed process prints 6000 lines' "$(cat out)" -eq 6000
	sends=$(grep -c '"ipc::send"' out.jsonl)
	check 'the log has about 4096 sends to a receiver that is not observed, and no loss' "$(grep -c ' 0 lost' err) $((sends > 4096 && sends < 4100))" = '1 1'
}
others() {
	case $1 in
	crowd | urgent) lose "$1" ;;
	*) $1 ;;
	esac
}
beside others crowd urgent replay pieces threads preload output transfers
finish
