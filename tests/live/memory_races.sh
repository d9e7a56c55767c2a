# dpe race without arguments: every access of a program that was compiled to report accesses. Functions of the C library: memory_calls.sh.
. tests/tap.sh
need_live 'races on memory'
often=8 few=2
test -n "${DPE_TEST_LONG:-}" && often=20 few=4

# build NAME COMPILER OPTION...: the target, compiled with the options and linked without them
build() {
	name=$1
	shift
	"$@" -g -O1 -fno-builtin-memset -fno-builtin-memcpy -c "$TOP/tests/live/targets/memory.c" -o "$name.o" &&
		"$1" "$name.o" -o "$name" -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok "building $name"
}
build gcc gcc -fsanitize=thread
build clang clang -fsanitize=thread
build coverage clang -fsanitize-coverage=func,trace-loads,trace-stores

run ./gcc race
check 'the program runs without dpe and prints no error' "$status $(lines err)" = '0 0'

run env TSAN_OPTIONS=suppressions=none "$DPE" race -- ./gcc locked
says 'a note says that the options of ThreadSanitizer are not read, and which of dpe do the same' 0 \
	'note: TSAN_OPTIONS is not read: --suppressions=FILE leaves out findings'
check 'it is not there without them' "$(env -u TSAN_OPTIONS "$DPE" race -- ./gcc locked 2>&1 | grep -c TSAN_OPTIONS)" -eq 0

# matched: the rules of the report's findings
matched() {
	sed -n 's/^#[0-9]* [a-z ]* on .*, not ordered with .*\[\([a-z0-9]*\), .*/\1/p; s/^#[0-9]* \([a-z0-9]*\): .*/\1/p' err
}

# watch TIMES PROGRAM STATUS WAY RULE: each of TIMES runs, $few at a time, has the status and matches of that rule only, or of none
watch() {
	most=$1
	shift
	times=0
	while test $times -lt $most; do
		for i in $(seq $few); do
			(timeout -s KILL 120 "$DPE" race -- ./$1 "$3" >out.$i 2>err.$i; echo $? >status.$i) &
		done
		wait
		for i in $(seq $few); do
			cp out.$i out
			cp err.$i err
			status=$(cat status.$i)
			test "$status $(matched | sort -u | tr '\n' ' ')" = "$2 ${4:+$4 }" &&
				grep -q ' 0 lost' err || break 2
			times=$((times + 1))
		done
	done
	command_line="dpe race -- ./$1 $3"
	check "$1 $3: $times of $most runs have the expected verdict" $times -eq $most
}

watch $often gcc 1 race race4
says 'the report names the variable, both accesses, their threads and places' 1 'data race on counter: ' 'write of 4 bytes by thread ' ' of 4 bytes by thread ' 'mem::write(counter, 4)' 'mem::read(counter, 4)' 'at put+' 'at get+' \
	memory.c:
watch $often gcc 0 locked
watch $few gcc 1 half race4
check 'half: the report names the lock that one thread holds' "$(grep -c 'mem::write(counter, 4)  lock = mutex  thread' err) $(grep -c 'lock =' err)" = '1 1'
watch $few gcc 1 heap race4
watch $few gcc 1 overlap race8
watch $few gcc 1 relaxed race4
watch $few gcc 1 timer race4
watch $few gcc 1 freed race8
check 'freed: the report has the event mem::free' "$(grep -c 'mem::free(0x.*thread' err)" -eq 1
watch $few gcc 1 used race8
says 'used: the use after free of an object written before threads exist is reported' 1 ': free by thread ' 'not ordered with read of 4 bytes' 'at get+'
for way in freed used; do
	run "$DPE" race --heap -- ./gcc $way
	says "--heap finds the use after free: $way" 1 'use after free on 0x' '[heap, heap.dpe:'
	check "--heap names the place of the allocation: $way" "$(grep -A1 'bytes into [0-9]* bytes allocated by main thread' err | grep -c '^       at main')" = 1
