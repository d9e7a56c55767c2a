# dpe race without words: every access of a program that was compiled to report them.
. tests/tap.sh
need_live 'races on memory'

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
check 'without dpe it runs as ever' "$status $(lines err)" = '0 0'

# matched: the rules of the report's findings
matched() {
	sed -n 's/^#[0-9]* [a-z ]* on .*, not ordered with .*\[\([a-z0-9]*\), .*/\1/p; s/^#[0-9]* \([a-z0-9]*\): .*/\1/p' err
}

# watch TIMES PROGRAM STATUS WAY RULE: so often of as many; that rule's match and no other, or none
watch() {
	most=$1
	shift
	times=0
	while test $times -lt $most; do
		for i in 1 2 3 4; do
			(timeout -s KILL 120 "$DPE" race -- ./$1 "$3" >out.$i 2>err.$i; echo $? >status.$i) &
		done
		wait
		for i in 1 2 3 4; do
			cp out.$i out
			cp err.$i err
			status=$(cat status.$i)
			test "$status $(matched | sort -u | tr '\n' ' ')" = "$2 ${4:+$4 }" &&
				grep -q ' 0 lost' err || break 2
			times=$((times + 1))
		done
	done
	command_line="dpe race -- ./$1 $3"
	check "$1 $3: $times times of $most" $times -eq $most
}

watch 20 gcc 1 race race4
says 'a variable of its name, where, and by whom' 1 'data race on counter: ' 'write of 4 bytes by thread ' ' of 4 bytes by thread ' 'mem::write(counter, 4)' 'mem::read(counter, 4)' 'at put+' 'at get+' \
	memory.c:
watch 20 gcc 0 locked
watch 4 gcc 1 half race4
check 'with the lock that one of them holds' "$(grep -c 'mem::write(counter, 4)  lock = mutex  thread' err) $(grep -c 'lock =' err)" = '1 1'
watch 4 gcc 1 heap race4
watch 4 gcc 1 overlap race8
watch 4 gcc 1 relaxed race4
watch 4 gcc 1 timer race4
watch 4 gcc 1 freed race8
check 'with what freed it' "$(grep -c 'mem::free(0x.*thread' err)" -eq 1
watch 4 gcc 1 used race8
says 'use after free of an object that was written before there were threads' 1 ': free by thread ' 'not ordered with read of 4 bytes' 'at get+'
for way in freed used; do
	run "$DPE" race --heap -- ./gcc $way
	says "the heap alone: $way" 1 'use after free on 0x' '[heap, heap.dpe:'
	check "where it was allocated: $way" "$(grep -A1 'bytes into [0-9]* bytes allocated by main thread' err | grep -c '^       at main')" = 1
done
run "$DPE" race --heap --format=json -- ./gcc used
check 'where it was allocated, in JSON' "$(grep -c '"allocated":\[{"event":"mem::alloc",[^]]*"args":\["0x[0-9a-f]*",4\],"stack":\["main+' out)" = 1
run "$DPE" race --heap --format=sarif -- ./gcc used
check 'where it was allocated, in SARIF' "$(grep -c 'the object at 0x[0-9a-f]* was allocated by thread' out)" = 1
run "$DPE" race --heap -- ./gcc race
says 'which knows no other race' 0 'nothing found'
check 'and says nothing of the events of shipped rules' "$(grep -c 'never observed' err)" -eq 0
# What no thread accessed before it was freed, small and large, allocated before there were threads or after; also
# where rules name functions that the library does not know, so that it reports every access.
echo 'sync all z: getpid ; getppid' >unknown.dpe
for way in used used-large; do
	run "$DPE" race --heap -s unknown.dpe -- ./gcc $way
	says "first use after the free: $way" 1 'use after free on 0x' 'at get+' ' 0 lost'
