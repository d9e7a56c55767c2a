# dfs makes a run for each behaviour that behaviours.py counts, and reaches all final states.
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
	says "$program: dfs explores all $(sed -n 1p counted) behaviours" 1 "all $(sed -n 1p counted) behaviours explored"
	check "$program: dfs reaches all final states and no others" "$(cat dfs.states)" = "$(sed 1d counted)"
done

# dfs-full, without reduction, makes many more runs and reaches the same states.
for program in counter stores crossed tried upgraded left interrupted "interrupted wait"; do
	explore_all dfs "$program"
	says "$program: dfs explores all behaviours" 1 "behaviours explored"
	explore_all dfs-full "$program"
	says "$program: dfs-full explores all schedules" 1 "schedules explored"
	check "$program: dfs and dfs-full reach the same final states" -s dfs-full.states -a \
		"$(cat dfs.states)" = "$(cat dfs-full.states)"
done

# The second thread blocks the third one for ever; in a run that is equivalent to another one, too.
run "$DPE" explore --strategy=dfs --keep-going -- ./letters W LsUp LWULsU
says "W LsUp LWULsU: dfs explores all 5 behaviours, as counted" 1 "all 5 behaviours explored"

# programs drawn at random
programs=30
test -n "$DPE_TEST_LONG" && programs=1000
check "random programs: dfs explores the counted behaviours and final states" "$(python3 "$TOP/tests/explore/letters.py" "$DPE" ./letters 1 $programs)" = \
	"$programs programs alike"

for bound in 0 1 2; do
	check "random programs: dfs:$bound and dfs-full:$bound reach the same final states" "$(python3 "$TOP/tests/explore/letters.py" "$DPE" ./letters 2 $((programs / 5)) $bound)" = \
		"$((programs / 5)) programs alike"
	for program in counter stores crossed tried upgraded left; do
		explore_all dfs:$bound $program
		says "$program: the summary of dfs:$bound names the bound" "$status" "with at most $bound preemption"
		explore_all dfs-full:$bound $program
		check "$program: dfs:$bound and dfs-full:$bound reach the same final states" -s dfs-full:$bound.states -a \
			"$(cat dfs:$bound.states)" = "$(cat dfs-full:$bound.states)"
	done
done
check "left: dfs:2 reaches more final states than dfs:0" "$(wc -l <dfs:0.states)" -lt "$(wc -l <dfs:2.states)"

# The exploration is not complete if a run was cut.
run "$DPE" explore --strategy=dfs --max-steps=9 -- ./tiny counter
says "counter: with --max-steps=9, not all behaviours are explored" 3 "not all behaviours were explored"
finish
