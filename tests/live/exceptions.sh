# Exceptions, cancellation and backtraces through functions whose exits are observed: the program does what it does without dpe.
. tests/tap.sh
need_live 'exceptions in an observed program'
CXX=${CXX:-g++} CC=${CC:-gcc}
source=$TOP/tests/live/targets/exceptions.cc
"$CXX" -g -O2 -rdynamic "$source" -o shared || not_ok 'compiling exceptions.cc'
"$CXX" -O2 -static "$source" -o static || not_ok 'compiling exceptions.cc with static libraries'
"$CXX" -g -O0 -static-libgcc -static-libstdc++ "$source" -o own_unwinder || not_ok 'compiling exceptions.cc with its own unwinder'
cat >exits.dpe <<'X'
measure levels: level.exit { count(); }
measure dtors: dtor.exit { count(); }
X

# unharmed PROGRAM MODE: its output and status are the same as without dpe, and dpe sees the exits that it has counted
unharmed() {
	"./$1" "$2" >wanted_out
	wanted_status=$?
	run "$DPE" run -o run.jsonl -s exits.dpe -- "./$1" "$2"
	check "$1 $2: the output is the same as without dpe" "$(cat out)" = "$(cat wanted_out)"
	grep -q "with status $wanted_status" err || not_ok "$1 $2: the exit status is $wanted_status, as without dpe"
	grep -q dpe_lost run.jsonl && not_ok "$1 $2: no event is lost"
	test "$2" = uncaught && return
	check "$1 $2: each exit of a function is seen" \
		"$(grep -c '"level.exit"' run.jsonl) returned, $(grep -c '"dtor.exit"' run.jsonl) destroyed" = "$(tail -n 1 wanted_out)"
}
for mode in caught nested threads exit cancel backtrace forks uncaught; do
	unharmed shared $mode
	unharmed static $mode
done
for mode in caught threads backtrace forks uncaught; do # other modes fail with two unwinders in one process
	unharmed own_unwinder $mode
done

# Functions left by a tail call have the exits that they have without optimisation.
for level in 0 2; do
	"$CXX" -O$level "$TOP/tests/live/targets/tail_calls.cc" -o tails$level || not_ok 'compiling tail_calls.cc'
	./tails$level >wanted_out
	run "$DPE" run -e 'measure m: (f.exit + g.exit + h.exit + chooses.exit) { count(); }' -o run.jsonl -- ./tails$level
	says "tail calls, -O$level: no event is lost" 0 ' 0 lost'
	check "tail calls, -O$level: the output is the same as without dpe" "$(cat out)" = "$(cat wanted_out)"
	grep -o '"event":"[a-z.]*"' run.jsonl >exits$level
	# Static: another observer, such as a test at the same time, may have return probes on the C library, which affect every process.
	"$CXX" -O$level -static "$TOP/tests/live/targets/tail_calls.cc" -o tails || not_ok 'compiling tail_calls.cc with static libraries'
	run "$DPE" deadlock -- ./tails
	says "static, -O$level: an exception leaves std::call_once under dpe deadlock" 0 'exited with status 0'
done
check 'tail calls: more than 500 exits are seen' "$(lines exits0)" -gt 500
cmp -s exits0 exits2 || not_ok 'tail calls: -O0 and -O2 have the same exits in the same order'

# A call that is left without a return is not confused with a later one that returns at the same stack pointer to the same address.
"$CXX" -O2 "$TOP/tests/live/targets/left_calls.cc" -o left || not_ok 'compiling left_calls.cc'
for mode in jump throw clean; do
	./left $mode >wanted_out
	run "$DPE" run -e 'measure m: f.exit { count(); }' -- ./left $mode
	says "calls left, mode $mode: exactly the one return is seen" 0 'm: count 1' ' 0 lost' 'exited with status 0'
	check "calls left, mode $mode: the output is the same as without dpe" "$(cat out)" = "$(cat wanted_out)"
done
run "$DPE" run -e 'measure m: (f.exit + h.exit) { count(); }' -- ./left signal
says 'a return in a signal handler on a stack unknown to the kernel is reported as lost' 3 '2 events, 1 lost' 'exited with status 0'
run "$DPE" run -e 'measure m: (f.enter + g.enter) { count(); }' -- ./left throw
says 'entries of functions left by an exception are seen' 0 'm: count 5' 'exited with status 0'

# Cancellation, pthread_exit and longjmp in C, where cleanup handlers are known to the unwinder or to the C library alone.
for options in -O2 '-O2 -fexceptions' '-O0 -fexceptions'; do
	$CC $options -pthread "$TOP/tests/live/targets/left_by_force.c" -o force || not_ok 'compiling left_by_force.c'
	./force >wanted_out
	run "$DPE" run -e 'measure m: (enter.exit + level.exit) { count(); }' -- ./force
	says "cancellation and longjmp in C, $options: each return is seen" 0 'm: count 11' ' 0 lost' 'exited with status 0'
	check "cancellation and longjmp in C, $options: the output is the same as without dpe" "$(cat out)" = "$(cat wanted_out)"
done

# Panics of Rust.
for level in 0 3; do
	command -v rustc >compiler || break
	rustc -C opt-level=$level "$TOP/tests/live/targets/unwinds.rs" -o panics 2>errors || not_ok "compiling unwinds.rs: $(cat errors)"
	./panics >wanted_out
	run "$DPE" run -e 'measure m: (f.exit + g.exit + held.exit) { count(); }' -- ./panics
	says "panics of Rust, level $level: each return is seen" 0 'm: count 995' ' 0 lost' 'exited with status 0'
	check "panics of Rust, level $level: the output is the same as without dpe" "$(cat out)" = "$(cat wanted_out)"
done

# Nothing that dpe leaves in the program needs dpe.
mkfifo channel
"$DPE" run -s exits.dpe -- ./shared threads >channel 2>err &
observer=$!
{
	read -r first
	kill -s KILL $observer
	cat
} <channel >out
check 'exceptions are handled after dpe was killed' "$first $(cat out)" = "begin $(./shared threads | tail -n 1)"
finish