done
echo 'detect both: put() & get()' >extra.dpe
run "$DPE" race -s extra.dpe -- ./gcc race
says 'rules of -s are followed, too' 1 'data race on ' '[race4, ' ' both: '
run "$DPE" race -s race.dpe -- ./gcc race
check 'the rules given once more are the same rules' "$status $(matched) $(grep -c '^#' err)" = '1 race4 1'
run "$DPE" race -- ./gcc realloc
says 'a realloc that fails frees nothing, which is doubtful' 3 ' 1 lost'
for way in spin joined read neighbours flag references freed-later used-later reuse reuse-calloc reuse-realloc reuse-aligned reuse-posix stack; do
	watch 4 gcc 0 $way
done
watch 4 clang 1 race race4
watch 4 clang 1 overlap race8
watch 4 clang 0 flag
watch 4 clang 0 references
watch 4 coverage 1 race race4
watch 4 coverage 0 locked

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
check 'races on one line' "$(sed -n 's/^#[0-9]* data race on \([a-z]*\).*/\1/p' err | sort | tr '\n' ' ')" = 'data ready set '
run "$DPE" race --format=sarif -- ./line
check 'in SARIF' "$(grep -o 'data race on [a-z]*' out | sort | tr '\n' ' ')" = 'data race on data data race on ready data race on set '

# ---- what threads do to the objects of others, ordered or not -----------------------------------
# act ABOUT RULE OBJECT: it races, unless an atomic operation orders it
act() {
	run timeout -s KILL 120 "$DPE" race -- ./gcc now "$1"
	says "$1 races" 1 "data race on $3" "not ordered with" "[$2, " ' 0 lost'
	run timeout -s KILL 120 "$DPE" race -- ./gcc later "$1"
	says "$1 is ordered" 0 'nothing found' ' 0 lost'
}
act mixed race4 'references: '
act destroyed race4 ''
act initialised race4 ''
for about in barrier condition; do
	run timeout -s KILL 120 "$DPE" race -- ./gcc $about
	says "a $about is destroyed by a thread that it let go on" 1 'data race on ' '[race4, ' ' 0 lost'
	run timeout -s KILL 120 "$DPE" race -- ./gcc $about-later
	says "a $about is destroyed when all threads have left it" 0 'nothing found' ' 0 lost'
done
run timeout -s KILL 120 "$DPE" race -- ./gcc condition-inside
says 'a condition is signalled under the mutex of who destroys it' 0 'nothing found' ' 0 lost'
act closed race8 'file descriptor '
run timeout -s KILL 120 "$DPE" race -- ./gcc now closed
says 'which descriptor, used and closed' 1 'file::close(' 'file::use('
for about in handed own; do
	run timeout -s KILL 120 "$DPE" race -- ./gcc now $about
	says "$about by another thread" 1 'race4,' ' 0 lost'
done
run timeout -s KILL 120 "$DPE" race -- ./gcc hand-out
says "the first thread's stack" 1 'race4,' 'hand_out' ' 0 lost'
for about in atomic reopened; do
	run timeout -s KILL 120 "$DPE" race -- ./gcc now $about
	says "$about is no race" 0 'nothing found' ' 0 lost'
done
for i in 1 2 3; do
	run timeout -s KILL 120 "$DPE" race -- ./gcc stacks
	says "stacks are new, run $i" 0 'nothing found' ' 0 lost'
done

# ---- a larger program of C++ -----------------------------------------------------------------
if ${CXX:-g++} -std=c++17 -g -O1 -fsanitize=thread -c "$TOP/tests/live/targets/memory.cc" -o cplusplus.o &&
	${CXX:-g++} cplusplus.o -o cplusplus -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem; then
	for i in 1 2; do
		run timeout -s KILL 240 "$DPE" race -- ./cplusplus
		says "what it synchronises by is known, run $i" 0 ' 0 lost' 'nothing found'
	done
	run timeout -s KILL 240 "$DPE" race -- ./cplusplus broken
	says 'and where it does not' 1 'push' ' 0 lost'
fi

# ---- what functions of the C library read and write ---------------------------------------------
gcc -D_GNU_SOURCE= -fsanitize=thread -g -O1 -fno-builtin -c "$TOP/tests/live/targets/libc.c" -o libc.o &&
	gcc libc.o -o libc -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building libc'
