# Each wrong program is found, its schedule leads there again, and its corrected twin shows nothing.
. tests/tap.sh

seeds=1
replays="1"
fixed_runs=10
yielding="1 2 3" more_maximum= more_items= more_between=
if test -n "$DPE_TEST_LONG"; then
	seeds=$(seq 1 20)
	replays=$(seq 1 20)
	fixed_runs=10000
	yielding="1 2 3 4 5 6" more_maximum="3 4 5" more_items="5 8" more_between=8
fi

# shortest PROGRAM: how many choices of its shortest schedule matter, if each seed finds that one; see README.md
shortest() {
	case $1 in
	ab-ba | lost-update) echo 1 ;;
	bakery | flag-lock | borrowed-pointer | three-way-cycle | lost-maximum) echo 2 ;;
	philosophers | reader-writer-flags) echo 3 ;;
	leapfrog | double-collect) echo 4 ;;
	esac
}

# found PROGRAM SEED
found() {
	run "$DPE" explore --runs=1000 --seed="$2" -o "$2.schedule" -- "$BUILD/explored/$1"
	switches=$(shortest "$1")
	says "$1 is found with seed $2${switches:+, and its shortest schedule}" 1 "${switches:+, $switches }of them matter"
	reason=$(sed -n '1s/^explore: run [0-9]* of 1000: \(.*\)   .*/\1/p' err)
	grep '^  thread' err >places
	for replay in $replays; do
		run "$DPE" explore --replay="$2.schedule" -- "$BUILD/explored/$1"
		says "$1: replay $replay of seed $2 has the same finding" 1 "replay of $2.schedule: $reason"
		check "$1: replay $replay of seed $2 does not differ from the schedule" -z "$(grep differs err)"
		check "$1: replay $replay of seed $2 has the threads and places of the report" "$(grep '^  thread' err)" = "$(cat places)"
	done
}

explored() {
	for seed in $seeds; do
		found "$1" "$seed"
	done
	run "$DPE" explore --runs=$fixed_runs -- "$BUILD/explored/$1-fixed"
	says "$1-fixed has no finding" 0 "nothing found"
}

# minimised PROGRAM SWITCHES SEED...: with these seeds, so many choices matter
minimised() {
	program=$1 switches=$2
	shift 2
	for seed in "$@"; do
		run "$DPE" explore --runs=1000 --seed="$seed" -- "$BUILD/explored/$program"
		says "$program: the shortest schedule is found with seed $seed" 1 ", $switches of them matter"
	done
}

# Another schedule than one of four switches, none of which can be left out.
minimised lost-maximum 2 2 $more_maximum
# With five switches and more, one has to be left out and another one changed, again and again; and dfs with three
# preemptions finds three switches for four, and for five.
minimised last-item 3 2 9 $more_items
# The two switches are at places of the longer schedule, but lead to other threads.
minimised released-between 2 3
# The switches of other runs with the finding can be minimised further.
minimised released-between 2 27 $more_between

# One of a thousand single switches is enough.
${CC:-cc} -g -O1 -fsanitize=thread -c "$TOP/tests/explore/targets/setters.c" -o setters.o &&
	${CC:-cc} setters.o -o setters -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling setters.c"
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/crowd.c" -o crowd || not_ok "compiling crowd.c"
for seed in 8 10; do
	run "$DPE" explore --runs=1000 --seed=$seed -- ./setters
	says "setters: the shortest schedule is found with seed $seed" 1 ", 1 of them matters"
done

# Of twenty threads, the one that is at another place than the others is chosen as often as all others together.
for seed in 1 2; do
	run "$DPE" explore --strategy=places --runs=60 --seed=$seed -- ./setters
	says "setters: places finds the bug within 60 runs with seed $seed" 1 "of them matter"
done

# The same events in blocks of a thread, in the order of their numbers, need a switch for each fork but the last one.
run "$DPE" explore --runs=1000 -- ./crowd 7
says "seven philosophers: the shortest schedule is found" 1 ", 6 of them matter"

# A replay ignores yields; it makes the choices of a strategy that heeds them all the same.
for strategy in random pct:3 pos surw places rounds; do
	for seed in $yielding; do
		run "$DPE" explore --strategy=$strategy --seed=$seed -- "$BUILD/explored/yields-with-lock"
		says "yields-with-lock: $strategy finds the bug reproducibly with seed $seed" 1 "of them matter"
	done
done

names=$(ls "$TOP"/tests/explore/programs/*.c | sed 's|.*/||; s|\.c$||')
beside explored $names
finish