done
run "$DPE" race --heap --format=json -- ./gcc used
check 'JSON has the allocation of the freed object' "$(grep -c '"allocated":\[{"event":"mem::alloc",[^]]*"args":\["0x[0-9a-f]*",4\],"stack":\["main+' out)" = 1
run "$DPE" race --heap --format=sarif -- ./gcc used
check 'SARIF has the allocation of the freed object' "$(grep -c 'the object at 0x[0-9a-f]* was allocated by thread' out)" = 1
run "$DPE" race --heap -- ./gcc race
says '--heap does not report a race on a global variable' 0 'nothing found'
check '--heap prints no warning about events of shipped rules' "$(grep -c 'never observed' err)" -eq 0
# Objects that no thread accessed before the free, small and large, allocated before or after threads were created; also
# where rules name functions that the library does not know, so that it reports every access.
echo 'sync all z: getpid ; getppid' >unknown.dpe
for way in used used-large; do
	run "$DPE" race --heap -s unknown.dpe -- ./gcc $way
	says "--heap finds the first use of an object after its free: $way" 1 'use after free on 0x' 'at get+' ' 0 lost'
done
echo 'detect both: put() & get()' >extra.dpe
run "$DPE" race -s extra.dpe -- ./gcc race
says 'rules of -s are followed in addition to those of dpe race' 1 'data race on ' '[race4, ' ' both: '
run "$DPE" race -s race.dpe -- ./gcc race
check '-s race.dpe does not duplicate the rules of dpe race' "$status $(matched) $(grep -c '^#' err)" = '1 race4 1'
run "$DPE" race -- ./gcc realloc
says 'a failed realloc frees nothing and makes the result inconclusive' 3 ' 1 lost'
for way in spin joined read neighbours flag references freed-later used-later reuse reuse-calloc reuse-realloc reuse-aligned reuse-posix stack; do
	watch $few gcc 0 $way
done
watch $few clang 1 race race4
watch $few clang 1 overlap race8
watch $few clang 0 flag
watch $few clang 0 references
watch $few coverage 1 race race4
watch $few coverage 0 locked

# Two variables on one line are two findings; the members and elements of one are not.
cat >line.c <<'END'
#include <pthread.h>
int data, ready;
struct {
	int first, others[3];
} set;
static void *writer(void *with)
{
	data = 42; ready = 1; set.first = 3; set.others[1] = 4;
	return with;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, writer, 0);
	int sum = ready + data + set.first + set.others[1];
	pthread_join(thread, 0);
	return sum == -1;
}
END
gcc -fsanitize=thread -g -O0 -c line.c && gcc line.o -o line -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building line'
run "$DPE" race -- ./line
check 'two variables on one line are two findings, members of one variable are one' "$(sed -n 's/^#[0-9]* data race on \([a-z]*\).*/\1/p' err | sort | tr '\n' ' ')" = 'data ready set '
run "$DPE" race --format=sarif -- ./line
check 'SARIF has a finding for each variable of the line' "$(grep -o 'data race on [a-z]*' out | sort | tr '\n' ' ')" = 'data race on data data race on ready data race on set '

# ---- what threads do to the objects of others, ordered or not -----------------------------------
# act ABOUT RULE OBJECT: a race is found, unless an atomic operation orders the accesses
act() {
	run timeout -s KILL 120 "$DPE" race -- ./gcc now "$1"
	says "$1: unordered accesses are a race" 1 "data race on $3" "not ordered with" "[$2, " ' 0 lost'
	run timeout -s KILL 120 "$DPE" race -- ./gcc later "$1"
	says "$1: accesses ordered by an atomic operation are no race" 0 'nothing found' ' 0 lost'
}
act mixed race4 'references: '
act failed race4 counter: # a failed compare-exchange releases nothing
act destroyed race4 ''
act initialised race4 ''
for lock in mutex rwlock spin; do
	act "left $lock" race4 left_$lock
done
for about in barrier condition; do
	run timeout -s KILL 120 "$DPE" race -- ./gcc $about
	says "destroying a $about in a thread that it released is a race" 1 'data race on ' '[race4, ' ' 0 lost'
	run timeout -s KILL 120 "$DPE" race -- ./gcc $about-later
	says "destroying a $about that all threads have left is no race" 0 'nothing found' ' 0 lost'
done
run timeout -s KILL 120 "$DPE" race -- ./gcc condition-inside
says 'signalling a condition under the mutex of the destroying thread is no race' 0 'nothing found' ' 0 lost'
act closed race8 'file descriptor '
run timeout -s KILL 120 "$DPE" race -- ./gcc now closed
says 'closed: the report has file::close and file::use' 1 'file::close(' 'file::use('
for about in handed own; do
	run timeout -s KILL 120 "$DPE" race -- ./gcc now $about
	says "$about: the access by another thread is a race" 1 'race4,' ' 0 lost'
