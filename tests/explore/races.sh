# Two accesses that threads are about to make at the same time (--races).
. tests/tap.sh

explored=$BUILD/explored
source=$TOP/tests/explore/targets/races.c
${CC:-cc} -g -O1 -fsanitize=thread -c "$source" -o races.o && ${CC:-cc} races.o -o races -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread &&
	${CC:-cc} -g -O1 -pthread "$source" -o silent || not_ok "compiling races.c"

# races CASE NAME PAIR...: dfs reports exactly these pairs of operations, each between two threads
races() {
	case=$1 name=$2
	shift 2
	run "$DPE" explore --races --strategy=dfs --keep-going -- ./races "$case"
	sed -n 's/^  thread [23] is at the \([a-z_]*\) of .* at \([a-z_]*\)+.*/\1 \2/p' err | paste -d, - - | sort >pairs
	says "$name: exit status and completeness" $(($# > 0)) "explored"
	check "$name: $# pairs of accesses are reported" "$(cat pairs)" = "$(test $# = 0 || printf '%s\n' "$@")"
}

races read-write "a read and a write" "read reads,write writes"
races write-write "two writes" "write writes,write writes_later"
races read-read "two reads"
races locked "two sections of one lock"
races half-locked "a section of a lock and a write without it" "read adds_locked,write writes" "write adds_locked,write writes"
races atomic "two atomic additions"
races mixed "an atomic addition and a plain read" "atomic_change adds_atomically,read loads_plainly"
races memset "a write and memset" "write writes_byte,write clears"
races memcpy "memcpy and a write" "read copies,write writes_byte"
races neighbours "writes of two bytes side by side"
races handler "a write that a signal handler comes before, and another write" "write is_interrupted,write writes"

run "$DPE" explore --races -- "$explored/lost-update"
says "lost-update: the portfolio finds a race" 1 ": race (2 threads)   found.schedule: " ", 1 of them matters" \
	"thread 2 is at the " "thread 3 is at the " "lost-update.c:9"
cp err race
run "$DPE" explore --replay=found.schedule -- "$explored/lost-update"
says "lost-update: the replay ends at the race" 1 "replay of found.schedule: race (2 threads)"
check "lost-update: the replay has both places" "$(grep '^  thread' err)" = "$(grep '^  thread' race)"
printf 'continue\ncontinue\nquit\n' | "$DPE" explore --step --replay=found.schedule -- "$explored/lost-update" >out 2>err
check "--step along the schedule of a race ends there" -n "$(grep 'the run has ended: race (2 threads)' out)"

# A run continues after a race.
run "$DPE" explore --races --keep-going --strategy=dfs -- ./races behind
says "a race does not hide the abort that follows it" 1 "race (2 threads)   found" "death by signal 6" "all 2 behaviours explored"
run "$DPE" explore --races --keep-going --runs=20 -- ./races behind
says "--keep-going reports a pair of places once, with the number of runs" 1 "20 runs, portfolio, seed 1: 2 findings" " times: race (2 threads)   found"
run "$DPE" explore --races --strategy=dfs -- ./races behind
says "without --keep-going, the first race ends the exploration" 1 "dfs, seed 1: 1 finding"
run "$DPE" explore --keep-going --strategy=dfs -- ./races read-write
says "without --races, no race is reported" 0 "nothing found"
run "$DPE" explore --races --format=json --strategy=dfs -- ./races mixed
check "JSON of a race has its kind, the operations and the schedule's file" -n "$(grep '"kind":"race"' out | grep '"operation":"atomic_change"' | grep '"file":"found.schedule"')"

# 18 places in each thread
run "$DPE" explore --races --keep-going --strategy=delay --runs=100 -- ./races many
says "more than 256 pairs: the report says that others were not recorded" 1 "more than 256 pairs of accesses race, of which the others were not recorded" "256 findings"

run "$DPE" explore --races --runs=10 -- ./silent read-write
says "a program that does not report its accesses is inconclusive" 3 "does not report its accesses to memory" "and races were not seen"
printf 'next 100\nquit\n' | "$DPE" explore --step --races -- ./races read-write >out 2>err
check "--step --races names no race where there is none" -z "$(grep ' race: ' out)"
printf '1\n2\n3\nquit\n' | "$DPE" explore --step --races -- ./races read-write >steps 2>err
check "--step --races says where two threads are about to race" -n "$(grep 'threads 2 and 3 race: both are about to access the same memory' steps)"
run "$DPE" explore --races --replay=found.schedule -- ./races mixed
says "--races with --replay is refused" 2 "the schedule of a race ends at the race"
run "$DPE" explore --races --confirm -e 'predict r: f() & g()' -- ./races mixed
says "--races with --confirm is refused" 2 "--races cannot be combined with --replay or --confirm"
run "$DPE" explore -s race.dpe -- ./races mixed
says "rules about any memory are refused, and --races is named" 2 "use --races without a rule"

# programs drawn at random
${CC:-cc} -g -O1 -fsanitize=thread -c "$TOP/tests/explore/targets/letters.c" -o letters.o &&
	${CC:-cc} letters.o -o letters -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread && cp "$TOP/tests/explore/targets/letters.c" . ||
	not_ok "compiling letters.c"
programs=30
test -n "$DPE_TEST_LONG" && programs=1000
check "random programs: dfs --races reports the pairs that any interleaving has, and no others" \
	"$(python3 "$TOP/tests/explore/letters.py" "$DPE" ./letters 1 $programs races)" = "$programs programs alike"
finish
