# How C++20 orders threads: by their functions where a program has them, by all accesses where it was compiled for that,
# and where neither is so, the report says that it may be no race.
. tests/tap.sh
need_live "C++20's ways to order threads"
source=$TOP/tests/live/targets/cxx20.cc

# found: the cases with a finding, by the names of their functions or numbers
found() {
	grep -oE 'wrong_[a-z_]*_(number|case)' err | sed 's/_[a-z]*$//' | sort -u
}

g++ -std=c++20 -O0 -g -pthread "$source" -o plain || not_ok 'building plain'
for i in 1 2 3; do
	run "$DPE" race put,get -- ./plain right
	says "without optimisation: what is ordered is no race, run $i" 0 'nothing found' ' 0 lost' 'plain: note: C++20: cxx20.dpe says what'
done
run "$DPE" race --all --max-findings=0 put,get -- ./plain wrong
found >names
./plain list | grep '^wrong' | sort >wanted-names
check 'there are cases' "$(lines wanted-names)" -ge 6
same 'each race is found' names <wanted-names
run "$DPE" race put,get -- ./plain inlined
says 'inlined synchronisation may explain a race, and the report says so' 1 'latches and waits on atomics are not observed' \
	'synchronises by atomic instructions' 'what was reported as unordered may be ordered by them'
g++ -std=c++20 -O2 -g -pthread "$source" -o optimised || not_ok 'building optimised'
run "$DPE" race put,get -- ./optimised right_semaphore
says 'and so it does of an optimised program' 1 'optimised: note: C++20: cxx20.dpe says what' 'where they are not inlined' \
	'what was reported as unordered may be ordered by them'
printf 'int put(void) { return 0; }\nint main(void) { return put(); }\n' >c.c && gcc c.c -static -o c || not_ok 'building c'
run "$DPE" race put,put -- ./c
check 'a program of C with an unwinder has nothing of it' "$status $(grep -c 'C++' err)" = '0 0'
printf 'include "pthread.dpe"\ndetect together(n): put(n) & get(n)\n' >own.dpe
run "$DPE" run -s own.dpe -- ./plain right_semaphore
says 'for rules of the user it names what to include' 1 'note: C++20: include "cxx20.dpe" for what'

g++ -std=c++20 -fsanitize=thread -g -O1 -c "$source" -o compiled.o &&
	g++ compiled.o -o compiled -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok 'building compiled'
for word in right inlined; do
	run timeout -s KILL 120 "$DPE" race -- ./compiled $word
	says "compiled for it: $word" 0 'nothing found' ' 0 lost'
done
run timeout -s KILL 120 "$DPE" race --all --max-findings=0 -- ./compiled wrong
found >names
same 'compiled for it: each race is found' names <wanted-names

# ---- routines that run once, and are left otherwise than by their return ----------------------------
source=$TOP/tests/live/targets/thrown_once.cc
g++ -O0 -g -pthread "$source" -o thrown || not_ok 'building thrown'
g++ -fsanitize=thread -g -O1 -c "$source" -o thrown.o &&
	g++ thrown.o -o compiled_thrown -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok 'building compiled_thrown'
for way in throw posix cancel exit static; do
	run ./compiled_thrown $way
	says "without dpe: $way" 0
	for i in 1 2; do
		run timeout -s KILL 120 "$DPE" race -- ./compiled_thrown $way
		says "$way: the next run of the routine comes after it, run $i" 0 'nothing found' ' 0 lost' 'exited with status 0'
	done
	run timeout -s KILL 120 "$DPE" race -- ./compiled_thrown $way race
	says "$way: but not after what follows the call" 1 'data race on data: ' ' 0 lost'
done
for i in 1 2; do
	run timeout -s KILL 120 "$DPE" race --preload put,put -- ./thrown
	says "not compiled for it, the rule of C++20 knows exceptions, run $i" 0 'nothing found' ' 0 lost' 'exited with status 0'
done
run timeout -s KILL 120 "$DPE" race --preload put,put -- ./thrown throw race
says 'but not what follows the catch' 1 'race_put_put'
finish