done
run timeout -s KILL 120 "$DPE" race -- ./gcc hand-out
says "an access to the first thread's stack by another thread is a race" 1 'race4,' 'hand_out' ' 0 lost'
for about in atomic reopened reread; do
	run timeout -s KILL 120 "$DPE" race -- ./gcc now $about
	says "$about is no race" 0 'nothing found' ' 0 lost'
done
for i in $(seq $few); do
	run timeout -s KILL 120 "$DPE" race -- ./gcc stacks
	says "stacks of ended threads that are used again are no race, run $i" 0 'nothing found' ' 0 lost'
done

run "$DPE" race -- ./gcc starts
check 'threads that are created one after the other begin together' "$status $(cat out)" = '0 together'

# ---- threads that are left behind --------------------------------------------------------------
run "$DPE" race --stay=600000 -- ./gcc behind
says '--stay: a race of a thread that outlives main is found' 1 ' 0 lost' 'put'
run timeout 60 "$DPE" race --stay=600000 -- ./gcc waiting
says '--stay: exit does not wait for a thread that waits for ever' 0 'nothing found' ' 0 lost'
run "$DPE" race --stay=0 -- ./gcc race
says '--stay=0: a race of threads that main joins is found' 1 ' 0 lost'

# ---- every access ----------------------------------------------------------------------------
# writes OPTION...: the number of recorded writes by put, and of their addresses
writes() {
	run "$DPE" record -s count.dpe -o log.jsonl "$@" -- ./gcc count
	python3 -c '
import json
events = [o for o in map(json.loads, open("log.jsonl")) if "event" in o]
put = [o["args"][0] for o in events if any(f.startswith("put") for f in o["stack"])]
print(len(put), len(set(put)))'
}
printf 'detect R(a): mem::write(a) ; mem::write^(a)\n' >count.dpe
check 'all 3000 writes to 1000 addresses are recorded once' "$(writes)" = '3000 1000'
check 'with a small ring, all 3000 writes to 1000 addresses are recorded once' "$(writes --ring=65536)" = '3000 1000'
run "$DPE" run -s count.dpe -- ./gcc count
says 'a rule of -s about memory accesses matches two writes in order' 1 ' 0 lost' 'R: match'

gcc -g -O1 -fsanitize=thread -c "$TOP/bench/targets/accesses.c" -o accesses.o &&
	gcc accesses.o -o accesses -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem
run timeout -s KILL 240 "$DPE" race --ring=65536 --stack=0 -- ./accesses 3 300
says 'a program with more accesses than dpe can follow at once loses none' 0 'nothing found' ' 0 lost'

"$DPE" race --progress=1 -- ./accesses 2 20000 >out 2>err &
dpe=$!
await grep -q '^dpe: [0-9]* s: [1-9][0-9]* events' err
kill -9 $dpe
wait $dpe 2>/dev/null
check 'dpe is killed before the end' $?$(cat out) = 137
await test -s out
check 'a program that waits for dpe continues when dpe is killed' "$(grep -c wall_ns out)" -eq 1

# ---- what cannot be --------------------------------------------------------------------------
run "$DPE" race -- "$BUILD/examples/producer-consumer"
says 'a program that does not report accesses is refused, and -ldpe-mem suggested' 2 'was not built for that' '-fsanitize=thread' '-ldpe-mem' 'dpe race VARIABLE'
check 'the refusal of a program that does not report accesses is one line, with a note of the linker options' "$(lines err)" -eq 2
printf 'int main(void) { return 0; }\n' >none.c
gcc -g -fsanitize=thread -c none.c && gcc none.o -o linked $(sed -n 's/.*note: link with: //p' err) || not_ok 'linking with the options of the note'
run ./linked
says 'a program that is linked with the options of the note runs' 0
if gcc -fsanitize=thread -g -pthread "$TOP/tests/live/targets/memory.c" -o tsan 2>/dev/null; then
	run "$DPE" race -- ./tsan race
	says "a program linked with ThreadSanitizer's library is refused" 2 'is linked into it'
fi
run "$DPE" attach -s count.dpe -p $$
says 'attach with a rule about memory accesses is refused' 2 'start it with dpe'
finish
