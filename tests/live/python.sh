# How CPython orders threads: its locks are semaphores, and the GIL is a mutex with a condition.
. tests/tap.sh
need_live 'Python'
gcc -shared -fPIC -g -pthread "$TOP/tests/live/targets/meeting.c" -o meeting.so || not_ok 'building meeting.so'

# checks PYTHON
checks() {
	for i in 1 2 3; do
		run timeout -s KILL 120 "$DPE" race --no-predict --library=./meeting.so put,get -- "$1" "$TOP/tests/live/targets/locks.py" right
		says "$1: calls ordered by locks or the GIL are no race, run $i" 0 'nothing found' ' 0 lost' \
			'note: CPython: pthread.dpe says what its locks and the GIL order'
	done
	run timeout -s KILL 120 "$DPE" race --no-predict --library=./meeting.so put,get -- "$1" "$TOP/tests/live/targets/locks.py" wrong_overlap
	says "$1: the race of calls that overlap is found" 1 'match of put' ' 0 lost'
}
checks /usr/bin/python3
other=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
test "$other" = "$(realpath /usr/bin/python3)" || checks "$other"

# CPython's locks do not tell which thread holds them, and a signal handler may release one.
"$DPE" deadlock -- /usr/bin/python3 "$TOP/tests/live/targets/locks.py" wrong_order >out 2>err &
observer=$!
await grep -q 'hang: no thread can proceed, 3 threads wait' err && ok 'a hang of locks taken in two orders is reported' || {
	not_ok 'a hang of locks taken in two orders is reported'
	explain_run
}
process=$(pgrep -P $observer -x python3)
kill -TERM $observer
wait $observer
kill -KILL "$process"
finish
