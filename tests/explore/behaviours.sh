# dfs makes a run for each behaviour that a program of a few lines counts, and reaches all of its final states.
. tests/tap.sh

for name in tiny letters; do
	${CC:-cc} -g -O1 -fsanitize=thread -c "$TOP/tests/explore/targets/$name.c" -o $name.o &&
		${CC:-cc} $name.o -o $name -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling $name.c"
done

# explore_all STRATEGY PROGRAM: its report in err, its final states in STRATEGY.states
explore_all() {
	run "$DPE" explore --strategy="$1" --runs=100000 --keep-going --fails=1-255 -- ./tiny "$2"
	sed -n 's/^explore: run .*: \(exit status\|deadlock\) *\([0-9]*\).*/\1 \2/p' err |
		sed 's/exit status //; s/ $//' | sort -u >"$1.states"
}

for program in counter counter3 stores readers locked crossed semaphore condition tried upgraded; do
	python3 "$TOP/tests/explore/behaviours.py" $program >counted
	explore_all dfs $program
	says "$program: all $(sed -n 1p counted) behaviours" 1 "all $(sed -n 1p counted) behaviours explored"
	check "$program: the final states" "$(cat dfs.states)" = "$(sed 1d counted)"
done

# without reduction: many more runs, the same states
for program in counter stores crossed tried upgraded left interrupted "interrupted wait"; do
	explore_all dfs "$program"
	says "$program with reduction" 1 "behaviours explored"
	explore_all dfs-full "$program"
	says "$program without reduction" 1 "schedules explored"
	check "$program: the same final states without reduction" -s dfs-full.states -a \
		"$(cat dfs.states)" = "$(cat dfs-full.states)"
done

# programs drawn at random
programs=30
test -n "$DPE_TEST_LONG" && programs=1000
check "random programs: behaviours and final states" "$(python3 "$TOP/tests/explore/letters.py" "$DPE" ./letters 1 $programs)" = \
	"$programs programs alike"

for bound in 0 1 2; do
	check "random programs, at most $bound preemptions" "$(python3 "$TOP/tests/explore/letters.py" "$DPE" ./letters 2 $((programs / 5)) $bound)" = \
		"$((programs / 5)) programs alike"
	for program in counter stores crossed tried upgraded left; do
		explore_all dfs:$bound $program
		says "$program, at most $bound preemptions" "$status" "with at most $bound preemption"
		explore_all dfs-full:$bound $program
		check "$program: the same final states without reduction, at most $bound preemptions" -s dfs-full:$bound.states -a \
			"$(cat dfs:$bound.states)" = "$(cat dfs-full:$bound.states)"
	done
done
check "more preemptions, more states" "$(wc -l <dfs:0.states)" -lt "$(wc -l <dfs:2.states)"

# if something was not controlled or did not fit, the exploration is not complete
run "$DPE" explore --strategy=dfs --max-steps=9 -- ./tiny counter
says "runs that are cut are not all behaviours" 3 "not all behaviours were explored"
finish