./libc list | sort >functions
check 'there are functions' "$(lines functions)" -ge 58
run "$DPE" race -- ./libc
sed -n 's/^ .* call_\([a-z]*\)+.*/\1/p' err | grep -vx all | sort -u >found
same 'each is found to race' found <functions
run "$DPE" race -- ./libc locked
says 'and not under a lock' 0 'nothing found' ' 0 lost'

# ---- messages -----------------------------------------------------------------------------------
gcc -D_GNU_SOURCE= -fsanitize=thread -g -O1 -c "$TOP/tests/live/targets/pipes.c" -o pipes.o &&
	gcc pipes.o -o pipes -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building pipes'
for how in udp eventfd epoll handler; do
	run "$DPE" race -- ./pipes $how
	says "the order by $how" 0 'nothing found' ' 0 lost'
done
for how in pipe socket stream tcp 'end of a pipe' 'end of a socket' 'end of a stream' 'end of a tcp' signal interrupt \
	'poll of a pipe' 'select of a pipe' 'poll of a socket' 'poll of a tcp' 'poll of a end of a pipe' 'poll of a stream' \
	'epoll of a pipe' 'epoll of a socket' 'epoll of a tcp' 'epoll of a end of a pipe' 'epoll of a stream' 'epoll of a eventfd'; do
	run "$DPE" race -- ./pipes "$how"
	says "a $how orders what threads do" 0 'nothing found' ' 0 lost'
	run "$DPE" race -- ./pipes "$how" late
	says "but not what is repeated after the message by a $how" 1 'data race on ' ' 0 lost'
done

# ---- threads that are left behind --------------------------------------------------------------
run "$DPE" race --stay=600000 -- ./gcc behind
says 'what a thread does that main leaves behind' 1 ' 0 lost' 'put'
run "$DPE" race --stay=0 -- ./gcc race
says 'nobody has to stay' 1 ' 0 lost'

# ---- every access ----------------------------------------------------------------------------
# writes OPTION...: how many of `many` were reported about, and how many of what was reported was lost
writes() {
	run "$DPE" record -s count.dpe -o log.jsonl "$@" -- ./gcc count
	python3 -c '
import json
events = [o for o in map(json.loads, open("log.jsonl")) if "event" in o]
put = [o["args"][0] for o in events if any(f.startswith("put") for f in o["stack"])]
print(len(put), len(set(put)))'
}
printf 'detect R(a): mem::write(a) ; mem::write^(a)\n' >count.dpe
check 'none is left out, none is reported twice' "$(writes)" = '3000 1000'
check 'and a ring that is full is waited for' "$(writes --ring=65536)" = '3000 1000'
run "$DPE" run -s count.dpe -- ./gcc count
says 'rules of your own see them, in order' 1 ' 0 lost' 'R: match'

gcc -g -O1 -fsanitize=thread -c "$TOP/bench/targets/accesses.c" -o accesses.o &&
	gcc accesses.o -o accesses -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem
run timeout -s KILL 240 "$DPE" race --ring=65536 --stack=0 -- ./accesses 3 300
says 'more than dpe can follow at once' 0 'nothing found' ' 0 lost'

"$DPE" race --progress=1 -- ./accesses 2 20000 >out 2>err &
dpe=$!
await grep -q '^dpe: [0-9]* s: [1-9][0-9]* events' err
kill -9 $dpe
wait $dpe 2>/dev/null
check 'dpe is killed before the end' $?$(cat out) = 137
await test -s out
check 'a program that waits for dpe goes on when that dies' "$(grep -c wall_ns out)" -eq 1

# ---- what cannot be --------------------------------------------------------------------------
run "$DPE" race -- "$BUILD/examples/producer-consumer"
says 'a program that does not tell' 2 'was not built for that' '-fsanitize=thread' '-ldpe-mem' 'dpe race VARIABLE'
check 'in one line' "$(lines err)" -eq 1
if gcc -fsanitize=thread -g -pthread "$TOP/tests/live/targets/memory.c" -o tsan 2>/dev/null; then
	run "$DPE" race -- ./tsan race
	says "one with ThreadSanitizer's library" 2 'is linked into it'
fi
run "$DPE" attach -s count.dpe -p $$
says 'a process that runs already' 2 'runs already'
finish
