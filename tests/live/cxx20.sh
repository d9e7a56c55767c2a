# Synchronisation of C++20: by its functions where a program has them, by all accesses where it was compiled for dpe;
# otherwise the report says that a race may be none.
. tests/tap.sh
need_live "the synchronisation of C++20"
runs=1
test -n "${DPE_TEST_LONG:-}" && runs=3
source=$TOP/tests/live/targets/cxx20.cc

# found: the cases with a finding, by the names of their functions or variables
found() {
	grep -oE 'wrong_[a-z_]*_(number|case)' err | sed 's/_[a-z]*$//' | sort -u
}

g++ -std=c++20 -O0 -g -pthread "$source" -o plain || not_ok 'building plain'
for i in $(seq $runs); do
	run "$DPE" race put,get -- ./plain right
	says "without optimisation, ordered calls are no race, run $i" 0 'nothing found' ' 0 lost' 'plain: note: C++20: cxx20.dpe says what'
done
run "$DPE" race --all --max-findings=0 put,get -- ./plain wrong
found >names
./plain list | grep '^wrong' | sort >wanted-names
check 'the program has at least six cases with a race' "$(lines wanted-names)" -ge 6
same 'dpe race finds each race of a program built without optimisation' names <wanted-names
run "$DPE" race put,get -- ./plain inlined
says 'the report says that inlined synchronisation may order the calls of a race' 1 'latches and waits on atomics are not observed' \
	'synchronises by atomic instructions' 'what was reported as unordered may be ordered by them'
g++ -std=c++20 -O2 -g -pthread "$source" -o optimised || not_ok 'building optimised'
run "$DPE" race put,get -- ./optimised right_semaphore
says 'the report of an optimised program says that functions of C++20 may be inlined' 1 'optimised: note: C++20: cxx20.dpe says what' 'where they are not inlined' \
	'what was reported as unordered may be ordered by them'
printf 'int put(void) { return 0; }\nint main(void) { return put(); }\n' >c.c && gcc c.c -static -o c || not_ok 'building c'
run "$DPE" race put,put -- ./c
check 'a static program of C, which has an unwinder, gets no note about C++' "$status $(grep -c 'C++' err)" = '0 0'
printf 'include "pthread.dpe"\ndetect together(n): put(n) & get(n)\n' >own.dpe
run "$DPE" run -s own.dpe -- ./plain right_semaphore
says 'with rules of the user, a note says to include cxx20.dpe' 1 'note: C++20: include "cxx20.dpe" for what'

g++ -std=c++20 -fsanitize=thread -g -O1 -c "$source" -o compiled.o &&
	g++ compiled.o -o compiled -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok 'building compiled'
for word in right inlined; do
	run timeout -s KILL 120 "$DPE" race -- ./compiled $word
	says "compiled for dpe, mode $word: synchronised accesses are no race" 0 'nothing found' ' 0 lost'
done
run timeout -s KILL 120 "$DPE" race --all --max-findings=0 -- ./compiled wrong
found >names
same 'compiled for dpe: each race is found' names <wanted-names

# ---- routines that run once, and are left by an exception, cancellation or exit ----------------------
source=$TOP/tests/live/targets/thrown_once.cc
g++ -O0 -g -pthread "$source" -o thrown || not_ok 'building thrown'
g++ -fsanitize=thread -g -O1 -c "$source" -o thrown.o &&
	g++ thrown.o -o compiled_thrown -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok 'building compiled_thrown'
for way in throw posix cancel exit static; do
	run ./compiled_thrown $way
	says "once-routine, mode $way: the program succeeds without dpe" 0
	for i in $(seq $runs); do
		run timeout -s KILL 120 "$DPE" race -- ./compiled_thrown $way
		says "once-routine, mode $way: its next execution is ordered after the one left, run $i" 0 'nothing found' ' 0 lost' 'exited with status 0'
	done
	run timeout -s KILL 120 "$DPE" race -- ./compiled_thrown $way race
	says "once-routine, mode $way: accesses after the call are not ordered, and race" 1 'data race on data: ' ' 0 lost'
done
for i in $(seq $runs); do
	run timeout -s KILL 120 "$DPE" race --preload put,put -- ./thrown
	says "--preload: a once-routine after one left by an exception is ordered, run $i" 0 'nothing found' ' 0 lost' 'exited with status 0'
done
run timeout -s KILL 120 "$DPE" race --preload put,put -- ./thrown throw race
says '--preload: calls after the catch of that exception are not ordered, and race' 1 'race_put_put'
finish
