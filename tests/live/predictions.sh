# `predict` on running programs: a race that the order of a lock hid in every run that was observed.
. tests/tap.sh
need_live 'predictions'
compile_target accidents

sed -n '/^sync exclusive mutex/,/^	)$/p; /^sync once thread_create/p; /^sync last thread_join/,/^	)$/p' \
	"$TOP/dpe-lang/std/pthread.dpe" >some_locks.dpe
cat >race.dpe <<'X'
include "some_locks.dpe"
detect happened: put() & get()
predict possible: put() & get()
X
cat >all.dpe <<'X'
include "pthread.dpe"
predict possible: put() & get()
X

found=0
for run in 1 2 3 4 5; do
	run "$DPE" run -s race.dpe -- ./accidents
	grep -q 'possible: predicted match of put()&get()' err && ! grep -q 'happened: match' err && found=$((found + 1))
done
check 'a race behind a lock is predicted, and did not happen' $found = 5
check 'with the order that shows it, in lanes' "$(grep -c '^ *[*|][ *|]*  \(put\|get\) at \(put\|get\) (accidents.c:' err)" = 2
check 'the section that is left out, and why' "$(grep -c 'left out: thread .* (mutex) to$' err) $(
	grep -c 'took that lock after it, and nothing else orders the events' err)" = '1 1'
run "$DPE" run -s race.dpe -- ./accidents guarded
says 'under the lock there is none' 0 'nothing found'
run "$DPE" run -s all.dpe -- ./accidents
says 'nor when the semaphore that a thread waits for is known' 0 'nothing found'

# ---- forty small programs, some with a race that never happens ----------------------------------
compile_target schedules
cat >schedules.dpe <<'X'
include "pthread.dpe"
detect happened(n): put(n) & get(n) { print(n, "happened"); }
predict foreseen(n): put(n) & get(n) { print(n, "predicted"); }
X
./schedules list >list
check 'there are twenty that are predicted' "$(grep -c ' predicted ' list)" -ge 20
check 'and twenty that are not' "$(grep -c ' \(ordered\|happened\) ' list)" -ge 20

# all_are_right OPTION: each is what the list says
all_are_right() {
	run "$DPE" run $1 --stack=0 -s schedules.dpe -- ./schedules
	sed -n 's/^[a-z]*: \([0-9]*\) \([a-z]*\)$/\1 \2/p' err | sort -u >got
	sed -n 's/^\([0-9]*\) \(predicted\|happened\) .*/\1 \2/p' list | sort -u | diff - got >difference
}
wrong=0
runs=3
test -z "$DPE_TEST_LONG" || runs=20
for run in $(seq $runs); do
	all_are_right || wrong=$((wrong + 1))
done
check 'each is predicted, or not, in each run' $wrong = 0 || explain "$(cat difference)"
all_are_right --preload
check 'and with --preload' ! -s difference

# ---- dpe race ------------------------------------------------------------------------------------
run "$DPE" race put,get -- ./accidents hidden
says 'race predicts' 1 'predicted_race_put_get: predicted match of put&get' 'not in this order here' '1 match'
run "$DPE" race put,get --no-predict -- ./accidents hidden
says 'unless it is asked not to' 0 'nothing found'
run "$DPE" race put,get -- ./accidents guarded
says 'under the lock race predicts nothing' 0 'nothing found'
run "$DPE" race getgid,getuid -- ./accidents guarded
says 'functions that are never called, while shipped rules have events' 3 'getgid was never observed' 'nothing observed for a rule'
run "$DPE" race put,get getgid,getuid -- ./accidents guarded
says 'beside a pair that is called' 3 'race_getgid_getuid: getgid was never observed' 'nothing observed for a rule'
run "$DPE" race --allow-unobserved getgid,getuid -- ./accidents guarded
says 'which may be meant' 0 'nothing found'
for word in '3 put(,get' '3 put),get' '7 put[1],(,get' '0 "put,get' '5 get(b],a'; do
	run "$DPE" race "${word#* }" -- ./accidents guarded
	says "a bracket or quote without its other one: $word" 2 "  | ${word#* }" "$(printf '  | %*s^' "${word%% *}" '')"
	check 'is said once' "$(lines err)" = 3
done
run "$DPE" deadlock -e 'expect never: (getgid ; getuid)*' -- ./accidents guarded
says 'a rule that is met without an event' 3 'never: getgid was never observed' 'nothing observed for a rule'

# ---- all memory, of a program that was compiled to report it -----------------------------------
gcc -g -O1 -fsanitize=thread -c "$TOP/tests/live/targets/hidden.c" -o hidden.o &&
	gcc hidden.o -o hidden -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building hidden'
# in_most WAY STATUS TEXT: nine of ten runs at least
in_most() {
	count=0
	for i in 1 2 3 4 5 6 7 8 9 10; do
		run "$DPE" race -- ./hidden $1
		test "$status" = $2 && grep -q "$3" err && count=$((count + 1))
	done
	check "$1: $count of 10" $count -ge 9
}
in_most hidden 1 'predicted data race on shared: write of 4 bytes.*predicted_race4,'
says 'the variable, and both places' 1 'mem::write(shared, 4)' 'at put+' 'by first+' 'by second+' 'not in this order here'
in_most freed 1 'predicted use after free on 0x[0-9a-f]*: free by thread [0-9]*, not ordered with write of 4 bytes by thread.*predicted_race8,'
says 'use after free' 1 'predicted use after free on 0x' 'mem::free(' 'mem::write('
in_most guarded 0 'nothing found'
in_most data 0 'nothing found'
in_most swapped 1 'predicted use after free on 0x[0-9a-f]*: free by thread [0-9]*, not ordered with write of 4 bytes by thread.*predicted_race8,'
says 'and which lock is taken in another order' 1 'there locks are taken in another order' '(mutex) by thread'
# The heap alone.
for way in freed twice; do
	test $way = freed && what='use after free' || what='double free'
	run "$DPE" race --heap -- ./hidden $way
	says "--heap: $what" 1 "predicted $what on 0x" 'free by thread' 'predicted_heap' 'certain in another run with the same input' \
		'nothing else orders the events' ' match'
	run "$DPE" race --heap --no-predict -- ./hidden $way
	says "--heap: $what did not happen" 0 'nothing found'
done
for way in hidden guards-free; do
	run "$DPE" race --heap -- ./hidden $way
	says "--heap: nothing for $way" 0 'nothing found'
done
# Cycles in the order of locks, where all data is observed.
run "$DPE" race -s deadlock.dpe -- ./hidden inverted
says 'a cycle' 1 '#1 potential deadlock of 2 threads' 'certain in another run with the same input' '1 potential deadlock'
run "$DPE" race -s deadlock.dpe -- ./hidden raced
says 'and beside a race, after which data may be other' 1 'data race on shared' \
	'possible in another run, unless data that is not observed forbids it' '1 potential deadlock'
run "$DPE" race -s deadlock.dpe -- ./hidden published
says 'none that an atomic variable keeps open' 0 'nothing found'
run "$DPE" race --heap put,get -- ./hidden hidden
says '--heap takes no words' 2 'takes no variable or function'
run "$DPE" race --no-predict -- ./hidden hidden
says 'nothing of it happened' 0 'nothing found'
finish
